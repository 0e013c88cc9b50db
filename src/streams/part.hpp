// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/array_view.hpp"
#include "comm/comm.hpp"
#include "decomp/decomposition.hpp"
#include "streams/nth.hpp"

namespace shoal::streams {

struct Axis;

/// Which cells of a dimension a file has.
struct DimChoice {
  std::string name;
  std::int64_t length = 0;  ///< of the dimension in the model
  bool whole = true;
  std::vector<std::int64_t> cells;  ///< unless whole: ascending, from 0
  std::string suffix = {};          ///< of its name in the file, which has several regions
  /// Of a dimension of cells one by one (Sites), in place of dimensions of the grid: which these are, and
  /// where the cells lie in them, row-major.
  std::vector<int> site_dims = {};
  std::vector<std::int64_t> sites = {};
  std::shared_ptr<const Axis> made = {};  ///< of levels that are interpolated to; nullptr: the model's

  bool is_of_sites() const { return !site_dims.empty(); }
  std::string name_in_file() const { return name + suffix; }
  std::int64_t chosen() const { return whole ? length : static_cast<std::int64_t>(cells.size()); }
  std::int64_t cell(std::int64_t i) const { return whole ? i : nth(cells, i); }
  friend bool operator==(const DimChoice&, const DimChoice&) = default;
};

/// Elements of 1, 2, 4 or 8 bytes that lie apart, one behind the other. Local.
void gather(const std::byte* data, std::span<const std::int64_t> offsets, std::size_t size, std::byte* to);

/// The cells of a field that a file has: chosen cells of each dimension, or of some dimensions cells one by
/// one. What a rank has of them is counted row-major, its *part cells*; of cells one by one, the first
/// dimensions, and a list of the others. Immutable.
class Part {
 public:
  /// choices: one for each dimension of the field; outer: how many of them are not the decomposition's
  /// (nullptr: all). Of cells one by one their dimension is the first behind the outer ones, and stands for
  /// its site_dims. Collective.
  Part(const Comm& comm, std::vector<DimChoice> choices, int outer,
       const std::shared_ptr<const Decomposition>& grid);

  const std::vector<DimChoice>& choices() const { return choices_; }
  int outer_dims() const { return outer_; }
  /// Which cells of the file this rank has; nullptr: all ranks have all.
  const std::shared_ptr<const Decomposition>& decomposition() const { return decomposition_; }
  /// Of this rank's part cells, as arrays with the decomposition have it.
  const Dims& local_shape() const { return local_shape_; }
  std::int64_t cells() const { return volume(local_shape_); }
  /// Is a part cell land, or a hole of a map?
  bool is_masked(std::int64_t cell) const {
    return masked_.masked_cells() > 0 && masked_.is_masked(cell / inner_ % masked_.cells());
  }
  /// Where the part cell lies along the dimensions of the file; of a hole, -1s.
  Dims index_in_file(std::int64_t cell) const;

  /// own: a view of this rank's own cells of the field (own_cells()). Calls visit(data, stride, n, cell) for
  /// runs of n part cells from `cell` on, whose elements lie `stride` bytes apart: those that are not masked,
  /// each once, ascending.
  template <class Visit>
  void for_each_run(const ArrayView& own, Visit&& visit) const;

 private:
  /// Cells first, first + step, ... of a dimension of this rank's array.
  struct Positions {
    std::int64_t first = 0, count = 0, step = 1;
  };
  /// A dimension of this rank's array: whole, or runs of cells.
  struct LocalDim {
    bool whole = true;
    std::int64_t count = 0;
    std::vector<std::int64_t> cells;
    std::vector<Positions> runs;
  };
  static LocalDim local_dim(std::int64_t extent, std::vector<std::int64_t> cells);
  void cut_block(const Comm& comm, const std::shared_ptr<const Decomposition>& grid);
  void cut_map(const Comm& comm, const std::shared_ptr<const Decomposition>& grid);
  // Cells one by one: part_of_sites.cpp.
  void cut_sites(const Comm& comm, const std::shared_ptr<const Decomposition>& grid);
  struct SiteCuts;
  void add_site_cells(const SiteCuts& cuts, const Dims& at, const Dims& own, bool is_masked,
                      std::vector<bool>& masked);
  template <class Visit>
  void for_each_site(const ArrayView& own, Visit&& visit) const;
  template <class Visit>
  void active(const std::byte* data, std::int64_t stride, std::int64_t n, std::int64_t cell,
              Visit& visit) const;
  template <class Visit>
  void rows(const ArrayView& own, int dims, Visit&& visit) const;

  std::vector<DimChoice> choices_;
  int outer_ = 0;
  std::shared_ptr<const Decomposition> decomposition_;
  std::vector<LocalDim> dims_;
  Dims local_shape_;
  Dims first_;                      // of a block: this rank's first cell of the file in each dimension
  std::vector<std::int64_t> list_;  // of a map: the cell of the file, row-major in what is mapped; or k_hole
  Dims mapped_;                     // of a map: lengths in the file of the dimensions that are mapped
  CellMask masked_;                 // no cells: none is masked
  std::int64_t inner_ = 1;          // part cells for each cell of the mask
  std::vector<Dims> own_;  // of cells one by one: where they lie in this rank's array, behind the outer ones
};

template <class Visit>
void Part::rows(const ArrayView& own, int dims, Visit&& visit) const {
  Dims at(dims);
  for (int d = 0; d < dims; ++d)
    if (nth(dims_, d).count == 0) return;
  for (;;) {
    const std::byte* data = own.data;
    for (int d = 0; d < dims; ++d) {
      const LocalDim& dim = nth(dims_, d);
      data += (dim.whole ? at[d] : nth(dim.cells, at[d])) * own.strides[d];
    }
    visit(data);
    int d = dims - 1;
    while (d >= 0 && ++at[d] == nth(dims_, d).count)
      at[d--] = 0;
    if (d < 0) return;
  }
}

template <class Visit>
void Part::active(const std::byte* data, std::int64_t stride, std::int64_t n, std::int64_t cell,
                  Visit& visit) const {
  if (masked_.masked_cells() == 0) return visit(data, stride, n, cell);
  const std::int64_t end = cell + n, all = masked_.cells();
  for (std::int64_t at = cell; at < end;) {
    const std::int64_t first = at / inner_ % all, skip = at % inner_, base = at - skip;
    const std::int64_t span = std::min(all - first, (end - base + inner_ - 1) / inner_);
    masked_.for_each_run(first, span, [&](std::int64_t begin, std::int64_t count, bool is_land) {
      const std::int64_t from = std::max(at, base + (begin - first) * inner_);
      const std::int64_t to = std::min(end, base + (begin - first + count) * inner_);
      if (!is_land && from < to) visit(data + (from - cell) * stride, stride, to - from, from);
    });
    at = base + span * inner_;
  }
}

// Cells that lie apart are brought together, some at a time, so that there are runs of them.
template <class Visit>
void Part::for_each_site(const ArrayView& own, Visit&& visit) const {
  constexpr std::size_t k_together = 512;
  std::array<std::uint64_t, k_together> together;
  auto* const to = reinterpret_cast<std::byte*>(together.data());
  const std::size_t size = own.element_size;
  std::vector<std::int64_t> offsets;
  for (const Dims& at : own_) {
    std::int64_t offset = 0;
    for (int d = 0; d < at.size(); ++d)
      offset += at[d] * own.strides[outer_ + d];
    offsets.push_back(offset);
  }
  std::int64_t cell = 0;
  rows(own, outer_, [&](const std::byte* data) {
    for (std::size_t at = 0; at < offsets.size();) {
      const std::size_t n = std::min(k_together, offsets.size() - at);
      gather(data, std::span(offsets).subspan(at, n), size, to);
      active(to, static_cast<std::int64_t>(size), static_cast<std::int64_t>(n), cell, visit);
      at += n;
      cell += static_cast<std::int64_t>(n);
    }
  });
}

template <class Visit>
void Part::for_each_run(const ArrayView& own, Visit&& visit) const {
  const int nd = own.extents.size();
  const auto size = static_cast<std::int64_t>(own.element_size);
  if (cells() == 0) return;
  if (!own_.empty()) return for_each_site(own, visit);
  // The last dimensions that are whole, and lie in memory without gaps, are one.
  int outer = nd;
  std::int64_t row = 1;
  while (outer > 0 && nth(dims_, outer - 1).whole && own.strides[outer - 1] == row * size)
    row *= own.extents[--outer];
  std::int64_t cell = 0;
  if (outer < nd || nd == 0) {
    rows(own, outer, [&](const std::byte* data) {
      active(data, size, row, cell, visit);
      cell += row;
    });
    return;
  }
  const LocalDim& last = dims_.back();
  const std::int64_t stride = own.strides[nd - 1];
  rows(own, nd - 1, [&](const std::byte* data) {
    for (const Positions& run : last.runs) {
      active(data + run.first * stride, run.step * stride, run.count, cell, visit);
      cell += run.count;
    }
  });
}

}  // namespace shoal::streams
