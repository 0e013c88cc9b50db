// Maps from lists of global indices: every list is kept whole, in order of global index, in few bytes.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "decomp/index_map.hpp"

using namespace shoal;

namespace {

using Cells = std::vector<std::int64_t>;
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;  // global, local

Pairs reference(const Cells& cells, std::int64_t first, std::int64_t end) {
  Pairs out;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (cells[i] != k_hole && cells[i] >= first && cells[i] < end)
      out.emplace_back(cells[i], static_cast<std::int64_t>(i));
  std::sort(out.begin(), out.end());
  return out;
}

/// What is visited; runs must come in order.
Pairs visited(const IndexMap& map, std::int64_t first, std::int64_t end) {
  Pairs out;
  std::int64_t before = -1;
  bool good = true;
  map.for_each_run(first, end, [&](const IndexMap::Run& run) {
    good = good && run.length > 0 && run.global >= before && run.global >= first &&
           run.global + run.length <= end;
    before = run.global;
    for (std::int64_t i = 0; i < run.length; ++i)
      out.emplace_back(run.global + i, run.local + i);
  });
  CHECK(good);
  return out;
}

std::optional<std::int64_t> lowest_repeat(const Cells& cells) {
  const Pairs pairs = reference(cells, 0, std::numeric_limits<std::int64_t>::max());
  const auto at = std::adjacent_find(pairs.begin(), pairs.end(),
                                     [](const auto& a, const auto& b) { return a.first == b.first; });
  return at == pairs.end() ? std::nullopt : std::optional(at->first);
}

void check(const Cells& cells, std::int64_t global, std::mt19937_64& random) {
  const IndexMap map(cells, global);
  const Pairs all = reference(cells, 0, global);
  CHECK(map.local_cells() == static_cast<std::int64_t>(cells.size()));
  CHECK(map.mapped_cells() == static_cast<std::int64_t>(all.size()));
  CHECK(map.empty() == all.empty());
  std::int64_t runs = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool goes_on = i > 0 && cells[i - 1] != k_hole && cells[i] == cells[i - 1] + 1 &&
                         cells[i] % (std::int64_t{1} << 32) != 0;
    if (cells[i] != k_hole && !goes_on) ++runs;
  }
  CHECK(map.runs() == runs);
  CHECK(visited(map, 0, global) == all);
  for (int i = 0; i < 6; ++i) {
    auto a = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(global + 1));
    auto b = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(global + 1));
    if (i % 2 == 0 && !all.empty()) {  // borders at cells that are there
      a = all[random() % all.size()].first;
      b = all[random() % all.size()].first + static_cast<std::int64_t>(random() % 2);
    }
    if (a > b) std::swap(a, b);
    CHECK(visited(map, a, b) == reference(cells, a, b));
  }
  const auto repeat = lowest_repeat(cells);
  REQUIRE(map.repeat().has_value() == repeat.has_value());
  if (repeat) {
    CHECK(map.repeat()->global == *repeat);
    CHECK(map.repeat()->local_a < map.repeat()->local_b);
    CHECK(cells[static_cast<std::size_t>(map.repeat()->local_a)] == *repeat);
    CHECK(cells[static_cast<std::size_t>(map.repeat()->local_b)] == *repeat);
  }
  const std::int64_t pages = static_cast<std::int64_t>(all.size());  // one each at most
  CHECK(map.bytes() <= 8 * map.mapped_cells() + 256 + 16 * std::min(pages, (global >> 32) + 1));
}

IndexMap of_global(const std::vector<IndexMap::Run>& runs) {
  IndexMap map;
  for (const auto& run : runs)
    map.append_global(run.global, run.length);
  map.compact();
  return map;
}

/// Runs of up to `longest` cells at random places, in random order, with holes.
Cells random_list(std::int64_t global, std::int64_t runs, std::int64_t longest, bool repeats, bool holes,
                  std::mt19937_64& random) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::vector<Cells> parts;
  for (std::int64_t r = 0; r < runs; ++r) {
    const std::int64_t first = below(global);
    Cells part(static_cast<std::size_t>(std::min(1 + below(longest), global - first)));
    std::iota(part.begin(), part.end(), first);
    parts.push_back(std::move(part));
  }
  if (!repeats) {
    std::sort(parts.begin(), parts.end());
    std::int64_t end = 0;
    for (auto& part : parts) {
      part.erase(part.begin(), std::lower_bound(part.begin(), part.end(), end));
      if (!part.empty()) end = part.back() + 1;
    }
  }
  std::shuffle(parts.begin(), parts.end(), random);
  Cells out;
  for (const auto& part : parts) {
    if (holes && below(3) == 0) out.resize(out.size() + static_cast<std::size_t>(below(4)), k_hole);
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

}  // namespace

TEST_CASE("a map visits what a sorted list holds") {
  std::mt19937_64 random(11);
  const std::vector<std::int64_t> shapes{1,
                                         2,
                                         7,
                                         100,
                                         5000,
                                         std::int64_t{1} << 20,
                                         (std::int64_t{1} << 32) + 9,
                                         std::int64_t{1} << 34,
                                         (std::int64_t{1} << 43) + 12345,
                                         std::numeric_limits<std::int64_t>::max() - 1};
  for (const std::int64_t global : shapes)
    for (const std::int64_t runs : {0, 1, 3, 40, 700})
      for (const std::int64_t longest : {1, 2, 30})
        for (int kind = 0; kind < 4; ++kind) {
          CAPTURE(global);
          CAPTURE(runs);
          CAPTURE(longest);
          CAPTURE(kind);
          check(random_list(global, runs, longest, kind % 2 == 0, kind >= 2, random), global, random);
        }
}

TEST_CASE("sorted and reversed lists, all holes, everything twice") {
  std::mt19937_64 random(12);
  Cells cells(1000);
  std::iota(cells.begin(), cells.end(), 17);
  check(cells, 2000, random);
  CHECK(IndexMap(cells, 2000).runs() == 1);
  CHECK(IndexMap(cells, 2000).bytes() < 256);
  Cells twice = cells;
  twice.insert(twice.end(), cells.begin(), cells.end());
  check(twice, 2000, random);
  std::reverse(cells.begin(), cells.end());
  check(cells, 2000, random);
  check(Cells(50, k_hole), 2000, random);
  check(Cells(50, 7), 2000, random);
}

TEST_CASE("runs across multiples of 2^32") {
  std::mt19937_64 random(13);
  const std::int64_t page = std::int64_t{1} << 32;
  Cells cells(64);
  std::iota(cells.begin(), cells.end(), 3 * page - 40);
  check(cells, 4 * page, random);
  const IndexMap map(cells, 4 * page);
  CHECK(visited(map, 3 * page - 1, 3 * page + 1) == Pairs{{3 * page - 1, 39}, {3 * page, 40}});
  std::rotate(cells.begin(), cells.begin() + 45, cells.end());
  cells.push_back(5);
  check(cells, 4 * page, random);
}

TEST_CASE("global cells that nobody has, of any number") {
  const std::int64_t page = std::int64_t{1} << 32;
  const std::vector<IndexMap::Run> runs{{3, 0, 4}, {9, 0, 1}, {page - 2, 0, 5 * page}, {7 * page, 0, 1}};
  const IndexMap map = of_global(runs);
  CHECK(map.mapped_cells() == 5 * page + 6);
  CHECK(visited(map, 0, 20) == Pairs{{3, 0}, {4, 1}, {5, 2}, {6, 3}, {9, 0}});
  std::int64_t cells = 0;
  std::int64_t next = page - 2;
  map.for_each_run(20, 6 * page + 20, [&](const IndexMap::Run& run) {
    CHECK(run.global == next);
    next += run.length;
    cells += run.length;
  });
  CHECK(cells == 5 * page);
  CHECK(map.bytes() < 512);
  std::vector<IndexMap::Run> single;
  for (std::int64_t i = 0; i < 1000; ++i)
    single.push_back({2 * i, 0, 1});
  const IndexMap odd = of_global(single);
  CHECK(odd.mapped_cells() == 1000);
  CHECK(visited(odd, 0, 2000).size() == 1000);
  CHECK(visited(odd, 101, 105).size() == 2);
  CHECK(odd.bytes() <= 8 * 1000 + 256);
  // By cell over two pages, with a pair in between.
  const IndexMap far = of_global({{page - 1, 0, 1}, {page + 4, 0, 2}, {page + 8, 0, 1}, {page + 10, 0, 1}});
  CHECK(visited(far, 0, 2 * page) ==
        Pairs{{page - 1, 0}, {page + 4, 0}, {page + 5, 0}, {page + 8, 0}, {page + 10, 0}});
  CHECK(of_global({}).empty());
}

TEST_CASE("an index out of the global cells is named") {
  const auto message = [](const Cells& cells) -> std::string {
    try {
      const IndexMap map(cells, 100);
    } catch (const Error& error) {
      CHECK(error.code() == Code::invalid_argument);
      return error.what();
    }
    return "";
  };
  CHECK(message({0, 99, k_hole}).empty());
  for (const std::int64_t bad : {std::int64_t{100}, std::int64_t{-2}, std::int64_t{1} << 50}) {
    const std::string text = message({0, 5, 6, bad});
    CHECK(text.find("local cell 3") != std::string::npos);
    CHECK(text.find(std::to_string(bad)) != std::string::npos);
    CHECK(text.find("0 to 99") != std::string::npos);
  }
}
