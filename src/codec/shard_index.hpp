// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.hpp"

namespace shoal {

/// Where a chunk lies in its shard.
struct ChunkPlace {
  static constexpr std::uint64_t k_none = ~std::uint64_t{0};

  std::uint64_t offset = k_none;  ///< k_none: the shard has no such chunk
  std::uint64_t bytes = k_none;

  bool is_there() const { return offset != k_none; }
};

/// The chunks of a shard of Zarr, row-major.
using ShardIndex = std::vector<ChunkPlace>;

std::size_t shard_index_bytes(std::size_t chunks, bool checksum);
/// As it stands in the shard: two numbers a chunk, and a checksum (crc32c) where there is one.
Bytes stored_shard_index(const ShardIndex& index, bool checksum);
/// Error(format): the checksum is wrong.
ShardIndex shard_index_of(std::span<const std::byte> stored, bool checksum);

}  // namespace shoal
