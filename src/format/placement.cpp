// SPDX-License-Identifier: BSD-3-Clause
#include "format/placement.hpp"

#include <algorithm>
#include <cassert>

namespace shoal {

namespace {

// A dimension of length 0 has chunks of length 0; any length will do to divide by, as no cell is in them.
std::int64_t length_of(const Dims& chunk, int d) {
  return std::max<std::int64_t>(chunk[d], 1);
}

}  // namespace

Box chunks_of(const Box& region, const Dims& chunk) {
  assert(region.rank() == chunk.size());
  Box chunks(Dims(chunk.size()), Dims(chunk.size()));
  for (int d = 0; d < chunk.size(); ++d) {
    chunks.first[d] = region.first[d] / length_of(chunk, d);
    if (region.count[d] > 0)
      chunks.count[d] = (region.end(d) - 1) / length_of(chunk, d) + 1 - chunks.first[d];
  }
  return chunks;
}

Box cells_of_chunk(const Dims& chunk_index, const Dims& chunk) {
  assert(chunk_index.size() == chunk.size());
  Box cells(chunk_index, chunk);
  for (int d = 0; d < chunk.size(); ++d)
    cells.first[d] *= length_of(chunk, d);
  return cells;
}

void for_each_index(const Box& chunks, const std::function<void(const Dims&)>& visit) {
  if (chunks.empty()) return;
  Dims index = chunks.first;
  while (true) {
    visit(index);
    int d = chunks.rank() - 1;
    while (d >= 0 && ++index[d] == chunks.end(d)) {
      index[d] = chunks.first[d];
      --d;
    }
    if (d < 0) return;
  }
}

}  // namespace shoal
