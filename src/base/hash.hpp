// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/box.hpp"
#include "base/bytes.hpp"

namespace shoal {

/// FNV-1a, 64 bits, eight bytes a step: quick, and equal on equal machines, which is all that comparing ranks
/// needs.
class Hash {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 1099511628211ULL;
    value_ ^= value_ >> 29;
  }
  void add(const std::byte* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, data + i, bytes - i < 8 ? bytes - i : 8);
      add(word);
    }
    add(bytes);
  }
  void add(const Bytes& bytes) { add(bytes.data(), bytes.size()); }
  void add(std::string_view text) { add(reinterpret_cast<const std::byte*>(text.data()), text.size()); }
  void add(const Box& box) {
    for (const auto n : box.first)
      add(static_cast<std::uint64_t>(n));
    for (const auto n : box.count)
      add(static_cast<std::uint64_t>(n));
  }
  std::uint64_t value() const { return value_ ^ (value_ >> 32); }

 private:
  std::uint64_t value_ = 14695981039346656037ULL;
};

}  // namespace shoal
