// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <vector>

#include "format/placement.hpp"

namespace {
using namespace shoal;
}

TEST_SUITE("placement") {
  TEST_CASE("chunks that a region touches") {
    const Dims chunk{2, 3};
    CHECK(chunks_of(Box({0, 0}, {2, 3}), chunk) == Box({0, 0}, {1, 1}));
    CHECK(chunks_of(Box({1, 2}, {2, 2}), chunk) == Box({0, 0}, {2, 2}));
    CHECK(chunks_of(Box({4, 3}, {1, 7}), chunk) == Box({2, 1}, {1, 3}));
    CHECK(chunks_of(Box({4, 3}, {0, 7}), chunk).empty());
    CHECK(chunks_of(Box(Dims{}, Dims{}), Dims{}) == Box(Dims{}, Dims{}));  // a scalar is one chunk
    CHECK(chunks_of(Box({0, 0}, {0, 0}), Dims{1, 0}).empty());             // a dimension of length 0
  }

  TEST_CASE("each cell is in the chunk that says so, and in no other") {
    const Dims chunk{2, 3, 1};
    const Box region({1, 0, 2}, {5, 7, 3});
    const Box chunks = chunks_of(region, chunk);
    std::int64_t cells = 0;
    for_each_index(chunks, [&](const Dims& index) {
      const Box common = intersection(cells_of_chunk(index, chunk), region);
      CHECK_FALSE(common.empty());
      cells += common.cells();
    });
    CHECK(cells == region.cells());
  }

  TEST_CASE("indices come in row-major order") {
    std::vector<Dims> seen;
    for_each_index(Box({1, 5}, {2, 2}), [&](const Dims& index) { seen.push_back(index); });
    CHECK(seen == std::vector<Dims>{{1, 5}, {1, 6}, {2, 5}, {2, 6}});
    int scalars = 0;
    for_each_index(Box(Dims{}, Dims{}), [&](const Dims& index) { scalars += index.empty() ? 1 : 0; });
    CHECK(scalars == 1);
    for_each_index(Box({0, 0}, {3, 0}), [&](const Dims&) { FAIL("an empty box has no index"); });
  }
}
