// SPDX-License-Identifier: BSD-3-Clause
// Properties of quantized values, over all kinds of floating-point numbers; and that conversions round.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "codec/convert.hpp"
#include "codec/quantize.hpp"

using namespace shoal;

namespace {

using Mode = Quantization::Mode;

template <class F>
using Bits = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

template <class F>
constexpr Type k_type = sizeof(F) == 4 ? Type::float_ : Type::double_;

/// All kinds: any bits there are, usual numbers, powers of two and ten and their neighbours, denormals.
template <class F>
std::vector<F> values(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<F> out;
  for (int i = 0; i < 20000; ++i)
    out.push_back(std::bit_cast<F>(static_cast<Bits<F>>(random())));
  std::normal_distribution<double> usual(0, 100);
  for (int i = 0; i < 5000; ++i)
    out.push_back(static_cast<F>(usual(random)));
  for (int i = 0; i < 2000; ++i)
    out.push_back(std::bit_cast<F>(static_cast<Bits<F>>(random() >> (8 + random() % 56))));
  const F most = std::numeric_limits<F>::max(), infinity = std::numeric_limits<F>::infinity();
  for (int e = std::numeric_limits<F>::min_exponent10; e <= std::numeric_limits<F>::max_exponent10; ++e) {
    const F ten = static_cast<F>(std::pow(10.0, e));
    for (const F v : {ten, std::nextafter(ten, F{0}), std::nextafter(ten, infinity), 5 * ten})
      out.push_back(v);
  }
  for (int e = std::numeric_limits<F>::min_exponent; e < std::numeric_limits<F>::max_exponent; ++e)
    for (const F v : {std::ldexp(F{1}, e), std::nextafter(std::ldexp(F{1}, e), F{0})})
      out.push_back(v);
  for (const F v : {F{0}, F{1}, most, infinity, std::numeric_limits<F>::min(),
                    std::numeric_limits<F>::denorm_min(), std::numeric_limits<F>::quiet_NaN(),
                    std::numeric_limits<F>::signaling_NaN(), std::nextafter(most, F{0}), F{1e20F}})
    out.push_back(v);
  const std::size_t n = out.size();
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(-out[i]);
  return out;
}

template <class F>
std::vector<F> rounded(std::vector<F> in, Mode mode, int number, const std::vector<F>& kept = {}) {
  const Rounding rounding(k_type<F>, {mode, number}, std::as_bytes(std::span(kept)));
  rounding.apply(reinterpret_cast<std::byte*>(in.data()), sizeof(F), static_cast<std::int64_t>(in.size()),
                 false);
  return in;
}

template <class F>
bool same_bits(F a, F b) {
  return std::bit_cast<Bits<F>>(a) == std::bit_cast<Bits<F>>(b);
}

template <class F>
int zeros_at_end(F value) {
  return std::countr_zero(std::bit_cast<Bits<F>>(value));
}

/// Checks each value, and says which one failed.
template <class F, class Holds>
void check_each(const std::vector<F>& before, const std::vector<F>& after, const char* what, Holds&& holds) {
  int wrong = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (holds(before[i], after[i])) continue;
    if (++wrong > 3) break;
    INFO(what << ": " << static_cast<double>(before[i]) << " became " << static_cast<double>(after[i]));
    CHECK(false);
  }
  CHECK(wrong == 0);
}

template <class F>
void check_common(const std::vector<F>& before, const std::vector<F>& after) {
  check_each(before, after, "stays", [](F a, F b) {
    return std::isfinite(a) ? std::isfinite(b) && std::signbit(a) == std::signbit(b) : same_bits(a, b);
  });
  check_each(before, after, "zero stays", [](F a, F b) { return a != 0 || same_bits(a, b); });
}

template <class F>
bool near_infinity(F a, F b) {
  return std::abs(b) <= std::abs(a) && std::abs(a) > std::numeric_limits<F>::max() / 4;
}

template <class F>
void check_bitround(int bits) {
  CAPTURE(bits);
  const auto before = values<F>(static_cast<unsigned>(bits));
  const auto after = rounded(before, Mode::bitround, bits);
  check_common(before, after);
  check_each(before, after, "error", [&](F a, F b) {
    if (!std::isfinite(a)) return true;
    const F scale = std::max(std::abs(a), std::numeric_limits<F>::min());
    // As far as a long double can say; a value next to infinity is cut.
    const long double error = std::abs(static_cast<long double>(b) - static_cast<long double>(a));
    return error <= std::ldexp(static_cast<long double>(scale), -(bits + 1)) ||
           (near_infinity(a, b) && error <= std::ldexp(static_cast<long double>(scale), -bits));
  });
  check_each(before, after, "bits", [&](F a, F b) {
    return !std::isfinite(a) || b == 0 || zeros_at_end(b) >= std::numeric_limits<F>::digits - 1 - bits;
  });
  const auto again = rounded(after, Mode::bitround, bits);
  check_each(after, again, "again", [](F a, F b) { return same_bits(a, b); });
}

/// 10^k as exactly as there is.
long double ten_to(int k) {
  return std::pow(10.0L, k);
}

template <class F>
void check_granular(int digits) {
  CAPTURE(digits);
  const auto before = values<F>(static_cast<unsigned>(100 + digits));
  const auto after = rounded(before, Mode::granular, digits);
  check_common(before, after);
  check_each(before, after, "error", [&](F a, F b) {
    if (!std::isfinite(a) || a == 0) return true;
    const long double magnitude = std::abs(static_cast<long double>(a));
    // A value that is a power of ten but for the last bit may count as that power.
    const int before_point = static_cast<int>(std::floor(std::log10(magnitude * (1 + 1e-14L)))) + 1;
    const long double unit = ten_to(before_point - digits);
    const long double error = std::abs(static_cast<long double>(b) - static_cast<long double>(a));
    return error <= unit / 2 * (1 + 1e-9L) || (near_infinity(a, b) && error <= unit);
  });
}

}  // namespace

TEST_CASE("quantize: bitround keeps its error, and what must stay") {
  for (const int bits : {1, 2, 3, 7, 12, 22, 23})
    check_bitround<float>(bits);
  for (const int bits : {1, 2, 7, 23, 24, 40, 51, 52})
    check_bitround<double>(bits);
}

TEST_CASE("quantize: granular bitround keeps its digits, and what must stay") {
  for (int digits = 1; digits <= 7; ++digits)
    check_granular<float>(digits);
  for (int digits = 1; digits <= 15; ++digits)
    check_granular<double>(digits);
}

TEST_CASE("quantize: all bits of the mantissa are the value itself") {
  const auto before = values<float>(5);
  const auto after = rounded(before, Mode::bitround, 23);
  check_each(before, after, "stays", [](float a, float b) { return same_bits(a, b); });
}

TEST_CASE("quantize: halves go away from zero, and nothing becomes infinite") {
  CHECK(rounded<float>({1.25F, -1.25F, 1.75F, 1.2F}, Mode::bitround, 1) ==
        std::vector<float>{1.5F, -1.5F, 2.0F, 1.0F});
  const float most = std::numeric_limits<float>::max();
  CHECK(rounded<float>({most, -most}, Mode::bitround, 1) ==
        std::vector<float>{std::ldexp(1.5F, 127), -std::ldexp(1.5F, 127)});
  CHECK(std::isfinite(rounded<double>({std::numeric_limits<double>::max()}, Mode::granular, 1)[0]));
  CHECK(rounded<float>({3.14159F}, Mode::granular, 3)[0] == doctest::Approx(3.14).epsilon(0.0016));
}

TEST_CASE("quantize: values that are kept, alone and among others") {
  const std::vector<float> kept{-999.9F, 9.96921e36F, 1.2345e20F, 0.1F};
  std::vector<float> all;
  for (int i = 0; i < 1001; ++i)
    all.push_back(i % 3 == 0 ? kept[static_cast<std::size_t>(i / 3) % 4] : 0.123F + static_cast<float>(i));
  for (const Mode mode : {Mode::bitround, Mode::granular}) {
    const auto after = rounded(all, mode, 2, kept);
    for (std::size_t i = 0; i < all.size(); ++i)
      CHECK((i % 3 == 0) == same_bits(all[i], after[i]));
  }
}

TEST_CASE("quantize: strides and the other byte order give the same") {
  const auto before = values<double>(7);
  for (const auto& [mode, number] : {std::pair{Mode::bitround, 9}, std::pair{Mode::granular, 4}}) {
    const auto expected = rounded(before, mode, number);
    const Rounding rounding(Type::double_, {mode, number}, {});
    const auto n = static_cast<std::int64_t>(before.size());
    for (const std::int64_t step : {8, 24, -8, 9}) {
      for (const bool swapped : {false, true}) {
        std::vector<std::byte> room(static_cast<std::size_t>(n * std::abs(step)) + 8);
        std::byte* const first = room.data() + (step < 0 ? -step * (n - 1) : 0);
        const auto put = find_conversion({Type::double_, 8, false}, {Type::double_, 8, swapped});
        put(reinterpret_cast<const std::byte*>(before.data()), 8, first, step, n, nullptr);
        rounding.apply(first, step, n, swapped);
        std::vector<double> after(before.size());
        find_conversion({Type::double_, 8, swapped}, {Type::double_, 8, false})(
            first, step, reinterpret_cast<std::byte*>(after.data()), 8, n, nullptr);
        CHECK(std::memcmp(after.data(), expected.data(), after.size() * 8) == 0);
      }
    }
  }
}

TEST_CASE("quantize: a conversion rounds what it makes, and keeps what did not fit") {
  const Rounding rounding(Type::float_, {Mode::bitround, 3}, {});
  const Element from{Type::double_, 8, false}, to{Type::float_, 4, true};
  std::vector<double> in(3000);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = 0.37 * static_cast<double>(i);
  in[2500] = 1e300;
  std::vector<float> plain(in.size()), out(in.size());
  const std::int64_t n = 3000;
  const auto convert = find_conversion(from, to);
  const auto* cells = reinterpret_cast<const std::byte*>(in.data());
  const float fill = 1.0F;
  const ConversionErrors conversion_errors = convert.rounded(&rounding, to)(
      cells, 8, reinterpret_cast<std::byte*>(out.data()), 4, n, reinterpret_cast<const std::byte*>(&fill));
  CHECK(conversion_errors.count == 1);
  CHECK(conversion_errors.first == 2500);
  convert(cells, 8, reinterpret_cast<std::byte*>(plain.data()), 4, n,
          reinterpret_cast<const std::byte*>(&fill));
  rounding.apply(reinterpret_cast<std::byte*>(plain.data()), 4, n, true);
  CHECK(std::memcmp(plain.data(), out.data(), out.size() * 4) == 0);
  CHECK(convert.rounded(nullptr, to) == convert);
  CHECK_FALSE(convert.rounded(&rounding, to) == convert);
}

TEST_CASE("quantize: how it is said") {
  CHECK(text_of(quantization_of("none")) == "none");
  CHECK(text_of(quantization_of(" BitRound : 7 ")) == "bitround:7");
  CHECK(text_of(quantization_of("granular_bitround:15")) == "granular_bitround:15");
  for (const char* bad : {"", "bitround", "bitround:", "bitround:0", "bitround:53", "bitround:-1",
                          "bitround:7x", "granular_bitround:16", "bitgroom:3", "none:3", "7"}) {
    CAPTURE(bad);
    try {
      quantization_of(bad);
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(e.code() == Code::setting);
      CHECK(std::string(e.what()).find("allowed: none, bitround:N") != std::string::npos);
    }
  }
  CHECK(most_of(Mode::bitround, Type::float_) == 23);
  CHECK(most_of(Mode::granular, Type::double_) == 15);
  CHECK(most_of(Mode::bitround, Type::int_) == 0);
}
