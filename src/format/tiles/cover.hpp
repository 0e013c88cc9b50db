// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/box.hpp"

namespace shoal::tiles {

/// How boxes cover a shape.
struct Cover {
  std::optional<std::pair<int, int>> overlap;  ///< two boxes that hold a cell in common
  std::vector<Box> gaps;                       ///< some of the boxes of cells that none holds
  std::int64_t gap_cells = 0;                  ///< all such cells
};

/// At most max_gaps gaps are reported. Empty boxes count for nothing. Memory grows with the number of places
/// where boxes begin or end, not with the shape.
Cover cover_of(const std::vector<Box>& boxes, const Dims& shape, std::size_t max_gaps);

}  // namespace shoal::tiles
