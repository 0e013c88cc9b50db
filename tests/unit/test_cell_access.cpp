// Arrays in memory that the host cannot reach (support/guarded_memory.hpp), beside the same in its own.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <vector>

#include "decomp/cell_mask.hpp"
#include "pack/cell_array.hpp"
#include "support/guarded_memory.hpp"

using namespace shoal;
using shoal::testing::GuardedMemory;

namespace {

const Dims k_extents{3, 5, 4};
constexpr std::int64_t k_cells = 60;

/// Doubles 0, 1, ... whose last dimension runs backwards.
ArrayView backwards(std::byte* memory) {
  for (std::int64_t i = 0; i < k_cells; ++i) {
    const auto value = static_cast<double>(i);
    std::memcpy(memory + i * 8, &value, 8);
  }
  ArrayView view = ArrayView::contiguous(memory, Type::double_, k_extents);
  view.data += 3 * 8;
  view.strides[2] = -8;
  return view;
}

ArrayView moved(ArrayView view, const std::byte* from, std::byte* to) {
  view.data = to + (view.data - from);
  return view;
}

ConvertRun conversion(Type from, Type to) {
  return find_conversion({from, size_of(from), false}, {to, size_of(to), true});
}

}  // namespace

TEST_CASE("cell access: guarded memory is read by nobody else") {
  const GuardedMemory memory(8);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    const volatile std::byte read = *memory.given();
    _exit(std::to_integer<int>(read) == 0 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
}

TEST_CASE("cell access: boxes come from guarded memory and go there as from the host's") {
  std::vector<std::byte> memory(k_cells * 8);
  const GuardedMemory guarded(memory.size());
  const ArrayView view = backwards(memory.data());
  const CellArray here(view);
  const CellArray there =
      CellArray::of_caller(moved(backwards(guarded.own()), guarded.own(), guarded.given()));
  CHECK(here.host_cells() == view.data);
  CHECK(there.has_cells());
  CHECK(there.host_cells() == nullptr);

  CellMask mask(Dims{5, 4});
  for (const std::int64_t cell : {0, 6, 7, 19})
    mask.set_masked(cell);
  for (const bool masked : {false, true}) {
    CAPTURE(masked);
    BlockCells cells{Box({1, 1, 0}, {2, 3, 3}), {9 * 4, 3 * 4, 4}};
    if (masked) {
      cells.mask = &mask;
      cells.in_mask = {1, 0};
    }
    const float fill = -1;
    std::int64_t fills = 0, fills_there = 0;
    const auto* const substitute = reinterpret_cast<const std::byte*>(&fill);
    std::vector<std::byte> expected(18 * 4), found(18 * 4);
    here.gather(cells, expected.data(), {conversion(Type::double_, Type::float_), substitute, &fills});
    there.gather(cells, found.data(), {conversion(Type::double_, Type::float_), substitute, &fills_there});
    CHECK(expected == found);
    CHECK(fills == fills_there);

    std::vector<std::byte> from(18 * 4);
    for (std::size_t i = 0; i < from.size(); ++i)
      from[i] = static_cast<std::byte>(i % 4 == 3 ? 0x40 : i);
    const ConvertRun to_double =
        find_conversion({Type::float_, 4, false}, {Type::double_, sizeof(double), false});
    here.scatter(cells, from.data(), {to_double, nullptr});
    there.scatter(cells, from.data(), {to_double, nullptr});
    CHECK(std::memcmp(memory.data(), guarded.own(), memory.size()) == 0);
  }
}

TEST_CASE("cell access: a part, another shape and a copy of guarded memory") {
  const GuardedMemory guarded(k_cells * 8);
  const ArrayView view = moved(backwards(guarded.own()), guarded.own(), guarded.given());
  const CellArray array = CellArray::of_caller(view);
  CHECK_FALSE(array.is_dense());
  const CellArray dense =
      CellArray::of_caller(ArrayView::contiguous(guarded.given(), Type::double_, k_extents));
  CHECK(dense.is_dense());
  CHECK(dense.host_cells_as(Type::double_) == nullptr);

  const HostArray part(array.part(Box({1, 2, 1}, {1, 1, 2})).with_leading_dim());
  CHECK(part.view().extents == Dims{1, 1, 1, 2});
  double values[2];
  std::memcpy(values, part.view().data, sizeof values);
  CHECK(values[0] == 30);
  CHECK(values[1] == 29);

  values[0] = values[1] = -5;
  std::memcpy(part.view().data, values, sizeof values);
  part.store();
  std::vector<double> all(k_cells);
  dense.with_extents({k_cells}).copy_to(reinterpret_cast<std::byte*>(all.data()), {8});
  CHECK(all[28] == 28);
  CHECK(all[29] == -5);
  CHECK(all[30] == -5);
  CHECK(all[31] == 31);
}

TEST_CASE("cell access: a source is asked for the box alone, in its own indices") {
  std::vector<Box> asked;
  const CellArray array = CellArray::of_source(Type::int_, {4, 6},
                                               [&](const Box& part, std::byte* to) {
                                                 asked.push_back(part);
                                                 for (std::int64_t i = 0; i < part.cells(); ++i) {
                                                   const auto value =
                                                       static_cast<std::int32_t>(100 * part.first[0] + i);
                                                   std::memcpy(to + i * 4, &value, 4);
                                                 }
                                               },
                                               {10, 20});
  CHECK(array.has_cells());
  CHECK_FALSE(array.is_dense());
  CHECK(array.host_cells() == nullptr);
  std::vector<double> out(3);
  array.gather({Box({2, 1}, {1, 3}), {24, 8}}, reinterpret_cast<std::byte*>(out.data()),
               {find_conversion({Type::int_, 4, false}, {Type::double_, 8, false}), nullptr});
  REQUIRE(asked.size() == 1);
  CHECK(asked[0] == Box({12, 21}, {1, 3}));
  CHECK(out == std::vector<double>{1200, 1201, 1202});
}
