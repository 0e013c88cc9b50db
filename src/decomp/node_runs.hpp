// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "decomp/decomposition.hpp"

namespace shoal {

/// What the ranks of a node have of a map, all together: cells that follow each other make a run, whichever
/// of the ranks has them. The same on all ranks of the node.
struct NodeRuns {
  std::int64_t runs = 0, cells = 0;  ///< in the mapped dimensions
  std::vector<Box> boxes;            ///< the cells, in the dimensions of the map; none if there were too many
};

/// Cells first .. end - 1.
struct CellRun {
  std::int64_t first = 0, end = 0;
};
/// What runs in any order, which may overlap, are together.
NodeRuns runs_together(std::vector<CellRun> runs, const Dims& mapped_shape, const Dims& whole_shape);

/// unowned: with those of the cells that nobody owns which are given to ranks of the node. most_runs: more
/// are only counted. Collective over the node.
NodeRuns runs_of_node(const Comm& node, const Decomposition& map, bool unowned, std::int64_t most_runs);

}  // namespace shoal
