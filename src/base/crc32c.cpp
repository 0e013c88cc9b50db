// SPDX-License-Identifier: BSD-3-Clause
// The checksum of each index of a shard, so no build can do without it, and no library for it is everywhere.
#include "base/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace shoal {

namespace {

constexpr std::uint32_t k_castagnoli = 0x82f63b78;  // its bits in the other order
constexpr std::size_t k_word = sizeof(std::uint64_t);

/// [n][b]: what byte b adds that has n more behind it in its word.
using CrcTables = std::array<std::array<std::uint32_t, 256>, k_word>;

constexpr CrcTables crc_tables() {
  CrcTables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t sum = b;
    for (int bit = 0; bit < 8; ++bit)
      sum = (sum >> 1) ^ ((sum & 1) != 0 ? k_castagnoli : 0);
    tables[0][b] = sum;
  }
  for (std::size_t n = 1; n < k_word; ++n)
    for (std::size_t b = 0; b < 256; ++b)
      tables[n][b] = (tables[n - 1][b] >> 8) ^ tables[0][tables[n - 1][b] & 0xff];
  return tables;
}
constexpr CrcTables k_crc = crc_tables();

std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, at, k_word);
  } else {
    for (std::size_t b = 0; b < k_word; ++b)
      word |= std::to_integer<std::uint64_t>(at[b]) << (8 * b);
  }
  return word;
}

std::uint32_t by_table(std::uint32_t sum, const std::byte* at, std::size_t size) {
  for (; size >= k_word; at += k_word, size -= k_word) {
    const std::uint64_t word = word_at(at) ^ sum;
    sum = 0;
    for (std::size_t b = 0; b < k_word; ++b)
      sum ^= k_crc[k_word - 1 - b][word >> (8 * b) & 0xff];
  }
  for (; size > 0; ++at, --size)
    sum = (sum >> 8) ^ k_crc[0][(sum ^ std::to_integer<std::uint32_t>(*at)) & 0xff];
  return sum;
}

#if defined(__x86_64__) && defined(__GNUC__)
bool has_crc_instruction() {
  return __builtin_cpu_supports("sse4.2") != 0;
}
[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::uint32_t sum, const std::byte* at,
                                                       std::size_t size) {
  std::uint64_t wide = sum;
  for (; size >= k_word; at += k_word, size -= k_word)
    wide = _mm_crc32_u64(wide, word_at(at));
  sum = static_cast<std::uint32_t>(wide);
  for (; size > 0; ++at, --size)
    sum = _mm_crc32_u8(sum, std::to_integer<std::uint8_t>(*at));
  return sum;
}
#elif defined(__ARM_FEATURE_CRC32)  // where the whole library is compiled for machines that have it
bool has_crc_instruction() {
  return true;
}
std::uint32_t by_instruction(std::uint32_t sum, const std::byte* at, std::size_t size) {
  for (; size >= k_word; at += k_word, size -= k_word)
    sum = __crc32cd(sum, word_at(at));
  for (; size > 0; ++at, --size)
    sum = __crc32cb(sum, std::to_integer<std::uint8_t>(*at));
  return sum;
}
#else
bool has_crc_instruction() {
  return false;
}
std::uint32_t by_instruction(std::uint32_t sum, const std::byte* at, std::size_t size) {
  return by_table(sum, at, size);
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  static const bool fast = has_crc_instruction();
  return ~(fast ? by_instruction : by_table)(~std::uint32_t{0}, bytes.data(), bytes.size());
}

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) {
  return ~by_table(~std::uint32_t{0}, bytes.data(), bytes.size());
}

}  // namespace shoal
