// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/box.hpp"
#include "base/error.hpp"
#include "comm/comm.hpp"
#include "driver/call_log.hpp"
#include "driver/record_fill_tracker.hpp"
#include "driver/written_records.hpp"
#include "format/schema.hpp"

namespace shoal {

/// A rank among the others, since they last completed pending calls: compared them, with everything stored.
///
/// | state     | this rank                                                                   |
/// |-----------|-----------------------------------------------------------------------------|
/// | settled   | has made no call that changes the file                                      |
/// | unsettled | has; its cells may not be stored, its lengths not be known to the others    |
/// | diverged  | could not do its part of a call; cells may be missing                       |
/// | skipped   | has skipped a call, in which others may match theirs; it skips later writes |
///
/// |           | change    | diverge  | skip    | matched  | complete_pending |
/// |-----------|-----------|----------|---------|----------|------------------|
/// | settled   | unsettled | diverged | skipped | settled  | settled          |
/// | unsettled | unsettled | diverged | skipped | settled  | settled          |
/// | diverged  | diverged  | diverged | skipped | diverged | settled          |
/// | skipped   | skipped   | skipped  | skipped | diverged | settled          |
///
/// In order: a state includes what those before it say.
enum class CallState { settled, unsettled, diverged, skipped };

/// The file, as all ranks know it.
///
/// | state      | means                                             | lose       | begin_commit |
/// |------------|---------------------------------------------------|------------|--------------|
/// | unknown    | no commit yet, or one is under way, or it failed  | incomplete | unknown      |
/// | whole      | has all that was stored before the last commit    | incomplete | unknown      |
/// | incomplete | cells were lost on some rank                      | incomplete | incomplete   |
///
/// end_commit gives any of them.
enum class FileState { unknown, whole, incomplete };

/// In Status::rank: the caller has the error and tells the other ranks itself, so that it is not deferred.
inline constexpr int k_told = -2;

/// Keep the first failure, and name another one of other values that do not fit, in its message.
void merge_named(Status& kept, const Status& more);

/// What ranks find when they compare; the same on all of them, but for is_reference.
struct Comparison {
  bool same = true;                   ///< all made the same calls
  bool is_reference = true;           ///< this rank made those that count where they differ
  bool any_deferred = false;          ///< an error, on any rank
  bool any_skipped = false;           ///< a call
  bool any_diverged = false;          ///< any_skipped included
  bool any_lost = false;              ///< cells, by a deferred error
  std::vector<std::int64_t> lengths;  ///< the largest that any rank gave
};

/// What a rank knows of itself among the others in calls that do not wait for each other, for drivers: what
/// ranks say where they match calls, and which errors come out at the next sync. Local; drivers make the
/// collective calls.
class CollectiveState {
 public:
  /// rank: this one's number, for errors that name none.
  explicit CollectiveState(int rank) : rank_(rank) {}

  CallState calls() const { return calls_; }
  bool is_settled() const { return calls_ == CallState::settled; }
  bool has_diverged() const { return calls_ >= CallState::diverged; }
  bool has_skipped() const { return calls_ == CallState::skipped; }
  /// A call was made that changes the file.
  void change() { raise_to(CallState::unsettled); }
  void diverge() { raise_to(CallState::diverged); }
  /// why: for others that match theirs with the call; of several, the first that is an error.
  void skip(const Status& why = {});
  const Status& why_skipped() const { return why_skipped_; }
  /// Ranks have matched their calls in order to complete pending ones: nobody matches a skipped one any more.
  /// The hash, the bytes and the paths start anew.
  void matched();
  /// As matched; and what diverged is over.
  void complete_pending();

  /// Keep an error for the next sync, if it was not told: the first one, until it is taken.
  void defer(Status status);
  /// Keep an error that nothing mends, in place of any other, for each sync: as it is, where it was deferred
  /// and not yet reported, and with the other message each time later.
  void defer_lasting(const Status& error, const std::string& later);
  const Status& deferred() const { return deferred_; }
  Status take_deferred();

  /// The call becomes part of the hash of all calls, in their order.
  void note_call(std::uint64_t call = 0);
  std::uint64_t hash() const { return hash_; }
  /// Ranks write a field, each its cells.
  void note_field() { wrote_field_ = true; }
  /// Was there one since matched(), perhaps in a call that this rank skipped? The same on all ranks.
  bool may_have_written_field() const { return wrote_field_ || has_skipped(); }
  /// The same calls in words.
  CallLog& log() { return log_; }
  const CallLog& log() const { return log_; }
  /// Of ranks that match calls in order to complete pending ones. any_flag: there are some, or an error.
  CallSignature signature(const char* does) const;
  /// The same, with the words for a skipped call if this rank has skipped one.
  CallSignature with_skipped(CallSignature mine, const char* skipped_call) const;

  /// Words of which ranks find the largest (Comm::max), and what these say to this rank. lengths: as many on
  /// each rank.
  std::vector<std::int64_t> to_compare(std::vector<std::int64_t> lengths = {}) const;
  Comparison compared(std::vector<std::int64_t> largest) const;

  /// Ranks ask each other for errors each time they have written so many bytes; 0: never.
  void ask_after(std::int64_t bytes) { ask_after_ = bytes; }
  bool asks() const { return ask_after_ > 0; }
  void note_bytes(std::int64_t bytes) { unasked_ += bytes; }
  /// Is it time? Then they count anew. The same on all ranks that skipped no call.
  bool must_ask();

  /// Was the variable written since matched(), by another path? Paths are numbers of the driver's.
  bool changes_path(int variable, std::uint64_t path) const;
  void note_path(int variable, std::uint64_t path) { paths_[variable] = path; }

  FileState file() const { return file_; }
  void lose() { file_ = FileState::incomplete; }
  void begin_commit();
  void end_commit(FileState file) { file_ = file; }

 private:
  void raise_to(CallState state) {
    if (calls_ < state) calls_ = state;
  }

  int rank_;
  CallState calls_ = CallState::settled;
  FileState file_ = FileState::unknown;
  Status deferred_, why_skipped_;
  bool reported_lasting_ = false;
  std::uint64_t hash_ = 0;
  bool wrote_field_ = false;
  CallLog log_;
  std::int64_t unasked_ = 0, ask_after_ = 0;
  std::map<int, std::uint64_t> paths_;
};

/// Of one call, for its signature.
std::uint64_t hash_of_call(int variable, const Box& region);

/// Unlimited dimensions of the variable reach the end of the box, if it has cells.
void grow(Schema& schema, int variable, const Box& box);
/// Of all dimensions.
std::vector<std::int64_t> lengths_of(const Schema& schema);
/// Of unlimited dimensions; 0 for those behind the last one.
void set_lengths(Schema& schema, const std::vector<std::int64_t>& lengths);

/// Records: how many there are, which may hold something, and which of their cells nobody wrote. The same on
/// all ranks that made the same calls. Local.
class RecordState {
 public:
  /// every_variable: as RecordFillTracker has it, in formats of any kind.
  explicit RecordState(bool every_variable = false)
      : every_variable_(every_variable), filled_(every_variable) {}

  /// All records of the schema are in the file.
  void start(const Schema& schema);
  /// One half of start each, where ranks may know of different writes.
  void restart_reach(const Schema& schema) { written_records_.start(schema); }
  void restart_gaps(const Schema& schema) { filled_.start(schema); }
  void add_variables(const Schema& schema) { filled_.add_variables(schema); }

  /// So many records of the variable may hold something (WrittenRecords).
  std::int64_t written_records(const Schema& schema, int variable) const {
    return written_records_.of(schema, variable);
  }
  /// A write of the region begins; before lengths grow.
  void note_write(const Schema& schema, int variable, const Box& region) {
    written_records_.note(schema, variable, region);
  }
  /// This rank does not know what others write.
  void lose_reach() { written_records_.lose(); }
  /// The region is written: lengths grow to its end, and none of its cells is a gap.
  void add(Schema& schema, int variable, const Box& region);
  /// Boxes that must be filled, and count as filled from now on. None where the format needs no filling.
  std::vector<RecordFillTracker::Gap> take_gaps(const Schema& schema);
  /// Boxes of those within a box of a variable, which stay gaps.
  std::vector<Box> gaps_in(const Schema& schema, int variable, const Box& box) const {
    return tracks_gaps(schema) ? filled_.gaps_in(schema, variable, box) : std::vector<Box>{};
  }

  /// All ranks know of the lengths as they are now.
  void note_known(const Schema& schema) { known_ = lengths_of(schema); }
  /// Those that all know of, one for each dimension of the schema.
  std::vector<std::int64_t> known(const Schema& schema) const;
  /// The lengths as they are now are those of the file.
  void note_committed(const Schema& schema) { committed_ = lengths_of(schema); }
  /// Records since the last commit never were.
  void take_back(Schema& schema);

 private:
  bool tracks_gaps(const Schema& schema) const {
    return every_variable_ || interleaves_records(schema.format);
  }

  bool every_variable_;
  RecordFillTracker filled_;
  WrittenRecords written_records_;
  std::vector<std::int64_t> known_, committed_;
};

}  // namespace shoal
