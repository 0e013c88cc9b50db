// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/type.hpp"

namespace shoal {

/// How many bits or digits of a variable's values count; the others become zero, so that it compresses
/// better.
struct Quantization {
  enum class Mode {
    none,
    bitround,  ///< number: bits of the mantissa that are kept
    granular   ///< number: significant decimal digits
  };
  Mode mode = Mode::none;
  int number = 0;

  bool empty() const { return mode == Mode::none; }
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

/// CF's name of the algorithm: "bitround", "granular_bitround".
const char* name_of(Quantization::Mode mode);
/// "none", "bitround:7", "granular_bitround:3".
std::string text_of(const Quantization& quantization);
/// What text_of gives. Error(setting) says what is allowed. Local.
Quantization quantization_of(const std::string& text);
/// The largest number for values of the type: beyond it nothing is rounded. 0: the type cannot be quantized.
int most_of(Quantization::Mode mode, Type type);

/// Rounds values of one variable. Zeros, infinities, NaN and the values to be kept never change, nor does a
/// finite value become infinite: it is then cut instead of rounded.
/// bitround: to the nearest with so many bits of the mantissa behind its first one, halves away from zero, as
/// netCDF-C does, bit for bit; the relative error is at most 2^-(number+1), of a denormal value the absolute
/// one that of the smallest normal value.
/// granular: as few bits as keep the error within half a unit of the last digit, each value by itself; as
/// netCDF-C, bit for bit but for denormal values, where netCDF-C gives less than the digits.
class Rounding {
 public:
  static constexpr std::size_t k_most_kept = 4;

  /// type: float_ or double_. kept: elements of the type in memory order, at most k_most_kept.
  Rounding(Type type, const Quantization& quantization, std::span<const std::byte> kept);

  /// n elements, stride in bytes; swapped: of the other byte order than this machine's. Local.
  void apply(std::byte* at, std::int64_t stride, std::int64_t n, bool swapped) const;

 private:
  /// Of values with the same exponent: bits that become zero, where the rest of the mantissa is below the
  /// threshold, and where it is not; one less next to a power of two, where netCDF-C's logarithm gives that.
  struct Granule {
    std::uint64_t threshold, close;
    std::uint8_t below, above;
  };
  template <class F>
  void apply_to(std::byte* at, std::int64_t stride, std::int64_t n, bool swapped) const;
  template <class F>
  void make_granules();

  Type type_;
  Quantization quantization_;
  std::array<std::uint64_t, k_most_kept> kept_{};
  std::vector<Granule> granules_;  // by the exponent as it is stored; of 0, denormals, not looked at
};

}  // namespace shoal
