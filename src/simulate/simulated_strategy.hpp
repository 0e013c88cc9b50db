// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/numbered.hpp"
#include "decomp/node_runs.hpp"
#include "decomp/node_share.hpp"
#include "decomp/ownership.hpp"
#include "rearrange/strategy.hpp"
#include "simulate/resource_probe.hpp"

namespace shoal {

/// Ownership of one rank's part, from what came to it. Error(overlap): two ranks own a cell.
OwnedPart part_of_rank(const std::vector<RankMessage>& runs, const SimulatedField& field,
                       const MapShape& shape, int rank);

/// The strategy of the field (rearrange/strategy.hpp), from counts of all nodes, and what finding them out
/// took.
class SimulatedStrategy {
 public:
  /// share_of: of a node, if the field is cut into tiles.
  SimulatedStrategy(const SimulationRequest& request, const std::function<NodeShare(int node)>& share_of);

  bool rearrange() const { return chosen_.rearrange; }
  /// What was decided without costs; empty: the counts alone say why.
  const std::string& setting() const { return chosen_.why; }
  const FieldCounts& counts() const { return counts_; }
  /// Times of both ways, as far as the figures of the machine know them (request.options.machine).
  CostEstimate cost() const { return estimate_cost(counts_, model_); }
  /// As text.
  std::string why() const;
  /// Of a map, where they were counted: of a rank, and of each rank of a node.
  Cost cost_of_rank(int rank) const;
  Cost cost_of_node(int node) const;
  /// What a node stores of a map, in its dimensions.
  std::vector<Box> boxes_of(int node) const;

 private:
  void count_storers(const std::function<NodeShare(int node)>& share_of);
  void choose(const std::function<NodeShare(int node)>& share_of);
  void count_tiles(const std::function<NodeShare(int node)>& share_of);
  void count_map();
  void count_boxes();
  void collect_runs();
  std::vector<CellRun> all_runs(int node) const;
  int node_of(int rank) const;

  const SimulationRequest& request_;
  const SimulatedField& field_;
  std::vector<int> first_;  // of nodes
  CostModel model_;
  FieldStrategy chosen_;
  FieldCounts counts_;
  CellCounts cells_;
  MapShape shape_;
  Dims whole_;
  struct Runs {
    std::vector<CellRun> owned, unowned;
  };
  Numbered<Runs> map_runs_;  // of each node
  Numbered<Cost> rank_costs_, node_costs_;
};

}  // namespace shoal
