// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "dataset/arguments.hpp"
#include "streams/configuration.hpp"
#include "streams/descriptions.hpp"
#include "streams/nth.hpp"
#include "streams/plan.hpp"
#include "streams/record_file.hpp"

namespace shoal::streams {

/// What streams are opened with. The same on all ranks, but for problem.
struct StreamsOptions {
  std::string configuration;  ///< a path, or the text if there is a newline in it
  std::string calendar, start;
  std::string now;  ///< "": start
  FileMaker maker;
  Status problem;  ///< this rank's arguments are bad; it still takes part
};

/// The fields of a run, and the files that a configuration makes of them.
///
/// Three states: first the model describes what it has; the first advance, checkpoint or resume joins that
/// with the configuration. Between steps the last step is complete, and what was due is written. In a step,
/// which advance begins, fields are sent; the next advance, checkpoint or close completes it.
///
/// Ranks meet where windows end, and in checkpoint, resume and close; everything else is local. What is wrong
/// on one rank comes out there, on all alike.
class Streams {
 public:
  /// Collective.
  static std::unique_ptr<Streams> open(MPI_Comm comm, const StreamsOptions& options);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  /// Without close before nothing is stored, and other ranks may go on to wait for this one. Local.
  ~Streams();

  /// Error(state): after the first step. Local.
  Descriptions& descriptions();
  /// A description failed on this rank: all learn of it. Local.
  void keep_problem(const Status& status) { problem_.merge(status); }

  /// Where no step goes on, yes: sending it then is an error, which a model that asks first is to get, too.
  bool wants(int field) const {
    if (!in_step_) return field >= 0 && static_cast<std::size_t>(field) < descriptions_.fields().size();
    return field >= 0 && static_cast<std::size_t>(field) < wanted_.size() && nth(wanted_, field) != 0;
  }
  /// Does sending the field do nothing in this step, whatever the array is? Local.
  bool ignores(int field) const {
    return in_step_ && field >= 0 && static_cast<std::size_t>(field) < wanted_.size() && !wants(field);
  }
  /// Local.
  void send(int field, const ArrayArgument& array);
  /// In place of send, where the caller found its arguments wrong. Local.
  void refuse(int field, const Status& why);
  /// Collective.
  void advance(double seconds);
  void advance_to(const std::string& date);
  void checkpoint(const std::string& path, const Status& problem = {});
  void resume(const std::string& path, const Status& problem = {});
  void close();
  /// In place of close, in MPI_Finalize: closes, with a warning, if all ranks come. What fails is a warning,
  /// too.
  void close_forgotten();
  std::string report() const;  ///< Local.

 private:
  /// An output whose window ended.
  struct Due {
    std::size_t file = 0, output = 0;
    Window window;
    int state = 0;
    Instant completed;  ///< end of the step that is complete
    friend bool operator==(const Due&, const Due&) = default;
  };
  struct OfSource {
    std::vector<std::size_t> collectors;
    bool sent = false;
    std::vector<std::vector<double>> inputs;  // of an expression: this rank's cells of each field
    std::vector<bool> has_input;
    std::vector<double> values, made;  // of the expression; interpolated
  };

  Streams(Comm comm, Configuration configuration, const RunTime& time, FileMaker maker);
  void begin_run();
  bool is_check_alone() const;
  [[noreturn]] void check_and_stop();
  void advance_to(const std::function<Instant()>& end);
  Step next_step(Instant end) const;
  void check_step(const Step& next) const;
  const Clock& clock_of(const RecordFile& file) const { return nth(plan_.clocks, file.plan().clock); }
  // Of the step which goes on, the same on all ranks: is something due when it is complete?
  bool gives_instants(const RecordFile& file) const;
  bool ends_window_of(const RecordFile& file) const;
  bool makes_due() const;
  bool takes(const Collector& collector) const;
  /// Has a file windows of this clock, or values that are taken at its ends?
  bool uses_clock(const RecordFile& file, std::size_t clock) const;
  /// What a value counts for that the collector takes in this step.
  Step step_of(const Collector& collector) const;
  void feed(std::size_t source, const ArrayView& own);
  void take_input(std::size_t source, int field, const ArrayView& own);
  std::vector<Due> complete_step();
  void begin_step(const Step& next, std::vector<Due>& due);
  void tell_crossed();
  void add_due(std::vector<Due>& due, std::size_t file, const Window& window, bool instants) const;
  void find_wanted();
  /// has_time: this rank has begun the step that the others have.
  Status settle(const std::vector<Due>& due, bool has_time = true);
  /// 1 for each output in whose window the field was not sent in some step: of this rank, and of all.
  std::vector<std::int64_t> holes_of(const std::vector<Due>& due) const;
  std::vector<std::int64_t> holes_of_all(std::vector<std::int64_t> holes, bool has_time) const;
  Error different_times(Instant last) const;
  Status report_holes(const std::vector<Due>& due, const std::vector<std::int64_t>& holes);
  Status write_due(const std::vector<Due>& due, const std::vector<std::int64_t>& holes);
  RecordTime time_of(const std::vector<Due>& due) const;
  Status end_files();
  std::vector<Due> left_at_close();
  std::string no_record_text(bool is_lost) const;
  void tell_shorter() const;
  Collector& collector_of(const Due& due) { return plan_.collectors[collector_index(due)]; }
  const Collector& collector_of(const Due& due) const { return plan_.collectors[collector_index(due)]; }
  std::size_t collector_index(const Due& due) const {
    return static_cast<std::size_t>(files_[due.file].plan().outputs[due.output].collector);
  }
  /// That, and the one of the levels that its values are interpolated from.
  std::vector<std::size_t> collectors_of(const Due& due) const;
  /// When the field was not sent in some step of the window. Local.
  std::optional<Instant> hole_of(const Collector& collector, int state) const;
  void warn(const std::string& message) const;
  void write_report() const;

  Comm comm_;
  Configuration configuration_;
  RunTime time_;
  FileMaker maker_;
  Descriptions descriptions_;
  Status problem_;  // of this rank, since ranks met last
  Status refused_;  // before the run: of a description
  bool running_ = false, closed_ = false, saved_ = false;
  bool begun_ = false, in_step_ = false;  // had a step, or a checkpoint's
  bool told_early_ = false;               // that a field was sent before the first step
  Step step_;
  Plan plan_;
  std::vector<RecordFile> files_;
  std::vector<OfSource> sources_;               // as in the plan
  std::vector<std::vector<std::size_t>> uses_;  // of each field: sources
  std::vector<char> wanted_;                    // of each field
  std::vector<bool> told_;                      // of each clock: that a window ended in the middle of a step
  std::int64_t shortest_ = 0, longest_ = 0, steps_ = 0;  // of this job, microseconds; how many
  Instant began_;                                        // this job

  friend class Checkpoint;
};

}  // namespace shoal::streams
