// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "base/box.hpp"
#include "codec/convert.hpp"

namespace {

using namespace shoal;

const Element k_int{Type::int_, 4, false};
const Element k_int_swapped{Type::int_, 4, true};
const Element k_double{Type::double_, 8, false};
const Element k_float_swapped{Type::float_, 4, true};

/// A place for a box in memory of its own: dimensions in any order, with gaps, some of them backwards.
struct Place {
  std::vector<std::byte> bytes;
  Dims strides;
  std::int64_t origin = 0;

  std::byte* data() { return bytes.data() + origin; }
};

std::int64_t pick(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

Place random_place(std::mt19937_64& random, const Dims& count, std::int64_t size) {
  Place place;
  place.strides = Dims(count.size());
  std::vector<int> order(static_cast<std::size_t>(count.size()));
  std::iota(order.begin(), order.end(), 0);
  // Half of all places are row-major, as most are in life.
  std::reverse(order.begin(), order.end());
  if (pick(random, 0, 1) == 1) std::shuffle(order.begin(), order.end(), random);
  std::int64_t step = size * (pick(random, 0, 3) == 0 ? 2 : 1);
  for (const int d : order) {
    place.strides[d] = step;
    step *= std::max<std::int64_t>(count[d], 1);
    if (pick(random, 0, 2) == 0) step += pick(random, 1, 5) * size;
  }
  for (int d = 0; d < count.size(); ++d) {
    if (pick(random, 0, 4) != 0 || count[d] == 0) continue;
    place.origin += place.strides[d] * (count[d] - 1);
    place.strides[d] = -place.strides[d];
  }
  place.bytes.resize(static_cast<std::size_t>(step + size));
  for (auto& byte : place.bytes)
    byte = static_cast<std::byte>(random());
  return place;
}

Dims random_count(std::mt19937_64& random, int rank) {
  Dims count(rank);
  std::int64_t cells = 1;
  for (int d = 0; d < rank; ++d) {
    const std::int64_t largest =
        std::max<std::int64_t>(1, std::min<std::int64_t>(4000 / cells, rank < 4 ? 200 : 7));
    count[d] = pick(random, 0, 5) == 0 ? 1 : pick(random, 1, largest);
    cells *= count[d];
  }
  return count;
}

/// The plain reference: cell by cell in row-major order.
ConversionErrors copy_cells(const std::byte* from, const Dims& from_strides, std::byte* to,
                            const Dims& to_strides, const Dims& count, ConvertRun convert,
                            const std::byte* substitute) {
  ConversionErrors all;
  for (std::int64_t cell = 0; cell < volume(count); ++cell) {
    const Dims index = unravel(cell, count);
    std::int64_t from_offset = 0;
    std::int64_t to_offset = 0;
    for (int d = 0; d < count.size(); ++d) {
      from_offset += index[d] * from_strides[d];
      to_offset += index[d] * to_strides[d];
    }
    const ConversionErrors one = convert(from + from_offset, 0, to + to_offset, 0, 1, substitute);
    if (one.count > 0 && all.first < 0) all.first = cell;
    all.count += one.count;
  }
  return all;
}

void check_box(std::mt19937_64& random, const Dims& count, const Element& from, const Element& to) {
  CAPTURE(text_of(count));
  Place source = random_place(random, count, static_cast<std::int64_t>(from.size));
  Place target = random_place(random, count, static_cast<std::int64_t>(to.size));
  Place expected = target;
  const ConvertRun convert = find_conversion(from, to);
  const std::uint64_t substitute = 0x0102030405060708U;
  const auto* substitute_bytes = reinterpret_cast<const std::byte*>(&substitute);
  const ConversionErrors wanted = copy_cells(source.data(), source.strides, expected.data(), expected.strides,
                                             count, convert, substitute_bytes);
  const ConversionErrors found = copy_box(source.data(), source.strides, target.data(), target.strides, count,
                                          convert, substitute_bytes);
  CHECK(found.count == wanted.count);
  CHECK(found.first == wanted.first);
  CHECK(target.bytes == expected.bytes);
}

}  // namespace

TEST_CASE("random boxes arrive as cell by cell, in as many dimensions as there may be") {
  std::mt19937_64 random(20240607);
  for (int rank = 0; rank <= k_max_dims; ++rank)
    for (int i = 0; i < 150; ++i) {
      const Dims count = random_count(random, rank);
      check_box(random, count, k_int, k_int);
      check_box(random, count, k_int, k_int_swapped);
      // Random bits are often doubles that no float can hold, so this finds conversion errors too.
      check_box(random, count, k_double, k_float_swapped);
      check_box(random, count, {Type::short_, 2, false}, {Type::ubyte, 1, false});
    }
}

TEST_CASE("boxes larger than the tiles of a transposition") {
  std::mt19937_64 random(5);
  for (const Dims& count :
       {Dims{300, 200}, Dims{1, 300, 1, 200}, Dims{2, 150, 170}, Dims{131, 3, 140}, Dims{20000, 3}})
    for (int i = 0; i < 12; ++i) {
      check_box(random, count, k_int, k_int_swapped);
      check_box(random, count, k_double, k_float_swapped);
    }
}

TEST_CASE("an empty box touches nothing") {
  std::byte nothing{0x5A};
  for (int rank = 1; rank <= k_max_dims; ++rank)
    for (int d = 0; d < rank; ++d) {
      Dims count(rank, 3);
      count[d] = 0;
      const ConversionErrors found = copy_box(nullptr, Dims(rank, 4), &nothing, Dims(rank, 4), count,
                                              find_conversion(k_int, k_int), nullptr);
      CHECK(found.count == 0);
      CHECK(found.first == -1);
      fill_box(&nothing, Dims(rank, 4), count, &nothing, 4);
      CHECK(nothing == std::byte{0x5A});
    }
}

TEST_CASE("a box of no dimensions is one cell") {
  const double value = 3.5;
  float out = 0;
  const ConvertRun convert = find_conversion(k_double, {Type::float_, 4, false});
  const ConversionErrors found =
      copy_box(reinterpret_cast<const std::byte*>(&value), Dims{}, reinterpret_cast<std::byte*>(&out), Dims{},
               Dims{}, convert, nullptr);
  CHECK(out == 3.5F);
  CHECK(found.count == 0);
}

TEST_CASE("the first conversion error is the first in row-major order, however the box is walked") {
  constexpr std::int64_t k_rows = 150;
  constexpr std::int64_t k_columns = 140;
  // Fortran order in memory, row-major in the target: the fast walk is not the row-major one.
  std::vector<double> source(k_rows * k_columns, 1.0);
  const auto at = [&](std::int64_t row, std::int64_t column) -> double& {
    return source[static_cast<std::size_t>(column * k_rows + row)];
  };
  at(149, 0) = 1e300;
  at(3, 139) = 1e300;
  at(4, 0) = -1e300;
  std::vector<float> target(source.size());
  const float substitute = -9;
  const ConversionErrors found = copy_box(
      reinterpret_cast<const std::byte*>(source.data()), Dims{8, 8 * k_rows},
      reinterpret_cast<std::byte*>(target.data()), Dims{4 * k_columns, 4}, Dims{k_rows, k_columns},
      find_conversion(k_double, {Type::float_, 4, false}), reinterpret_cast<const std::byte*>(&substitute));
  CHECK(found.count == 3);
  CHECK(found.first == 3 * k_columns + 139);
  CHECK(target[3 * k_columns + 139] == -9.0F);
  CHECK(std::count(target.begin(), target.end(), -9.0F) == 3);
}

TEST_CASE("an element may be read many times: strides of zero") {
  const std::int32_t value = 42;
  std::vector<std::int32_t> out(60, 0);
  copy_box(reinterpret_cast<const std::byte*>(&value), Dims{0, 0}, reinterpret_cast<std::byte*>(out.data()),
           Dims{40, 4}, Dims{6, 10}, find_conversion(k_int, k_int), nullptr);
  CHECK(std::count(out.begin(), out.end(), 42) == 60);
}

TEST_CASE("filling a strided box sets its cells alone") {
  std::mt19937_64 random(11);
  std::vector<std::byte> element(16);
  for (auto& byte : element)
    byte = static_cast<std::byte>(random());
  for (const std::size_t size : {1, 2, 4, 8, 3, 16})
    for (int rank = 0; rank <= k_max_dims; ++rank)
      for (int i = 0; i < 20; ++i) {
        const Dims count = random_count(random, rank);
        Place target = random_place(random, count, static_cast<std::int64_t>(size));
        Place expected = target;
        for (std::int64_t cell = 0; cell < volume(count); ++cell) {
          const Dims index = unravel(cell, count);
          std::int64_t offset = 0;
          for (int d = 0; d < rank; ++d)
            offset += index[d] * expected.strides[d];
          std::memcpy(expected.data() + offset, element.data(), size);
        }
        fill_box(target.data(), target.strides, count, element.data(), size);
        CHECK(target.bytes == expected.bytes);
      }
}
