// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/filters.hpp"
#include "format/zarr/metadata.hpp"

namespace shoal::zarr {

/// The values of a chunk in memory: row-major over the whole chunk, in memory order of bytes.
struct ChunkValues {
  Bytes cells;                     ///< of numbers, logicals and characters
  std::vector<std::string> texts;  ///< of texts of any kind
};

/// Takes the chunks of an array from their bytes to values, and back.
class ChunkValueCoder {
 public:
  explicit ChunkValueCoder(const ArrayMetadata& array);

  /// A chunk without a stored byte.
  ChunkValues fill() const;
  /// Error(format): the bytes are damaged.
  ChunkValues decode(std::span<const std::byte> stored);
  /// The bytes of a chunk. Error(not_supported): texts of a fixed length are read only.
  Bytes encode(const ChunkValues& values);

 private:
  bool has_texts() const { return array_.type == Type::string; }
  Bytes in_order(Bytes cells, bool to_storage) const;
  std::vector<std::string> decoded_texts(std::span<const std::byte> bytes) const;

  const ArrayMetadata& array_;
  std::size_t cells_;
  std::unique_ptr<Coder> coder_;  ///< none where bytes are the cells
};

/// As readers of Zarr expect texts of any length: their number, then each with its length in front.
Bytes vlen_utf8(const std::vector<std::string>& texts);
/// Error(format): the bytes are not so many texts.
std::vector<std::string> texts_of_vlen_utf8(std::span<const std::byte> bytes, std::size_t count);

}  // namespace shoal::zarr
