// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "driver/native/stage/background.hpp"
#include "driver/native/stage/storing.hpp"

namespace shoal {

/// Writing: packs fields into slot generations, and stores those that are full or has a thread store them.
class FieldWriter {
 public:
  /// rank: this one's number, for messages.
  FieldWriter(Stage& stage, NativeFile& file, Counters& counters, int rank)
      : stage_(stage), file_(file), counters_(counters), rank_(rank), storing_(stage, file, counters, rank) {}
  /// From now on a thread stores; past_cache as in Background. Error(no_memory) if there is none to be had.
  void start_background(bool past_cache) {
    background_.emplace(stage_, file_, rank_, past_cache);
    later_ = true;
  }
  /// From now on other ranks of the node store, some time after they have arrived.
  void leave_to_others() { later_ = true; }

  /// Put this rank's cells into the stage, storing what is full meanwhile. The Status is what went wrong with
  /// this rank's own data or its storing; it takes part in any case.
  Status write(const FieldJob& job);
  /// Cells of the job that were written before are in the file when this returns. All ranks of the node call
  /// it.
  void complete_overlap(const FieldJob& job, Status& status);
  /// What threads failed to store, as far as the last write had to do with it: the same on all ranks of the
  /// node, once for each such write.
  Status take_reported() { return std::exchange(reported_, {}); }
  /// What this rank's thread failed to store since the last flush.
  Status failure() const { return background_ ? background_->failure() : Status{}; }
  /// The slot generation that is not full is closed, so that it can be stored. All ranks of the node call it.
  Status submit_pending();
  /// Everything written so far is in the file when this returns on all ranks of the node.
  Status flush();
  /// The encoded chunks that this rank stored since the last call.
  std::vector<StoredPiece> take_stored();
  /// Nothing is under way any more. Before the stage is reset.
  void forget();
  /// As NativeFile, of the thread's handle. After flush.
  void sync_file();
  void close_file();
  bool idle() const { return full_.empty() && !open_; }

 private:
  struct Described {
    std::shared_ptr<SlotGeneration> generation;
    std::uint64_t fingerprint = 0;
    std::vector<std::pair<int, Box>> regions;
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
  NativeFile& file_;
  Counters& counters_;
  int rank_;
  Storing storing_;     ///< of this thread
  bool later_ = false;  ///< it is not this thread that stores
  /// But this one, or one of another rank; this thread helps to compress while it waits.
  std::optional<Background> background_;
  Status reported_;
  std::uint64_t flushed_ = 0;   ///< slot generations that were over when ranks last flushed
  bool fresh_ = true;           ///< none was begun since
  std::deque<Described> full_;  ///< closed, not known to be stored
  std::optional<Described> open_;
};

}  // namespace shoal
