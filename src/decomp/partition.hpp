// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "base/box.hpp"

namespace shoal {

struct Tile {
  Box box;
  int rank = 0;
};

/// What tiles do to a global shape: the first overlap found, and disjoint boxes of the cells in no tile.
struct Partition {
  struct Overlap {
    int rank_a = 0;
    int rank_b = 0;
    Box box;
  };
  std::optional<Overlap> overlap;
  std::vector<Box> unowned;
};

/// Cuts the global box recursively along tile borders until each part has no tile or is one: O(n log n) for
/// tiles that form a grid. Empty tiles count for nothing.
Partition partition(const Dims& global, std::vector<Tile> tiles);

/// Disjoint boxes of the cells of `whole` that are in none of the boxes, which may overlap.
std::vector<Box> remainder(const Box& whole, const std::vector<Box>& boxes);

/// Fewer, larger, disjoint boxes of the same cells: neighbours that form a box together are merged, dimension
/// by dimension. One box if they fill their bounding box.
std::vector<Box> merged(std::vector<Box> boxes);

}  // namespace shoal
