// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "codec/convert.hpp"
#include "codec/filters.hpp"
#include "decomp/node_share.hpp"
#include "driver/cells.hpp"
#include "driver/driver.hpp"
#include "driver/native/decoded_chunks.hpp"
#include "driver/native/native_file.hpp"
#include "driver/native/stage.hpp"
#include "driver/pieces.hpp"
#include "format/catalog.hpp"

namespace shoal {

/// One write or read with all that moving its bytes takes.
struct FieldJob {
  const Transfer* transfer = nullptr;
  const VariableDef* variable = nullptr;
  const Placement* placement = nullptr;
  bool records = false;  ///< the first dimension counts records
  bool keeps = false;    ///< there are cells that nobody owns, and they stay as they are in the file
  const NodeShare* share = nullptr;
  /// Addresses of the chunks of the region (row-major in chunks_of(region)); empty for a regular placement,
  /// and for writing on ranks to which they come through the stage.
  std::vector<std::uint64_t> addresses;
  std::int64_t alignment_bytes = 0;  ///< as in DriverOptions
  bool addresses_listed = false;     ///< by the list above, not by the placement's rule
  /// The same for encoded chunks: reading, and writing parts of them, whose other cells stay as they are
  /// there; empty: the region has all cells that there are of its chunks.
  std::vector<StoredChunk> encoded;

  bool is_encoded() const { return placement->kind == Placement::Kind::encoded; }

  Element stored() const { return {variable->type, size_of(variable->type), placement->swapped}; }
};

/// A number that says what is moved, for ranks to compare.
std::uint64_t fingerprint_of(const FieldJob& job, std::uint64_t fingerprint_before);

/// What failed, with the variable and the records of the job, if nobody said before what it is of.
Status located(const Status& failure, const FieldJob& job);

/// Multiples of cells at which boxes of I/O ranks had best begin.
Dims alignment_of(const FieldJob& job);

/// A piece in a slot generation, and where its chunk lies in the file.
struct StagedPiece {
  Piece piece;
  std::int64_t in_stage = 0;
  std::uint64_t address = 0;  ///< of the chunk; unless it is listed
  int address_slot = -1;      ///< listed: index in the addresses that come with the slot generation
  Dims chunk;
  std::size_t element_size = 0;
  int variable = -1;
  StoredChunk encoded;                      ///< an encoded chunk, as it lies in the file so far
  const std::vector<Box>* owned = nullptr;  ///< of an encoded chunk: other cells stay as they are

  std::int64_t bytes() const { return piece.cells.cells() * static_cast<std::int64_t>(element_size); }
};

/// A slot generation as one rank describes it to itself; the same on all ranks of a node.
struct SlotGeneration {
  /// What messages call a field of it.
  struct Field {
    std::int64_t in_stage = 0;  ///< where it begins
    std::string variable;
    bool records = false;  ///< its first dimension counts records
  };
  std::uint64_t number = 0;
  std::vector<StagedPiece> pieces;
  std::vector<Field> fields;
  std::int64_t used = 0;
  int addresses = 0;
  bool encoded = false;  ///< each piece is a share: all of a chunk that there is, and goes through filters
  std::int64_t share_bytes = 1024 * 1024;  ///< what one rank stores or fetches at a time

  /// Is there room for another field's or piece's bytes?
  bool has_space(std::int64_t bytes, std::int64_t slot_bytes) const {
    return fits(bytes + k_alignment, slot_bytes) && addresses < Stage::k_addresses;
  }
  /// Another piece of the same field?
  bool fits(std::int64_t bytes, std::int64_t slot_bytes) const {
    return used + bytes <= slot_bytes && (!encoded || pieces.size() < Stage::k_most_shares);
  }
  /// Another field begins.
  void align() { used = (used + k_alignment - 1) / k_alignment * k_alignment; }
  static constexpr std::int64_t k_alignment = 8;  ///< of a field in the stage

  std::uint32_t shares() const {
    if (encoded) return static_cast<std::uint32_t>(pieces.size());
    return static_cast<std::uint32_t>((used + share_bytes - 1) / share_bytes);
  }
  /// Shares such that bytes make about so many of them; parts too small would cost more calls than they save.
  void share_evenly(std::int64_t bytes, int parts);
  /// The extents of one share, clipped to it and merged.
  void for_each_extent(std::uint32_t share, const std::uint64_t* addresses_of_generation,
                       const std::function<void(const Extent&)>& visit) const;
  /// The error with the variable and the record of what is at this place.
  Error located(const Error& error, std::int64_t in_stage) const;
};

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

/// Reading: fetches a region piece by piece into the stage, from where ranks take their cells.
class FieldReader {
 public:
  /// decoded: what may be kept of chunks, of whose cells others may be read next; nullptr: nothing.
  FieldReader(Stage& stage, NativeFile& file, Counters& counters, DecodedChunks* decoded)
      : stage_(stage), file_(file), counters_(counters), decoded_(decoded) {}
  /// Collective over the node; nothing may be under way for writing.
  Status read(const FieldJob& job);

 private:
  std::vector<SlotGeneration> describe(const FieldJob& job);
  std::optional<std::uint32_t> claim_decoded(const SlotGeneration& generation);
  void fetch(const SlotGeneration& generation, std::uint32_t share, const Bytes& fill);
  void decode(const SlotGeneration& generation, const StagedPiece& staged);
  ConversionErrors unpack(const FieldJob& job, const SlotGeneration& generation);

  Stage& stage_;
  NativeFile& file_;
  Counters& counters_;
  DecodedChunks* decoded_;
  std::optional<Encoder> decoder_;
};

}  // namespace shoal
