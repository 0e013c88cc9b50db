// SPDX-License-Identifier: BSD-3-Clause
#include "codec/deflate_blocks.hpp"

#include <algorithm>
#include <array>

namespace shoal {

namespace {
constexpr std::size_t k_symbols = 286, k_end = 256;
constexpr std::size_t k_least_length = 35, k_most_length = 258;  // of the runs coded here

/// Bits of each symbol: nearly all have 8. The two values with 9 make room for the end of a block, the
/// longest length (11) and all others of 35 and more (12): 254/256 + 2/512 + 2/2048 + 12/4096 = 1.
constexpr unsigned bits_of_symbol(std::size_t symbol) {
  if (symbol < 254) return 8;
  if (symbol < 256) return 9;
  if (symbol == k_end || symbol == k_symbols - 1) return 11;
  return symbol < 273 ? 0 : 12;
}

constexpr std::uint16_t reversed(std::uint32_t bits, unsigned count) {
  std::uint32_t back = 0;
  for (unsigned i = 0; i < count; ++i)
    back = back << 1 | (bits >> i & 1);
  return static_cast<std::uint16_t>(back);
}

// The lengths above are given in the block's head by a code of their own.
constexpr std::array<std::uint8_t, 19> k_order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                               11, 4,  12, 3, 13, 2, 14, 1, 15};
constexpr unsigned length_of_length(unsigned length) {
  switch (length) {
    case 8:
      return 1;
    case 12:
    case 9:
    case 0:
      return 3;
    case 11:
    case 1:
      return 4;
    default:
      return 0;
  }
}
}  // namespace

struct DeflateBlocks::Codes {
  std::array<Code, k_symbols> symbols;
  std::array<Code, 19> lengths;
};

const DeflateBlocks::Codes& DeflateBlocks::codes() {
  static const Codes made = [] {
    Codes c;
    // Shorter codes first, symbols in order.
    const auto number = [](auto& all, auto bits_of) {
      std::uint32_t next = 0;
      for (unsigned bits = 1; bits <= 15; ++bits, next <<= 1)
        for (std::size_t s = 0; s < all.size(); ++s)
          if (bits_of(s) == bits) all[s] = {reversed(next++, bits), static_cast<std::uint8_t>(bits)};
    };
    number(c.symbols, bits_of_symbol);
    number(c.lengths, [](std::size_t s) { return length_of_length(static_cast<unsigned>(s)); });
    return c;
  }();
  return made;
}

void DeflateBlocks::put(std::uint32_t bits, unsigned count) {
  waiting_ |= bits << count_;
  count_ += count;
  for (; count_ >= 8; count_ -= 8, waiting_ >>= 8)
    *at_++ = static_cast<std::byte>(waiting_);
}

void DeflateBlocks::align() {
  if (count_ > 0) put(0, 8 - count_);
}

void DeflateBlocks::put_stored(std::span<const std::byte> bytes) {
  do {
    const auto part = bytes.first(std::min(bytes.size(), k_most_stored));
    bytes = bytes.subspan(part.size());
    put(0, 3);
    align();
    const auto length = static_cast<std::uint32_t>(part.size());
    put(length, 16);
    put(~length & 0xffff, 16);
    at_ = std::copy(part.begin(), part.end(), at_);
  } while (!bytes.empty());
}

void DeflateBlocks::put_runs(std::span<const std::byte> bytes) {
  const Codes& code = codes();
  put(0b100, 3);  // with codes of its own
  put(k_symbols - 257, 5);
  put(0, 5);  // one distance: the byte before
  put(19 - 4, 4);
  for (const auto length : k_order)
    put(length_of_length(length), 3);
  for (std::size_t s = 0; s < k_symbols; ++s)
    put(code.lengths[bits_of_symbol(s)]);
  put(code.lengths[1]);
  for (std::size_t i = 0; i < bytes.size();) {
    const std::byte value = bytes[i++];
    put(code.symbols[std::to_integer<std::size_t>(value)]);
    if (i == bytes.size() || bytes[i] != value) continue;
    const auto end = std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.end(),
                                  [&](std::byte b) { return b != value; });
    auto left = static_cast<std::size_t>(end - bytes.begin()) - i;
    if (left + 1 < k_run) continue;
    for (i += left; left > 0;) {
      // What is left then is nothing, or enough for a run.
      const bool is_long = left == k_most_length || left >= k_most_length + k_least_length;
      const std::size_t now = is_long ? k_most_length : left > k_most_length ? left - k_least_length : left;
      put_run(now);
      left -= now;
    }
  }
  put(code.symbols[k_end]);
}

// The symbols of lengths below 258 stand for 8, 16 or 32 of them each.
void DeflateBlocks::put_run(std::size_t length) {
  const auto report = [&](std::size_t first_symbol, std::size_t first_length, unsigned more) {
    put(codes().symbols[first_symbol + ((length - first_length) >> more)]);
    put(static_cast<std::uint32_t>((length - first_length) & ((1U << more) - 1)), more);
  };
  if (length == k_most_length)
    report(285, length, 0);
  else if (length >= 131)
    report(281, 131, 5);
  else if (length >= 67)
    report(277, 67, 4);
  else
    report(273, k_least_length, 3);
  put(0, 1);  // the byte before
}

std::byte* DeflateBlocks::end() {
  if (count_ > 0) put_stored({});
  return at_;
}

}  // namespace shoal
