// Tiles of a global shape: overlaps are found, cells nobody owns are listed, neighbours merge.
#include <doctest/doctest.h>

#include <random>

#include "decomp/partition.hpp"
#include "pack/pieces.hpp"

using namespace shoal;

namespace {

/// A random cut of the box into about n tiles.
void split(const Box& box, int n, std::mt19937& random, std::vector<Box>& out) {
  std::vector<int> dims;
  for (int d = 0; d < box.rank(); ++d)
    if (box.count[d] > 1) dims.push_back(d);
  if (n <= 1 || dims.empty()) {
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
  split(low, n / 2, random, out);
  split(high, n - n / 2, random, out);
}

std::vector<int> painted(const Dims& shape, const std::vector<Box>& boxes) {
  std::vector<int> cells(static_cast<std::size_t>(volume(shape)));
  for (const auto& box : boxes)
    for (std::int64_t i = 0; i < box.cells(); ++i) {
      Dims index = unravel(i, box.count);
      for (int d = 0; d < box.rank(); ++d)
        index[d] += box.first[d];
      ++cells[static_cast<std::size_t>(position_in(index, Box::whole(shape)))];
    }
  return cells;
}

}  // namespace

TEST_CASE("a random cut has no overlap, and its holes are found") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Dims shape;
    const int rank = 1 + static_cast<int>(random() % 4);
    for (int d = 0; d < rank; ++d)
      shape.push_back(1 + static_cast<std::int64_t>(random() % 9));
    std::vector<Box> boxes;
    split(Box::whole(shape), 1 + static_cast<int>(random() % 12), random, boxes);
    std::shuffle(boxes.begin(), boxes.end(), random);
    const std::size_t keep = random() % (boxes.size() + 1);
    std::vector<Tile> tiles;
    for (std::size_t i = 0; i < keep; ++i)
      tiles.push_back({boxes[i], static_cast<int>(i)});
    const Partition result = partition(shape, tiles);
    REQUIRE_FALSE(result.overlap);
    std::vector<Box> all(boxes.begin(), boxes.begin() + static_cast<std::ptrdiff_t>(keep));
    const std::vector<Box> together = merged(all);
    CHECK(painted(shape, together) == painted(shape, all));
    all.insert(all.end(), result.unowned.begin(), result.unowned.end());
    CHECK(painted(shape, all) == std::vector<int>(static_cast<std::size_t>(volume(shape)), 1));
    CHECK(merged(all).size() == 1);
  }
}

TEST_CASE("an overlap names both ranks and a box in both tiles") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const Dims shape{6, 7, 5};
    std::vector<Box> boxes;
    split(Box::whole(shape), 8, random, boxes);
    std::vector<Tile> tiles;
    for (std::size_t i = 0; i < boxes.size(); ++i)
      tiles.push_back({boxes[i], static_cast<int>(i)});
    Tile& grown = tiles[random() % tiles.size()];
    const int d = static_cast<int>(random() % 3);
    if (grown.box.end(d) == shape[d]) continue;
    ++grown.box.count[d];
    const Partition result = partition(shape, tiles);
    REQUIRE(result.overlap);
    const auto& overlap = *result.overlap;
    CHECK(overlap.rank_a < overlap.rank_b);
    CHECK((overlap.rank_a == grown.rank || overlap.rank_b == grown.rank));
    for (const int r : {overlap.rank_a, overlap.rank_b})
      CHECK(tiles[static_cast<std::size_t>(r)].box.contains(overlap.box));
  }
}

TEST_CASE("what is left of a box, boxes overlapping or not") {
  const Box whole = Box::whole({4, 6});
  CHECK(remainder(whole, {}) == std::vector<Box>{whole});
  CHECK(remainder(whole, {whole, whole}).empty());
  const std::vector<Box> written{Box({0, 0}, {2, 6}), Box({1, 2}, {2, 2})};
  auto all = painted({4, 6}, remainder(whole, written));
  const auto there = painted({4, 6}, written);
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(all[i] == (there[i] > 0 ? 0 : 1));
}

TEST_CASE("pieces and extents cover a region once, in any chunk shape") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const Dims shape{3, 7, 10};
    Dims chunk;
    for (int d = 0; d < 3; ++d)
      chunk.push_back(1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape[d])));
    std::vector<Box> cover;
    split(Box::whole(shape), 3, random, cover);
    const auto most = 1 + static_cast<std::int64_t>(random() % 60);
    const Box chunks = chunks_of(Box::whole(shape), chunk);
    const std::int64_t chunk_cells = volume(chunk);
    std::vector<int> in_file(static_cast<std::size_t>(chunks.cells() * chunk_cells));
    std::vector<Box> cells;
    std::int64_t in_memory = 0;
    std::int64_t seen = 0;
    ExtentMerger merger([&](const Extent& extent) {
      CHECK(extent.in_memory == seen);
      seen += extent.bytes;
      for (std::int64_t i = 0; i < extent.bytes; ++i)
        ++in_file[extent.in_file.offset + static_cast<std::uint64_t>(i)];
    });
    for_each_piece(cover, chunk, most, [&](const Piece& piece) {
      CHECK(piece.cells.cells() <= most);
      cells.push_back(piece.cells);
      const auto address = static_cast<std::uint64_t>(position_in(piece.chunk_index, chunks) * chunk_cells);
      add_extents(piece, chunk, 1, {0, address}, in_memory, merger);
      in_memory += piece.cells.cells();
    });
    merger.flush();
    CHECK(painted(shape, cells) == std::vector<int>(static_cast<std::size_t>(volume(shape)), 1));
    CHECK(seen == volume(shape));
    std::int64_t bytes = 0;
    for (const int n : in_file) {
      CHECK(n <= 1);
      bytes += n;
    }
    CHECK(bytes == volume(shape));
  }
}
