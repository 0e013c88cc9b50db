// Random decompositions that every rank makes alike, from a seed.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "decomp/decomposition.hpp"

namespace shoal::testing {

inline void split(const Box& box, int parts, std::mt19937& random, std::vector<Box>& out) {
  std::vector<int> dims;
  for (int d = 0; d < box.rank(); ++d)
    if (box.count[d] > 1) dims.push_back(d);
  if (parts <= 1 || dims.empty()) {
    out.push_back(box);
    return;
  }
  const int d = dims[random() % dims.size()];
  const auto at = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(box.count[d] - 1));
  Box low = box;
  low.count[d] = at;
  Box high = box;
  high.first[d] += at;
  high.count[d] -= at;
  split(low, parts / 2, random, out);
  split(high, parts - parts / 2, random, out);
}

/// Uneven tiles in any order of ranks; with holes, some ranks' tiles are left out (they own nothing).
inline std::vector<Box> random_tiles(const Dims& shape, int ranks, bool holes, std::mt19937& random) {
  std::vector<Box> tiles;
  split(Box::whole(shape), ranks, random, tiles);
  tiles.resize(static_cast<std::size_t>(ranks), Box(Dims(shape.size()), Dims(shape.size())));
  std::shuffle(tiles.begin(), tiles.end(), random);
  if (holes)
    for (auto& tile : tiles)
      if (random() % 3 == 0) tile = Box(Dims(shape.size()), Dims(shape.size()));
  return tiles;
}

inline std::shared_ptr<const Decomposition> block_of(const Comm& comm, const Dims& shape,
                                                     const std::vector<Box>& tiles, std::int64_t halo) {
  return Decomposition::block(comm, shape, tiles[static_cast<std::size_t>(comm.rank())],
                              Dims(shape.size(), halo), Dims(shape.size(), halo));
}

}  // namespace shoal::testing
