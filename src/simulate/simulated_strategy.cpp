// SPDX-License-Identifier: BSD-3-Clause
// The counts of all nodes, which FieldStrategies of the native driver adds up over ranks.
#include "simulate/simulated_strategy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "driver/native/shapes.hpp"
#include "rearrange/io_ranks.hpp"
#include "simulate/stage_use.hpp"

namespace shoal {

namespace {

std::int64_t bytes_of(const NodeRuns& runs) {
  return runs.runs <= k_cost_model.most_runs_of_node
             ? static_cast<std::int64_t>(runs.boxes.capacity() * sizeof(Box))
             : 0;
}

}  // namespace

OwnedPart part_of_rank(const std::vector<RankMessage>& runs, const SimulatedField& field,
                       const MapShape& shape, int rank) {
  OwnedPart part = ownership_of_part(runs, volume(shape.mapped), field.ranks, rank);
  if (part.repeated >= 0)
    throw Error(Code::overlap, "ranks {} and {} both own the cell with index {}", part.rank_a, part.rank_b,
                part.repeated);
  return part;
}

SimulatedStrategy::SimulatedStrategy(const SimulationRequest& request,
                                     const std::function<NodeShare(int node)>& share_of)
    : request_(request), field_(request.field), first_(field_.first_of_nodes()) {
  counts_.counted = false;
  if (request.options.machine) model_.figures = &*request.options.machine;
  if (request.native)
    choose(share_of);
  else
    chosen_ = {true, "drivers of other libraries are handed even boxes of such fields by I/O ranks"};
}

int SimulatedStrategy::node_of(int rank) const {
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), rank) - first_.begin()) - 1;
}

void SimulatedStrategy::choose(const std::function<NodeShare(int node)>& share_of) {
  const RearrangeOptions& options = request_.options.rearranging;
  const JobFacts facts{field_.nodes, false, {}, false};
  Strategy strategy = choose_strategy(options, facts);
  if (strategy.rearranging == Rearranging::by_cost) {
    field_.is_map() ? count_map() : count_tiles(share_of);
    strategy = choose_strategy(options, facts, cells_, model_);
    counts_.counted = true;
    if (options.rearranger != RearrangerKind::subset) count_boxes();
  } else if (strategy.rearranging == Rearranging::never && field_.is_map()) {
    collect_runs();  // that nobody counts
  }
  if (model_.figures != nullptr) count_storers(share_of);
  chosen_ = choose_field_strategy(strategy, counts_, model_);
}

void SimulatedStrategy::count_storers(const std::function<NodeShare(int node)>& share_of) {
  counts_.nodes = field_.nodes;
  counts_.field_bytes = static_cast<double>(volume(field_.global)) * static_cast<double>(field_.size);
  const int ranks = field_.first_of_node(1) - field_.first_of_node(0);
  if (!field_.is_map()) {
    const NodeShare share = share_of(0);
    if (stores_past_stage(request_, share)) {
      counts_.writers_of_node = ranks;
      counts_.rank_run = static_cast<double>(share.shortest_run) * static_cast<double>(field_.size);
      return;
    }
  }
  const StageShape shape = stage_of(request_, 0);
  counts_.writers_of_node = shape.writers;
  counts_.share_bytes = static_cast<double>(shape.slot_bytes / shape.writers);
}

void SimulatedStrategy::count_boxes() {
  const auto boxes = static_cast<int>(simulated_io_ranks(field_, request_.options).size());
  const SimulatedBoxes cut = simulated_boxes(field_, shape_, request_.options, false);
  counts_.io_ranks = EvenPartition(cut.region, boxes, cut.rules()).used();
  counts_.io_nodes =
      sets_io_ranks(request_.options.rearranging) ? 0 : request_.options.rearranging.most_io_nodes;
  counts_.box_runs = runs_of_boxes(cut.region, boxes, cut.rules(), cut.chunk, field_.size);
}

std::string SimulatedStrategy::why() const {
  const bool subset = request_.options.rearranging.rearranger == RearrangerKind::subset;
  if (!counts_.counted) {
    if (rearrange()) return setting();
    return subset ? setting_that_keeps(request_.options.rearranging) : "there is one node";
  }
  const auto text = [](double n) { return std::to_string(static_cast<std::int64_t>(n)); };
  const std::string own = fmt::format("{} runs of {}", text(counts_.runs),
                                      bytes_text(counts_.runs > 0 ? counts_.bytes / counts_.runs : 0));
  const std::string first = setting().empty() ? "" : setting() + "; ";
  if (subset) return fmt::format("{}groups store {}", first, own);
  return fmt::format("{}nodes {}store {}; {} I/O ranks {}store {} runs of {}", first,
                     rearrange() ? "would " : "", own, text(counts_.io_ranks), rearrange() ? "" : "would ",
                     text(counts_.box_runs), bytes_text(counts_.bytes / counts_.box_runs));
}

void SimulatedStrategy::count_tiles(const std::function<NodeShare(int node)>& share_of) {
  const Box region = Box::whole(field_.global);
  for (int node = 0; node < field_.nodes; ++node) {
    const RunCount count = runs_in_file(share_of(node).store, region,
                                        field_.chunk.empty() ? field_.global : field_.chunk, field_.size);
    counts_.runs += static_cast<double>(count.runs);
    counts_.bytes += static_cast<double>(count.bytes);
  }
}

// Cells go as lists to who owns a part of all cells and finds what nobody has; then each node's ranks know
// their runs.
void SimulatedStrategy::collect_runs() {
  const MappedField mapped(field_);
  shape_ = mapped.shape();
  whole_ = tail(field_.global, shape_.uncut_dims);
  const std::int64_t all = volume(shape_.mapped);
  const auto add_to = [](std::vector<CellRun>& runs) {
    return [&runs](const IndexMap::Run& run) { runs.push_back({run.global, run.global + run.length}); };
  };
  Numbered<std::vector<RankMessage>> inbox(field_.ranks);
  map_runs_ = Numbered<Runs>(field_.nodes);
  rank_costs_ = Numbered<Cost>(field_.ranks);
  for (int r = 0; r < field_.ranks; ++r) {
    Cost& cost = rank_costs_[r];
    const ResourceProbe probe(request_.meter);
    const IndexMap map(mapped.cells_of(r), all);
    auto messages = runs_by_part(map, all, field_.ranks);
    cost.add(probe, k_gathered_bytes * field_.ranks);
    cost.kept = map.bytes();
    for (auto& message : messages)
      inbox[message.rank].push_back({r, std::move(message.bytes)});
    map.for_each_run(0, all, add_to(map_runs_[node_of(r)].owned));
  }
  for (int r = 0; r < field_.ranks; ++r) {
    const auto runs = std::move(inbox[r]);
    Cost& cost = rank_costs_[r];
    const ResourceProbe probe(request_.meter);
    const OwnedPart part = part_of_rank(runs, field_, shape_, r);
    cost.add(probe, cost.kept + k_gathered_bytes * field_.ranks);
    cost.kept += part.unowned.bytes();
    part.unowned.for_each_run(0, all, add_to(map_runs_[node_of(r)].unowned));
  }
}

std::vector<CellRun> SimulatedStrategy::all_runs(int node) const {
  const Runs& runs = map_runs_[node];
  std::vector<CellRun> all = runs.owned;
  all.insert(all.end(), runs.unowned.begin(), runs.unowned.end());
  return all;
}

void SimulatedStrategy::count_map() {
  collect_runs();
  const auto outer_dims = static_cast<double>(volume(field_.global)) /
                          static_cast<double>(volume(shape_.mapped) * volume(whole_));
  node_costs_ = Numbered<Cost>(field_.nodes);
  for (int node = 0; node < field_.nodes; ++node) {
    Cost& cost = node_costs_[node];
    const auto counted = [&](std::vector<CellRun> cells) {
      const ResourceProbe probe(request_.meter);
      const NodeRuns runs = runs_together(std::move(cells), shape_.mapped, whole_);
      cost.add(probe, cost.kept);
      cost.kept += bytes_of(runs);
      return std::pair(runs.runs, runs.cells);
    };
    const auto [runs, cells] = counted(all_runs(node));
    const auto fetched = counted(map_runs_[node].owned).first;
    cells_.most_runs = std::max({cells_.most_runs, runs, fetched});
    counts_.runs += static_cast<double>(runs) * outer_dims;
    counts_.bytes +=
        static_cast<double>(cells * volume(whole_)) * static_cast<double>(field_.size) * outer_dims;
  }
}

Cost SimulatedStrategy::cost_of_rank(int rank) const {
  return rank_costs_.empty() ? Cost{} : rank_costs_[rank];
}

Cost SimulatedStrategy::cost_of_node(int node) const {
  return node_costs_.empty() ? Cost{} : node_costs_[node];
}

std::vector<Box> SimulatedStrategy::boxes_of(int node) const {
  return runs_together(all_runs(node), shape_.mapped, whole_).boxes;
}

}  // namespace shoal
