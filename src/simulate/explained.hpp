// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "driver/native/shapes.hpp"
#include "rearrange/strategy.hpp"
#include "simulate/simulation.hpp"

namespace shoal {

/// What one write of a field does, of all ranks; no plan of a rank is built.
struct Explained {
  bool rearranged = false;  ///< cells go to I/O ranks, which store even boxes
  std::string setting;      ///< what decided it without costs; empty: the counts alone
  FieldCounts counts;       ///< counted: several nodes, and no setting decides
  CostEstimate cost;        ///< times, as far as figures of the machine know them
  int groups_of_node = 1;   ///< with rearranger=subset, of the node with most

  /// What stays on a node, or in the group of an I/O rank.
  struct Node {
    int first = 0, count = 0;  ///< its ranks
    int io_rank = -1;
    bool past_stage = false;                     ///< each rank stores its own
    std::vector<std::int64_t> slot_generations;  ///< bytes of each
    std::int64_t writes = 0;
  };
  std::vector<Node> nodes;       ///< slot generations and writes: unless rearranged
  StageShape stage;              ///< of the node, or group, that may have least, of these with most ranks
  std::int64_t share_bytes = 0;  ///< at most in one write of the stage

  struct IoBox {
    StoredBox stored;
    std::int64_t runs = 0;  ///< of the field, if it lies in one piece
  };
  std::vector<IoBox> boxes;           ///< if rearranged
  bool by_nodes = false;              ///< a node's ranks put their messages together
  std::int64_t window_bytes = 0;      ///< of shared memory of a node for that
  std::int64_t most_piece_bytes = 0;  ///< of a box, that goes at a time
};

/// Of a field cut into tiles that have all of its cells. Of other drivers than native: boxes alone.
/// Error(setting): options that cannot be. Local.
Explained explain(const SimulationRequest& request);

}  // namespace shoal
