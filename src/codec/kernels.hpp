// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "codec/element.hpp"
#include "codec/isa.hpp"

/// The loops over elements. Elements may lie at any address, so they are loaded and stored with memcpy.
namespace shoal::kernels {

template <std::size_t size>
using Unsigned =
    std::conditional_t<size == 1, std::uint8_t,
                       std::conditional_t<size == 2, std::uint16_t,
                                          std::conditional_t<size == 4, std::uint32_t, std::uint64_t>>>;

template <std::size_t size>
using Signed = std::make_signed_t<Unsigned<size>>;

template <class T>
[[gnu::always_inline]] inline T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
[[gnu::always_inline]] inline void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <bool swap, class U>
[[gnu::always_inline]] inline U ordered(U value) {
  if constexpr (!swap || sizeof(U) == 1) return value;
  if constexpr (sizeof(U) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(U) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(U) == 8) return __builtin_bswap64(value);
}

/// Copies n elements of sizeof(U) bytes, swapping their bytes or not. Strides in bytes.
template <class U, bool swap>
struct Move {
  [[gnu::always_inline]] static inline void run(const std::byte* __restrict from, std::int64_t from_stride,
                                                std::byte* __restrict to, std::int64_t to_stride,
                                                std::int64_t n) {
    constexpr std::int64_t k_size = sizeof(U);
    // Each case is the same loop; a stride that the compiler knows is what lets it use vectors.
    if (from_stride == k_size && to_stride == k_size) {
      if constexpr (!swap) {
        copy(from, to, n * k_size);
      } else {
        loop(from, k_size, to, k_size, n);
      }
    } else if (to_stride == k_size) {
      if (from_stride == -k_size)
        loop(from, -k_size, to, k_size, n);
      else if (from_stride == 2 * k_size)
        loop(from, 2 * k_size, to, k_size, n);
      else
        loop(from, from_stride, to, k_size, n);
    } else if (from_stride == k_size && to_stride == -k_size) {
      loop(from, k_size, to, -k_size, n);
    } else {
      loop(from, from_stride, to, to_stride, n);
    }
  }

 private:
  // memcpy of this length goes byte-wise through string instructions on many machines, which lose a quarter
  // to whole vectors when the target is not in cache; longer runs are where those win.
  [[gnu::always_inline]] static inline void copy(const std::byte* __restrict from, std::byte* __restrict to,
                                                 std::int64_t bytes) {
    constexpr std::int64_t k_block = 4 * sizeof(Lane);
    constexpr std::int64_t k_long = 64 * 1024;
    if (bytes < k_block || bytes > k_long) {
      if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
      return;
    }
    for (std::int64_t at = 0; at + k_block <= bytes; at += k_block)
      copy_block(from + at, to + at);
    copy_block(from + bytes - k_block, to + bytes - k_block);  // what is left, with some that was copied
  }

  // In vectors by name: of a block of bytes compilers make a detour over the stack.
  using Lane [[gnu::vector_size(32)]] = unsigned char;
  [[gnu::always_inline]] static inline void copy_block(const std::byte* __restrict from,
                                                       std::byte* __restrict to) {
    Lane a, b, c, d;
    std::memcpy(&a, from, sizeof a);
    std::memcpy(&b, from + sizeof a, sizeof b);
    std::memcpy(&c, from + 2 * sizeof a, sizeof c);
    std::memcpy(&d, from + 3 * sizeof a, sizeof d);
    std::memcpy(to, &a, sizeof a);
    std::memcpy(to + sizeof a, &b, sizeof b);
    std::memcpy(to + 2 * sizeof a, &c, sizeof c);
    std::memcpy(to + 3 * sizeof a, &d, sizeof d);
    __asm__ volatile("" ::: "memory");  // else the compiler makes one memcpy of the loop again
  }

  [[gnu::always_inline]] static inline void loop(const std::byte* __restrict from, std::int64_t from_stride,
                                                 std::byte* __restrict to, std::int64_t to_stride,
                                                 std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      store(to + i * to_stride, ordered<swap>(load<U>(from + i * from_stride)));
  }
};

/// Swaps n contiguous elements where they are.
template <class U>
struct SwapInPlace {
  [[gnu::always_inline]] static inline void run(std::byte* data, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::byte* at = data + i * static_cast<std::int64_t>(sizeof(U));
      store(at, ordered<true>(load<U>(at)));
    }
  }
};

/// Sets n elements to the same one.
template <class U>
struct Fill {
  [[gnu::always_inline]] static inline void run(std::byte* to, std::int64_t stride, std::int64_t n, U value) {
    constexpr std::int64_t k_size = sizeof(U);
    if (stride == k_size)
      for (std::int64_t i = 0; i < n; ++i)
        store(to + i * k_size, value);
    else
      for (std::int64_t i = 0; i < n; ++i)
        store(to + i * stride, value);
  }
};

/// An integer that means true unless it is 0.
template <class U>
struct Logical {
  U value;
};

/// One byte of text.
struct TextByte {
  char value;
};

template <class T>
struct is_logical : std::false_type {};
template <class U>
struct is_logical<Logical<U>> : std::true_type {};

template <class T>
concept Number = std::is_arithmetic_v<T>;

/// Which values of S fit D, and what becomes of those that do.
template <class S, class D>
struct Rule {
  static constexpr bool k_always_fits = true;
  [[gnu::always_inline]] static inline bool fits(S) { return true; }
  [[gnu::always_inline]] static inline D convert(S value) { return static_cast<D>(value); }
};

template <std::integral S, std::integral D>
struct Rule<S, D> {
  using From = std::numeric_limits<S>;
  using To = std::numeric_limits<D>;
  static constexpr S k_low = std::cmp_less(From::min(), To::min()) ? static_cast<S>(To::min()) : From::min();
  static constexpr S k_high =
      std::cmp_greater(From::max(), To::max()) ? static_cast<S>(To::max()) : From::max();
  static constexpr bool k_always_fits = k_low == From::min() && k_high == From::max();
  [[gnu::always_inline]] static inline bool fits(S value) {
    return static_cast<bool>(static_cast<int>(value >= k_low) & static_cast<int>(value <= k_high));
  }
  [[gnu::always_inline]] static inline D convert(S value) { return static_cast<D>(value); }
};

/// The bits of a floating-point number without its sign: they are in the order of the magnitudes, NaNs last.
/// Comparing them in place of the numbers raises no floating-point exception, which models often turn into a
/// stop.
template <std::floating_point S>
[[gnu::always_inline]] constexpr Signed<sizeof(S)> magnitude(S value) {
  return std::bit_cast<Signed<sizeof(S)>>(value) & std::numeric_limits<Signed<sizeof(S)>>::max();
}

template <std::floating_point S, std::integral D>
struct Rule<S, D> {
  using To = std::numeric_limits<D>;
  using Bits = Signed<sizeof(S)>;
  static constexpr bool k_always_fits = false;
  // Where the largest integer is no floating-point number, the one below the next power of two is the last
  // that fits.
  static constexpr Bits k_high =
      To::digits <= std::numeric_limits<S>::digits
          ? magnitude(static_cast<S>(To::max()))
          : magnitude(static_cast<S>(static_cast<S>(std::uint64_t{1} << (To::digits - 1)) * S{2})) - 1;
  static constexpr Bits k_low = magnitude(static_cast<S>(To::min()));
  [[gnu::always_inline]] static inline bool fits(S value) {
    return magnitude(value) <= (std::bit_cast<Bits>(value) < 0 ? k_low : k_high);
  }
  [[gnu::always_inline]] static inline D convert(S value) { return static_cast<D>(value); }
};

template <>
struct Rule<double, float> {
  static constexpr bool k_always_fits = false;
  static constexpr std::int64_t k_high = magnitude(static_cast<double>(std::numeric_limits<float>::max()));
  static constexpr std::int64_t k_infinity = magnitude(std::numeric_limits<double>::infinity());
  [[gnu::always_inline]] static inline bool fits(double value) {
    const std::int64_t bits = magnitude(value);
    return static_cast<bool>(static_cast<int>(bits <= k_high) | static_cast<int>(bits >= k_infinity));
  }
  [[gnu::always_inline]] static inline float convert(double value) { return static_cast<float>(value); }
};

template <Number S, class U>
struct Rule<S, Logical<U>> {
  static constexpr bool k_always_fits = true;
  [[gnu::always_inline]] static inline bool fits(S) { return true; }
  [[gnu::always_inline]] static inline Logical<U> convert(S value) { return {static_cast<U>(value != S{0})}; }
};

template <class S, Number D>
struct Rule<Logical<S>, D> {
  static constexpr bool k_always_fits = true;
  [[gnu::always_inline]] static inline bool fits(Logical<S>) { return true; }
  [[gnu::always_inline]] static inline D convert(Logical<S> v) { return static_cast<D>(v.value != 0); }
};

template <class S, class U>
struct Rule<Logical<S>, Logical<U>> {
  static constexpr bool k_always_fits = true;
  [[gnu::always_inline]] static inline bool fits(Logical<S>) { return true; }
  [[gnu::always_inline]] static inline Logical<U> convert(Logical<S> v) {
    return {static_cast<U>(v.value != 0)};
  }
};

template <class U>
struct Rule<TextByte, Logical<U>> {
  static constexpr bool k_always_fits = false;
  static bool is_true(char c) { return c == 'T' || c == 't' || c == '1' || c == 'Y' || c == 'y'; }
  static bool is_false(char c) {
    return c == 'F' || c == 'f' || c == '0' || c == 'N' || c == 'n' || c == ' ';
  }
  static bool fits(TextByte letter) { return is_true(letter.value) || is_false(letter.value); }
  static Logical<U> convert(TextByte letter) { return {static_cast<U>(is_true(letter.value))}; }
};

/// Converts n contiguous elements in this machine's byte order; those that do not fit become *substitute.
template <class S, class D>
struct Cast {
  [[gnu::always_inline]] static inline ConversionErrors run(const std::byte* __restrict from,
                                                            std::byte* __restrict to, std::int64_t n,
                                                            const std::byte* substitute) {
    using R = Rule<S, D>;
    constexpr auto k_from = static_cast<std::int64_t>(sizeof(S));
    constexpr auto k_to = static_cast<std::int64_t>(sizeof(D));
    if constexpr (R::k_always_fits) {
      for (std::int64_t i = 0; i < n; ++i)
        store(to + i * k_to, R::convert(load<S>(from + i * k_from)));
      return {};
    } else {
      // Conversion errors are rare: the loop only notices that there are some, as wide as S so that vectors
      // stay whole.
      using Bits = Unsigned<sizeof(S)>;
      Bits any_error = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        S value = load<S>(from + i * k_from);
        const auto conversion_error = static_cast<Bits>(!R::fits(value));
        any_error = static_cast<Bits>(any_error | conversion_error);
        // Converting a floating-point value that does not fit would be undefined, and may trap. A mask, as
        // compilers branch for `?:` here.
        if constexpr (std::is_floating_point_v<S>)
          value =
              std::bit_cast<S>(static_cast<Bits>(std::bit_cast<Bits>(value) & (conversion_error - Bits{1})));
        store(to + i * k_to, R::convert(value));
      }
      if (any_error == 0) return {};
      return put_substitutes(from, to, n, substitute);
    }
  }

 private:
  [[gnu::noinline, gnu::cold]] static ConversionErrors put_substitutes(const std::byte* from, std::byte* to,
                                                                       std::int64_t n,
                                                                       const std::byte* substitute) {
    ConversionErrors conversion_errors;
    for (std::int64_t i = 0; i < n; ++i) {
      if (Rule<S, D>::fits(load<S>(from + i * static_cast<std::int64_t>(sizeof(S))))) continue;
      if (conversion_errors.count++ == 0) conversion_errors.first = i;
      std::memcpy(to + i * static_cast<std::int64_t>(sizeof(D)), substitute, sizeof(D));
    }
    return conversion_errors;
  }
};

}  // namespace shoal::kernels
