// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/box.hpp"
#include "pack/pieces.hpp"

namespace shoal {

/// Cells of a variable: `count` along each dimension, from `start` on, `stride` apart.
struct StridedBox {
  Dims start, count, stride;

  int rank() const { return count.size(); }
  std::int64_t cells() const { return volume(count); }
  bool empty() const { return cells() == 0; }
  bool is_dense() const {
    for (int d = 0; d < count.size(); ++d)
      if (skips(d)) return false;
    return true;
  }
  bool skips(int d) const { return stride[d] > 1 && count[d] > 1; }
  /// The box of the variable, where there are no strides.
  Box dense() const { return {start, count}; }
  /// The place behind the last one along a dimension; not of an empty box.
  std::int64_t end(int d) const { return start[d] + (count[d] - 1) * stride[d] + 1; }
  /// The box from its first cell to its last one; no cells: an empty one.
  Box around() const {
    Box box(start, count);
    if (empty()) return {Dims(rank()), Dims(rank())};
    for (int d = 0; d < rank(); ++d)
      box.count[d] = (count[d] - 1) * stride[d] + 1;
    return box;
  }
  /// In the dimensions from d on, or before d.
  StridedBox from(int d) const {
    const int n = rank() - d;
    return {tail(start, n), tail(count, n), tail(stride, n)};
  }
  StridedBox before(int d) const {
    const auto front = [&](const Dims& dims) { return Dims(std::span(dims.begin(), dims.begin() + d)); };
    return {front(start), front(count), front(stride)};
  }
  friend bool operator==(const StridedBox&, const StridedBox&) = default;
  /// Of one of its own cells, in the variable.
  Dims index_of(const Dims& cell) const {
    Dims index = start;
    for (int d = 0; d < cell.size(); ++d)
      index[d] += cell[d] * stride[d];
    return index;
  }
};

/// A part of a StridedBox.
struct StridedPart {
  Box cells;        ///< in the box's own indices
  Box in_variable;  ///< the smallest box of the variable that holds them
  Dims steps;       ///< from one to the next, in cells of that box
};

/// Visits a box with strides in parts, each of which lies in a box of the variable of so many cells at most.
/// sieves: that may have cells in between, along one dimension, which nobody asked for; then parts are fewer.
template <class Visit>
void for_each_strided_part(const StridedBox& box, std::int64_t most_cells, bool sieves, Visit&& visit) {
  constexpr std::int64_t k_longest_step = 64;  // beyond that, cells are visited one by one
  const int n = box.count.size();
  int sieved = -1;
  for (int d = 0; sieves && d < n; ++d)
    if (box.skips(d)) sieved = d;
  if (sieved >= 0 && box.stride[sieved] > k_longest_step) sieved = -1;
  Box one_by_one(Dims(n), Dims(n, 1));
  Box rest(Dims(n), box.count);
  for (int d = 0; d < n; ++d)
    if (box.skips(d) && d != sieved) {
      one_by_one.count[d] = box.count[d];
      rest.count[d] = 1;
    }
  const std::int64_t most = most_cells / (sieved < 0 ? 1 : box.stride[sieved]);
  if (box.empty()) return;
  for_each_index(one_by_one, [&](const Dims& index) {
    rest.first = index;
    for_each_part(rest, std::max<std::int64_t>(most, 1), [&](const Box& cells) {
      StridedPart part{cells, Box(box.index_of(cells.first), cells.count), Dims(n, 1)};
      if (sieved >= 0) {
        part.in_variable.count[sieved] = (cells.count[sieved] - 1) * box.stride[sieved] + 1;
        part.steps[sieved] = box.stride[sieved];
      }
      visit(part);
    });
  });
}

}  // namespace shoal
