// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/box.hpp"
#include "base/error.hpp"
#include "comm/comm.hpp"
#include "driver/protocol/call_log.hpp"
#include "driver/records/record_fill_tracker.hpp"
#include "driver/records/written_records.hpp"
#include "format/format_traits.hpp"
#include "format/schema.hpp"

namespace shoal {

/// The state of a rank's calls since ranks last completed pending calls: compared them, with everything
/// stored.
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
/// In order: each state includes the ones before it.
enum class CallState { settled, unsettled, diverged, skipped };

/// The state of the file, the same on all ranks.
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

/// The failure, with the variable's name unless it has one.
Status named(Status status, const std::string& variable);

/// Keeps the first failure; where both are of values that do not fit, its message names the second one, too.
void merge_named(Status& kept, const Status& more);

/// The outcome of a comparison of calls; the same on all ranks, but for is_reference.
struct Comparison {
  bool same = true;                   ///< all ranks made the same calls
  bool is_reference = true;           ///< this rank made the calls that count where they differ
  bool any_deferred = false;          ///< a rank has a deferred error
  bool any_skipped = false;           ///< a rank skipped a call
  bool any_diverged = false;          ///< a rank diverged, or skipped a call
  bool any_lost = false;              ///< cells were lost, by a deferred error
  std::vector<std::int64_t> lengths;  ///< the largest that any rank gave
};

/// The state of a rank in calls that do not wait for other ranks: whether its calls may differ from theirs,
/// and which errors the next sync reports. It gives the words that ranks compare; drivers make the collective
/// calls. All is Local.
class CollectiveState {
 public:
  /// rank: this one's number, for errors that name none.
  explicit CollectiveState(int rank) : rank_(rank) {}

  CallState calls() const { return calls_; }
  bool is_settled() const { return calls_ == CallState::settled; }
  bool has_diverged() const { return calls_ >= CallState::diverged; }
  bool has_skipped() const { return calls_ == CallState::skipped; }
  /// To be called for a call that changes the file.
  void change() { raise_to(CallState::unsettled); }
  void diverge() { raise_to(CallState::diverged); }
  /// Skips a call. why: the error for ranks that match theirs with it; of several, the first error counts.
  void skip(const Status& why = {});
  const Status& why_skipped() const { return why_skipped_; }
  /// To be called after a match of calls that completes pending ones: no rank matches a skipped call any
  /// more. The hash, the bytes and the paths start anew.
  void matched();
  /// matched, and the rank has not diverged any more.
  void complete_pending();

  /// Keeps an error for the next sync, unless its rank is k_told: the first one, or first that loses cells.
  void defer(Status status);
  /// Keeps an error that nothing mends for each sync, in place of any other: as it is at the first sync if it
  /// was deferred before, and with the message `later` from then on.
  void defer_lasting(const Status& error, const std::string& later);
  const Status& deferred() const { return deferred_; }
  Status take_deferred();

  /// Adds the call to the hash of all calls, in their order.
  void note_call(std::uint64_t call = 0);
  std::uint64_t hash() const { return hash_; }
  /// Notes a write of a distributed field.
  void note_field() { wrote_field_ = true; }
  /// Was there one since matched(), perhaps in a call that this rank skipped? The same on all ranks.
  bool may_have_written_field() const { return wrote_field_ || has_skipped(); }
  /// The calls, for messages.
  CallLog& log() { return log_; }
  const CallLog& log() const { return log_; }
  /// The signature for a match that completes pending calls. any_flag: there are some, or an error.
  CallSignature signature(const char* does) const;
  /// `mine`, with skipped_call if this rank has skipped one.
  CallSignature with_skipped(CallSignature mine, const char* skipped_call) const;

  /// The words that ranks compare by Comm::max, and the outcome of their largest ones. lengths: as many on
  /// each rank.
  std::vector<std::int64_t> to_compare(std::vector<std::int64_t> lengths = {}) const;
  Comparison compared(std::vector<std::int64_t> largest) const;

  /// Sets after how many bytes ranks ask each other for errors; 0: never.
  void ask_after(std::int64_t bytes) { ask_after_ = bytes; }
  bool asks() const { return ask_after_ > 0; }
  void note_bytes(std::int64_t bytes) { unasked_ += bytes; }
  /// Are ranks to ask each other now? The count then begins again. The same on all ranks that skipped no
  /// call.
  bool must_ask();

  /// Was the variable written by another path since matched()? Paths are numbers of the driver's.
  bool changes_path(int variable, std::uint64_t path) const;
  void note_path(int variable, std::uint64_t path) { paths_[variable] = path; }
  /// Was a field of the variable written since matched(), perhaps in a call that this rank skipped?
  bool may_have_pending(int variable) const { return has_diverged() || paths_.contains(variable); }
  /// The same since the last commit that left the file whole.
  bool has_uncommitted(int variable) const {
    return lost_track_ || may_have_pending(variable) || uncommitted_.contains(variable);
  }

  FileState file() const { return file_; }
  void lose() { file_ = FileState::incomplete; }
  void begin_commit();
  void end_commit(FileState file);

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
  std::map<int, std::uint64_t> paths_;        ///< of variables, since matched()
  std::map<int, std::uint64_t> uncommitted_;  ///< those before, since the last commit
  bool lost_track_ = false;                   ///< of these
};

/// Extends unlimited dimensions of the variable to the end of the box, if it has cells.
void grow(Schema& schema, int variable, const Box& box);
/// The lengths of all dimensions.
std::vector<std::int64_t> lengths_of(const Schema& schema);
/// Sets the lengths of unlimited dimensions; those beyond the end of `lengths` become 0.
void set_lengths(Schema& schema, const std::vector<std::int64_t>& lengths);

/// The records of a file: their number, which may hold cells, and which of their cells were not written
/// (gaps). The same on all ranks that made the same calls. All is Local.
class RecordState {
 public:
  /// every_variable: as for RecordFillTracker, and in formats of any kind.
  explicit RecordState(bool every_variable = false)
      : every_variable_(every_variable), filled_(every_variable) {}

  /// Begins with all records of the schema written.
  void start(const Schema& schema);
  /// The two halves of start, for drivers in which ranks may know of different writes.
  void restart_reach(const Schema& schema) { written_records_.start(schema); }
  void restart_gaps(const Schema& schema) { filled_.start(schema); }
  void add_variables(const Schema& schema) { filled_.add_variables(schema); }

  /// The records of the variable that may hold cells (WrittenRecords).
  std::int64_t written_records(const Schema& schema, int variable) const {
    return written_records_.of(schema, variable);
  }
  /// Notes a write of the region, before lengths grow.
  void note_write(const Schema& schema, int variable, const Box& region) {
    written_records_.note(schema, variable, region);
  }
  /// Notes that this rank does not know what others write.
  void lose_reach() { written_records_.lose(); }
  /// Notes that the region is written: lengths grow to its end, and none of its cells is a gap.
  void add(Schema& schema, int variable, const Box& region);
  /// Takes the boxes that must be filled, which count as filled from now on. None where the format needs
  /// none.
  std::vector<RecordFillTracker::Gap> take_gaps(const Schema& schema);
  /// Gaps that were taken, or counted as written, could not be filled: they are gaps again.
  void put_back(const Schema& schema, const std::vector<RecordFillTracker::Gap>& gaps);
  /// The gaps within a box of a variable, which stay gaps.
  std::vector<Box> gaps_in(const Schema& schema, int variable, const Box& box) const {
    return tracks_gaps(schema) ? filled_.gaps_in(schema, variable, box) : std::vector<Box>{};
  }

  /// Notes that all ranks know the present lengths.
  void note_known(const Schema& schema) { known_ = lengths_of(schema); }
  /// The lengths that all ranks know, one for each dimension of the schema.
  std::vector<std::int64_t> known(const Schema& schema) const;
  /// Notes that the file has the present lengths.
  void note_committed(const Schema& schema) {
    committed_ = lengths_of(schema);
    committed_variables_ = static_cast<int>(schema.variables.size());
  }
  /// Was the record of the variable (which may have none) in the file at the last commit? What nobody had
  /// written of it got the fill value then, and a rank alone may have written since.
  bool was_committed(const Schema& schema, int variable, std::int64_t record) const {
    if (variable >= committed_variables_) return false;
    if (!schema.has_record(variable)) return true;
    const auto dim = static_cast<std::size_t>(schema.variable(variable).dims[0]);
    return dim < committed_.size() && record < committed_[dim];
  }
  /// Takes back the records since the last commit.
  void take_back(Schema& schema);

 private:
  bool tracks_gaps(const Schema& schema) const {
    return every_variable_ || traits_of(schema.format).interleaves_records;
  }

  bool every_variable_;
  RecordFillTracker filled_;
  WrittenRecords written_records_;
  std::vector<std::int64_t> known_, committed_;
  int committed_variables_ = 0;
};

}  // namespace shoal
