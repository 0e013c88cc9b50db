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

/// The path through the stage: the ranks of a node assemble fields there, and store or fetch long runs.
/// Writes may wait in the stage. Owns the stage, and the thread that stores from it if there is one.
class StagedPath {
 public:
  StagedPath(const NativeContext& context, ChunkAddresses& addresses)
      : context_(context), addresses_(addresses) {}

  /// Makes a stage, as large as memory allows. Error on all ranks alike: there is no memory, or no thread.
  /// Collective.
  void make();
  void drop();
  bool is_made() const { return stage_.has_value(); }
  std::int64_t slot_bytes() const { return stage_->slot_bytes(); }

  /// As FieldWriter and FieldReader. Collective over the node.
  Status write(const FieldJob& job) { return writer_->write(job); }
  Status read(const FieldJob& job, DecodedChunks* decoded = nullptr);
  /// Stores cells of the job that wait; afterwards they are in the file, unless the stage is broken.
  void complete_overlap(const FieldJob& job, Status& status);

  // Without a stage the following do nothing.
  /// Stores all that waits; it is in the file when this has returned on all ranks of the node.
  Status flush() { return writer_ ? writer_->flush() : Status{}; }
  /// Gives threads all that is left to store.
  Status submit_pending() { return writer_ ? writer_->submit_pending() : Status{}; }
  std::vector<StoredPiece> take_stored();
  /// The failure of this rank's thread since the last flush.
  Status failure() const { return writer_ ? writer_->failure() : Status{}; }
  /// As FieldWriter::take_reported.
  Status take_reported() { return writer_->take_reported(); }
  /// Sync and close of the thread's handle of the file.
  void sync_file();
  void close_file();
  /// As ObjectFiles.
  void note_committed();
  /// Warns, once, if this node had too little memory for the stage, which takes memory when it needs it.
  void note_shortage();
  void lift_rate_limit();

  /// This rank cannot keep step with the others of its node.
  void fail();
  bool is_broken() const { return stage_ && stage_->broken(); }
  /// Empties the stage, which is not broken afterwards. Collective over the node.
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
