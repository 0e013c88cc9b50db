// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver/native/field_job.hpp"
#include "driver/native/stage/stage.hpp"

namespace shoal {

/// A piece in a slot generation, and where its chunk lies in the file.
struct StagedPiece {
  Piece piece;
  std::int64_t in_stage = 0;  ///< in the slot's buffer
  Location address;           ///< of the chunk; unless it is listed
  int address_slot = -1;      ///< listed: index in the addresses that come with the slot generation
  Dims chunk;
  std::size_t element_size = 0;
  int variable = -1;
  StoredChunk encoded;                      ///< an encoded chunk, as it lies in the file so far
  const std::vector<Box>* owned = nullptr;  ///< of an encoded chunk: other cells stay as they are

  std::int64_t bytes() const { return piece.cells.cells() * static_cast<std::int64_t>(element_size); }
};

/// The contents of a slot generation: pieces, and their addresses in the file. The same on all ranks of a
/// node.
struct SlotGeneration {
  /// A field of it, for messages.
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

  /// Is there room for so many bytes of another field?
  bool has_space(std::int64_t bytes, std::int64_t slot_bytes) const {
    return fits(bytes + k_alignment, slot_bytes) && addresses < Stage::k_addresses;
  }
  /// Is there room for another piece of the same field?
  bool fits(std::int64_t bytes, std::int64_t slot_bytes) const {
    return used + bytes <= slot_bytes && (!encoded || pieces.size() < Stage::k_most_shares);
  }
  /// Begins another field, at a multiple of k_alignment.
  void align() { used = (used + k_alignment - 1) / k_alignment * k_alignment; }
  static constexpr std::int64_t k_alignment = 8;  ///< of a field in the stage

  std::uint32_t shares() const {
    if (encoded) return static_cast<std::uint32_t>(pieces.size());
    return static_cast<std::uint32_t>((used + share_bytes - 1) / share_bytes);
  }
  /// Sets share_bytes such that `bytes` are about `parts` shares; shares too small would cost more calls than
  /// they save.
  void share_evenly(std::int64_t bytes, int parts);
  /// The extents of one share, clipped to it and merged.
  void for_each_extent(std::uint32_t share, const Location* addresses_of_generation,
                       const std::function<void(const Extent&)>& visit) const;
  /// The error with the variable and the record of the cells at this byte of the buffer.
  Error located(const Error& error, std::int64_t in_stage) const;
};

}  // namespace shoal
