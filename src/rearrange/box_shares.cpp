// SPDX-License-Identifier: BSD-3-Clause
#include "rearrange/box_shares.hpp"

#include <algorithm>

namespace shoal {

namespace {

Box dims_of(const Box& box, int first, int n) {
  Dims low;
  Dims count;
  for (int d = first; d < first + n; ++d) {
    low.push_back(box.first[d]);
    count.push_back(box.count[d]);
  }
  return {low, count};
}

/// What the map has of the rows' positions low .. end - 1, each once: visit(position, length).
template <class Visit>
void for_each_distinct(const MappedRows& rows, const IndexMap& map, std::int64_t low, std::int64_t end,
                       Visit&& visit) {
  std::int64_t next = low;
  rows.for_each_run(map, low, end, [&](const IndexMap::Run& run, std::int64_t position) {
    const std::int64_t from = std::max(position, next);
    next = std::max(next, position + run.length);
    if (from < next) visit(from, next - from);
  });
}

/// Boxes of a cut along a mapped dimension that the map has cells in.
std::vector<int> boxes_with_cells(const IndexMap& map, const MapShape& shape, const EvenPartition& cut,
                                  int dim) {
  std::int64_t inner = 1;
  for (int d = dim + 1; d < shape.mapped.size(); ++d)
    inner *= shape.mapped[d];
  const std::int64_t row = shape.mapped[dim] * inner;
  Numbered<bool> has(cut.parts());
  const auto note = [&](std::int64_t first, std::int64_t end) {
    const int last = cut.part_with((end - 1) / inner);
    for (int box = cut.part_with(first / inner); box <= last; ++box)
      has[box] = true;
  };
  map.for_each_run(0, volume(shape.mapped), [&](const IndexMap::Run& run) {
    const std::int64_t first = run.global % row;
    note(first, std::min(row, first + run.length));
    if (first + run.length > row) note(0, std::min(row, first + run.length - row));
  });
  std::vector<int> boxes;
  for (int box = 0; box < cut.parts(); ++box)
    if (has[box]) boxes.push_back(box);
  return boxes;
}

}  // namespace

int mapped_dim_of(const EvenPartition& cut, const MapShape& shape) {
  const int dim = cut.dim() - (cut.region().rank() - shape.rank());
  return dim >= 0 && dim < shape.mapped.size() ? dim : -1;
}

MappedRows rows_of_box(const EvenPartition& cut, const MapShape& shape, int box) {
  const int dim = mapped_dim_of(cut, shape);
  Box cells = Box::whole(shape.mapped);
  if (dim >= 0) {
    const Box part = cut.part(box);
    cells.first[dim] = part.first[cut.dim()];
    cells.count[dim] = part.count[cut.dim()];
  }
  return MappedRows::of(cells, shape.mapped);
}

std::vector<OwnCells> cells_of_boxes(const IndexMap& map, const MapShape& shape, const EvenPartition& cut) {
  const int dim = mapped_dim_of(cut, shape);
  std::vector<OwnCells> own;
  for (const int box : dim < 0 ? std::vector<int>{0} : boxes_with_cells(map, shape, cut, dim)) {
    const MappedRows rows = rows_of_box(cut, shape, box);
    own.push_back({box, IndexSet::of(rows.cells(), [&](auto&& visit) {
                     for_each_distinct(rows, map, 0, rows.cells(), visit);
                   })});
  }
  return own;
}

BoxShare share_of_box(const EvenPartition& cut, const MapShape& shape, int box, std::int64_t max_cells,
                      std::int64_t round) {
  const Box cells = cut.part(box);
  BoxShare share;
  share.piece = Pieces(cells, max_cells).piece(round);
  if (share.piece.empty()) return share;
  const int outer_dims = cells.rank() - shape.rank();
  const int mapped = shape.mapped.size();
  const Box in_box = dims_of(cells, outer_dims, mapped);
  const Box in_piece = dims_of(share.piece, outer_dims, mapped);
  share.part.outer = dims_of(share.piece, 0, outer_dims);
  share.part.inner = dims_of(share.piece, outer_dims + mapped, shape.uncut_dims);
  share.part.rows = MappedRows::of(in_box, shape.mapped);
  share.part.low = position_in(in_piece.first, in_box);
  share.part.end = share.part.low + in_piece.cells();
  return share;
}

// Boxes of a cut have few different sizes: those at its ends, and even ones that differ by one step.
std::int64_t rounds_of(const EvenPartition& cut, std::int64_t max_cells) {
  std::int64_t rounds = 0;
  for (const int box : cut.distinct_sizes())
    rounds = std::max(rounds, Pieces(cut.part(box), max_cells).count());
  return rounds;
}

std::int64_t cells_of_share(const IndexMap& map, const BoxShare& share, std::int64_t own_cells) {
  if (own_cells == 0 || share.piece.empty()) return 0;
  if (share.whole_box()) return own_cells;
  std::int64_t cells = 0;
  for_each_distinct(share.part.rows, map, share.part.low, share.part.end,
                    [&](std::int64_t, std::int64_t length) { cells += length; });
  return cells;
}

}  // namespace shoal
