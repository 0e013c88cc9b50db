// How a region is dealt out to I/O ranks, who these are, and lists of positions.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "pack/index_set.hpp"
#include "pack/map_cells.hpp"
#include "rearrange/even_partition.hpp"
#include "rearrange/io_ranks.hpp"

using namespace shoal;

namespace {

std::string refusal(int ranks, int count, int stride, int base, int node = -1) {
  try {
    io_ranks_of(ranks, {count, stride, base, node});
  } catch (const Error& e) {
    CHECK(e.code() == Code::setting);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a region is cut along its slowest dimension that has enough, into even parts") {
  const Box region({4, 0, 10}, {1, 72, 1000});
  const EvenPartition levels(region, 5, {});
  CHECK(levels.dim() == 1);
  CHECK(levels.part(0) == Box({4, 0, 10}, {1, 15, 1000}));
  CHECK(levels.part(2) == Box({4, 30, 10}, {1, 14, 1000}));
  CHECK(levels.part(4) == Box({4, 58, 10}, {1, 14, 1000}));
  CHECK(EvenPartition(region, 73, {}).dim() == 2);
  CHECK(EvenPartition(region, 1, {}).part(0) == region);
  const EvenPartition most(region, 2000, {});
  CHECK(most.dim() == 2);
  CHECK(most.part(0).count == Dims{1, 72, 1});
  CHECK(most.part(1999).empty());
}

TEST_CASE("parts that would be too small are fewer, and far from each other") {
  const Box region({0, 0}, {8, 1000});
  for (const auto& [least, used] : std::vector<std::pair<std::int64_t, int>>{
           {0, 8}, {1000, 8}, {1001, 7}, {2000, 4}, {3000, 2}, {8000, 1}, {8001, 1}, {1 << 30, 1}}) {
    const EvenPartition cut(region, 8, {{}, least});
    CHECK(cut.parts() == 8);
    CHECK(cut.used() == used);
    std::int64_t next = 0;
    int with_cells = 0;
    for (int i = 0; i < 8; ++i) {
      const Box part = cut.part(i);
      if (part.empty()) continue;
      CHECK(part.first[0] == next);
      for (std::int64_t row = part.first[0]; row < part.end(0); ++row)
        CHECK(cut.part_with(row) == i);
      next = part.end(0);
      ++with_cells;
    }
    CHECK(next == 8);
    CHECK(with_cells == used);
    // All sizes that there are.
    std::set<std::int64_t> sizes;
    for (const int i : cut.distinct_sizes())
      sizes.insert(cut.part(i).cells());
    for (int i = 0; i < 8; ++i)
      CHECK(sizes.count(cut.part(i).cells()) == 1);
  }
  const EvenPartition two(region, 8, {{}, 4000});
  CHECK(!two.part(0).empty());
  CHECK(!two.part(4).empty());  // the first I/O rank of the second half, which may be another node
  CHECK(EvenPartition(Box({0, 0}, {0, 5}), 4, {{}, 10}).used() == 1);
}

TEST_CASE("nodes with I/O ranks") {
  const auto nodes_of = [](int nodes, int most) {
    std::vector<int> list;
    for (int n = 0; n < nodes; ++n)
      if (is_io_node(n, nodes, most)) list.push_back(n);
    return list;
  };
  CHECK(nodes_of(4, 0) == std::vector<int>{0, 1, 2, 3});
  CHECK(nodes_of(4, 9) == std::vector<int>{0, 1, 2, 3});
  CHECK(nodes_of(4, 1) == std::vector<int>{0});
  CHECK(nodes_of(4, 2) == std::vector<int>{0, 2});
  CHECK(nodes_of(7, 3) == std::vector<int>{0, 2, 4});
  CHECK(nodes_of(1000, 8).size() == 8);
}

TEST_CASE("parts are disjoint, whole and even, for any sizes") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Dims first(3);
    Dims count(3);
    Dims align(3);
    for (int d = 0; d < 3; ++d) {
      first[d] = static_cast<std::int64_t>(random() % 50);
      count[d] = static_cast<std::int64_t>(random() % 60);
      align[d] = static_cast<std::int64_t>(random() % 9);
    }
    const Box region(first, count);
    const int parts = 1 + static_cast<int>(random() % 9);
    const EvenPartition cut(region, parts, {round % 2 == 0 ? Dims() : align});
    std::int64_t next = region.first[cut.dim()];
    std::int64_t least = 1000;
    std::int64_t most = 0;
    for (int i = 0; i < parts; ++i) {
      const Box part = cut.part(i);
      CHECK(part.first[cut.dim()] == next);
      next = part.end(cut.dim());
      if (i > 0 && i < parts - 1) {
        least = std::min(least, part.count[cut.dim()]);
        most = std::max(most, part.count[cut.dim()]);
      }
      if (!region.empty() && i > 0 && !part.empty()) CHECK(part.first[cut.dim()] % cut.step() == 0);
    }
    CHECK(next == region.end(cut.dim()));
    if (parts > 2) CHECK(most - least <= cut.step());
  }
}

TEST_CASE("parts of huge regions") {
  const std::int64_t huge = std::int64_t{1} << 61;
  const EvenPartition cut(Box({0}, {huge}), 1000, {});
  CHECK(cut.part(999).end(0) == huge);
  CHECK(cut.part(500).first[0] == huge / 1000 * 500 + std::min<std::int64_t>(500, huge % 1000));
}

TEST_CASE("pieces follow each other in their box") {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    Dims count(4);
    for (auto& n : count)
      n = 1 + static_cast<std::int64_t>(random() % 5);
    const Box box({1, 2, 3, 4}, count);
    const std::int64_t most = 1 + static_cast<std::int64_t>(random() % 80);
    const Pieces pieces(box, most);
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < pieces.count(); ++i) {
      const Box piece = pieces.piece(i);
      CHECK(piece.cells() <= most);
      CHECK(box.contains(piece));
      CHECK(position_in(piece.first, box) == next);
      Dims last = piece.first;
      for (int d = 0; d < 4; ++d)
        last[d] = piece.end(d) - 1;
      next += piece.cells();
      CHECK(position_in(last, box) == next - 1);
    }
    CHECK(next == box.cells());
    CHECK(pieces.piece(pieces.count()).empty());
  }
  CHECK(Pieces(Box({0, 0}, {0, 5}), 10).count() == 0);
}

TEST_CASE("I/O ranks: as many as asked for, or an error that says what fits") {
  CHECK(io_ranks_of(16, {4, 0, 0}) == std::vector{0, 4, 8, 12});
  CHECK(io_ranks_of(16, {4, 2, 3}) == std::vector{3, 5, 7, 9});
  CHECK(io_ranks_of(7, {0, 3, 0}) == std::vector{0, 3, 6});
  CHECK(io_ranks_of(7, {0, 0, 5}) == std::vector{5, 6});
  CHECK(io_ranks_of(7, {3, 0, 0}) == std::vector{0, 2, 4});
  CHECK(io_ranks_of(7, {7, 0, 0}).size() == 7);
  CHECK(io_ranks_of(1, {1, 1000000000, 0}) == std::vector{0});
  CHECK(refusal(4, 5, 0, 0) == "setting io_ranks is 5, but there are 4 ranks; io_ranks can be 1 to 4");
  CHECK(refusal(4, 3, 2, 0).find("io_ranks can be 1 to 2, or io_stride 1 to 1") != std::string::npos);
  CHECK(refusal(4, 0, 0, 4).find("io_base can be 0 to 3") != std::string::npos);
  CHECK(refusal(4, 3, 0, 2).find("io_ranks can be 1 to 2") != std::string::npos);
  CHECK(refusal(4, 5, 0, 0, 7) ==
        "setting io_ranks_per_node is 5, but node 7 has 4 ranks; io_ranks_per_node can be 1 to 4");
  CHECK(refusal(1, 2, 0, 0, 3).find("node 3 has 1 rank;") != std::string::npos);
}

TEST_CASE("positions of cells: 4 bytes each or less, 8 in huge boxes") {
  std::mt19937_64 random(7);
  for (const std::int64_t box : {std::int64_t{1000}, std::int64_t{1} << 41}) {
    for (const bool runs : {false, true}) {
      std::vector<std::int64_t> cells;
      for (std::int64_t at = 0; at < box;) {
        const auto gap = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(box / 50));
        at += 1 + gap;
        for (int i = 0; i < (runs ? 10 : 1) && at < box; ++i)
          cells.push_back(at++);
      }
      const IndexSet positions = IndexSet::of(box, [&](auto&& visit) {
        for (const auto cell : cells)
          visit(cell, std::int64_t{1});
      });
      CHECK(positions.cells() == static_cast<std::int64_t>(cells.size()));
      CHECK(positions.bytes() <= positions.cells() * (box > (std::int64_t{1} << 32) ? 8 : 4));
      if (runs) CHECK(positions.bytes() < positions.cells() * 2);
      for (int round = 0; round < 100; ++round) {
        auto low = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(box));
        auto end = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(box));
        if (low > end) std::swap(low, end);
        std::vector<std::int64_t> expected;
        for (const auto cell : cells)
          if (cell >= low && cell < end) expected.push_back(cell);
        std::vector<std::int64_t> found;
        positions.for_each_run(low, end, [&](std::int64_t at, std::int64_t which, std::int64_t length) {
          CHECK(which == static_cast<std::int64_t>(found.size()));
          for (std::int64_t i = 0; i < length; ++i)
            found.push_back(at + i);
        });
        CHECK(found == expected);
        CHECK(positions.cells_in(low, end) == static_cast<std::int64_t>(expected.size()));
      }
    }
  }
}

TEST_CASE("rows of a box of the mapped dimensions") {
  const Dims shape{3, 10, 4};
  const Box box({0, 2, 0}, {3, 5, 4});
  const MappedRows rows = MappedRows::of(box, shape);
  CHECK(rows.rows == 3);
  CHECK(rows.length == 20);
  std::vector<std::int64_t> all(120);
  for (std::int64_t i = 0; i < 120; ++i)
    all[static_cast<std::size_t>(i)] = 119 - i;
  const IndexMap map(all, 120);
  std::int64_t next = 7;
  rows.for_each_run(map, 7, 47, [&](const IndexMap::Run& run, std::int64_t position) {
    for (std::int64_t i = 0; i < run.length; ++i) {
      CHECK(position + i == next++);
      const Dims cell = unravel(run.global + i, shape);
      CHECK(position_in(cell, box) == position + i);
      CHECK(run.local + i == 119 - (run.global + i));
    }
  });
  CHECK(next == 47);
  const MappedRows one = MappedRows::of(Box::whole(shape), shape);
  CHECK(one.rows == 1);
  CHECK(one.length == 120);
}

TEST_CASE("a part is found by an index, and a few parts are as large as all") {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  for (int n = 0; n < 500; ++n) {
    const Box region({pick(9), pick(9)}, {1 + pick(5), 1 + pick(60)});
    const Dims align = pick(2) == 0 ? Dims() : Dims{1 + pick(4), 1 + pick(9)};
    const EvenPartition cut(region, static_cast<int>(1 + pick(70)), {align});
    std::vector<std::int64_t> sizes, of_unlike;
    for (int i = 0; i < cut.parts(); ++i) {
      const Box part = cut.part(i);
      sizes.push_back(part.count[cut.dim()]);
      for (std::int64_t at = part.first[cut.dim()]; at < part.end(cut.dim()); ++at)
        CHECK(cut.part_with(at) == i);
    }
    for (const int i : cut.distinct_sizes())
      of_unlike.push_back(cut.part(i).count[cut.dim()]);
    for (const auto size : sizes)
      CHECK(std::find(of_unlike.begin(), of_unlike.end(), size) != of_unlike.end());
  }
}
