// SPDX-License-Identifier: BSD-3-Clause
#include "pack/pieces.hpp"

namespace shoal {

namespace {

void cut(const Piece& piece, std::int64_t max_cells, const std::function<void(const Piece&)>& visit) {
  const std::int64_t cells = piece.cells.cells();
  if (cells <= max_cells) {
    if (cells > 0) visit(piece);
    return;
  }
  int d = 0;
  while (piece.cells.count[d] == 1)
    ++d;
  const std::int64_t row = cells / piece.cells.count[d];
  const std::int64_t step = std::max<std::int64_t>(1, max_cells / row);
  for (std::int64_t at = piece.cells.first[d]; at < piece.cells.end(d); at += step) {
    Piece part = piece;
    part.cells.first[d] = at;
    part.cells.count[d] = std::min(step, piece.cells.end(d) - at);
    cut(part, max_cells, visit);
  }
}

}  // namespace

void for_each_piece(const std::vector<Box>& cover, const Dims& chunk, std::int64_t max_cells,
                    const std::function<void(const Piece&)>& visit) {
  for (const auto& box : cover) {
    if (box.empty()) continue;
    for_each_index(chunks_of(box, chunk), [&](const Dims& index) {
      cut({intersection(box, cells_of_chunk(index, chunk)), index}, max_cells, visit);
    });
  }
}

void add_extents(const Piece& piece, const Dims& chunk, std::size_t element_size, const Location& address,
                 std::int64_t in_memory, ExtentMerger& merger) {
  const Box whole = cells_of_chunk(piece.chunk_index, chunk);
  const int n = piece.cells.rank();
  // Dimensions from `inner` on form one run: all behind it are whole in the chunk.
  int inner = n;
  std::int64_t run = 1;
  while (inner > 0) {
    --inner;
    run *= piece.cells.count[inner];
    if (piece.cells.count[inner] != chunk[inner]) break;
  }
  const auto bytes = run * static_cast<std::int64_t>(element_size);
  Dims outer = piece.cells.count;
  for (int d = inner; d < n; ++d)
    outer[d] = 1;
  const std::int64_t runs = volume(outer);
  Dims index = piece.cells.first;
  for (std::int64_t i = 0; i < runs; ++i) {
    const auto offset = position_in(index, whole) * static_cast<std::int64_t>(element_size);
    merger.add({address + offset, in_memory + i * bytes, bytes});
    for (int d = inner - 1; d >= 0; --d) {
      if (++index[d] < piece.cells.end(d)) break;
      index[d] = piece.cells.first[d];
    }
  }
}

}  // namespace shoal
