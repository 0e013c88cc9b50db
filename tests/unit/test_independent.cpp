// SPDX-License-Identifier: BSD-3-Clause
// What calls of a rank alone stand on: boxes with strides in parts, and cells that wait.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "driver/native/path/waiting_cells.hpp"
#include "pack/strided_box.hpp"

using namespace shoal;

TEST_CASE("strided boxes: parts have each cell once, and no more than they may") {
  std::mt19937 random(1);
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    const int n = static_cast<int>(number(0, 4));
    StridedBox box{Dims(n), Dims(n), Dims(n)};
    for (int d = 0; d < n; ++d) {
      box.start[d] = number(0, 9);
      box.count[d] = number(i % 10 == 0 ? 0 : 1, 5);
      box.stride[d] = number(0, 2) > 0 ? number(1, 3) : number(60, 70);
    }
    const bool sieves = number(0, 1) == 1;
    const std::int64_t most = number(1, 200);
    std::map<std::int64_t, int> seen;
    for_each_strided_part(box, most, sieves, [&](const StridedPart& part) {
      CHECK((part.cells.cells() == 1 || part.in_variable.cells() <= most));
      for_each_index(part.cells, [&](const Dims& cell) {
        ++seen[position_in(cell, Box::whole(box.count))];
        for (int d = 0; d < n; ++d)  // where the part says that it is
          CHECK(part.in_variable.first[d] + (cell[d] - part.cells.first[d]) * part.steps[d] ==
                box.start[d] + cell[d] * box.stride[d]);
        CHECK(part.in_variable.contains(Box(box.index_of(cell), Dims(n, 1))));
      });
      if (!sieves) CHECK(part.in_variable.cells() == part.cells.cells());
    });
    CHECK(static_cast<std::int64_t>(seen.size()) == volume(box.count));
    for (const auto& [cell, times] : seen)
      CHECK(times == 1);
  }
}

TEST_CASE("waiting cells: what is left is what was written last") {
  std::mt19937 random(2);
  const Dims shape{5, 6};
  const Box whole = Box::whole(shape);
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const auto any_box = [&] {
    Box box = whole;
    for (int d = 0; d < 2; ++d) {
      box.first[d] = number(0, shape[d] - 1);
      box.count[d] = number(1, shape[d] - box.first[d]);
    }
    return box;
  };
  using Cells = std::vector<std::int16_t>;
  for (int i = 0; i < 300; ++i) {
    WaitingCells waiting;
    Cells must(30, 0);
    for (std::int16_t call = 1; call <= 12; ++call) {
      const Box box = any_box();
      if (number(0, 4) == 0) {
        const Box within = any_box();
        bool all = true;
        for_each_index(box, [&](const Dims& index) {
          auto& cell = must[static_cast<std::size_t>(position_in(index, whole))];
          all = all && (cell == 0 || within.contains(Box(index, {1, 1})));
          cell = 0;
        });
        CHECK((waiting.hide(3, box, within) == false || all));
        CHECK(waiting.hide(4, box, within));
      } else if (number(0, 9) == 0) {
        const Cells others(30, 99);
        waiting.add(7, box, reinterpret_cast<const std::byte*>(others.data()), 2);
      } else {
        const Cells cells(static_cast<std::size_t>(box.cells()), call);
        waiting.add(3, box, reinterpret_cast<const std::byte*>(cells.data()), 2);
        for_each_index(box, [&](const Dims& index) {
          must[static_cast<std::size_t>(position_in(index, whole))] = call;
        });
      }
      const bool any = std::any_of(must.begin(), must.end(), [](auto cell) { return cell != 0; });
      CHECK((!any || waiting.has(3)));
      CHECK(waiting.empty() == (waiting.bytes() == 0));
    }
    Cells copied(30, 0), visited(30, 0);
    waiting.copy_to(3, whole, reinterpret_cast<std::byte*>(copied.data()));
    CHECK(copied == must);
    waiting.for_each([&](int v, const Box& box, const std::byte* cells) {
      if (v != 3) return;
      for_each_index(box, [&](const Dims& index) {
        std::memcpy(&visited[static_cast<std::size_t>(position_in(index, whole))],
                    cells + 2 * position_in(index, box), 2);
      });
    });
    CHECK(visited == must);
    waiting.clear();
    CHECK(waiting.empty());
    CHECK(waiting.bytes() == 0);
  }
}

TEST_CASE("waiting cells: single cells that follow each other wait as one box") {
  WaitingCells waiting;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const auto cell = static_cast<std::int32_t>(i);
    waiting.add(0, Box({2, i}, {1, 1}), reinterpret_cast<const std::byte*>(&cell), 4);
  }
  CHECK(waiting.bytes() < 2 * 4000);
  int boxes = 0;
  waiting.for_each([&](int, const Box& box, const std::byte*) {
    ++boxes;
    CHECK(box == Box({2, 0}, {1, 1000}));
  });
  CHECK(boxes == 1);
  std::int32_t some[3] = {};
  waiting.copy_to(0, Box({2, 500}, {1, 3}), reinterpret_cast<std::byte*>(some));
  CHECK(some[0] == 500);
  CHECK(some[2] == 502);
}
