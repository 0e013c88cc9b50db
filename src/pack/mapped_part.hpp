// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/box.hpp"
#include "decomp/index_map.hpp"

namespace shoal {

/// Some of the cells that a map counts, as positions 0, 1, ...: rows of cells that follow each other.
struct MappedRows {
  std::int64_t first = 0;   ///< cell of position 0
  std::int64_t length = 0;  ///< of a row
  std::int64_t stride = 0;  ///< cells from row to row
  std::int64_t rows = 0;

  /// The cells of a box of the mapped shape, in row-major order. All dimensions but one of it are whole.
  static MappedRows of(const Box& box, const Dims& mapped_shape);
  std::int64_t cells() const { return rows * length; }

  /// Calls visit(run, position) for what the map has of positions low .. end - 1, in order of position. A
  /// cell that comes twice in the map is visited twice.
  template <class Visit>
  void for_each_run(const IndexMap& map, std::int64_t low, std::int64_t end, Visit&& visit) const {
    for (std::int64_t row = length == 0 ? rows : low / length; row < rows && row * length < end; ++row) {
      const std::int64_t base = first + row * stride;
      const std::int64_t from = std::max<std::int64_t>(low - row * length, 0);
      const std::int64_t to = std::min(end - row * length, length);
      map.for_each_run(base + from, base + to,
                       [&](const IndexMap::Run& run) { visit(run, row * length + run.global - base); });
    }
  }
  /// The same, and visit(run, position, which) also gets how many other cells were visited before: a cell
  /// that comes twice has the same number both times.
  template <class Visit>
  void for_each_cell(const IndexMap& map, std::int64_t low, std::int64_t end, Visit&& visit) const {
    std::int64_t cells = 0;
    std::int64_t next = low;
    for_each_run(map, low, end, [&](const IndexMap::Run& run, std::int64_t position) {
      const std::int64_t again = std::max<std::int64_t>(next - position, 0);
      visit(run, position, cells - again);
      cells += run.length - again;
      next = std::max(next, position + run.length);
    });
  }
};

/// A part of the region of a transfer whose decomposition is a map: positions low .. end - 1 of the rows, at
/// some indices of the dimensions before those that are mapped (outer), and some of those behind (inner).
struct MappedPart {
  Box outer, inner;
  MappedRows rows;
  std::int64_t low = 0, end = 0;

  std::int64_t values_per_cell() const { return outer.cells() * inner.cells(); }
};

}  // namespace shoal
