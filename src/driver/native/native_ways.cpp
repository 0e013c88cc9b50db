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
  return {size_of(job.variable->type), job.placement->chunk,
          field == 0 ? 0 : std::max<std::int64_t>(1, transfer.region.cells() / field), whole, false};
}

const NativeDriver::Way* NativeDriver::known_way(const FieldJob& job) const {
  const Known& known = shares_.at(job.transfer->decomposition.get());
  const Way way = way_of(known, job);
  const auto before = std::find_if(known.ways.begin(), known.ways.end(), [&](const Way& w) {
    return w.size == way.size && w.chunk == way.chunk && w.leads == way.leads && w.whole == way.whole;
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
    in_boxes =
        runs_of_boxes(job.transfer->region, static_cast<int>(io_ranks().size()),
                      job.addresses_listed ? job.placement->chunk : Dims(), job.placement->chunk, way.size);
    way.exchange = !known.boxes || exchange_pays(runs, bytes, in_boxes);
    if (way.exchange && !way.whole) {
      way.exchange = false;
      why = "a section that cuts dimensions between others that are cut";
    }
  } else {
    way.exchange = known.sends == Sends::always;
  }
  if (counters_.ways.size() >= k_most_lines) return;
  const Decomposition& cut = *known.decomposition;
  std::string line = text_of(cut.global()) + (is_map ? " cut by a map, " : " cut into tiles, ") +
                     std::to_string(way.size) + "-byte values";
  if (way.leads > 1) line += " x " + std::to_string(way.leads);
  line += way.exchange ? ": exchange: " : ": direct: ";
  if (!why.empty()) line += why + "; ";
  const std::string who = options_.io_way == IoWay::subset ? "groups" : "nodes";
  if (counted) line += who + (way.exchange ? " would store " : " store ") + runs_text(runs, bytes);
  if (known.sends != Sends::never) {
    const auto boxes = static_cast<double>(io_ranks().size());
    const double whole = static_cast<double>(volume(cut.global())) * static_cast<double>(way.size) * leads;
    line += (counted ? "; " : "") + count_text(boxes) + (boxes == 1 ? " I/O rank " : " I/O ranks ") +
            (way.exchange ? (boxes == 1 ? "stores " : "store ") : "would store ") + count_text(boxes) +
            (boxes == 1 ? " box of " : " boxes of ") + bytes_text(whole / boxes);
    if (in_boxes >= 2 * boxes) line += ", " + count_text(in_boxes) + " runs";
  }
  if (std::find(counters_.ways.begin(), counters_.ways.end(), line) == counters_.ways.end())
    counters_.ways.push_back(line);
}

}  // namespace shoal
