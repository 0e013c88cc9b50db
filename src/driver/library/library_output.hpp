// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/library/free_space_guard.hpp"
#include "driver/library/library_file.hpp"
#include "driver/protocol/protocol.hpp"
#include "pack/cells.hpp"
#include "pack/scratch_buffer.hpp"

namespace shoal {

/// The output of LibraryDriver to one file: defers failures to the next sync, tracks which records have
/// cells, stores fill values where the library does not, and checks the free space of the device.
class LibraryOutput {
 public:
  /// All outlive it. buffer: for cells that are packed where the library has no place of its own.
  LibraryOutput(LibraryContext& context, LibraryFile& file, ScratchBuffer& buffer);

  CollectiveState& state() { return state_; }
  const CollectiveState& state() const { return state_; }
  /// The text of the first calls that differ between ranks (CallLog::difference). Collective.
  std::string different_calls(int* odd = nullptr) const {
    return state_.log().difference(context_.comm, context_.schema, odd);
  }
  RecordState& records() { return records_; }
  const LibraryTraits& traits() const { return traits_; }

  /// Begins the checks of free space, for libraries that write by MPI-IO: rank 0 checks before variables are
  /// defined and fields are written, and after it where the library may hide a full device
  /// (LibraryTraits::may_hide_no_space). Only on file systems where a rank sees at once what others stored.
  void watch_device();
  /// On rank 0; other ranks get the failure in the next match.
  Status find_free_space(const Schema& schema, std::int64_t more, std::int64_t new_cells);

  /// Defers a failure to the next sync; with the variable's name.
  void keep(Status status) { state_.defer(std::move(status)); }
  void keep(const Status& status, int variable);
  /// Keeps the library's damage (LibraryFile::damage), which each sync reports.
  void keep_damage();

  /// The element type of store and load.
  Element stored(int variable) const;
  /// LibraryFile::about_to_store, of a region of which all cells will be in the file.
  void begin(const StoreRegion& next);
  std::byte* buffer_for_cells(std::size_t bytes);
  void store(int variable, const Box& box, const std::byte* cells);
  /// As those of LibraryFile, but cells that are not written yet have the fill value, which the file itself
  /// gets at the next sync.
  void load(int variable, const Box& box, std::byte* cells, bool overlapping);
  void load_replicated(int variable, const Box& box, std::byte* values, bool all);

  /// Stores the fill value in unowned cells of the region. had: records that were there before (of a variable
  /// without records: 1 or 0). These may have cells to keep, but for the gaps (gaps_before); in later ones
  /// the library may have filled all cells itself, provided that a rank stores some.
  void fill_unowned(const Transfer& transfer, const std::vector<Box>& unowned, std::int64_t had,
                    const std::vector<Box>& gaps, bool together);
  /// Where unowned cells are kept: the gaps of the region, before it is noted as written.
  std::vector<Box> gaps_before(const Transfer& transfer, bool together) const;
  /// Compares the calls of ranks. True: a rank skipped one. Collective.
  bool compare();
  /// Stores the fill value in cells of records that no rank wrote. Collective.
  void fill_gaps(bool any_skipped);
  /// Checks that the device has all cells after a commit with this outcome; returns the failure, or the
  /// outcome, the same on all ranks. Collective.
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
