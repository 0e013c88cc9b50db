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

std::uint64_t place_of_object(const ObjectGrid& objects, const Dims& chunk_index, const Dims& chunk) {
  std::uint64_t place = 0;
  for (int d = 0; d < chunk.size(); ++d) {
    const std::int64_t in_object = objects.cells[d] / length_of(chunk, d);
    place = place * static_cast<std::uint64_t>(d == 0 ? 1 : std::max<std::int64_t>(objects.count[d], 1)) +
            static_cast<std::uint64_t>(chunk_index[d] / std::max<std::int64_t>(in_object, 1));
  }
  return place;
}

std::uint64_t object_of_chunk(int variable, const Placement& where, const Dims& chunk_index) {
  if (!where.objects.has_objects()) return 0;
  return ObjectNumber{variable, 0, place_of_object(where.objects, chunk_index, where.chunk)}.number();
}

Dims indices_of_object(const ObjectGrid& objects, std::uint64_t place) {
  Dims indices(objects.cells.size());
  for (int d = indices.size() - 1; d > 0; --d) {
    const auto n = static_cast<std::uint64_t>(std::max<std::int64_t>(objects.count[d], 1));
    indices[d] = static_cast<std::int64_t>(place % n);
    place /= n;
  }
  if (!indices.empty()) indices[0] = static_cast<std::int64_t>(place);
  return indices;
}

std::uint64_t chunks_in_shard(const Placement& where) {
  return where.shard ? static_cast<std::uint64_t>(volume(where.chunk) / volume(where.shard->chunk)) : 1;
}

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
