// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "driver/native/stage/background.hpp"
#include "driver/native/stage/storing.hpp"

namespace shoal {

/// Writes fields through the stage: packs them into slot generations, which this rank, its thread or other
/// ranks store when they are full.
class FieldWriter {
 public:
  /// rank: this one's number, for messages.
  FieldWriter(Stage& stage, ObjectFiles& file, Counters& counters, int rank)
      : stage_(stage), file_(file), counters_(counters), rank_(rank), storing_(stage, file, counters, rank) {}
  /// From now on a thread stores; past_cache: as in Background. Error(no_memory): the system has no thread.
  void start_background(bool past_cache) {
    background_.emplace(stage_, file_, rank_, past_cache);
    later_ = true;
  }
  /// From now on other ranks of the node store, some time after they have arrived.
  void leave_to_others() { later_ = true; }

  /// Packs this rank's cells into the stage, and stores what is full meanwhile. The Status is of this rank's
  /// own data or storing; the rank takes part in any case.
  Status write(const FieldJob& job);
  /// Stores cells of the job that were written before; they are in the file when this returns. All ranks of
  /// the node call it.
  void complete_overlap(const FieldJob& job, Status& status);
  /// The failure of threads that the last write found: the same on all ranks of the node, once for each such
  /// write.
  Status take_reported() { return std::exchange(reported_, {}); }
  /// The failure of this rank's thread since the last flush.
  Status failure() const { return background_ ? background_->failure() : Status{}; }
  /// Closes the slot generation that is not full, so that it can be stored. All ranks of the node call it.
  Status submit_pending();
  /// Stores all that was written; it is in the file when this has returned on all ranks of the node.
  Status flush();
  /// The encoded chunks that this rank stored since the last call.
  std::vector<StoredPiece> take_stored();
  /// Forgets all slot generations, before the stage is reset.
  void forget();
  /// As ObjectFiles, of the thread's handle. After flush.
  void sync_file();
  void close_file();
  /// As ObjectFiles.
  void note_committed();
  bool idle() const { return full_.empty() && !open_; }

 private:
  struct Described {
    std::shared_ptr<SlotGeneration> generation;
    std::uint64_t fingerprint = 0;
    std::vector<std::pair<int, Box>> regions;
    std::map<int, Box> reach;  ///< bounds of a variable's regions: of thousands, most are not looked at
  };
  void open_generation();
  void look_back(std::uint64_t number);
  void close_generation(Status& status);
  StagedPiece& add_piece(const FieldJob& job, const Piece& piece);
  void publish_address(const FieldJob& job, const StagedPiece& staged);
  void map_own_cells(const FieldJob& job, const StagedPiece& staged);
  ConversionErrors pack(const FieldJob& job, const StagedPiece& staged, const Bytes& fill);
  bool store_one(Status& status);
  bool wait_until(std::uint64_t generation, const std::function<bool()>& condition, Stage::Awaits awaits,
                  Seconds& waited, Status& status);
  void drop_stored();

  Stage& stage_;
  ObjectFiles& file_;
  Counters& counters_;
  int rank_;
  Storing storing_;     ///< of this thread
  bool later_ = false;  ///< it is not this thread that stores
  /// The thread that stores in place of this one, which helps to compress while it waits.
  std::optional<Background> background_;
  Status reported_;
  std::uint64_t flushed_ = 0;   ///< slot generations that were over when ranks last flushed
  bool fresh_ = true;           ///< none was begun since
  std::deque<Described> full_;  ///< closed, not known to be stored
  std::optional<Described> open_;
};

}  // namespace shoal
