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
  const NodeShare* share = nullptr;
  /// Addresses of the chunks of the region (row-major in chunks_of(region)); empty for a regular placement,
  /// and for writing on ranks to which they come through the stage.
  std::vector<std::uint64_t> addresses;
  bool addresses_listed = false;  ///< by the list above, not by the placement's rule
  /// The same for encoded chunks: reading, and writing parts of them, whose other cells stay as they are
  /// there; empty: the region has all cells that there are of its chunks.
  std::vector<StoredChunk> encoded;

  bool is_encoded() const { return placement->kind == Placement::Kind::encoded; }

  Element stored() const { return {variable->type, size_of(variable->type), placement->swapped}; }
};

/// A number that says what is moved, for ranks to compare.
std::uint64_t note_of(const FieldJob& job, std::uint64_t note_before);

/// Has the variable no fill value, and are there cells that nobody owns? They stay as they are in the file.
bool keeps_unowned(const Decomposition& decomposition, const VariableDef& variable);
/// Multiples of cells at which boxes of I/O ranks had best begin.
Dims borders_of(const FieldJob& job);

/// One element of the fill value as it lies in the file.
Bytes stored_fill(const VariableDef& variable, const Placement& placement);

/// A piece in a filling, and where its chunk lies in the file.
struct StagedPiece {
  Piece piece;
  std::int64_t in_stage = 0;
  std::uint64_t address = 0;  ///< of the chunk; unless it is listed
  int address_slot = -1;      ///< listed: index in the addresses that come with the filling
  Dims chunk;
  std::size_t element_size = 0;
  int variable = -1;
  StoredChunk encoded;  ///< an encoded chunk, as it lies in the file so far

  std::int64_t bytes() const { return piece.cells.cells() * static_cast<std::int64_t>(element_size); }
};

/// A filling as one rank describes it to itself; the same on all ranks of a node.
struct Filling {
  std::uint64_t number = 0;
  std::vector<StagedPiece> pieces;
  std::int64_t used = 0;
  int addresses = 0;
  bool encoded = false;  ///< each piece is a share: all of a chunk that there is, and goes through filters
  std::int64_t share_bytes = 1024 * 1024;  ///< what one rank stores or fetches at a time

  /// Is there room for another field's or piece's bytes?
  bool has_room(std::int64_t bytes, std::int64_t slot_bytes) const {
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
  void for_each_extent(std::uint32_t share, const std::uint64_t* addresses_of_filling,
                       const std::function<void(const Extent&)>& visit) const;
};

/// Chunks of one variable on their way through filters.
struct Encoder {
  ChunkCoder coder;
  std::string variable;  ///< its name
  Dims shape;            ///< of a chunk
  Bytes fill;            ///< one element, as stored
  Bytes chunk;           ///< room for a whole one
  Bytes stored;
  std::size_t element;
  ConvertRun copy;  ///< of elements, as they are
  explicit Encoder(const FieldJob& job);

  /// The cells of a whole chunk as they lie in the file, fill where they do not.
  void load(NativeFile& file, const StoredChunk& from, std::span<std::byte> cells, Seconds& time);
  /// From cells of a part, row-major, to their places in `chunk`, and back.
  void put_part(const Piece& piece, const std::byte* cells);
  void get_part(const Piece& piece, std::byte* cells) const;

 private:
  std::int64_t place_of(const Piece& piece) const;
};

/// A chunk that was stored, and when: of two in the same place the later one counts.
struct StoredPiece {
  int variable = -1;
  std::uint64_t filling = 0;
  NewChunk chunk;
};

/// Writing: packs fields into fillings and stores those that are full.
class FieldWriter {
 public:
  FieldWriter(Stage& stage, NativeFile& file, Counters& counters)
      : stage_(stage), file_(file), counters_(counters) {}

  /// Put this rank's cells into the stage, storing what is full meanwhile. The Status is what went wrong with
  /// this rank's own data or its storing; it takes part in any case.
  Status write(const FieldJob& job);
  /// Cells of the job that were written before are in the file when this returns. All ranks of the node call
  /// it.
  void settle_overlap(const FieldJob& job, Status& status);
  /// Everything written so far is in the file when this returns on all ranks of the node.
  Status flush();
  /// The encoded chunks that this rank stored since the last call.
  std::vector<StoredPiece> take_stored() { return std::exchange(stored_, {}); }
  /// After the stage was reset: nothing is under way.
  void forget();
  bool idle() const { return full_.empty() && !open_; }

 private:
  struct Described {
    Filling filling;
    std::uint64_t note = 0;
    std::vector<std::pair<int, Box>> regions;
  };
  void open_filling();
  void close_filling(Status& status);
  StagedPiece& add_piece(const FieldJob& job, const Piece& piece);
  void publish_address(const FieldJob& job, const StagedPiece& staged);
  Misfits pack(const FieldJob& job, const StagedPiece& staged, const Bytes& fill);
  bool store_one(Status& status);
  void store_encoded(const Filling& filling, const StagedPiece& staged);
  void encode(Encoder& encoder, const Filling& filling, const StagedPiece& staged);
  void check_in_step(std::uint64_t filling);
  bool wait_until(std::uint64_t filling, const std::function<bool()>& condition, Status& status);
  void drop_stored();

  Stage& stage_;
  NativeFile& file_;
  Counters& counters_;
  std::deque<Described> full_;  ///< closed, not known to be stored
  std::optional<Described> open_;
  std::map<int, Encoder> encoders_;  ///< by variable
  std::vector<StoredPiece> stored_;
};

/// Reading: fetches a region piece by piece into the stage, from where ranks take their cells.
class FieldReader {
 public:
  FieldReader(Stage& stage, NativeFile& file, Counters& counters)
      : stage_(stage), file_(file), counters_(counters) {}
  /// Collective over the node; nothing may be under way for writing.
  Status read(const FieldJob& job);

 private:
  std::vector<Filling> describe(const FieldJob& job);
  void fetch(const Filling& filling, std::uint32_t share, const Bytes& fill);
  void decode(const Filling& filling, const StagedPiece& staged);
  Misfits unpack(const FieldJob& job, const Filling& filling);

  Stage& stage_;
  NativeFile& file_;
  Counters& counters_;
  std::optional<Encoder> decoder_;
};

}  // namespace shoal
