// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/box.hpp"
#include "codec/element.hpp"
#include "codec/isa.hpp"

namespace shoal {

/// Converts one run of n elements. Strides in bytes. A value that does not fit is replaced by *substitute (an
/// element of the target's type in the target's byte order; nullptr stands for zero) and counted. Places must
/// not overlap; they need no alignment. Raises no floating-point exceptions but inexact and underflow, and
/// those that signalling NaNs raise.
using ConvertLoop = ConversionErrors (*)(const std::byte* from, std::int64_t from_stride, std::byte* to,
                                         std::int64_t to_stride, std::int64_t n, const std::byte* substitute);

class Rounding;

/// A ConvertLoop, and what is rounded after it, if anything is; or two loops, to doubles that are packed or
/// unpacked and from these.
class ConvertRun {
 public:
  ConvertRun(ConvertLoop loop) : loop_(loop) {}
  enum class Packs { values, numbers };
  /// to_double, from_double: of what comes and what goes. Packs values, or unpacks numbers. The packer has to
  /// stay.
  ConvertRun(ConvertLoop to_double, ConvertLoop from_double, const Packer* packer, Packs packs)
      : loop_(to_double), from_double_(from_double), packer_(packer), packs_(packs) {}
  /// The same with rounding, which has to stay; nullptr: none. to: what the conversion makes.
  ConvertRun rounded(const Rounding* rounding, const Element& to) const;
  /// The same for elements of so many bytes that nobody reads soon: long runs go past the caches, where the
  /// machine can. Others may read them after finish_streams(). 0: as usual.
  ConvertRun streaming(std::size_t size) const {
    ConvertRun out = *this;
    out.streamed_size_ = static_cast<std::int64_t>(size);
    return out;
  }

  ConversionErrors operator()(const std::byte* from, std::int64_t from_stride, std::byte* to,
                              std::int64_t to_stride, std::int64_t n, const std::byte* substitute) const {
    if (streamed_size_ > 0) return convert_and_stream(from, from_stride, to, to_stride, n, substitute);
    if (packer_ != nullptr) return convert_and_pack(from, from_stride, to, to_stride, n, substitute);
    if (rounding_ == nullptr) return loop_(from, from_stride, to, to_stride, n, substitute);
    return convert_and_round(from, from_stride, to, to_stride, n, substitute);
  }
  friend bool operator==(const ConvertRun&, const ConvertRun&) = default;

 private:
  ConversionErrors convert_and_round(const std::byte* from, std::int64_t from_stride, std::byte* to,
                                     std::int64_t to_stride, std::int64_t n,
                                     const std::byte* substitute) const;

  ConversionErrors convert_and_pack(const std::byte* from, std::int64_t from_stride, std::byte* to,
                                    std::int64_t to_stride, std::int64_t n,
                                    const std::byte* substitute) const;

  ConversionErrors convert_and_stream(const std::byte* from, std::int64_t from_stride, std::byte* to,
                                      std::int64_t to_stride, std::int64_t n,
                                      const std::byte* substitute) const;

  ConvertLoop loop_;
  ConvertLoop from_double_ = nullptr;
  const Packer* packer_ = nullptr;
  Packs packs_ = Packs::values;
  const Rounding* rounding_ = nullptr;
  bool swapped_ = false;
  std::int64_t streamed_size_ = 0;
};

/// What this thread streamed is there for all threads and processes that learn of it from now on.
void finish_streams();

/// The conversion of one kind of element into another, looked up once, used for every run.
/// Numbers to numbers as netCDF does: integers range-checked; floating point to integer range-checked, then
/// truncated towards zero (127.5 does not fit a byte, and NaN fits no integer); double to float range-checked
/// (infinity and NaN are kept); integers to floating point rounded to the nearest. logical to numbers: 0 or
/// 1; numbers to logical: non-zero is true (all bytes of the element written); char_ to char_ only, and char_
/// to logical: 'T','t','1','Y','y' true, 'F','f','0','N','n' and blank false, others do not fit. Anything
/// else throws Error(type). string elements are never converted here. Where one side has a packer, the other
/// has the numbers that it packs into; of the same packer on both sides, elements are copied. Local.
ConvertRun find_conversion(const Element& from, const Element& to);
/// The same for a given instruction set, which the machine must have. Local.
ConvertRun find_conversion(const Element& from, const Element& to, Isa isa);

/// Copy a box of count elements between two strided places, converting. Strides in bytes, one a dimension,
/// any sign. Merges dimensions that are contiguous on both sides into longer runs. Local.
ConversionErrors copy_box(const std::byte* from, const Dims& from_strides, std::byte* to,
                          const Dims& to_strides, const Dims& count, ConvertRun convert,
                          const std::byte* substitute);

/// Fill a strided box with copies of one element of size bytes. Local.
void fill_box(std::byte* to, const Dims& to_strides, const Dims& count, const std::byte* element,
              std::size_t size);

/// Swap the bytes of n contiguous elements of size 1, 2, 4 or 8 in place.
void swap_bytes(std::byte* data, std::size_t size, std::int64_t n);

/// true if this machine is big-endian.
bool machine_is_big_endian();

}  // namespace shoal
