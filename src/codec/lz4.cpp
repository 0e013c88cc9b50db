// SPDX-License-Identifier: BSD-3-Clause
#ifdef SHOAL_HAVE_LZ4
#include "codec/lz4.hpp"

#include <lz4.h>

#include <cstdint>

#include "base/error.hpp"
#include "codec/damage.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_length = 4;  // bytes of the number in front of the block

const char* chars(const std::byte* bytes) {
  return reinterpret_cast<const char*>(bytes);
}
char* chars(std::byte* bytes) {
  return reinterpret_cast<char*>(bytes);
}

}  // namespace

// As LZ4_compressBound, which counts in int.
std::size_t lz4_bound(std::size_t bytes) {
  return k_length + bytes + bytes / 255 + 16;
}

std::size_t lz4_encode(std::span<const std::byte> bytes, std::byte* to) {
  for (std::size_t b = 0; b < k_length; ++b)
    to[b] = static_cast<std::byte>(bytes.size() >> (8 * b));
  const int n = static_cast<int>(bytes.size());
  const int size = LZ4_compress_default(chars(bytes.data()), chars(to + k_length), n, LZ4_compressBound(n));
  if (size <= 0) throw Error(Code::internal, "lz4 could not compress a chunk of {} bytes", bytes.size());
  return k_length + static_cast<std::size_t>(size);
}

void lz4_decode(std::span<const std::byte> bytes, std::span<std::byte> to) {
  if (bytes.size() <= k_length) throw damaged("it is too short for lz4");
  std::uint32_t reported = 0;
  for (std::size_t b = 0; b < k_length; ++b)
    reported |= std::to_integer<std::uint32_t>(bytes[b]) << (8 * b);
  if (reported != to.size())
    throw damaged(fmt::format("lz4 says that it had {} bytes, and it had {}", reported, to.size()));
  const auto block = bytes.subspan(k_length);
  if (block.size() > static_cast<std::size_t>(LZ4_compressBound(LZ4_MAX_INPUT_SIZE)) ||
      to.size() > LZ4_MAX_INPUT_SIZE)
    throw damaged("it is too long for lz4");
  const int got = LZ4_decompress_safe(chars(block.data()), chars(to.data()), static_cast<int>(block.size()),
                                      static_cast<int>(to.size()));
  if (got < 0 || static_cast<std::size_t>(got) != to.size()) throw damaged("lz4 cannot read it");
}

const char* lz4_version() {
  return LZ4_versionString();
}

}  // namespace shoal
#endif
