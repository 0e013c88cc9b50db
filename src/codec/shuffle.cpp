// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstring>

#include "codec/filters.hpp"
#include "codec/isa.hpp"

namespace shoal {

namespace {

// Elements that are moved together: their bytes stay in registers.
constexpr std::size_t k_lanes = 32;

/// `element` known to the compiler, or 0.
template <std::size_t known, bool forth>
struct Shuffle {
  [[gnu::always_inline]] static inline void run(const std::byte* from, std::size_t n, std::size_t element,
                                                std::byte* to) {
    const std::size_t size = known != 0 ? known : element;
    std::size_t i = 0;
    if constexpr (known != 0) {
      for (; i + k_lanes <= n; i += k_lanes) {
        std::array<std::byte, k_lanes * known> block;
        if constexpr (forth) {
          std::memcpy(block.data(), from + i * known, block.size());
          for (std::size_t b = 0; b < known; ++b)
            for (std::size_t e = 0; e < k_lanes; ++e)
              to[b * n + i + e] = block[e * known + b];
        } else {
          for (std::size_t b = 0; b < known; ++b)
            std::memcpy(block.data() + b * k_lanes, from + b * n + i, k_lanes);
          for (std::size_t e = 0; e < k_lanes; ++e)
            for (std::size_t b = 0; b < known; ++b)
              to[(i + e) * known + b] = block[b * k_lanes + e];
        }
      }
    }
    for (; i < n; ++i)
      for (std::size_t b = 0; b < size; ++b) {
        if constexpr (forth)
          to[b * n + i] = from[i * size + b];
        else
          to[i * size + b] = from[b * n + i];
      }
  }
};

template <bool forth, std::size_t known>
void run(std::span<const std::byte> from, std::size_t n, std::size_t element, std::byte* to) {
  run_best<Shuffle<known, forth>>(from.data(), n, element, to);
}

template <bool forth>
void any(std::span<const std::byte> from, std::size_t element, std::byte* to) {
  const std::size_t n = element > 1 ? from.size() / element : 0;
  const std::size_t whole = n > 1 ? n * element : 0;
  if (whole > 0) {
    switch (element) {
      case 2:
        run<forth, 2>(from, n, element, to);
        break;
      case 4:
        run<forth, 4>(from, n, element, to);
        break;
      case 8:
        run<forth, 8>(from, n, element, to);
        break;
      default:
        run<forth, 0>(from, n, element, to);
    }
  }
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(whole), from.end(), to + whole);
}

}  // namespace

void shuffle(std::span<const std::byte> from, std::size_t element, std::byte* to) {
  any<true>(from, element, to);
}

void unshuffle(std::span<const std::byte> from, std::size_t element, std::byte* to) {
  any<false>(from, element, to);
}

}  // namespace shoal
