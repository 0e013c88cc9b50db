// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/library/free_space_guard.hpp"
#include "driver/library/library_file.hpp"
#include "driver/protocol.hpp"
#include "pack/cells.hpp"
#include "pack/scratch_buffer.hpp"

namespace shoal {

/// What goes through a library into one file: keeps failures for the next sync, knows which records have
/// cells, stores fill values where nobody has any and the library does not, and looks for room on the device.
class LibraryOutput {
 public:
  /// All outlive it. buffer: for cells that are packed where the library has no place of its own.
  LibraryOutput(LibraryContext& context, LibraryFile& file, ScratchBuffer& buffer);

  CollectiveState& state() { return state_; }
  const CollectiveState& state() const { return state_; }
  /// Which calls of ranks differ, in words; odd: becomes the first rank that differs from rank 0. Collective.
  std::string different_calls(int* odd = nullptr) const {
    return state_.log().difference(context_.comm, context_.schema, odd);
  }
  RecordState& records() { return records_; }
  const LibraryTraits& traits() const { return traits_; }

  /// Once, for libraries that write by MPI-IO: rank 0 looks for room on the device before variables are
  /// defined and fields are written; and after, where the library reports failures to nobody. Only where a
  /// rank sees at once what others stored.
  void watch_device();
  /// Failures are rank 0's; the others hear of them in the next match.
  Status find_free_space(const Schema& schema, std::int64_t more, std::int64_t new_cells);

  /// A failure that comes out at the next sync; of the variable, if it is none of -1.
  void keep(Status status, int variable);
  /// The library's own failure to write, which no later sync mends.
  void keep_damage();

  /// What store and load have.
  Element stored(int variable) const;
  /// LibraryFile::about_to_store, of a region of which all cells will be in the file.
  void begin(int variable, const Box& region, bool replicated);
  std::byte* buffer_for_cells(std::size_t bytes);
  void store(int variable, const Box& box, const std::byte* cells);
  /// As those of LibraryFile. Cells that nobody has written yet have the fill value, which the file gets at
  /// the next sync: until then there may be anything.
  void load(int variable, const Box& box, std::byte* cells, bool overlapping);
  void load_replicated(int variable, const Box& box, std::byte* values, bool all);

  /// Cells of the region that nobody owns. had: so many records (of a variable without: one) were there
  /// before. Those may have cells to keep; in the others the library may have filled all cells itself, but
  /// makes none where nobody stores any.
  void fill_unowned(const Transfer& transfer, const std::vector<Box>& unowned, std::int64_t had,
                    bool together);
  /// Ranks compare their calls: did any of them skip one? Collective.
  bool compare();
  /// Cells of records that nobody wrote. Collective.
  void fill_gaps(bool any_skipped);
  /// What is on the device, after a commit that ended so; the failure of it, the same on all ranks.
  /// Collective.
  Status check_stored(const Status& outcome);

 private:
  void fill(int variable, const Box& box, bool replicated);
  void fill_unwritten(int variable, const Box& box, std::byte* cells, bool swapped) const;
  std::vector<RecordFillTracker::Gap> gaps(bool any_skipped);

  LibraryContext& context_;
  LibraryFile& file_;
  const LibraryTraits traits_;
  ScratchBuffer& buffer_;
  CollectiveState state_;
  RecordState records_{true};
  std::optional<FreeSpaceGuard> device_;
};

}  // namespace shoal
