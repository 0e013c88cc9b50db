// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "decomp/node_runs.hpp"
#include "decomp/node_share.hpp"
#include "decomp/ownership.hpp"
#include "simulate/resource_probe.hpp"

namespace shoal {

/// Ownership of one rank's part, from what came to it. Error(overlap): two ranks own a cell.
OwnedPart part_of_rank(const std::vector<RankMessage>& runs, const SimulatedField& field,
                       const MapShape& shape, int rank);

/// Which way the field goes, and what finding that out took.
class CostModel {
 public:
  /// share_of: of a node, if the field is cut into tiles.
  CostModel(const SimulationWish& wish, const std::function<NodeShare(int node)>& share_of);

  bool rearranges = false;
  std::string why;
  /// Of a map, where they were counted: of a rank, and of each rank of a node.
  Cost cost_of_rank(int rank) const;
  Cost cost_of_node(int node) const;
  /// What a node stores of a map, in its dimensions.
  std::vector<Box> boxes_of(int node) const;

 private:
  bool always();
  void estimate_cost(const std::function<NodeShare(int node)>& share_of);
  void count_tiles(const std::function<NodeShare(int node)>& share_of);
  void count_map();
  void collect_runs();
  std::vector<CellRun> all_runs(int node) const;
  int node_of(int rank) const;
  bool subset() const;

  const SimulationWish& wish_;
  const SimulatedField& field_;
  std::vector<int> first_;       // of nodes
  double runs_ = 0, bytes_ = 0;  // of all nodes, in the file
  std::int64_t most_runs_ = 0;   // of a node, in the mapped dimensions
  MapShape shape_;
  Dims whole_;
  struct Runs {
    std::vector<CellRun> owned, unowned;
  };
  std::vector<Runs> map_runs_;  // of each node
  std::vector<Cost> rank_costs_, node_costs_;
};

}  // namespace shoal
