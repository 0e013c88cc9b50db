// SPDX-License-Identifier: BSD-3-Clause
#include "streams/exact_sum.hpp"
#include "streams/nth.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace shoal::streams {

namespace {

constexpr int k_lowest = -1074;   // exponent of the least bit of a double
constexpr int k_terms = 1 << 29;  // of less than 2^32 each, before a digit is full
constexpr std::int64_t k_base = std::int64_t{1} << 32;

}  // namespace

void ExactSum::add(double term) {
  if (!std::isfinite(term)) {
    (std::isnan(term) ? nan_ : term > 0 ? plus_infinity_ : minus_infinity_) += 1;
    return;
  }
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const auto exponent = static_cast<int>(bits >> 52 & 0x7ff);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent != 0) mantissa |= std::uint64_t{1} << 52;
  const int shift = exponent == 0 ? 0 : exponent - 1;  // above the least bit
  const int digit = shift / 32, within = shift % 32;
  // 53 bits, moved by up to 31: three digits.
  const std::uint64_t low = (mantissa << within) & 0xffffffffU;
  const std::uint64_t rest = mantissa >> (32 - within);
  const std::int64_t parts[3] = {static_cast<std::int64_t>(low),
                                 static_cast<std::int64_t>(rest & 0xffffffffU),
                                 static_cast<std::int64_t>(rest >> 32)};
  const bool negative = (bits >> 63) != 0;
  for (int i = 0; i < 3; ++i)
    nth(digits_, digit + i) += negative ? -parts[i] : parts[i];
  if (++since_carry_ == k_terms) carry();
}

void ExactSum::carry() {
  std::int64_t over = 0;
  for (std::size_t i = 0; i < k_digits; ++i) {
    const std::int64_t all = digits_[i] + over;
    over =
        i + 1 < k_digits ? (all >= 0 ? all / k_base : -((-all + k_base - 1) / k_base)) : 0;  // rounded down
    digits_[i] = all - over * k_base;
  }
  since_carry_ = 0;
}

void ExactSum::words(std::span<std::int64_t> out) {
  carry();
  std::copy(digits_.begin(), digits_.end(), out.begin());
  out[k_digits] = nan_;
  out[k_digits + 1] = plus_infinity_;
  out[k_digits + 2] = minus_infinity_;
}

ExactSum ExactSum::of(std::span<const std::int64_t> words) {
  ExactSum sum;
  std::copy_n(words.begin(), k_digits, sum.digits_.begin());
  sum.nan_ = words[k_digits];
  sum.plus_infinity_ = words[k_digits + 1];
  sum.minus_infinity_ = words[k_digits + 2];
  return sum;
}

double ExactSum::value() const {
  if (nan_ > 0 || (plus_infinity_ > 0 && minus_infinity_ > 0))
    return std::numeric_limits<double>::quiet_NaN();
  if (plus_infinity_ > 0) return std::numeric_limits<double>::infinity();
  if (minus_infinity_ > 0) return -std::numeric_limits<double>::infinity();
  ExactSum sum = *this;
  sum.carry();
  // All digits but the last are 0 or more now, so the last one has the sign.
  const bool negative = sum.digits_[k_digits - 1] < 0;
  if (negative) {
    for (auto& digit : sum.digits_)
      digit = -digit;
    sum.carry();
  }
  int top = k_digits - 1;
  while (top >= 0 && nth(sum.digits_, top) == 0)
    --top;
  if (top < 0) return 0;
  // The 64 highest bits, and whether there is anything below them.
  const auto digit = [&](int i) {
    return i < 0 ? std::uint64_t{0} : static_cast<std::uint64_t>(nth(sum.digits_, i));
  };
  const auto length = static_cast<int>(std::bit_width(digit(top)));
  if (length > 32)
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  std::uint64_t high = digit(top) << (64 - length) | digit(top - 1) << (32 - length);
  if (length < 32) high |= digit(top - 2) >> length;
  bool below =
      length == 32 ? digit(top - 2) != 0 : (digit(top - 2) & ((std::uint64_t{1} << length) - 1)) != 0;
  for (int i = top - 3; i >= 0 && !below; --i)
    below = digit(i) != 0;
  // Exponent of the lowest of the 64 bits. A double keeps 53 of them, fewer near the least double.
  const int exponent = 32 * top + length - 64 + k_lowest;
  const int dropped = std::max(11, k_lowest - exponent);
  std::uint64_t kept = dropped >= 64 ? 0 : high >> dropped;
  if (dropped <= 64) {
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    const std::uint64_t rest = dropped == 64 ? high : high & ((std::uint64_t{1} << dropped) - 1);
    if (rest > half || (rest == half && (below || (kept & 1) != 0))) kept += 1;
  }
  const double out = std::ldexp(static_cast<double>(kept), exponent + dropped);
  return negative ? -out : out;
}

}  // namespace shoal::streams
