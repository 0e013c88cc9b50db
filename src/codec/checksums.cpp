// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "codec/filters.hpp"

namespace shoal {

std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  constexpr std::size_t k_words = 360;  // as many as 32 bits can add up
  std::uint32_t low = 0, high = 0;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  for (std::size_t words = bytes.size() / 2; words > 0;) {
    const std::size_t n = std::min(words, k_words);
    for (std::size_t i = 0; i < n; ++i, p += 2) {
      low += static_cast<std::uint32_t>(p[0] << 8 | p[1]);
      high += low;
    }
    low = fold(low);
    high = fold(high);
    words -= n;
  }
  if (bytes.size() % 2 != 0) {
    low = fold(low + static_cast<std::uint32_t>(*p << 8));
    high = fold(high + low);
  }
  return fold(high) << 16 | fold(low);
}

}  // namespace shoal
