// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "decomp/decomposition.hpp"
#include "format/schema.hpp"

namespace shoal {

/// A dimension that has only some cells of a grid (CF: compression by gathering). A list, the variable of its
/// name, holds the index of each in the grid, from 0, row-major; its attribute compress names the dimensions
/// of the grid.
struct Gathering {
  int dim = -1;   ///< index in the schema
  int list = -1;  ///< the variable
  std::vector<int> grid;
  Dims shape;      ///< of the grid
  Status problem;  ///< why the list cannot be used
};

/// All of them that are in a file.
std::vector<Gathering> gatherings_of(const Schema& schema);

/// How a variable with a gathered dimension is moved with a decomposition of the grid.
struct OnGrid {
  Gathering gathering;
  int place = 0;       ///< of the gathered dimension in those of the variable
  int inner_dims = 0;  ///< dimensions behind it, which are not cut
};

/// Nothing: the decomposition fits the variable as it is, or has nothing to do with its grid. Error:
/// not_supported where it has, but cuts other dimensions; what is wrong with the list.
std::optional<OnGrid> on_grid(const Schema& schema, const std::vector<Gathering>& gatherings, int variable,
                              const Decomposition& decomposition);

/// A schema with this one variable, in the dimensions of the grid.
Schema grid_schema(const Schema& schema, int variable, const OnGrid& how);

/// Where a gathered dimension of the grid `dims` (names) can be made from a decomposition: its length.
/// Error(invalid_argument, not_found, not_supported).
std::int64_t check_gathered(const Schema& schema, const std::vector<int>& dims,
                            const Decomposition* decomposition);

}  // namespace shoal
