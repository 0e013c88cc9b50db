// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::streams {

/// The sum of doubles without rounding: a number with a fixed point that holds every double, so that order
/// and number of ranks make no difference. It is rounded once, to the nearest double, when it is read.
///
/// The number is sum(digit[i] * 2^(32 i - 1074)): digits are signed, and have room for what many sums bring
/// before carries are passed on.
class ExactSum {
 public:
  static constexpr int k_digits = 68;           ///< 2^(32 * 68 - 1074) is above 2^1024 * 2^64 terms
  static constexpr int k_words = k_digits + 3;  ///< and how many terms are NaN, +infinity, -infinity

  void add(double term);
  /// Words to add to those of other ranks, element by element: carries are passed on.
  void words(std::span<std::int64_t> out);
  static ExactSum of(std::span<const std::int64_t> words);
  /// To the nearest double, ties to even; NaN where a term is NaN, or both infinities are.
  double value() const;

 private:
  void carry();
  std::array<std::int64_t, k_digits> digits_{};
  std::int64_t nan_ = 0, plus_infinity_ = 0, minus_infinity_ = 0;
  int since_carry_ = 0;
};

}  // namespace shoal::streams
