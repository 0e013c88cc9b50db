// SPDX-License-Identifier: BSD-3-Clause
// Which way the fields of a decomposition go: each node stores what its ranks have (local), or cells are
// sent to I/O ranks first (rearranging). And who stores, where I/O ranks serve groups.
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
  const int outer_dims = region.rank() - job.transfer->decomposition->rank();
  for (int d = 0; d < outer_dims; ++d)
    region.count[d] = std::min<std::int64_t>(region.count[d], 1);
  return runs_in_file(boxes, region, job.placement->chunk, size_of(job.variable->type));
}

}  // namespace

void NativeDriver::check_rearranger() const {
  const RearrangerKind strategy = options_.rearranger;
  if (strategy == RearrangerKind::box && options_.rearrange == Rearrange::off)
    throw Error(
        Code::setting,
        "rearranger=box and rearrange=off contradict each other, as cells go to the boxes of I/O ranks by "
        "rearranging; leave one of them out");
  if (strategy != RearrangerKind::subset) {
    if (options_.rearrange == Rearrange::off && sets_io_ranks(options_))
      throw Error(
          Code::setting,
          "rearrange=off and settings of I/O ranks (io_ranks, io_ranks_per_node, io_stride, io_base) "
          "contradict each other, as cells go to these ranks by rearranging; leave one of them out, or "
          "set rearranger=subset");
    return;
  }
  if (options_.rearrange == Rearrange::on)
    throw Error(
        Code::setting,
        "rearranger=subset and rearrange=on contradict each other, as each I/O rank stores what its own "
        "group has; leave one of them out");
  if (options_.writers > 1)
    throw Error(Code::setting, "rearranger=subset and writers=" + std::to_string(options_.writers) +
                                   " contradict each other, as one rank of each group stores; set "
                                   "io_ranks_per_node, and leave writers out");
}

// A group is what a node is otherwise: its ranks share a stage, and none of their cells leave it.
void NativeDriver::make_groups() {
  IoGroups made = choose_io_groups(comm_, *nodes_, options_);
  options_.io_ranks = options_.io_stride = options_.io_base = options_.io_ranks_per_node = 0;
  options_.rearrange = Rearrange::off;
  options_.writers = 1;
  options_.stage_bytes = std::max(k_least_slots * k_least_slot, options_.stage_bytes / made.of_node);
  nodes_ = std::move(made.groups);
  io_rank_of_group_ = made.io_rank;
  const int ranks = nodes_->node().size();
  counters_.strategies.push_back("subset: " + std::to_string(nodes_->count()) + " I/O rank" +
                                 (nodes_->count() == 1 ? " stores" : "s store") + " what " +
                                 std::to_string(ranks) + (ranks == 1 ? " rank has" : " ranks have") +
                                 (nodes_->count() == 1 ? "" : " each (in rank 0's group)"));
}

const std::vector<int>& NativeDriver::io_ranks() {
  if (io_ranks_.empty()) io_ranks_ = choose_io_ranks(comm_, options_);
  return io_ranks_;
}

// What can be said before it is known what is written.
void NativeDriver::estimate_cost(Known& known) {
  const Decomposition& decomposition = *known.decomposition;
  const bool is_map = decomposition.map() != nullptr;
  const auto always = [&](std::string why) {
    known.sends = Sends::always;
    known.why = std::move(why);
  };
  if (one_node_stores_) return always("nodes do not see each other's writes on " + counters_.file_system);
  if (options_.rearrange == Rearrange::on) return always("rearrange=on");
  if (options_.rearranger == RearrangerKind::box) return always("rearranger=box");
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
    } else if (!setting_against_rearranging().empty()) {
      throw Error(Code::setting, setting_against_rearranging() +
                                     ", but the cells of a map that a node has are " + std::to_string(most) +
                                     " runs, and a node can store " + std::to_string(k_most_boxes) +
                                     " without rearranging; leave the setting out, or number the cells so "
                                     "that a node's follow each other");
    }
  }
  const bool outer_dims = nodes_->node().rank() == 0;
  known.runs = comm_.sum(outer_dims ? share.runs : 0);
  known.cells = comm_.sum(outer_dims ? share.cells : 0);
  if (!setting_against_rearranging().empty()) {
    known.sends = Sends::never;
    known.why = setting_against_rearranging();
  } else if (known.boxes && interleaves_records(schema_.format) &&
             static_cast<double>(known.cells) >= k_short_run * static_cast<double>(known.runs)) {
    known.sends = Sends::never;  // whatever the type
  }
}

NativeDriver::Strategy NativeDriver::strategy_of(const Known& known, const FieldJob& job) {
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

const NativeDriver::Strategy* NativeDriver::known_strategy(const FieldJob& job) const {
  const Known& known = shares_.at(job.transfer->decomposition.get());
  const Strategy strategy = strategy_of(known, job);
  const auto before = std::find_if(known.strategies.begin(), known.strategies.end(), [&](const Strategy& w) {
    return w.size == strategy.size && w.chunk == strategy.chunk && w.outer_dims == strategy.outer_dims &&
           w.whole == strategy.whole && w.encoded == strategy.encoded;
  });
  return before == known.strategies.end() ? nullptr : &*before;
}

bool NativeDriver::needs_rearranging(const FieldJob& job) {
  Known& known = shares_.at(job.transfer->decomposition.get());
  if (nodes_->single() && known.sends == Sends::never) return false;
  if (const Strategy* before = known_strategy(job)) return before->rearranges;
  Strategy strategy = strategy_of(known, job);
  choose_strategy(known, job, strategy);
  known.strategies.push_back(strategy);
  return strategy.rearranges;
}

void NativeDriver::choose_strategy(const Known& known, const FieldJob& job, Strategy& strategy) {
  const bool is_map = known.decomposition->map() != nullptr;
  const double outer_dims = static_cast<double>(strategy.outer_dims);
  double runs = static_cast<double>(known.runs) * outer_dims;
  double bytes = static_cast<double>(known.cells) * static_cast<double>(strategy.size) * outer_dims;
  const bool counted = known.runs > 0 || known.sends == Sends::maybe;
  std::string why = known.why;
  double in_boxes = 0;  // runs that I/O ranks would store
  if (known.sends == Sends::maybe) {
    if (!is_map) {
      const auto [own_runs, own_bytes] = extents_of(job, known.share.store);
      const bool first = nodes_->node().rank() == 0;
      runs = static_cast<double>(comm_.sum(first ? own_runs : 0)) * outer_dims;
      bytes = static_cast<double>(comm_.sum(first ? own_bytes : 0)) * outer_dims;
    }
    in_boxes = runs_of_boxes(job.transfer->region, static_cast<int>(io_ranks().size()), alignment_of(job),
                             job.placement->chunk, strategy.size);
    strategy.rearranges = !known.boxes || rearranging_is_cheaper(runs, bytes, in_boxes);
    if (strategy.rearranges && !strategy.whole) {
      strategy.rearranges = false;
      why = "a section that cuts dimensions between others that are cut";
    }
  } else {
    strategy.rearranges = known.sends == Sends::always;
    // On such a file system the one rank may be of a node that must not store.
    const bool may_store = !one_node_stores_ || nodes_->single();
    if (strategy.rearranges && !strategy.whole && may_store &&
        one_rank_has_all(comm_, *known.decomposition)) {
      strategy.rearranges = false;
      why = "a section of a field that one rank has";
    }
  }
  if (counters_.strategies.size() >= k_most_lines) return;
  std::string line = field_text(job, strategy);
  line += strategy.rearranges ? ": rearrange: " : ": local: ";
  if (!why.empty()) line += why + "; ";
  const std::string who = options_.rearranger == RearrangerKind::subset ? "groups" : "nodes";
  if (counted) line += who + (strategy.rearranges ? " would store " : " store ") + runs_text(runs, bytes);
  if (known.sends != Sends::never) {
    const auto boxes = static_cast<double>(io_ranks().size());
    const double whole = static_cast<double>(volume(known.decomposition->global())) *
                         static_cast<double>(strategy.size) * outer_dims;
    line += (counted ? "; " : "") + count_text(boxes) + (boxes == 1 ? " I/O rank " : " I/O ranks ") +
            (strategy.rearranges ? (boxes == 1 ? "stores " : "store ") : "would store ") + count_text(boxes) +
            (boxes == 1 ? " box of " : " boxes of ") + bytes_text(whole / boxes);
    if (in_boxes >= 2 * boxes) line += ", " + count_text(in_boxes) + " runs";
  }
  add_strategy(line);
}

std::string NativeDriver::field_text(const FieldJob& job, const Strategy& strategy) {
  const Decomposition& cut = *job.transfer->decomposition;
  std::string text = text_of(cut.global()) +
                     (cut.map() != nullptr ? " cut by a map, " : " cut into tiles, ") +
                     std::to_string(strategy.size) + "-byte values";
  if (strategy.outer_dims > 1) text += " x " + std::to_string(strategy.outer_dims);
  if (strategy.encoded) text += " in chunks of " + text_of(strategy.chunk);
  return text;
}

void NativeDriver::add_strategy(const std::string& line) {
  auto& strategies = counters_.strategies;
  if (strategies.size() < k_most_lines &&
      std::find(strategies.begin(), strategies.end(), line) == strategies.end())
    strategies.push_back(line);
}

// Who compresses has lists of whose cells lie where in its chunks.
void NativeDriver::report_sent_chunks(const FieldJob& job, const ChunkOrder& order, ChunkPlan& chunk_plan) {
  if (chunk_plan.reported) return;
  chunk_plan.reported = true;
  constexpr std::int64_t k_any = std::int64_t{1} << 50;
  constexpr std::int64_t k_nobody = -1, k_several = -2;
  const auto nodes = comm_.all_gather(std::int64_t{nodes_->index()});
  std::int64_t cut = 0, elsewhere = 0, all = 0;
  const auto plan = chunk_plan.rearranger->plan_of(Box::whole(order.shape()), job.stored(), Dims(), k_any);
  const Status counted = caught([&] {
    if (!plan || plan->mine.empty()) return;
    std::vector<std::int64_t> node_of(static_cast<std::size_t>(plan->mine.count[1]), k_nobody);
    chunk_plan.rearranger->for_each_source(*plan, [&](int rank, const IndexSet& where, std::int64_t bytes) {
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
  std::string line = field_text(job, strategy_of(known, job)) + ": rearrange: ";
  line += (known.sends == Sends::always ? known.why : "a chunk is compressed as a whole") + "; ";
  const auto chunks = static_cast<double>(order.outer_dims() * order.chunks());
  if (!nodes_->single())
    line += count_text(static_cast<double>(cut)) + " of " + count_text(chunks) +
            (chunks == 1 ? " chunk has" : " chunks have") + " cells of several nodes, " +
            bytes_text(static_cast<double>(elsewhere)) + " of " + bytes_text(static_cast<double>(all)) +
            " go to another node; ";
  const std::size_t ranks = chunk_plan.rearranger->io_ranks().size();
  add_strategy(line + std::to_string(ranks) + (ranks == 1 ? " rank compresses " : " ranks compress ") +
               count_text(chunks) + (chunks == 1 ? " chunk" : " chunks"));
}

void NativeDriver::report_read_chunks(const FieldJob& job) {
  if (known_strategy(job) != nullptr) return;
  Known& known = shares_.at(job.transfer->decomposition.get());
  known.strategies.push_back(strategy_of(known, job));
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
  add_strategy(field_text(job, known.strategies.back()) +
               ": local: each node decodes what its ranks read; nodes decode " + count_text(decoded) +
               (decoded == 1 ? " chunk" : " chunks") + " of " + count_text(all));
}

}  // namespace shoal
