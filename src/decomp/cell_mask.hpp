// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/box.hpp"
#include "base/numbered.hpp"

namespace shoal {

/// Which of one rank's cells are land: cells that it need not compute, whose values nobody looks at. Of a
/// block, the cells of the tile in some of its last dimensions, row-major; of a map, its local cells. One bit
/// a cell.
class CellMask {
 public:
  CellMask() = default;
  /// All water.
  explicit CellMask(const Dims& shape) : shape_(shape), masked_((volume(shape) + 63) / 64) {}

  void set_masked(std::int64_t cell) {
    std::uint64_t& word = masked_[cell >> 6];
    masked_cells_ += (word >> (cell & 63) & 1) == 0 ? 1 : 0;
    word |= std::uint64_t{1} << (cell & 63);
  }

  const Dims& shape() const { return shape_; }
  std::int64_t cells() const { return volume(shape_); }
  std::int64_t masked_cells() const { return masked_cells_; }
  bool is_masked(std::int64_t cell) const { return (masked_[cell >> 6] >> (cell & 63) & 1) != 0; }

  /// Calls visit(first, n, land) for the cells first .. first + n - 1, as long as they are alike.
  template <class Visit>
  void for_each_run(std::int64_t first, std::int64_t cells, Visit&& visit) const {
    for (const std::int64_t end = first + cells; first < end;) {
      const bool masked = is_masked(first);
      const std::int64_t next = std::min(change_after(first, end), end);
      visit(first, next - first, masked);
      first = next;
    }
  }

 private:
  /// The first cell behind this one that is not like it, or one not before end.
  std::int64_t change_after(std::int64_t cell, std::int64_t end) const {
    const std::uint64_t flip = is_masked(cell) ? ~std::uint64_t{0} : 0;
    std::uint64_t differ = (masked_[cell >> 6] ^ flip) & (~std::uint64_t{0} << (cell & 63));
    std::int64_t base = cell & ~std::int64_t{63};
    while (differ == 0) {
      base += 64;
      if (base >= end) return end;
      differ = masked_[base >> 6] ^ flip;
    }
    return base + std::countr_zero(differ);
  }

  Dims shape_;
  Numbered<std::uint64_t> masked_;
  std::int64_t masked_cells_ = 0;
};

}  // namespace shoal
