// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "codec/convert.hpp"
#include "codec/filters.hpp"
#include "driver/native/field_job.hpp"
#include "driver/native/native_file.hpp"

namespace shoal {

/// Chunks of one variable on their way through filters.
struct Encoder {
  ChunkCoder coder;
  Dims shape;    ///< of a chunk
  Bytes fill;    ///< one element, as stored
  Bytes chunk;   ///< room for a whole one
  Bytes stored;  ///< room for what was stored
  std::size_t element;
  ConvertRun copy;  ///< of elements, as they are
  explicit Encoder(const FieldJob& job);

  /// The cells of a whole chunk as they lie in the file, fill where they do not.
  void load(NativeFile& file, const StoredChunk& from, std::span<std::byte> cells, Seconds& time);
  /// From cells of a piece, row-major, those of a box in it to their places in `chunk`.
  void put_part(const Piece& piece, const std::byte* cells, const Box& part);
  /// From a whole chunk to cells of a part.
  void get_part(const Bytes& whole, const Piece& piece, std::byte* cells) const;

 private:
  std::int64_t place_of(const Piece& piece, const Dims& cell) const;
};

/// A chunk that was stored, and when: of two in the same place the later one counts.
struct StoredPiece {
  int variable = -1;
  std::uint64_t generation = 0;
  NewChunk chunk;
};

}  // namespace shoal
