// SPDX-License-Identifier: BSD-3-Clause
// Conversions past the caches: a part is converted where a core's first cache holds it, and goes to memory in
// whole lines, which need not be fetched before.
#include <algorithm>
#include <array>
#include <cstring>

#include "codec/convert.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace shoal {

namespace {

constexpr std::int64_t k_part = 4096;  // bytes
constexpr std::int64_t k_short = 512;  // runs of fewer bytes are mostly ends
constexpr std::uintptr_t k_cache_line = 64;

// The ends of a run share their lines with other cells, and go as usual.
void stream(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__x86_64__)
  const std::size_t head = std::min(
      bytes, static_cast<std::size_t>((k_cache_line - reinterpret_cast<std::uintptr_t>(to) % k_cache_line) %
                                      k_cache_line));
  std::memcpy(to, from, head);
  std::size_t at = head;
  for (; at + k_cache_line <= bytes; at += k_cache_line)
    for (std::size_t i = at; i < at + k_cache_line; i += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  std::memcpy(to + at, from + at, bytes - at);
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace

ConversionErrors ConvertRun::convert_and_stream(const std::byte* from, std::int64_t from_stride,
                                                std::byte* to, std::int64_t to_stride, std::int64_t n,
                                                const std::byte* substitute) const {
  const std::int64_t size = streamed_size_;
  const ConvertRun as_usual = streaming(0);
  if (to_stride != size || n * size < k_short)
    return as_usual(from, from_stride, to, to_stride, n, substitute);
  alignas(k_cache_line) std::array<std::byte, k_part> part;
  const std::int64_t most = k_part / size;
  ConversionErrors conversion_errors;
  for (std::int64_t at = 0; at < n; at += most) {
    const std::int64_t m = std::min(most, n - at);
    conversion_errors.merge(as_usual(from + at * from_stride, from_stride, part.data(), size, m, substitute),
                            at);
    stream(to + at * size, part.data(), static_cast<std::size_t>(m * size));
  }
  return conversion_errors;
}

void finish_streams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace shoal
