// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/box.hpp"

namespace shoal {

/// Where parts of a region had best begin, and how small they had best be.
struct PartRules {
  Dims align;  ///< multiples of cells of the variable, one a dimension; empty: anywhere
  std::int64_t least_cells = 0;
};

/// A region cut into boxes, as even as can be, along one dimension. Nothing is kept for each box.
class EvenPartition {
 public:
  EvenPartition() = default;
  /// Along the slowest dimension that gives each part something, with borders as the rules say where that can
  /// be; if there is none, along the longest, and some parts are empty. Where even parts would be too small,
  /// fewer have cells, as far from each other as they can be.
  EvenPartition(const Box& region, int parts, const PartRules& rules);

  const Box& region() const { return region_; }
  int parts() const { return parts_; }
  int used() const { return used_; }           ///< so many may have cells
  int dim() const { return dim_; }             ///< that is cut
  std::int64_t step() const { return step_; }  ///< borders of parts are at multiples of this
  Box part(int i) const;
  /// The part that has the cells with this index of dim().
  int part_with(std::int64_t index) const;
  /// Parts of all sizes that there are, few of each.
  std::vector<int> distinct_sizes() const;

 private:
  std::int64_t units() const;
  int number_of(int used) const { return static_cast<int>(std::int64_t{used} * parts_ / used_); }
  Box region_;
  int parts_ = 1;
  int used_ = 1;
  int dim_ = 0;
  std::int64_t step_ = 1;
};

/// A box as pieces of at most max_cells (or one cell), each of which is without gaps in the box, in row-major
/// order. Nothing is kept for each piece.
class Pieces {
 public:
  Pieces(const Box& box, std::int64_t max_cells);
  std::int64_t count() const { return count_; }
  /// Empty if there is no such piece.
  Box piece(std::int64_t i) const;

 private:
  Box box_;
  int dim_ = 0;            // the slowest that is not of count 1 in a piece
  std::int64_t step_ = 1;  // its most cells of it
  std::int64_t count_ = 0;
};

}  // namespace shoal
