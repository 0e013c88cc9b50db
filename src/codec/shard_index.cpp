// SPDX-License-Identifier: BSD-3-Clause
#include "codec/shard_index.hpp"

#include <bit>
#include <cstring>

#include "base/crc32c.hpp"
#include "base/error.hpp"
#include "codec/filters.hpp"

namespace shoal {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers of an index are little endian");
static_assert(sizeof(ChunkPlace) == 2 * sizeof(std::uint64_t));

}  // namespace

std::size_t shard_index_bytes(std::size_t chunks, bool checksum) {
  return chunks * sizeof(ChunkPlace) + (checksum ? sizeof(std::uint32_t) : 0);
}

Bytes stored_shard_index(const ShardIndex& index, bool checksum) {
  const std::size_t numbers = index.size() * sizeof(ChunkPlace);
  Bytes bytes(shard_index_bytes(index.size(), checksum));
  std::memcpy(bytes.data(), index.data(), numbers);
  if (checksum) {
    const std::uint32_t sum = crc32c(std::span(bytes).first(numbers));
    std::memcpy(bytes.data() + numbers, &sum, sizeof sum);
  }
  return bytes;
}

ShardIndex shard_index_of(std::span<const std::byte> bytes, bool checksum) {
  const std::size_t numbers = bytes.size() - (checksum ? sizeof(std::uint32_t) : 0);
  ShardIndex index(numbers / sizeof(ChunkPlace));
  std::memcpy(index.data(), bytes.data(), numbers);
  if (checksum) {
    std::uint32_t sum = 0;
    std::memcpy(&sum, bytes.data() + numbers, sizeof sum);
    if (sum != crc32c(bytes.first(numbers)))
      throw Error(Code::format, "the index of the shard is damaged: its checksum differs");
  }
  return index;
}

}  // namespace shoal
