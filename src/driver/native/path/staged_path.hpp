// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "driver/native/chunk_addresses.hpp"
#include "driver/native/context.hpp"
#include "driver/native/stage/field_reader.hpp"
#include "driver/native/stage/field_writer.hpp"
#include "driver/native/stage/stage.hpp"

namespace shoal {

/// Fields go through the stage of a node's ranks, who assemble them there and store or fetch long runs. What
/// is written may wait there. Owns the stage, and knows who stores what is in it.
class StagedPath {
 public:
  StagedPath(const NativeContext& context, ChunkAddresses& addresses)
      : context_(context), addresses_(addresses) {}

  /// A stage as large as memory allows. Error on all ranks alike: none at all, or no thread to be had.
  /// Collective.
  void make();
  void drop();
  bool is_made() const { return stage_.has_value(); }
  std::int64_t slot_bytes() const { return stage_->slot_bytes(); }

  /// As FieldWriter and FieldReader. Collective over the node.
  Status write(const FieldJob& job) { return writer_->write(job); }
  Status read(const FieldJob& job, DecodedChunks* decoded = nullptr);
  /// Cells of the job that wait are in the file when this returns, unless the stage is broken.
  void complete_overlap(const FieldJob& job, Status& status);

  // Where there is no stage, there is nothing to do.
  /// Everything that was written is in the file when this returns on all ranks of the node.
  Status flush() { return writer_ ? writer_->flush() : Status{}; }
  /// Threads that store may have all there is.
  Status submit_pending() { return writer_ ? writer_->submit_pending() : Status{}; }
  std::vector<StoredPiece> take_stored();
  /// What this rank's thread failed to store since the last flush.
  Status failure() const { return writer_ ? writer_->failure() : Status{}; }
  /// As FieldWriter::take_reported.
  Status take_reported() { return writer_->take_reported(); }
  /// Of a thread's handle of the file.
  void sync_file();
  void close_file();
  /// The stage takes memory when it needs it. A warning, once, if this node had no more to give.
  void note_shortage();
  void lift_rate_limit();

  /// This rank cannot keep step with the others of its node.
  void fail();
  bool is_broken() const { return stage_ && stage_->broken(); }
  /// Nothing is under way any more, and it is not broken. Collective over the node.
  void reset();
  /// As Stage.
  void enter_match();
  bool agree(bool well) { return stage_ && stage_->agree(well, context_.counters.blocked); }

 private:
  std::optional<Stage> try_stage(const Comm& node);
  void make_for_each_rank();
  void begin_storing();

  const NativeContext& context_;
  ChunkAddresses& addresses_;
  std::optional<Stage> stage_;
  std::int64_t missing_ = 0;  ///< bytes that shared memory had no room for
  std::optional<FieldWriter> writer_;
};

}  // namespace shoal
