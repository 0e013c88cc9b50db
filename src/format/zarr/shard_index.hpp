// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "storage/location.hpp"

namespace shoal::zarr {

/// Where a chunk lies in its shard.
struct ChunkPlace {
  std::uint64_t offset = k_unplaced;  ///< k_unplaced: the shard has no such chunk
  std::uint64_t bytes = k_unplaced;

  bool is_there() const { return offset != k_unplaced; }
};

/// The chunks of a shard, row-major.
using ShardIndex = std::vector<ChunkPlace>;

std::size_t index_bytes(std::size_t chunks, bool checksum);
/// As it stands in the shard: two numbers a chunk, and a checksum (crc32c) where there is one.
Bytes encoded(const ShardIndex& index, bool checksum);
/// Error(format): the checksum is wrong.
ShardIndex decoded(std::span<const std::byte> bytes, bool checksum);

}  // namespace shoal::zarr
