// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "codec/isa.hpp"

namespace {

using namespace shoal;

const std::vector<Type> k_numbers{Type::byte_, Type::ubyte, Type::short_, Type::ushort, Type::int_,
                                  Type::uint,  Type::int64, Type::uint64, Type::float_, Type::double_};

using Exact = long double;  // holds every value of every type exactly
static_assert(std::numeric_limits<Exact>::digits >= 64);

/// The plain reference: what converting value to D ought to give; false if it does not fit.
template <class D>
bool reference(Exact value, D& out) {
  if constexpr (std::is_integral_v<D>) {
    if (!(value >= static_cast<Exact>(std::numeric_limits<D>::min()))) return false;
    if (!(value <= static_cast<Exact>(std::numeric_limits<D>::max()))) return false;
  } else if (std::isfinite(value) && std::fabs(value) > static_cast<Exact>(std::numeric_limits<D>::max())) {
    return false;
  }
  out = static_cast<D>(value);
  return true;
}

/// Values around every limit of every type that S can hold, and random ones.
template <class S>
std::vector<S> interesting() {
  std::vector<Exact> values{0.0L, -0.0L, 0.25L, 0.5L, 0.999L, 1.5L, 100.0L, 9.9692099683868690e+36L};
  for (const int power : {0, 7, 8, 15, 16, 31, 32, 53, 63, 64, 127, 128, 1023})
    for (const Exact off : {-1.0L, -0.5L, 0.0L, 0.5L, 1.0L})
      values.push_back(std::ldexp(1.0L, power) + off);
  values.push_back(std::numeric_limits<float>::max());
  values.push_back(std::nextafter(static_cast<double>(std::numeric_limits<float>::max()), INFINITY));
  values.push_back(std::numeric_limits<float>::denorm_min());
  values.push_back(std::numeric_limits<double>::max());
  values.push_back(std::numeric_limits<double>::denorm_min());
  for (std::size_t i = values.size(); i-- > 0;)
    values.push_back(-values[i]);
  std::vector<S> out;
  for (const Exact value : values) {
    S candidate{};
    if (reference(value, candidate) && static_cast<Exact>(candidate) == value) out.push_back(candidate);
    if constexpr (std::is_floating_point_v<S>) {
      if (!std::isfinite(candidate)) continue;
      out.push_back(std::nextafter(candidate, std::numeric_limits<S>::infinity()));
      out.push_back(std::nextafter(candidate, -std::numeric_limits<S>::infinity()));
    }
  }
  if constexpr (std::is_floating_point_v<S>) {
    using Limits = std::numeric_limits<S>;
    for (const S special : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), S{-0.0}})
      out.push_back(special);
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 600; ++i) {
    const std::uint64_t bits = random();
    S value{};
    std::memcpy(&value, &bits, sizeof value);
    out.push_back(value);
  }
  return out;
}

template <class T>
T with_order(T value, bool swapped) {
  auto* bytes = reinterpret_cast<std::byte*>(&value);
  if (swapped) std::reverse(bytes, bytes + sizeof value);
  return value;
}

/// Elements at any stride with a margin, so that stray writes show.
class Strip {
 public:
  Strip(std::int64_t n, std::int64_t stride, std::size_t size)
      : bytes_(static_cast<std::size_t>((n + 1) * std::abs(stride)) + 2 * k_margin + size, std::byte{0x5A}),
        stride_(stride),
        origin_(static_cast<std::int64_t>(k_margin) + (stride < 0 ? -n * stride : 0)) {}
  std::byte* at(std::int64_t i) { return bytes_.data() + origin_ + i * stride_; }
  template <class T>
  void set(std::int64_t i, T value) {
    std::memcpy(at(i), &value, sizeof value);
  }
  template <class T>
  T get(std::int64_t i) {
    T value{};
    std::memcpy(&value, at(i), sizeof value);
    return value;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  static constexpr std::size_t k_margin = 67;
  std::vector<std::byte> bytes_;
  std::int64_t stride_;
  std::int64_t origin_;
};

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) && std::isnan(b)) return true;
  return std::memcmp(&a, &b, sizeof a) == 0;  // distinguishes -0.0 from 0.0
}

struct Case {
  bool from_swapped;
  bool to_swapped;
  std::int64_t from_stride;
  std::int64_t to_stride;
  Isa isa;
};

template <class S, class D>
void check_case(Type from, Type to, const std::vector<S>& values, const Case& c) {
  const auto n = static_cast<std::int64_t>(values.size());
  Strip source(n, c.from_stride, sizeof(S));
  Strip target(n, c.to_stride, sizeof(D));
  Strip expected = target;
  const D substitute = static_cast<D>(77);
  ConversionErrors wanted;
  for (std::int64_t i = 0; i < n; ++i) {
    const S value = values[static_cast<std::size_t>(i)];
    source.set(i, with_order(value, c.from_swapped));
    D converted{};
    if (!reference(static_cast<Exact>(value), converted)) {
      converted = substitute;
      if (wanted.count++ == 0) wanted.first = i;
    }
    expected.set(i, with_order(converted, c.to_swapped));
  }
  const ConvertRun convert =
      find_conversion({from, sizeof(S), c.from_swapped}, {to, sizeof(D), c.to_swapped}, c.isa);
  const D in_order = with_order(substitute, c.to_swapped);
  const ConversionErrors found = convert(source.at(0), c.from_stride, target.at(0), c.to_stride, n,
                                         reinterpret_cast<const std::byte*>(&in_order));
  CHECK(found.count == wanted.count);
  CHECK(found.first == wanted.first);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const D got = with_order(target.template get<D>(i), c.to_swapped);
    const D want = with_order(expected.template get<D>(i), c.to_swapped);
    if (same(got, want)) {
      target.set(i, want);  // NaNs may differ in their bits
      expected.set(i, want);
      continue;
    }
    if (wrong++ == 0)
      MESSAGE("element " << i << " of " << static_cast<double>(values[static_cast<std::size_t>(i)]));
  }
  CHECK(wrong == 0);
  CHECK(target.bytes() == expected.bytes());
}

std::vector<Isa> isas() {
  std::vector<Isa> all{Isa::base};
  if (best_isa() != Isa::base) all.push_back(best_isa());
  return all;
}

template <class S, class D>
void check_pair(Type from, Type to) {
  CAPTURE(name_of(from));
  CAPTURE(name_of(to));
  const std::vector<S> values = interesting<S>();
  constexpr auto s = static_cast<std::int64_t>(sizeof(S));
  constexpr auto d = static_cast<std::int64_t>(sizeof(D));
  const std::vector<std::pair<std::int64_t, std::int64_t>> strides{
      {s, d}, {-s, d}, {s, -d}, {-s, -d}, {2 * s, d}, {3 * s + 1, d}, {s, 2 * d + 3}, {-5 * s, 2 * d}};
  for (const Isa isa : isas())
    for (const bool from_swapped : {false, true})
      for (const bool to_swapped : {false, true})
        for (const auto& [from_stride, to_stride] : strides)
          check_case<S, D>(from, to, values, {from_swapped, to_swapped, from_stride, to_stride, isa});
}

template <class D>
ConversionErrors convert_one(Type from, const void* value, std::size_t size, Type to, D& out, D substitute) {
  const ConvertRun convert = find_conversion({from, size, false}, {to, sizeof(D), false});
  return convert(static_cast<const std::byte*>(value), static_cast<std::int64_t>(size),
                 reinterpret_cast<std::byte*>(&out), sizeof(D), 1,
                 reinterpret_cast<const std::byte*>(&substitute));
}

}  // namespace

TEST_CASE("every number converts into every number as a plain loop does it") {
  for (const Type from : k_numbers)
    for (const Type to : k_numbers)
      with_number(from,
                  [&]<class S>(S) { with_number(to, [&]<class D>(D) { check_pair<S, D>(from, to); }); });
}

TEST_CASE("runs of every length around the block size") {
  std::mt19937_64 random(3);
  for (const std::int64_t n : {0, 1, 2, 3, 7, 15, 16, 17, 511, 512, 513, 1023, 1024, 1025, 5000}) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (double& value : values)
      value = static_cast<double>(random() % 1000) - 500.0;
    if (n > 3) values[static_cast<std::size_t>(n - 2)] = 1e300;  // the only conversion error is near the end
    for (const Isa isa : isas())
      for (const bool swapped : {false, true})
        check_case<double, float>(Type::double_, Type::float_, values, {false, swapped, 8, 4, isa});
  }
}

TEST_CASE("limits that a floating-point number cannot hold exactly") {
  std::int64_t i64 = 0;
  std::uint64_t u64 = 0;
  std::int32_t i32 = 0;
  const double two63 = std::ldexp(1.0, 63);
  const double two64 = std::ldexp(1.0, 64);
  const float two31 = std::ldexp(1.0F, 31);
  CHECK(convert_one(Type::double_, &two63, 8, Type::int64, i64, std::int64_t{-7}).count == 1);
  CHECK(i64 == -7);
  const double minus_two63 = -two63;
  CHECK(convert_one(Type::double_, &minus_two63, 8, Type::int64, i64, std::int64_t{-7}).count == 0);
  CHECK(i64 == std::numeric_limits<std::int64_t>::min());
  CHECK(convert_one(Type::double_, &two63, 8, Type::uint64, u64, std::uint64_t{7}).count == 0);
  CHECK(u64 == std::uint64_t{1} << 63);
  CHECK(convert_one(Type::double_, &two64, 8, Type::uint64, u64, std::uint64_t{7}).count == 1);
  CHECK(u64 == 7);
  CHECK(convert_one(Type::float_, &two31, 4, Type::int_, i32, std::int32_t{-7}).count == 1);
  CHECK(i32 == -7);
  const float minus_two31 = -two31;
  CHECK(convert_one(Type::float_, &minus_two31, 4, Type::int_, i32, std::int32_t{-7}).count == 0);
  CHECK(i32 == std::numeric_limits<std::int32_t>::min());
  const double nan = std::nan("");
  CHECK(convert_one(Type::double_, &nan, 8, Type::int_, i32, std::int32_t{-7}).count == 1);
  CHECK(i32 == -7);
  const double truncated = -3.99;
  CHECK(convert_one(Type::double_, &truncated, 8, Type::int_, i32, std::int32_t{-7}).count == 0);
  CHECK(i32 == -3);
}

TEST_CASE("a conversion error raises no floating-point exception, so that models that stop at one go on") {
  const std::vector<double> values{1.0, 1e300, -1e300, std::nan(""), INFINITY, 3e9, -3e9, 2.0, 1e19};
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<std::uint64_t> out(values.size());
  std::feclearexcept(FE_ALL_EXCEPT);
  for (const Isa isa : isas())
    for (const Type to : k_numbers) {
      CAPTURE(name_of(to));
      const auto size = size_of(to);
      find_conversion({Type::double_, 8, false}, {to, size, false}, isa)(
          reinterpret_cast<const std::byte*>(values.data()), 8, reinterpret_cast<std::byte*>(out.data()),
          static_cast<std::int64_t>(size), n, nullptr);
      CHECK(std::fetestexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO) == 0);
    }
}

TEST_CASE("a conversion error without substitute becomes zero") {
  const double value = 1e300;
  float out = 5;
  const ConversionErrors found = find_conversion({Type::double_, 8, false}, {Type::float_, 4, false})(
      reinterpret_cast<const std::byte*>(&value), 8, reinterpret_cast<std::byte*>(&out), 4, 1, nullptr);
  CHECK(found.count == 1);
  CHECK(out == 0.0F);
}

TEST_CASE("the same type keeps every bit, signalling NaNs included") {
  const std::uint32_t bits = 0x7FA00001U;
  std::uint32_t out = 0;
  find_conversion({Type::float_, 4, true}, {Type::float_, 4, true})(
      reinterpret_cast<const std::byte*>(&bits), 4, reinterpret_cast<std::byte*>(&out), 4, 1, nullptr);
  CHECK(out == bits);
  find_conversion({Type::float_, 4, false}, {Type::float_, 4, true})(
      reinterpret_cast<const std::byte*>(&bits), 4, reinterpret_cast<std::byte*>(&out), 4, 1, nullptr);
  CHECK(out == 0x0100A07FU);
}

TEST_CASE("logicals of every size are normalised to 0 and 1") {
  const std::vector<std::int64_t> values{0, 1, -1, 2, 0, 127, 0};
  const auto store_integer = [](std::byte* at, std::int64_t value, std::size_t size, bool swapped) {
    std::memcpy(at, &value, size);  // little end first
    if (swapped) std::reverse(at, at + size);
  };
  if (machine_is_big_endian()) return;
  for (const std::size_t from : {1, 2, 4, 8})
    for (const std::size_t to : {1, 2, 4, 8})
      for (const bool from_swapped : {false, true})
        for (const bool to_swapped : {false, true}) {
          std::vector<std::byte> source(values.size() * from);
          std::vector<std::byte> target(values.size() * to, std::byte{0x5A});
          std::vector<std::byte> expected(values.size() * to);
          for (std::size_t i = 0; i < values.size(); ++i) {
            store_integer(source.data() + i * from, values[i], from, from_swapped);
            store_integer(expected.data() + i * to, values[i] != 0 ? 1 : 0, to, to_swapped);
          }
          const auto found =
              find_conversion({Type::logical, from, from_swapped}, {Type::logical, to, to_swapped})(
                  source.data(), static_cast<std::int64_t>(from), target.data(),
                  static_cast<std::int64_t>(to), static_cast<std::int64_t>(values.size()), nullptr);
          CHECK(found.count == 0);
          CHECK(target == expected);
        }
}

TEST_CASE("logicals and numbers") {
  for (const Type type : k_numbers)
    with_number(type, [&]<class T>(T) {
      CAPTURE(name_of(type));
      const std::vector<std::int32_t> logicals{0, 1, -1, 1 << 20};
      std::vector<T> numbers(4, T{9});
      find_conversion({Type::logical, 4, false}, {type, sizeof(T), false})(
          reinterpret_cast<const std::byte*>(logicals.data()), 4,
          reinterpret_cast<std::byte*>(numbers.data()), sizeof(T), 4, nullptr);
      CHECK(numbers == std::vector<T>{T{0}, T{1}, T{1}, T{1}});
      numbers = {T{0}, T{1}, std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
      std::vector<std::int16_t> back(4, 9);
      find_conversion({type, sizeof(T), false}, {Type::logical, 2, false})(
          reinterpret_cast<const std::byte*>(numbers.data()), sizeof(T),
          reinterpret_cast<std::byte*>(back.data()), 2, 4, nullptr);
      const bool lowest_is_zero = std::is_unsigned_v<T>;
      CHECK(back == std::vector<std::int16_t>{0, 1, 1, static_cast<std::int16_t>(lowest_is_zero ? 0 : 1)});
    });
  const std::vector<double> odd{-0.0, std::nan(""), std::numeric_limits<double>::denorm_min(), 0.0};
  std::vector<std::int8_t> out(4, 9);
  find_conversion({Type::double_, 8, false}, {Type::logical, 1, false})(
      reinterpret_cast<const std::byte*>(odd.data()), 8, reinterpret_cast<std::byte*>(out.data()), 1, 4,
      nullptr);
  CHECK(out == std::vector<std::int8_t>{0, 1, 1, 0});
}

TEST_CASE("text becomes logical, and else only text") {
  const std::string text = std::string("Tt1YyFf0Nn xZ") + '\0';
  std::vector<std::int32_t> out(text.size(), 9);
  const std::int32_t substitute = -5;
  const ConversionErrors found = find_conversion({Type::char_, 1, false}, {Type::logical, 4, false})(
      reinterpret_cast<const std::byte*>(text.data()), 1, reinterpret_cast<std::byte*>(out.data()), 4,
      static_cast<std::int64_t>(text.size()), reinterpret_cast<const std::byte*>(&substitute));
  CHECK(out == std::vector<std::int32_t>{1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, -5, -5, -5});
  CHECK(found.count == 3);
  CHECK(found.first == 11);

  std::string copy(text.size(), '?');
  find_conversion({Type::char_, 1, false}, {Type::char_, 1, true})(
      reinterpret_cast<const std::byte*>(text.data()), 1, reinterpret_cast<std::byte*>(copy.data()), 1,
      static_cast<std::int64_t>(text.size()), nullptr);
  CHECK(copy == text);
}

TEST_CASE("conversions that do not exist are refused") {
  const auto code_of = [](Element from, Element to) {
    return caught([&] { find_conversion(from, to); }).code;
  };
  const Element text{Type::char_, 1, false};
  const Element text_list{Type::string, sizeof(char*), false};
  for (const Type type : k_numbers) {
    const Element number{type, size_of(type), false};
    CHECK(code_of(text, number) == Code::type);
    CHECK(code_of(number, text) == Code::type);
    CHECK(code_of(number, text_list) == Code::type);
    CHECK(code_of(text_list, number) == Code::type);
    CHECK(code_of(number, number) == Code::ok);
  }
  CHECK(code_of({Type::logical, 4, false}, text) == Code::type);
  CHECK(code_of(text_list, text_list) == Code::type);
  CHECK(code_of({Type::none, 0, false}, {Type::none, 0, false}) == Code::type);
  CHECK(code_of({Type::logical, 3, false}, {Type::byte_, 1, false}) == Code::type);
  CHECK(code_of({Type::float_, 8, false}, {Type::float_, 4, false}) == Code::type);
}

TEST_CASE("swapping bytes in place") {
  for (const std::size_t size : {1, 2, 4, 8})
    for (const std::int64_t n : {0, 1, 3, 16, 33, 1000}) {
      std::vector<std::byte> data(size * static_cast<std::size_t>(n) + 1);
      for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<std::byte>(i * 37 + i / 256);
      std::vector<std::byte> expected = data;
      for (std::int64_t i = 0; i < n; ++i)
        std::reverse(expected.begin() + i * static_cast<std::int64_t>(size),
                     expected.begin() + (i + 1) * static_cast<std::int64_t>(size));
      swap_bytes(data.data(), size, n);
      CHECK(data == expected);
    }
  std::byte nothing{};
  CHECK_THROWS_AS(swap_bytes(&nothing, 3, 0), Error);
}

TEST_CASE("runs of any length are copied whole, and nothing beside them") {
  constexpr std::int64_t k_room = 70'000;
  constexpr std::int64_t k_edge = 200;
  constexpr std::byte k_guard{0xa5};
  std::mt19937 random(7);
  std::vector<std::byte> source(k_room);
  for (auto& byte : source)
    byte = static_cast<std::byte>(random());
  const auto check_length = [&](const ConvertRun copy, std::int64_t n, std::int64_t from, std::int64_t to) {
    std::vector<std::byte> target(static_cast<std::size_t>(to + n + k_edge), k_guard);
    std::vector<std::byte> expected = target;
    std::copy_n(source.begin() + from, n, expected.begin() + to);
    copy(source.data() + from, 1, target.data() + to, 1, n, nullptr);
    CAPTURE(n);
    CHECK(target == expected);
  };
  for (const Isa isa : isas()) {
    const ConvertRun copy = find_conversion({Type::byte_, 1, false}, {Type::byte_, 1, false}, isa);
    for (std::int64_t n = 0; n < 600; ++n)
      check_length(copy, n, n % 7, k_edge + n % 5);
    for (const std::int64_t n : {65'407, 65'408, 65'535, 65'536, 65'537, 69'000})
      check_length(copy, n, 3, k_edge + 1);
  }
}

TEST_CASE("conversions past the caches make what the others make, and nothing beside it") {
  std::mt19937 random(5);
  const auto pick = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  for (int round = 0; round < 400; ++round) {
    const Type from = k_numbers[static_cast<std::size_t>(pick(10))],
               to = k_numbers[static_cast<std::size_t>(pick(10))];
    const auto size = static_cast<std::int64_t>(size_of(to)),
               from_size = static_cast<std::int64_t>(size_of(from));
    const ConvertRun convert = find_conversion({from, size_of(from), false}, {to, size_of(to), pick(2) == 0});
    const std::int64_t n = pick(5) == 0 ? pick(20) : pick(5000);
    const std::int64_t step = (1 + pick(2)) * from_size, place = (pick(4) == 0 ? 2 : 1) * size,
                       first = pick(130);
    CAPTURE(name_of(from));
    CAPTURE(name_of(to));
    CAPTURE(n);
    std::vector<std::byte> cells(static_cast<std::size_t>(n * step + 1));
    for (auto& byte : cells)
      byte = static_cast<std::byte>(random());
    std::vector<std::byte> usual(static_cast<std::size_t>(first + n * place + 200), std::byte{77});
    auto streamed = usual;
    const std::int64_t substitute = 0;
    const auto* instead = reinterpret_cast<const std::byte*>(&substitute);
    const ConversionErrors expected = convert(cells.data(), step, usual.data() + first, place, n, instead);
    const ConversionErrors found =
        convert.streaming(size_of(to))(cells.data(), step, streamed.data() + first, place, n, instead);
    finish_streams();
    CHECK(found.count == expected.count);
    CHECK(found.first == expected.first);
    CHECK(streamed == usual);
  }
}
