// SPDX-License-Identifier: BSD-3-Clause
// Which way the fields of a decomposition go: each node stores what its ranks have (direct), or cells are
// sent to I/O ranks first (exchange). And who stores, where I/O ranks serve groups.
#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.hpp"
#include "decomp/node_runs.hpp"
#include "driver/io_ranks.hpp"
#include "driver/native/native_driver.hpp"
#include "driver/native/shapes.hpp"
#include "driver/tile_maps.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_most_lines = 32;  // of the report

std::string count_text(double n) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), n < 1e5 ? "%.0f" : "%.2g", n);
  return text.data();
}

std::string runs_text(double runs, double bytes) {
  return count_text(runs) + (runs == 1 ? " run of " : " runs of ") + bytes_text(runs > 0 ? bytes / runs : 0);
}

// Of one index of the dimensions in front of the decomposition's: what a node stores, in runs of the file.
RunCount extents_of(const FieldJob& job, const std::vector<Box>& boxes) {
  Box region = job.transfer->region;
  const int leads = region.rank() - job.transfer->decomposition->rank();
  for (int d = 0; d < leads; ++d)
    region.count[d] = std::min<std::int64_t>(region.count[d], 1);
  return runs_in_file(boxes, region, job.placement->chunk, size_of(job.variable->type));
}

}  // namespace

void NativeDriver::check_io_way() const {
  const IoWay way = options_.io_way;
  if (way == IoWay::box && options_.exchange == Exchange::off)
    throw Error(
        Code::setting,
        "io_way=box and exchange=off contradict each other, as cells go to the boxes of I/O ranks by an "
        "exchange; leave one of them out");
  if (way != IoWay::subset) {
    if (options_.exchange == Exchange::off && sets_io_ranks(options_))
      throw Error(
          Code::setting,
          "exchange=off and settings of I/O ranks (io_ranks, io_ranks_per_node, io_stride, io_base) "
          "contradict each other, as cells go to these ranks by an exchange; leave one of them out, or "
          "set io_way=subset");
    return;
  }
  if (options_.exchange == Exchange::on)
    throw Error(Code::setting,
                "io_way=subset and exchange=on contradict each other, as each I/O rank stores what its own "
                "group has; leave one of them out");
  if (options_.writers > 1)
    throw Error(Code::setting, "io_way=subset and writers=" + std::to_string(options_.writers) +
                                   " contradict each other, as one rank of each group stores; set "
                                   "io_ranks_per_node, and leave writers out");
}

// A group is what a node is otherwise: its ranks share a stage, and none of their cells leave it.
void NativeDriver::make_groups() {
  IoGroups made = choose_io_groups(comm_, *nodes_, options_);
  options_.io_ranks = options_.io_stride = options_.io_base = options_.io_ranks_per_node = 0;
  options_.exchange = Exchange::off;
  options_.writers = 1;
  options_.stage_bytes = std::max(k_least_slots * k_least_slot, options_.stage_bytes / made.of_node);
  nodes_ = std::move(made.groups);
  io_rank_of_group_ = made.io_rank;
  const int ranks = nodes_->node().size();
  counters_.ways.push_back("subset: " + std::to_string(nodes_->count()) + " I/O rank" +
                           (nodes_->count() == 1 ? " stores" : "s store") + " what " + std::to_string(ranks) +
                           (ranks == 1 ? " rank has" : " ranks have") +
                           (nodes_->count() == 1 ? "" : " each (in rank 0's group)"));
}

const std::vector<int>& NativeDriver::io_ranks() {
  if (io_ranks_.empty()) io_ranks_ = choose_io_ranks(comm_, options_);
  return io_ranks_;
}

// What can be said before it is known what is written.
void NativeDriver::weigh(Known& known) {
  const Decomposition& decomposition = *known.decomposition;
  const bool is_map = decomposition.map() != nullptr;
  const auto always = [&](std::string why) {
    known.sends = Sends::always;
    known.why = std::move(why);
  };
  if (one_node_stores_) return always("nodes do not see each other's writes on " + counters_.file_system);
  if (options_.exchange == Exchange::on) return always("exchange=on");
  if (options_.io_way == IoWay::box) return always("io_way=box");
  if (sets_io_ranks(options_)) return always("I/O ranks are set");
  if (nodes_->single()) return;
  known.sends = Sends::maybe;
  NodeShare& share = known.share;
  if (is_map) {
    NodeRuns store = runs_of_node(nodes_->node(), decomposition, true, k_most_boxes);
    NodeRuns fetch = runs_of_node(nodes_->node(), decomposition, false, k_most_boxes);
    share.runs = store.runs;
    share.cells = store.cells * volume(decomposition.whole_shape());
    const std::int64_t most = comm_.max(std::max(store.runs, fetch.runs));
    known.boxes = most <= k_most_boxes;
    if (known.boxes) {
      share.store = std::move(store.boxes);
      share.fetch = std::move(fetch.boxes);
    } else if (!way_that_stays().empty()) {
      throw Error(Code::setting, way_that_stays() + ", but the cells of a map that a node has are " +
                                     std::to_string(most) + " runs, and a node can store " +
                                     std::to_string(k_most_boxes) +
                                     " without an exchange; leave the setting out, or number the cells so "
                                     "that a node's follow each other");
    }
  }
  const bool leads = nodes_->node().rank() == 0;
  known.runs = comm_.sum(leads ? share.runs : 0);
  known.cells = comm_.sum(leads ? share.cells : 0);
  if (!way_that_stays().empty()) {
    known.sends = Sends::never;
    known.why = way_that_stays();
  } else if (known.boxes && interleaves_records(schema_.format) &&
             static_cast<double>(known.cells) >= k_short_run * static_cast<double>(known.runs)) {
    known.sends = Sends::never;  // whatever the type
  }
}

NativeDriver::Way NativeDriver::way_of(const Known& known, const FieldJob& job) {
  const Transfer& transfer = *job.transfer;
  const std::int64_t field = volume(known.decomposition->global());
  const bool whole = known.decomposition->map() != nullptr || check_section(transfer).ok();
  return {size_of(job.variable->type),
          job.placement->chunk,
          field == 0 ? 0 : std::max<std::int64_t>(1, transfer.region.cells() / field),
          whole,
          job.is_encoded(),
          false};
}

const NativeDriver::Way* NativeDriver::known_way(const FieldJob& job) const {
  const Known& known = shares_.at(job.transfer->decomposition.get());
  const Way way = way_of(known, job);
  const auto before = std::find_if(known.ways.begin(), known.ways.end(), [&](const Way& w) {
    return w.size == way.size && w.chunk == way.chunk && w.leads == way.leads && w.whole == way.whole &&
           w.encoded == way.encoded;
  });
  return before == known.ways.end() ? nullptr : &*before;
}

bool NativeDriver::exchanges(const FieldJob& job) {
  Known& known = shares_.at(job.transfer->decomposition.get());
  if (nodes_->single() && known.sends == Sends::never) return false;
  if (const Way* before = known_way(job)) return before->exchange;
  Way way = way_of(known, job);
  decide(known, job, way);
  known.ways.push_back(way);
  return way.exchange;
}

void NativeDriver::decide(const Known& known, const FieldJob& job, Way& way) {
  const bool is_map = known.decomposition->map() != nullptr;
  const double leads = static_cast<double>(way.leads);
  double runs = static_cast<double>(known.runs) * leads;
  double bytes = static_cast<double>(known.cells) * static_cast<double>(way.size) * leads;
  const bool counted = known.runs > 0 || known.sends == Sends::maybe;
  std::string why = known.why;
  double in_boxes = 0;  // runs that I/O ranks would store
  if (known.sends == Sends::maybe) {
    if (!is_map) {
      const auto [own_runs, own_bytes] = extents_of(job, known.share.store);
      const bool first = nodes_->node().rank() == 0;
      runs = static_cast<double>(comm_.sum(first ? own_runs : 0)) * leads;
      bytes = static_cast<double>(comm_.sum(first ? own_bytes : 0)) * leads;
    }
    in_boxes = runs_of_boxes(job.transfer->region, static_cast<int>(io_ranks().size()), borders_of(job),
                             job.placement->chunk, way.size);
    way.exchange = !known.boxes || exchange_pays(runs, bytes, in_boxes);
    if (way.exchange && !way.whole) {
      way.exchange = false;
      why = "a section that cuts dimensions between others that are cut";
    }
  } else {
    way.exchange = known.sends == Sends::always;
    // On such a file system the one rank may be of a node that must not store.
    const bool may_store = !one_node_stores_ || nodes_->single();
    if (way.exchange && !way.whole && may_store && one_rank_has_all(comm_, *known.decomposition)) {
      way.exchange = false;
      why = "a section of a field that one rank has";
    }
  }
  if (counters_.ways.size() >= k_most_lines) return;
  std::string line = field_text(job, way);
  line += way.exchange ? ": exchange: " : ": direct: ";
  if (!why.empty()) line += why + "; ";
  const std::string who = options_.io_way == IoWay::subset ? "groups" : "nodes";
  if (counted) line += who + (way.exchange ? " would store " : " store ") + runs_text(runs, bytes);
  if (known.sends != Sends::never) {
    const auto boxes = static_cast<double>(io_ranks().size());
    const double whole =
        static_cast<double>(volume(known.decomposition->global())) * static_cast<double>(way.size) * leads;
    line += (counted ? "; " : "") + count_text(boxes) + (boxes == 1 ? " I/O rank " : " I/O ranks ") +
            (way.exchange ? (boxes == 1 ? "stores " : "store ") : "would store ") + count_text(boxes) +
            (boxes == 1 ? " box of " : " boxes of ") + bytes_text(whole / boxes);
    if (in_boxes >= 2 * boxes) line += ", " + count_text(in_boxes) + " runs";
  }
  add_way(line);
}

std::string NativeDriver::field_text(const FieldJob& job, const Way& way) {
  const Decomposition& cut = *job.transfer->decomposition;
  std::string text = text_of(cut.global()) +
                     (cut.map() != nullptr ? " cut by a map, " : " cut into tiles, ") +
                     std::to_string(way.size) + "-byte values";
  if (way.leads > 1) text += " x " + std::to_string(way.leads);
  if (way.encoded) text += " in chunks of " + text_of(way.chunk);
  return text;
}

void NativeDriver::add_way(const std::string& line) {
  auto& ways = counters_.ways;
  if (ways.size() < k_most_lines && std::find(ways.begin(), ways.end(), line) == ways.end())
    ways.push_back(line);
}

// Who compresses has lists of whose cells lie where in its chunks.
void NativeDriver::tell_sent_chunks(const FieldJob& job, const ChunkOrder& order, ChunkWay& way) {
  if (way.told) return;
  way.told = true;
  constexpr std::int64_t k_any = std::int64_t{1} << 50;
  constexpr std::int64_t k_nobody = -1, k_several = -2;
  const auto nodes = comm_.all_gather(std::int64_t{nodes_->index()});
  std::int64_t cut = 0, elsewhere = 0, all = 0;
  const auto plan = way.rearranger->plan_of(Box::whole(order.shape()), job.stored(), Dims(), k_any);
  const Status counted = caught([&] {
    if (!plan || plan->mine.empty()) return;
    std::vector<std::int64_t> node_of(static_cast<std::size_t>(plan->mine.count[1]), k_nobody);
    way.rearranger->for_each_source(*plan, [&](int rank, const Positions& where, std::int64_t bytes) {
      const std::int64_t node = nodes[static_cast<std::size_t>(rank)];
      all += bytes;
      if (node != nodes_->index()) elsewhere += bytes;
      where.for_each_run(0, order.cells() * plan->mine.count[1],
                         [&](std::int64_t position, std::int64_t, std::int64_t length) {
                           const std::int64_t last = (position + length - 1) / order.cells();
                           for (std::int64_t chunk = position / order.cells(); chunk <= last; ++chunk) {
                             auto& has = node_of[static_cast<std::size_t>(chunk)];
                             has = has == k_nobody || has == node ? node : k_several;
                           }
                         });
    });
    cut = std::count(node_of.begin(), node_of.end(), k_several) * plan->mine.count[0];
  });
  cut = comm_.sum(cut);
  elsewhere = comm_.sum(elsewhere);
  all = comm_.sum(all);
  if (!comm_.agree(counted).ok()) return;
  const Known& known = shares_.at(job.transfer->decomposition.get());
  std::string line = field_text(job, way_of(known, job)) + ": exchange: ";
  line += (known.sends == Sends::always ? known.why : "a chunk is compressed as a whole") + "; ";
  const auto chunks = static_cast<double>(order.leads() * order.chunks());
  if (!nodes_->single())
    line += count_text(static_cast<double>(cut)) + " of " + count_text(chunks) +
            (chunks == 1 ? " chunk has" : " chunks have") + " cells of several nodes, " +
            bytes_text(static_cast<double>(elsewhere)) + " of " + bytes_text(static_cast<double>(all)) +
            " go to another node; ";
  const std::size_t ranks = way.rearranger->io_ranks().size();
  add_way(line + std::to_string(ranks) + (ranks == 1 ? " rank compresses " : " ranks compress ") +
          count_text(chunks) + (chunks == 1 ? " chunk" : " chunks"));
}

void NativeDriver::tell_read_chunks(const FieldJob& job) {
  if (known_way(job) != nullptr) return;
  Known& known = shares_.at(job.transfer->decomposition.get());
  known.ways.push_back(way_of(known, job));
  const Box chunks = chunks_of(job.transfer->region, job.placement->chunk);
  std::int64_t mine = 0;
  const Status counted = caught([&] {
    if (nodes_->node().rank() != 0 || chunks.empty()) return;
    std::vector<bool> wanted(static_cast<std::size_t>(chunks.cells()), false);
    for (const Box& box : within_region(known.share.fetch, job.transfer->region))
      if (!box.empty())
        for_each_index(chunks_of(box, job.placement->chunk), [&](const Dims& index) {
          wanted[static_cast<std::size_t>(position_in(index, chunks))] = true;
        });
    mine = std::count(wanted.begin(), wanted.end(), true);
  });
  const auto decoded = static_cast<double>(comm_.sum(mine));
  if (!comm_.agree(counted).ok()) return;
  const auto all = static_cast<double>(chunks.cells());
  add_way(field_text(job, known.ways.back()) +
          ": direct: each node decodes what its ranks read; nodes decode " + count_text(decoded) +
          (decoded == 1 ? " chunk" : " chunks") + " of " + count_text(all));
}

}  // namespace shoal
