// SPDX-License-Identifier: BSD-3-Clause
// As NativeDriver does it (native_strategy.cpp).
#include "simulate/cost_model.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "driver/io_ranks.hpp"
#include "driver/native/shapes.hpp"

namespace shoal {

namespace {

std::int64_t bytes_of(const NodeRuns& runs) {
  return runs.runs <= k_most_boxes ? static_cast<std::int64_t>(runs.boxes.capacity() * sizeof(Box)) : 0;
}

}  // namespace

OwnedPart part_of_rank(const std::vector<RankMessage>& runs, const SimulatedField& field,
                       const MapShape& shape, int rank) {
  OwnedPart part = ownership_of_part(runs, volume(shape.mapped), field.ranks, rank);
  if (part.repeated >= 0)
    throw Error(Code::overlap, "ranks " + std::to_string(part.rank_a) + " and " +
                                   std::to_string(part.rank_b) + " both own the cell with index " +
                                   std::to_string(part.repeated));
  return part;
}

CostModel::CostModel(const SimulationWish& wish, const std::function<NodeShare(int node)>& share_of)
    : wish_(wish), field_(wish.field), first_(field_.first_of_nodes()) {
  rearranges = always();
  if (!rearranges) estimate_cost(share_of);
}

int CostModel::node_of(int rank) const {
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), rank) - first_.begin()) - 1;
}

bool CostModel::subset() const {
  return wish_.options.rearranger == RearrangerKind::subset;
}

bool CostModel::always() {
  const DriverOptions& options = wish_.options;
  if (!wish_.native) {
    why = "drivers of other libraries are handed even boxes of such fields by I/O ranks";
    return true;
  }
  if (options.rearrange == Rearrange::off && sets_io_ranks(options))
    throw Error(
        Code::setting,
        "rearrange=off and settings of I/O ranks contradict each other, as cells go to these ranks by "
        "rearranging; leave one of them out");
  if (options.rearrange == Rearrange::off && options.rearranger == RearrangerKind::box)
    throw Error(Code::setting,
                "rearranger=box and rearrange=off contradict each other; leave one of them out");
  if (options.rearranger == RearrangerKind::box) why = "rearranger=box";
  if (options.rearrange == Rearrange::on) why = "rearrange=on";
  if (sets_io_ranks(options)) why = "I/O ranks are set";
  return !why.empty();
}

void CostModel::estimate_cost(const std::function<NodeShare(int node)>& share_of) {
  if (field_.nodes == 1) {
    if (field_.is_map()) collect_runs();  // that nobody counts
    why = subset() ? "rearranger=subset" : "there is one node";
    return;
  }
  field_.is_map() ? count_map() : count_tiles(share_of);
  const bool off = wish_.options.rearrange == Rearrange::off;
  if (off && most_runs_ > k_most_boxes)
    throw Error(Code::setting, std::string(subset() ? "rearranger=subset" : "rearrange=off") +
                                   ", but the cells of a map that a " + (subset() ? "group" : "node") +
                                   " has are " + std::to_string(most_runs_) + " runs, and it can store " +
                                   std::to_string(k_most_boxes) + " without rearranging");
  const auto text = [](double n) { return std::to_string(static_cast<std::int64_t>(n)); };
  const std::string own = text(runs_) + " runs of " + bytes_text(runs_ > 0 ? bytes_ / runs_ : 0);
  if (subset()) {
    why = "rearranger=subset; groups store " + own;
    return;
  }
  const auto boxes = static_cast<int>(simulated_io_ranks(field_, wish_.options).size());
  const SimulatedBoxes cut = simulated_boxes(field_, shape_, wish_.options, false);
  const double in_boxes = runs_of_boxes(cut.region, boxes, cut.alignment, cut.chunk, field_.size);
  rearranges = !off && (most_runs_ > k_most_boxes || rearranging_is_cheaper(runs_, bytes_, in_boxes));
  why = std::string(off ? "rearrange=off; " : "") + "nodes " + (rearranges ? "would " : "") + "store " + own +
        "; " + text(boxes) + " I/O ranks " + (rearranges ? "" : "would ") + "store " + text(in_boxes) +
        " runs of " + bytes_text(bytes_ / in_boxes);
}

void CostModel::count_tiles(const std::function<NodeShare(int node)>& share_of) {
  const Box region = Box::whole(field_.global);
  for (int node = 0; node < field_.nodes; ++node) {
    const RunCount count = runs_in_file(share_of(node).store, region,
                                        field_.chunk.empty() ? field_.global : field_.chunk, field_.size);
    runs_ += static_cast<double>(count.runs);
    bytes_ += static_cast<double>(count.bytes);
  }
}

// Cells go as lists to who owns a part of all cells and finds what nobody has; then each node's ranks know
// their runs.
void CostModel::collect_runs() {
  const MappedField mapped(field_);
  shape_ = mapped.shape();
  whole_ = tail(field_.global, shape_.uncut_dims);
  const std::int64_t all = volume(shape_.mapped);
  const auto add_to = [](std::vector<CellRun>& runs) {
    return [&runs](const IndexMap::Run& run) { runs.push_back({run.global, run.global + run.length}); };
  };
  std::vector<std::vector<RankMessage>> inboxes(static_cast<std::size_t>(field_.ranks));
  map_runs_.resize(static_cast<std::size_t>(field_.nodes));
  rank_costs_.resize(static_cast<std::size_t>(field_.ranks));
  for (int r = 0; r < field_.ranks; ++r) {
    Cost& cost = rank_costs_[static_cast<std::size_t>(r)];
    const ResourceProbe probe(wish_.meter);
    const IndexMap map(mapped.cells_of(r), all);
    auto messages = runs_by_part(map, all, field_.ranks);
    cost.add(probe, k_gathered_bytes * field_.ranks);
    cost.kept = map.bytes();
    for (auto& message : messages)
      inboxes[static_cast<std::size_t>(message.rank)].push_back({r, std::move(message.bytes)});
    map.for_each_run(0, all, add_to(map_runs_[static_cast<std::size_t>(node_of(r))].owned));
  }
  for (int r = 0; r < field_.ranks; ++r) {
    const auto runs = std::move(inboxes[static_cast<std::size_t>(r)]);
    Cost& cost = rank_costs_[static_cast<std::size_t>(r)];
    const ResourceProbe probe(wish_.meter);
    const OwnedPart part = part_of_rank(runs, field_, shape_, r);
    cost.add(probe, cost.kept + k_gathered_bytes * field_.ranks);
    cost.kept += part.unowned.bytes();
    part.unowned.for_each_run(0, all, add_to(map_runs_[static_cast<std::size_t>(node_of(r))].unowned));
  }
}

std::vector<CellRun> CostModel::all_runs(int node) const {
  const Runs& runs = map_runs_[static_cast<std::size_t>(node)];
  std::vector<CellRun> all = runs.owned;
  all.insert(all.end(), runs.unowned.begin(), runs.unowned.end());
  return all;
}

void CostModel::count_map() {
  collect_runs();
  const auto outer_dims = static_cast<double>(volume(field_.global)) /
                          static_cast<double>(volume(shape_.mapped) * volume(whole_));
  node_costs_.resize(static_cast<std::size_t>(field_.nodes));
  for (int node = 0; node < field_.nodes; ++node) {
    Cost& cost = node_costs_[static_cast<std::size_t>(node)];
    const auto counted = [&](std::vector<CellRun> cells) {
      const ResourceProbe probe(wish_.meter);
      const NodeRuns runs = runs_together(std::move(cells), shape_.mapped, whole_);
      cost.add(probe, cost.kept);
      cost.kept += bytes_of(runs);
      return std::pair(runs.runs, runs.cells);
    };
    const auto [runs, cells] = counted(all_runs(node));
    const auto fetched = counted(map_runs_[static_cast<std::size_t>(node)].owned).first;
    most_runs_ = std::max({most_runs_, runs, fetched});
    runs_ += static_cast<double>(runs) * outer_dims;
    bytes_ += static_cast<double>(cells * volume(whole_)) * static_cast<double>(field_.size) * outer_dims;
  }
}

Cost CostModel::cost_of_rank(int rank) const {
  return rank_costs_.empty() ? Cost{} : rank_costs_[static_cast<std::size_t>(rank)];
}

Cost CostModel::cost_of_node(int node) const {
  return node_costs_.empty() ? Cost{} : node_costs_[static_cast<std::size_t>(node)];
}

std::vector<Box> CostModel::boxes_of(int node) const {
  return runs_together(all_runs(node), shape_.mapped, whole_).boxes;
}

}  // namespace shoal
