// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/pack_fields.hpp"
#include "codec/convert.hpp"
#include "codec/shard_coder.hpp"
#include "driver/native/field_job.hpp"
#include "driver/native/object_files.hpp"

namespace shoal {

/// The coder of one variable, with buffers for its chunks.
struct Encoder {
  Dims shape;    ///< of a chunk
  Bytes fill;    ///< one element, as stored
  Bytes chunk;   ///< buffer of a decoded chunk, while it is needed
  Bytes stored;  ///< buffer of an encoded one
  std::size_t element;
  ConvertRun copy;  ///< of elements, without conversion
  int variable;
  Placement placement;
  Filters filters;
  Type type;
  std::unique_ptr<Coder> coder;
  explicit Encoder(const FieldJob& job);

  std::size_t chunk_bytes() const { return static_cast<std::size_t>(volume(shape)) * element; }
  /// The buffer of a whole chunk.
  Bytes& whole_chunk() {
    chunk.resize(chunk_bytes());
    return chunk;
  }
  /// Gives back the memory of a shard, of which a rank has one at a time, whatever the number of variables.
  void drop_shard();

  /// The number of the object that has the chunk, as it is known by.
  std::uint64_t object_of(const Dims& chunk_index) const {
    return object_of_chunk(variable, placement, chunk_index);
  }

  /// Reads a whole chunk and decodes it; cells that the file does not have get the fill value.
  void load(ObjectFiles& file, const StoredChunk& from, std::span<std::byte> cells, Seconds& time);
  /// Copies a box of a piece (cells row-major) to `chunk`.
  void put_part(const Piece& piece, const std::byte* cells, const Box& part);
  /// Copies the cells of a piece out of a whole chunk.
  void get_part(const Bytes& whole, const Piece& piece, std::byte* cells) const;

 private:
  void load_stored(ObjectFiles& file, const StoredChunk& from, std::span<std::byte> cells, Seconds& time);
  std::int64_t place_of(const Piece& piece, const Dims& cell) const;
};

/// An encoded chunk that was stored, and its slot generation: of two for the same chunk the later one counts.
struct StoredPiece {
  int variable = -1;
  std::uint64_t generation = 0;
  NewChunk chunk;

  template <class Writer>
  void pack(Writer& out) const {
    put_all(out, variable, generation, chunk);
  }
  template <class Reader>
  void unpack(Reader& in) {
    get_all(in, variable, generation, chunk);
  }
};

}  // namespace shoal
