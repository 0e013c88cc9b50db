// SPDX-License-Identifier: BSD-3-Clause
#include "codec/convert.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/error.hpp"
#include "codec/kernels.hpp"
#include "codec/packing.hpp"
#include "codec/quantize.hpp"

namespace shoal {
namespace {

using kernels::Logical;
using kernels::TextByte;
using kernels::Unsigned;

using MoveLoop = void (*)(const std::byte*, std::int64_t, std::byte*, std::int64_t, std::int64_t);
using CastLoop = ConversionErrors (*)(const std::byte*, std::byte*, std::int64_t, const std::byte*);

/// A conversion in up to three steps over blocks that stay in the first-level cache: bring elements together
/// in this machine's byte order, convert them, spread them in the target's order. So no loop exists for each
/// combination of types, byte orders and strides; the two outer steps are left out where nothing is to do.
struct Steps {
  MoveLoop gather;
  CastLoop cast;
  MoveLoop scatter;
  std::int64_t from_size;
  std::int64_t to_size;
  bool from_swapped;
  bool to_swapped;
};

constexpr std::int64_t k_block = 512;  // elements; two buffers of at most 4 KiB
constexpr std::size_t k_largest = 8;   // bytes of an element

ConversionErrors run_steps(const Steps& steps, const std::byte* from, std::int64_t from_stride, std::byte* to,
                           std::int64_t to_stride, std::int64_t n, const std::byte* substitute) {
  alignas(64) std::array<std::byte, k_block * k_largest> gathered;
  alignas(64) std::array<std::byte, k_block * k_largest> converted;
  const bool gathers = steps.from_swapped || from_stride != steps.from_size;
  const bool scatters = steps.to_swapped || to_stride != steps.to_size;
  // The cast stores elements in this machine's order, so it needs the substitute in that order too.
  std::array<std::byte, k_largest> native_substitute{};
  if (substitute != nullptr) {
    std::copy_n(substitute, steps.to_size, native_substitute.begin());
    if (steps.to_swapped) std::reverse(native_substitute.begin(), native_substitute.begin() + steps.to_size);
  }
  ConversionErrors conversion_errors;
  for (std::int64_t at = 0; at < n; at += k_block) {
    const std::int64_t m = std::min(k_block, n - at);
    const std::byte* source = from + at * from_stride;
    std::byte* target = to + at * to_stride;
    if (gathers) {
      steps.gather(source, from_stride, gathered.data(), steps.from_size, m);
      source = gathered.data();
    }
    const ConversionErrors found =
        steps.cast(source, scatters ? converted.data() : target, m, native_substitute.data());
    if (scatters) steps.scatter(converted.data(), steps.to_size, target, to_stride, m);
    if (found.count > 0) conversion_errors.merge(found, at);
  }
  return conversion_errors;
}

template <Isa isa, class S, class D, bool from_swapped, bool to_swapped>
ConversionErrors convert_run(const std::byte* from, std::int64_t from_stride, std::byte* to,
                             std::int64_t to_stride, std::int64_t n, const std::byte* substitute) {
  static constexpr Steps k_steps{
      &CompiledFor<isa, kernels::Move<Unsigned<sizeof(S)>, from_swapped>>::template call<
          const std::byte*, std::int64_t, std::byte*, std::int64_t, std::int64_t>,
      &CompiledFor<isa, kernels::Cast<S, D>>::template call<const std::byte*, std::byte*, std::int64_t,
                                                            const std::byte*>,
      &CompiledFor<isa, kernels::Move<Unsigned<sizeof(D)>, to_swapped>>::template call<
          const std::byte*, std::int64_t, std::byte*, std::int64_t, std::int64_t>,
      sizeof(S),
      sizeof(D),
      from_swapped,
      to_swapped};
  return run_steps(k_steps, from, from_stride, to, to_stride, n, substitute);
}

template <Isa isa, class U, bool swap>
ConversionErrors copy_run(const std::byte* from, std::int64_t from_stride, std::byte* to,
                          std::int64_t to_stride, std::int64_t n, const std::byte*) {
  CompiledFor<isa, kernels::Move<U, swap>>::call(from, from_stride, to, to_stride, n);
  return {};
}

/// Calls f with the C++ type that Element stands for, as std::type_identity.
template <class F>
ConvertLoop with_element(const Element& element, F f) {
  switch (element.type) {
    case Type::byte_:
      return f(std::type_identity<std::int8_t>{});
    case Type::ubyte:
      return f(std::type_identity<std::uint8_t>{});
    case Type::short_:
      return f(std::type_identity<std::int16_t>{});
    case Type::ushort:
      return f(std::type_identity<std::uint16_t>{});
    case Type::int_:
      return f(std::type_identity<std::int32_t>{});
    case Type::uint:
      return f(std::type_identity<std::uint32_t>{});
    case Type::int64:
      return f(std::type_identity<std::int64_t>{});
    case Type::uint64:
      return f(std::type_identity<std::uint64_t>{});
    case Type::float_:
      return f(std::type_identity<float>{});
    case Type::double_:
      return f(std::type_identity<double>{});
    case Type::char_:
      return f(std::type_identity<TextByte>{});
    case Type::logical:
      switch (element.size) {
        case 1:
          return f(std::type_identity<Logical<std::uint8_t>>{});
        case 2:
          return f(std::type_identity<Logical<std::uint16_t>>{});
        case 4:
          return f(std::type_identity<Logical<std::uint32_t>>{});
        case 8:
          return f(std::type_identity<Logical<std::uint64_t>>{});
        default:
          return nullptr;
      }
    case Type::none:
    case Type::string:
      return nullptr;
  }
  return nullptr;
}

/// Calls f<bool> with a value that is only known while running.
template <class F>
ConvertLoop with_flag(bool flag, F f) {
  return flag ? f(std::true_type{}) : f(std::false_type{});
}

template <class S, class D>
constexpr bool k_converts = [] {
  constexpr bool k_text_in = std::is_same_v<S, TextByte>;
  constexpr bool k_text_out = std::is_same_v<D, TextByte>;
  return k_text_in ? kernels::is_logical<D>::value : !k_text_out;
}();

template <Isa isa>
ConvertLoop find_copy(std::size_t size, bool swap) {
  return with_flag(swap, [&](auto swaps) -> ConvertLoop {
    switch (size) {
      case 1:
        return &copy_run<isa, std::uint8_t, false>;
      case 2:
        return &copy_run<isa, std::uint16_t, swaps()>;
      case 4:
        return &copy_run<isa, std::uint32_t, swaps()>;
      case 8:
        return &copy_run<isa, std::uint64_t, swaps()>;
      default:
        return nullptr;
    }
  });
}

template <Isa isa>
ConvertLoop find_for(const Element& from, const Element& to) {
  // Logicals are never just copied: any non-zero integer is to become 1.
  if (from.type == to.type && from.type != Type::logical && from.type != Type::string)
    return find_copy<isa>(from.size, from.swapped != to.swapped);
  return with_element(from, [&](auto source) {
    return with_element(to, [&](auto target) -> ConvertLoop {
      using S = typename decltype(source)::type;
      using D = typename decltype(target)::type;
      if constexpr (k_converts<S, D> && !(std::is_same_v<S, D> && std::is_arithmetic_v<S>)) {
        return with_flag(from.swapped && sizeof(S) > 1, [&](auto from_swapped) {
          return with_flag(to.swapped && sizeof(D) > 1, [&](auto to_swapped) -> ConvertLoop {
            return &convert_run < isa, S, D, from_swapped() && (sizeof(S) > 1),
                   to_swapped() && (sizeof(D) > 1) > ;
          });
        });
      } else {
        return nullptr;
      }
    });
  });
}

void check(const Element& element) {
  const bool logical = element.type == Type::logical;
  const std::size_t size = element.size;
  if (logical ? (size == 1 || size == 2 || size == 4 || size == 8) : size == size_of(element.type)) return;
  throw Error(Code::type, "an element of type {} cannot have {} bytes; allowed {}", name_of(element.type),
              size, logical ? "are 1, 2, 4 and 8" : fmt::format("is {}", size_of(element.type)));
}

ConvertLoop find_loop(const Element& from, const Element& to, Isa isa) {
  return isa == Isa::avx2 ? find_for<Isa::avx2>(from, to) : find_for<Isa::base>(from, to);
}

// Of numbers alone, which all convert into double and back.
ConvertRun find_packing(const Element& from, const Element& to, Isa isa) {
  const Element number{Type::double_, sizeof(double), false};
  const bool packs = from.packer != nullptr;
  return {find_loop(from, number, isa), find_loop(number, to, isa), packs ? from.packer : to.packer,
          packs ? ConvertRun::Packs::values : ConvertRun::Packs::numbers};
}

}  // namespace

ConvertRun ConvertRun::rounded(const Rounding* rounding, const Element& to) const {
  ConvertRun out = *this;
  out.rounding_ = rounding;
  out.swapped_ = rounding != nullptr && to.swapped;
  return out;
}

ConversionErrors ConvertRun::convert_and_round(const std::byte* from, std::int64_t from_stride, std::byte* to,
                                               std::int64_t to_stride, std::int64_t n,
                                               const std::byte* substitute) const {
  constexpr std::int64_t k_rounded = 1024;  // elements that stay in the first-level cache
  ConversionErrors conversion_errors;
  for (std::int64_t at = 0; at < n; at += k_rounded) {
    const std::int64_t m = std::min(k_rounded, n - at);
    conversion_errors.merge(
        loop_(from + at * from_stride, from_stride, to + at * to_stride, to_stride, m, substitute), at);
    rounding_->apply(to + at * to_stride, to_stride, m, swapped_);
  }
  return conversion_errors;
}

ConversionErrors ConvertRun::convert_and_pack(const std::byte* from, std::int64_t from_stride, std::byte* to,
                                              std::int64_t to_stride, std::int64_t n,
                                              const std::byte* substitute) const {
  constexpr std::int64_t k_size = sizeof(double);
  std::array<double, k_block> values, packed;
  ConversionErrors conversion_errors;
  for (std::int64_t at = 0; at < n; at += k_block) {
    const std::int64_t m = std::min(k_block, n - at);
    loop_(from + at * from_stride, from_stride, reinterpret_cast<std::byte*>(values.data()), k_size, m,
          nullptr);
    double* ready = values.data();
    if (packs_ == Packs::values) {
      conversion_errors.merge(packer_->pack(values.data(), packed.data(), m), at);
      ready = packed.data();
    } else {
      packer_->unpack(values.data(), m);
    }
    conversion_errors.merge(from_double_(reinterpret_cast<const std::byte*>(ready), k_size,
                                         to + at * to_stride, to_stride, m, substitute),
                            at);
  }
  return conversion_errors;
}

ConvertRun find_conversion(const Element& from, const Element& to) {
  return find_conversion(from, to, best_isa());
}

ConvertRun find_conversion(const Element& from, const Element& to, Isa isa) {
  check(from);
  check(to);
  if (from.packer != to.packer && is_number(from.type) && is_number(to.type))
    return find_packing(from, to, isa);
  const ConvertLoop found = find_loop(from, to, isa);
  if (found != nullptr) return found;
  std::string why = "; numbers and logicals convert into each other, text into text or logical only";
  if (from.type == Type::string || to.type == Type::string)
    why = "; strings are put and got as strings, never converted";
  throw Error(Code::type, "cannot convert {} into {}{}", name_of(from.type), name_of(to.type), why);
}

void swap_bytes(std::byte* data, std::size_t size, std::int64_t n) {
  const bool avx2 = best_isa() == Isa::avx2;
  const auto swap = [&]<class U>(std::type_identity<U>) {
    if (avx2)
      CompiledFor<Isa::avx2, kernels::SwapInPlace<U>>::call(data, n);
    else
      CompiledFor<Isa::base, kernels::SwapInPlace<U>>::call(data, n);
  };
  switch (size) {
    case 1:
      return;
    case 2:
      return swap(std::type_identity<std::uint16_t>{});
    case 4:
      return swap(std::type_identity<std::uint32_t>{});
    case 8:
      return swap(std::type_identity<std::uint64_t>{});
    default:
      throw Error(Code::internal, "cannot swap elements of {} bytes; 1, 2, 4 and 8 are allowed", size);
  }
}

bool machine_is_big_endian() {
  return std::endian::native == std::endian::big;
}

}  // namespace shoal
