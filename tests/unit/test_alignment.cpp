// Where boxes of I/O ranks begin in a file that is cut into stripes.
#include <doctest/doctest.h>

#include <random>

#include "rearrange/alignment.hpp"
#include "rearrange/even_partition.hpp"

using namespace shoal;

namespace {

constexpr std::int64_t k_stripe = 64 * 1024;

Placement regular(const Dims& chunk, std::uint64_t begin = 0, std::uint64_t stride = 0) {
  Placement placement;
  placement.chunk = chunk;
  placement.begin = begin;
  placement.stride = stride;
  return placement;
}

}  // namespace

TEST_CASE("a row of cells is cut at stripes, and evenly") {
  const std::int64_t stripe = 1024 * 1024;
  const Dims alignment = alignment_of(regular({1000003}, stripe), false, 8, stripe);
  CHECK(alignment == Dims{131072});
  const EvenPartition cut(Box::whole({1000003}), 4, {alignment});
  for (int i = 0; i < 4; ++i) {
    CHECK(cut.part(i).first[0] == 2 * 131072 * i);
    CHECK(cut.part(i).end(0) == std::min<std::int64_t>(1000003, 2 * 131072 * (i + 1)));
  }
  // Parts smaller than a stripe: as many as were asked for.
  const EvenPartition small(Box::whole({1000003}), 100, {alignment});
  for (int i = 0; i < 100; ++i)
    CHECK(small.part(i).count[0] >= 10000);
}

TEST_CASE("there are no borders where records, or the data, begin elsewhere in a stripe") {
  CHECK(alignment_of(regular({1000}, 4096), false, 8, k_stripe).empty());
  CHECK(alignment_of(regular({1000}, 4096), false, 8, 4096) == Dims{512});
  CHECK(alignment_of(regular({1, 1000}, k_stripe, 8000), true, 8, k_stripe).empty());
  CHECK(alignment_of(regular({1, 8192}, k_stripe, k_stripe), true, 8, k_stripe) == Dims{1, 8192});
  CHECK(alignment_of(regular({1000}, k_stripe), false, 8, 0).empty());
  CHECK(alignment_of(regular({100}, k_unplaced), false, 4, k_stripe) == Dims{16384});
  Placement other = regular({10, 20});
  other.kind = Placement::Kind::listed;
  CHECK(alignment_of(other, true, 8, k_stripe) == Dims{10, 20});
  CHECK(alignment_of(other, true, 8, 0) == Dims{10, 20});
  for (const auto kind : {Placement::Kind::encoded, Placement::Kind::library}) {
    other.kind = kind;
    CHECK(alignment_of(other, false, 8, k_stripe).empty());
  }
}

TEST_CASE("where boxes can begin at stripes, all of their parts of the file do") {
  std::mt19937 random(11);
  const auto pick = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  int aligned = 0;
  for (int round = 0; round < 1000; ++round) {
    Dims shape;
    for (int d = 0; d < 3; ++d)
      shape.push_back(pick(2) == 0 ? std::int64_t{1} << pick(9) : 1 + pick(300));
    const auto size = static_cast<std::size_t>(std::int64_t{1} << pick(4));
    const Dims alignment = alignment_of(regular(shape), false, size, k_stripe);
    const auto parts = static_cast<int>(2 + pick(6));
    const EvenPartition cut(Box::whole(shape), parts, {alignment});
    const int d = cut.dim();
    if (cut.step() != alignment[d] || (shape[d] + alignment[d] - 1) / alignment[d] < parts) continue;
    ++aligned;
    std::int64_t outer = 1;
    for (int e = 0; e < d; ++e)
      outer *= shape[e];
    const std::int64_t index_bytes = volume(shape) / outer / shape[d] * static_cast<std::int64_t>(size);
    for (int i = 0; i < parts; ++i) {
      CHECK_FALSE(cut.part(i).empty());
      for (std::int64_t lead = 0; lead < outer; ++lead)
        CHECK((lead * shape[d] + cut.part(i).first[d]) * index_bytes % k_stripe == 0);
    }
  }
  CHECK(aligned > 40);
}

TEST_CASE("dimensions in a row") {
  CHECK(flattened(Dims{1, 7, 11, 5}, 1, 2) == Dims{1, 77, 5});
  CHECK(flattened(Dims{7, 11}, 0, 2) == Dims{77});
  CHECK(flattened(Box({3, 0, 0, 2}, {1, 7, 11, 2}), 1, 2) == Box({3, 0, 2}, {1, 77, 2}));
}
