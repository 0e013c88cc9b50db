// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "driver/native/field_job.hpp"
#include "driver/native/object_files.hpp"
#include "driver/native/rank_groups.hpp"
#include "driver/native/shapes.hpp"

namespace shoal {

/// Bytes of a piece in which cells are converted, so that they stay in a core's cache.
inline constexpr std::int64_t k_direct_piece = 512 * 1024;

/// The path past the stage, where the cells of each rank are long runs in the file: each rank stores and
/// fetches its own cells, straight from and to its array where nothing has to be converted. That is one copy
/// less, and no rank waits for others: a tenth less time for writing, a quarter for reading. Short runs are
/// faster through the stage, which makes long ones of them.
class DirectPath {
 public:
  /// long_run: bytes; shorter runs go through the stage.
  DirectPath(ObjectFiles& file, Counters& counters, const RankGroups& groups, std::int64_t long_run);

  /// Can the job take this path? The same on all ranks of the node. suits_writing: not if the variable was
  /// written by another decomposition on this path since forget_writers(), as the stage alone keeps these
  /// writes in order.
  bool suits(const FieldJob& job) const;
  bool suits_writing(const FieldJob& job) const;

  /// Stores this rank's cells and its part of the unowned ones. None of them may be under way in the stage.
  Status write(const FieldJob& job);
  Status read(const FieldJob& job);
  /// To be called when ranks have matched calls, and all that was written is in the file.
  void forget_writers() { writers_.clear(); }

 private:
  using FillPiece = std::function<void(const Piece& piece, std::byte* cells)>;
  /// The array as it lies in memory.
  void store_array(const FieldJob& job, const std::byte* cells);
  /// The array, converted piece by piece.
  Status store_packed(const FieldJob& job, const Bytes& fill);
  void store_fill(const FieldJob& job, const Box& box, const Bytes& fill);
  void store_pieces(const FieldJob& job, const Box& box, const FillPiece& fill_piece);

  ObjectFiles& file_;
  Counters& counters_;
  const RankGroups& groups_;
  std::int64_t long_run_;
  std::map<int, std::uint64_t> writers_;  ///< of each variable written: the share it was written with
  Bytes buffer_;
};

}  // namespace shoal
