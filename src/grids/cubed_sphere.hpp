// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace shoal::grids {

/// The columns of one rank of a model on a cubed sphere, ascending. Nine columns are numbered together, those
/// of an element (the last has what is left); elements are numbered row by row, face after face. Each rank
/// has an even part of a Hilbert curve over the elements of each face, so its columns lie scattered over a
/// file.
using Columns = std::vector<std::int64_t>;

/// The curve over all elements.
class SphereCurve {
 public:
  explicit SphereCurve(std::int64_t columns);
  Columns columns_of(int rank, int ranks) const;

 private:
  std::int64_t columns_;
  std::vector<std::int64_t> order_;  ///< of elements
};

/// The same, without the curve for who wants but one rank's.
std::shared_ptr<const Columns> sphere_columns(std::int64_t columns, int rank, int ranks);

}  // namespace shoal::grids
