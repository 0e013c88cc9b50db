// SPDX-License-Identifier: BSD-3-Clause
#include "codec/quantize.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numbers>

#include "base/error.hpp"
#include "base/text.hpp"
#include "codec/kernels.hpp"

namespace shoal {

namespace {

using Mode = Quantization::Mode;

constexpr int k_float_bits = 23, k_double_bits = 52;
constexpr int k_float_digits = 7, k_double_digits = 15;

// Bits for a decimal digit, and digits for a bit.
constexpr double k_bits_of_digit = std::numbers::ln10 / std::numbers::ln2;
constexpr double k_digits_of_bit = std::numbers::ln2 / std::numbers::ln10;

/// How a floating-point type lies in an integer.
template <class F>
struct Layout {
  using U = kernels::Unsigned<sizeof(F)>;
  static constexpr int k_mantissa = std::numeric_limits<F>::digits - 1;  // bits stored
  static constexpr int k_exponents = 1 << (8 * sizeof(F) - 1 - k_mantissa);
  static constexpr int k_bias = std::numeric_limits<F>::max_exponent - 2;  // value = m * 2^(stored - bias)
  static constexpr int k_least = std::numeric_limits<F>::min_exponent - 1 - k_mantissa;  // 2^: smallest value
  static constexpr U k_sign = U{1} << (8 * sizeof(F) - 1);
  static constexpr U k_infinity = static_cast<U>(k_exponents - 1) << k_mantissa;
  static constexpr U k_fraction = (U{1} << k_mantissa) - 1;
};

/// Decimal digits before the point of m * 2^exponent, 0.5 <= m < 1; 0 or less: zeros behind it.
int digits_of(int exponent, double m) {
  return static_cast<int>(std::floor(exponent * k_digits_of_bit + std::log10(m))) + 1;
}

/// The largest power of two that is not more than the unit of the last of so many digits.
int last_digit(int digits, int significant) {
  return static_cast<int>(std::floor(k_bits_of_digit * (digits - significant)));
}

/// The first number from 0 for which it does not hold; end if it holds for all. It holds up to there alone.
template <class Holds>
std::uint64_t first_not(std::uint64_t end, Holds&& holds) {
  std::uint64_t low = 0, high = end;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (holds(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// To the nearest with `zeros` bits of zero at the end, halves away from zero; never to infinity.
template <class F, class U = typename Layout<F>::U>
[[gnu::always_inline]] inline U rounded(U value, U half, U mask) {
  const U up = (value + half) & mask;
  return (up & ~Layout<F>::k_sign) >= Layout<F>::k_infinity ? value & mask : up;
}

template <class F, class U = typename Layout<F>::U>
[[gnu::always_inline]] inline bool stays(U value, const std::array<U, Rounding::k_most_kept>& kept) {
  bool stays = (value & ~Layout<F>::k_sign) >= Layout<F>::k_infinity;
  for (const U k : kept)
    stays = stays || value == k;
  return stays;
}

template <class F>
struct BitRound {
  using U = typename Layout<F>::U;
  U half, mask;
  std::array<U, Rounding::k_most_kept> kept;

  [[gnu::always_inline]] U operator()(U value) const {
    const U other = rounded<F>(value, half, mask);
    return stays<F>(value, kept) ? value : other;
  }
};

/// Calls f for each element and stores what it gives.
template <class U, bool swap, class Rule>
struct EachInPlace {
  [[gnu::always_inline]] static inline void run(std::byte* at, std::int64_t stride, std::int64_t n,
                                                const Rule* given) {
    const Rule rule = *given;  // else stores could change it, as far as the compiler knows
    const auto loop = [&](std::int64_t step) __attribute__((always_inline)) {
      for (std::int64_t i = 0; i < n; ++i) {
        std::byte* const here = at + i * step;
        kernels::store(here, kernels::ordered<swap>(rule(kernels::ordered<swap>(kernels::load<U>(here)))));
      }
    };
    if (stride == static_cast<std::int64_t>(sizeof(U)))
      loop(sizeof(U));
    else
      loop(stride);
  }
};

template <class U, class Rule>
void for_each_in_place(std::byte* at, std::int64_t stride, std::int64_t n, bool swapped, const Rule& rule) {
  const bool avx2 = best_isa() == Isa::avx2;
  if (swapped)
    avx2 ? CompiledFor<Isa::avx2, EachInPlace<U, true, Rule>>::call(at, stride, n, &rule)
         : CompiledFor<Isa::base, EachInPlace<U, true, Rule>>::call(at, stride, n, &rule);
  else
    avx2 ? CompiledFor<Isa::avx2, EachInPlace<U, false, Rule>>::call(at, stride, n, &rule)
         : CompiledFor<Isa::base, EachInPlace<U, false, Rule>>::call(at, stride, n, &rule);
}

template <class U>
std::array<U, Rounding::k_most_kept> narrowed(const std::array<std::uint64_t, Rounding::k_most_kept>& kept) {
  std::array<U, Rounding::k_most_kept> out{};
  std::transform(kept.begin(), kept.end(), out.begin(), [](std::uint64_t k) { return static_cast<U>(k); });
  return out;
}

[[noreturn]] void refuse(const std::string& text) {
  throw Error(
      Code::setting,
      "quantization '{}' is not known; allowed: none, bitround:N (N bits of the mantissa, 1 to 23 for float, "
      "52 for double), granular_bitround:N (N decimal digits, 1 to 7 for float, 15 for double)",
      text);
}

}  // namespace

const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::none:
      return "none";
    case Mode::bitround:
      return "bitround";
    case Mode::granular:
      return "granular_bitround";
  }
  return "unknown";
}

std::string text_of(const Quantization& quantization) {
  const std::string name = name_of(quantization.mode);
  return quantization.empty() ? name : fmt::format("{}:{}", name, quantization.number);
}

Quantization quantization_of(const std::string& text) {
  const std::string wanted = lower(trimmed(text));
  if (wanted == "none") return {};
  const std::size_t colon = wanted.find(':');
  if (colon == std::string::npos) refuse(text);
  const std::string name = trimmed(wanted.substr(0, colon));
  const std::string digits = trimmed(wanted.substr(colon + 1));
  Quantization out;
  for (const Mode mode : {Mode::bitround, Mode::granular})
    if (name == name_of(mode)) out.mode = mode;
  if (out.empty() || digits.empty() || digits.size() > 2 ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    refuse(text);
  out.number = std::atoi(digits.c_str());
  if (out.number < 1 || out.number > most_of(out.mode, Type::double_)) refuse(text);
  return out;
}

int most_of(Mode mode, Type type) {
  if (type == Type::float_) return mode == Mode::granular ? k_float_digits : k_float_bits;
  if (type == Type::double_) return mode == Mode::granular ? k_double_digits : k_double_bits;
  return 0;
}

Rounding::Rounding(Type type, const Quantization& quantization, std::span<const std::byte> kept)
    : type_(type), quantization_(quantization) {
  const std::size_t size = size_of(type);
  if (most_of(quantization.mode, type) < quantization.number || quantization.number < 1)
    throw Error(Code::internal, "{} of values of type {}", text_of(quantization), shoal::name_of(type));
  if (kept.size() % size != 0 || kept.size() > k_most_kept * size)
    throw Error(Code::internal, "{} bytes of values that rounding must keep", kept.size());
  // Places that are left stand for a value that is kept anyway: zero.
  for (std::size_t i = 0; i * size < kept.size(); ++i)
    kept_[i] = size == 4 ? kernels::load<std::uint32_t>(kept.data() + i * size)
                         : kernels::load<std::uint64_t>(kept.data() + i * size);
  if (quantization.mode != Mode::granular) return;
  if (type == Type::float_)
    make_granules<float>();
  else
    make_granules<double>();
}

// What counts for the number of bits is the exponent and, once in about three exponents, whether the value is
// above a power of ten. So no logarithm is needed for a value.
template <class F>
void Rounding::make_granules() {
  using L = Layout<F>;
  const auto fraction = [](std::uint64_t bits) {
    return 0.5 + static_cast<double>(bits) / static_cast<double>(std::uint64_t{2} << L::k_mantissa);
  };
  const auto zeros = [&](int exponent, int digits) {
    const int kept = exponent - last_digit(digits, quantization_.number) - 1;
    return static_cast<std::uint8_t>(std::clamp(L::k_mantissa - kept, 0, L::k_mantissa));
  };
  const std::uint64_t end = std::uint64_t{1} << L::k_mantissa;
  for (int stored = 0; stored < L::k_exponents - 1; ++stored) {
    const int exponent = stored - L::k_bias;
    const int digits = digits_of(exponent, 0.5);
    const auto threshold =
        first_not(end, [&](std::uint64_t bits) { return digits_of(exponent, fraction(bits)) == digits; });
    const auto close = first_not(end, [&](std::uint64_t bits) {
      return std::floor(exponent - k_bits_of_digit * std::log10(fraction(bits))) > exponent;
    });
    granules_.push_back({threshold, close, zeros(exponent, digits), zeros(exponent, digits + 1)});
  }
}

template <class F>
void Rounding::apply_to(std::byte* at, std::int64_t stride, std::int64_t n, bool swapped) const {
  using L = Layout<F>;
  using U = typename L::U;
  const auto kept = narrowed<U>(kept_);
  const auto round = [](U value, int zeros) {
    const U ones = (U{1} << zeros) - 1;
    return rounded<F>(value, static_cast<U>(ones ^ (ones >> 1)), static_cast<U>(~ones));
  };
  if (quantization_.mode == Mode::bitround) {
    const int zeros = L::k_mantissa - quantization_.number;
    const U ones = (U{1} << zeros) - 1;
    const BitRound<F> rule{static_cast<U>(ones ^ (ones >> 1)), static_cast<U>(~ones), kept};
    return for_each_in_place<U>(at, stride, n, swapped, rule);
  }
  // A denormal value has no leading bit that is not stored: the unit of its last digit, counted in the
  // smallest values there are, gives the number of bits.
  const auto zeros_of_denormal = [&](U fraction) {
    int exponent = 0;
    const double m = std::frexp(static_cast<double>(fraction), &exponent);
    return std::clamp(last_digit(digits_of(exponent + L::k_least, m), quantization_.number) - L::k_least, 0,
                      L::k_mantissa);
  };
  const auto rule = [&](U value) {
    const U magnitude = value & static_cast<U>(~L::k_sign);
    if (magnitude == 0 || stays<F>(value, kept)) return value;
    const U fraction = value & L::k_fraction;
    const auto stored = static_cast<std::size_t>(magnitude >> L::k_mantissa);
    if (stored == 0) return round(value, zeros_of_denormal(fraction));
    const Granule& granule = granules_[stored];
    const int zeros = fraction < granule.threshold ? granule.below : granule.above;
    return round(value, zeros - (zeros > 0 && fraction < granule.close ? 1 : 0));
  };
  for_each_in_place<U>(at, stride, n, swapped, rule);
}

void Rounding::apply(std::byte* at, std::int64_t stride, std::int64_t n, bool swapped) const {
  if (type_ == Type::float_)
    apply_to<float>(at, stride, n, swapped);
  else
    apply_to<double>(at, stride, n, swapped);
}

}  // namespace shoal
