// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "pack/index_set.hpp"
#include "pack/map_cells.hpp"
#include "rearrange/even_partition.hpp"

namespace shoal {

// What one rank can say alone of a field of a map that is cut into even boxes: which of its cells lie in
// which of them. Nothing here needs other ranks, takes memory for boxes that this rank has no cells of, or
// looks at them.

/// The shape of a field as its map sees it: dimensions that the map counts, and how many whole ones follow.
struct MapShape {
  Dims mapped;
  int uncut_dims = 0;

  static MapShape of(const Decomposition& decomposition) {
    return {decomposition.mapped_shape(), decomposition.uncut_dims()};
  }
  int rank() const { return mapped.size() + uncut_dims; }
};

/// Which of the mapped dimensions is cut; -1: none of them, and every box has all mapped cells.
int mapped_dim_of(const EvenPartition& cut, const MapShape& shape);
/// The mapped cells of a box.
MappedRows rows_of_box(const EvenPartition& cut, const MapShape& shape, int box);

/// Where a rank's cells lie in a box.
struct OwnCells {
  int box = 0;
  IndexSet where;
};
/// Of the boxes of the cut that the map has cells in, ascending. If none of the mapped dimensions is cut, one
/// element that stands for all boxes.
std::vector<OwnCells> cells_of_boxes(const IndexMap& map, const MapShape& shape, const EvenPartition& cut);

/// The same without the places.
struct BoxCells {
  int box = 0;
  std::int64_t cells = 0;
};

/// A piece of a box, as those see it that have cells of it.
struct BoxShare {
  Box piece;
  MappedPart part;

  /// Has the part all mapped cells of the box?
  bool whole_box() const { return part.end - part.low == part.rows.cells(); }
};
/// The piece of a box, in pieces of max_cells, that is moved in a round; empty if there is none.
BoxShare share_of_box(const EvenPartition& cut, const MapShape& shape, int box, std::int64_t max_cells,
                      std::int64_t round);
/// Pieces of the box that has most of them.
std::int64_t rounds_of(const EvenPartition& cut, std::int64_t max_cells);
/// The map's cells of a share, each counted once, of which the box has own_cells.
std::int64_t cells_of_share(const IndexMap& map, const BoxShare& share, std::int64_t own_cells);

}  // namespace shoal
