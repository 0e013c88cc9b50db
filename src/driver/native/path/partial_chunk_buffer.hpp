// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "driver/native/field_job.hpp"
#include "pack/scratch_buffer.hpp"
#include "pack/transfer.hpp"

namespace shoal {

/// A buffer for writes of parts of compressed chunks (some levels, one of twelve records): they wait until
/// all cells of the chunks are written, so that each chunk is compressed once. Each rank keeps its own cells.
/// Which chunks wait, and how long, is the same on all ranks.
class PartialChunkBuffer {
 public:
  /// most_bytes: of fields that wait, of all ranks together.
  PartialChunkBuffer(const Schema& schema, std::int64_t most_bytes, Seconds& time)
      : schema_(schema), most_bytes_(most_bytes), time_(time) {}

  /// Does the job write some cells of a chunk, and not others that the variable has or may get?
  bool is_part(const FieldJob& job) const;

  /// The cells of some whole chunks, as far as they were written.
  struct PartialChunks {
    Transfer transfer;  ///< of all of them; its array is `array`
    ArrayView array;    ///< in `cells`
    ScratchBuffer cells;
    std::vector<Box> written;  ///< parts of the region, in order
    std::vector<Box> bad;      ///< of a map: those that this rank could not give, while it has no array
    std::int64_t missing = 0;  ///< cells that were not written; a cell that came twice counts twice
    bool overlaps = false;     ///< some cells came twice, so that it is not known when all are there
    std::int64_t bytes = 0;
    bool whole() const { return missing == 0 && !overlaps; }
  };

  bool empty() const { return kept_.empty(); }
  /// Are there cells of other chunks that must be stored before the job?
  bool in_the_way(const FieldJob& job) const;
  /// Would the job exceed most_bytes?
  bool full(const FieldJob& job) const;
  /// Adds the job's cells. Local; the Status is of this rank's values.
  Status add(const FieldJob& job);
  /// Takes the chunks that the job has completed, if all their cells are there now.
  std::optional<PartialChunks> take_whole(const FieldJob& job);
  /// Takes the chunks that have waited longest.
  PartialChunks take_first();
  void clear() { kept_.clear(), bytes_ = 0; }

  /// The transfer of a part of what was kept.
  static Transfer part_of(const PartialChunks& kept, const Box& part);

 private:
  Box region_of(const FieldJob& job) const;
  PartialChunks take(std::deque<PartialChunks>::iterator at);
  std::deque<PartialChunks>::iterator find(const FieldJob& job);
  PartialChunks& begin(const FieldJob& job);
  Status copy_tile(const FieldJob& job, PartialChunks& kept);
  Status copy_mapped(const FieldJob& job, PartialChunks& kept);
  static void allocate(PartialChunks& kept, const CellArray& like);
  static Status leave_out(const FieldJob& job, PartialChunks& kept, const Box& part, const Status& why);

  const Schema& schema_;
  std::int64_t most_bytes_;
  Seconds& time_;
  std::deque<PartialChunks> kept_;
  std::int64_t bytes_ = 0;
};

}  // namespace shoal
