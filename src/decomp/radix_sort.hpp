// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal {

/// Sorts entries by those bits of key(entry) that are set in `bits`; equal ones stay in order. For many
/// entries some times faster than std::stable_sort. spare: room for as many, reused between calls.
template <class Entry, class Key>
void radix_sort(std::vector<Entry>& entries, std::vector<Entry>& spare, std::uint64_t bits, Key&& key) {
  constexpr int k_digit = 11;
  constexpr std::uint64_t k_mask = (1U << k_digit) - 1;
  constexpr std::size_t k_few = 256;  // then a table for each digit does not pay
  if (bits == 0 || entries.size() < 2) return;
  if (entries.size() < k_few) {
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const Entry& a, const Entry& b) { return (key(a) & bits) < (key(b) & bits); });
    return;
  }
  spare.resize(entries.size());
  while (bits != 0) {
    const int shift = std::countr_zero(bits);
    const std::uint64_t digit = bits >> shift & k_mask;
    bits &= ~(digit << shift);
    std::array<std::size_t, k_mask + 1> at{};
    for (const Entry& e : entries)
      ++at[key(e) >> shift & digit];
    std::size_t before = 0;
    for (auto& n : at) {
      const std::size_t count = n;
      n = before;
      before += count;
    }
    for (const Entry& e : entries)
      spare[at[key(e) >> shift & digit]++] = e;
    entries.swap(spare);
  }
}

}  // namespace shoal
