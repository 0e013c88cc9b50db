// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "comm/nodes.hpp"
#include "decomp/decomposition.hpp"

namespace shoal {

/// What the ranks of one node move together, in the dimensions of a decomposition. The same on all ranks of
/// the node.
struct NodeShare {
  std::uint64_t number = 0;  ///< given by who keeps it, the same on all ranks; distinguishes shares
  std::vector<Box>
      store;  ///< disjoint: their tiles and the unowned cells given to this node, merged into few boxes
  std::vector<Box> unowned;  ///< the unowned cells given to this node
  std::vector<Box> owned;    ///< if there are unowned ones: the tiles alone, merged
  std::int64_t shortest_run =
      0;  ///< of cells that follow each other in the global grid, in any of their tiles
  std::int64_t runs = 0, cells = 0;  ///< of what is to store: cells that follow each other in the global grid
  std::vector<Box>
      fetch;  ///< boxes that hold their tiles with halos, inside of the global shape; may overlap

  /// What to store, without the unowned cells if these stay as they are in the file.
  const std::vector<Box>& to_store(bool keeps_unowned) const {
    return keeps_unowned && !unowned.empty() ? owned : store;
  }
};

/// Of a map: everything to store and fetch, nothing counted (runs_of_node knows more). Collective over comm,
/// whose nodes are given.
NodeShare share_of_node(const Comm& comm, const Nodes& nodes, const Decomposition& decomposition);

// What ranks do for it by themselves.

/// How many cells of a box follow each other in the row-major order of a whole of this shape.
std::int64_t run_of(const Box& box, const Dims& whole);

/// Rank 0: to each node some of the boxes that nobody owns, in turn.
std::vector<std::vector<Box>> dealt_to_nodes(const std::vector<Box>& unowned, int nodes);
/// From the tiles of a node's ranks, these with halos inside of the global shape, and what nobody owns.
NodeShare share_of_tiles(const Dims& global, std::vector<Box> tiles, std::vector<Box> with_halos,
                         std::vector<Box> unowned);

}  // namespace shoal
