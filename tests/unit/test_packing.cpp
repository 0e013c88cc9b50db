// SPDX-License-Identifier: BSD-3-Clause
// Packing of values, one by one.
#include <doctest/doctest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "codec/packing.hpp"

using namespace shoal;

namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

struct Kind {
  Type type;
  double fill;
};
const std::vector<Kind> k_kinds{{Type::byte_, -127}, {Type::ubyte, 255},         {Type::short_, -32767},
                                {Type::short_, 0},   {Type::ushort, 65535},      {Type::int_, -2147483647.0},
                                {Type::uint, 0},     {Type::uint, 4294967295.0}, {Type::int_, 2147483647.0}};

std::vector<double> values_around(const Packer& packer, const Packing& packing) {
  std::vector<double> values{0.0,    -0.0,       1.0,         1e-320, -1e-320, 1e300,
                             -1e300, k_infinity, -k_infinity, k_nan,  -k_nan};
  for (const double number : {packer.packed_range().first, packer.packed_range().second})
    for (const double step : {-2.0, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0})
      values.push_back((number + step) * packing.scale_factor + packing.add_offset);
  std::mt19937 random(5);
  const auto [least, most] = packer.range();
  std::uniform_real_distribution<double> any(least - (most - least) / 10, most + (most - least) / 10);
  for (int i = 0; i < 1500; ++i)
    values.push_back(any(random));
  return values;
}

}  // namespace

TEST_CASE("packing: to the nearest number, without a floating-point exception") {
  for (const Kind& kind : k_kinds)
    for (const Packing packing : {Packing{0.01, 20}, Packing{-3, 1e6}, Packing{1, 0},
                                  Packer::packing_of(kind.type, kind.fill, -2, 35)}) {
      CAPTURE(name_of(kind.type));
      CAPTURE(packing.scale_factor);
      Packer packer(kind.type, kind.fill, packing);
      const auto [low, high] = packer.packed_range();
      const std::vector<double> values = values_around(packer, packing);
      const auto n = static_cast<std::int64_t>(values.size());
      std::vector<double> packed(values.size());
      OutOfRange outside;
      packer.count_in(&outside);
      std::feclearexcept(FE_ALL_EXCEPT);
      const ConversionErrors errors = packer.pack(values.data(), packed.data(), n);
      CHECK(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) == 0);
      CHECK(errors.count == 0);
      std::int64_t out = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double nearest = std::nearbyint((values[i] - packing.add_offset) / packing.scale_factor);
        const bool fits = nearest >= low && nearest <= high && nearest != kind.fill;
        out += fits || std::isnan(values[i]) ? 0 : 1;
        if (packed[i] != (fits ? nearest : kind.fill))
          CHECK_MESSAGE(false, "value ", values[i], ": ", packed[i]);
      }
      CHECK(outside.count == out);
      CHECK(outside.lowest == -k_infinity);
      CHECK(outside.highest == k_infinity);
      // In place, and back.
      std::vector<double> same = values;
      packer.pack(same.data(), n);
      CHECK(same == packed);
      std::feclearexcept(FE_ALL_EXCEPT);
      packer.unpack(same.data(), n);
      CHECK(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) == 0);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double wanted = packed[i] * packing.scale_factor + packing.add_offset;
        if (packed[i] == kind.fill ? !std::isnan(same[i]) : same[i] != wanted)
          CHECK_MESSAGE(false, "number ", packed[i], ": ", same[i]);
      }
      // What fits is found again.
      packer.pack(same.data(), n);
      CHECK(same == packed);
    }
}

TEST_CASE("packing: elements of any kind and stride, errors from the first on") {
  const Packing packing{0.5, 10};
  Packer packer(Type::short_, -32767, packing);
  std::vector<float> values(3000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i) * 0.25F;
  values[700] = 1e9F;
  values[1234] = -1e9F;
  const Element array{Type::float_, sizeof(float), false, &packer};
  for (const bool swapped : {false, true}) {
    const Element stored{Type::short_, 2, swapped};
    std::vector<std::int16_t> packed(2 * values.size());
    const auto n = static_cast<std::int64_t>(values.size());
    ConversionErrors errors =
        find_conversion(array, stored)(reinterpret_cast<const std::byte*>(&values.back()), -4,
                                       reinterpret_cast<std::byte*>(packed.data()), 4, n, nullptr);
    CHECK(errors.count == 2);
    CHECK(errors.first == n - 1 - 1234);
    std::vector<double> back(values.size(), 7);
    const Element doubles{Type::double_, sizeof(double), false, &packer};
    errors = find_conversion(stored, doubles)(reinterpret_cast<const std::byte*>(packed.data()), 4,
                                              reinterpret_cast<std::byte*>(back.data()), 8, n, nullptr);
    CHECK(errors.count == 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = static_cast<double>(values[values.size() - 1 - i]);
      const double wanted = std::nearbyint((value - 10) / 0.5) * 0.5 + 10;
      if (std::abs(value) == 1e9 ? !std::isnan(back[i]) : back[i] != wanted) CHECK_MESSAGE(false, "cell ", i);
    }
    // Numbers as they are, for arrays of whole numbers and between equal elements.
    std::vector<std::int32_t> numbers(values.size());
    find_conversion(stored, {Type::int_, 4, false})(reinterpret_cast<const std::byte*>(packed.data()), 4,
                                                    reinterpret_cast<std::byte*>(numbers.data()), 4, n,
                                                    nullptr);
    CHECK(numbers.back() == -20);
    std::vector<float> copied(values.size());
    find_conversion(array, array)(reinterpret_cast<const std::byte*>(values.data()), 4,
                                  reinterpret_cast<std::byte*>(copied.data()), 4, n, nullptr);
    CHECK(copied == values);
  }
}

TEST_CASE("packing: numbers and values that stand for missing ones") {
  Packer packer(Type::short_, -32767, {1, 0});
  packer.set_missing({9999, 32767});
  CHECK(packer.packed_range() == std::pair<double, double>(-32766, 32766));
  packer.set_missing_values({1e20, -5.5e6});
  OutOfRange outside;
  packer.count_in(&outside);
  std::vector<double> values{9999, 1e20, -5.5e6, 7, k_nan, static_cast<double>(1e20F)};
  packer.pack(values.data(), 6);
  CHECK(values == std::vector<double>{-32767, -32767, -32767, 7, -32767, -32767});
  CHECK(outside.count == 1);
  std::vector<double> numbers{9999, 32767, -32767, 7};
  packer.unpack(numbers.data(), 4);
  CHECK(std::isnan(numbers[0]));
  CHECK(std::isnan(numbers[1]));
  CHECK(std::isnan(numbers[2]));
  CHECK(numbers[3] == 7);
  Packer bytes(Type::ubyte, 255, {1, 0});
  CHECK(bytes.has_number_for(254.4));
  CHECK_FALSE(bytes.has_number_for(254.6));
  CHECK_FALSE(bytes.has_number_for(k_nan));
  bytes.read_fill_as_number();
  numbers = {255, 3};
  bytes.unpack(numbers.data(), 2);
  CHECK(numbers == std::vector<double>{255, 3});
  CHECK_THROWS_AS(packer.set_missing({1, 2, 3, 4}), Error);
  CHECK_THROWS_AS(Packer(Type::float_, 0, {1, 0}), Error);
  CHECK_THROWS_AS(Packer(Type::int64, 0, {1, 0}), Error);
  CHECK_THROWS_AS(Packer(Type::short_, 0, {0, 0}), Error);
  CHECK_THROWS_AS(Packer(Type::short_, 0, {k_nan, 0}), Error);
  CHECK_THROWS_AS(Packer(Type::short_, 0, {1e307, 0}), Error);
}

TEST_CASE("packing: requests as text") {
  for (const char* const text :
       {"none", "attributes", "short(-2, 35)", "ubyte(0, 1e-05)", "int(-1.5e+30, 0.1)"})
    CHECK(text_of(pack_request_of(text)) == text);
  const PackRequest request = pack_request_of(" i2( -2.50,1e3 ) ");
  CHECK(request == PackRequest{PackRequest::Kind::range, Type::short_, -2.5, 1000});
  for (const char* const text : {"", "short", "short()", "short(1)", "short(2, 1)", "short(1, 1)",
                                 "short(1, 2", "float(1, 2)", "int64(1, 2)", "short(1, 2)x", "short(nan, 2)",
                                 "short(-inf, 2)", "short(1, 2, 3)", "(1, 2)", "short(-1e308, 1.7e308)"})
    CHECK_THROWS_AS(pack_request_of(text), Error);
}
