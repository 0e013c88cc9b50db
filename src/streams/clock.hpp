// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "streams/accumulator.hpp"
#include "streams/time/window.hpp"

namespace shoal::streams {

/// When the windows of one kind begin and end, step by step. A window is in one of three states:
///
/// closed: no step of it began; it is open with the first step that ends in it. open: it has steps; it is
/// finished by the step that ends where it ends, or by one that goes past its end, which belongs to a later
/// window. finished: its records can be written; the next window is closed.
///
/// A step that goes past the end of a window gives it its instant values, as the first that reaches the end.
/// The window in which a run begins may have no other values; then it has no other records.
class Clock {
 public:
  struct Options {
    Calendar calendar;
    Duration every, offset;
    bool climatology = false;
    std::optional<Instant> from, until;  ///< windows that begin before, or end after, are left out
    bool operator==(const Options&) const = default;
  };
  /// run_start: of the whole run; now: where this job begins.
  Clock(const Options& options, Instant run_start, Instant now);

  const Options& options() const { return options_; }
  /// Parts of the year of a climatology; otherwise 1.
  int slots() const { return slots_; }

  /// A step without length is the state at the start: no value of a window, but the instant of the one that
  /// ended then. Error(invalid_argument): whole windows lie in the step.
  void begin_step(const Step& step);
  /// The step's window, and its part of the year.
  const Window& window() const { return window_; }
  int slot() const { return slot_; }
  /// Does the step count in its window (from, until)?
  bool counts() const { return counts_; }
  /// The window with steps that the step which goes on went past the end of.
  const std::optional<Window>& passed() const { return passed_; }
  /// The window that ends with this step.
  bool ends() const { return ends_; }
  /// The window whose instant values are those of the step that goes on.
  const std::optional<Window>& instant() const { return instant_; }
  /// Where a window ends in the middle of the step that goes on: whose records then hold other lengths of
  /// time than windows have, or instants that are late. Nothing where both windows are left out.
  const std::optional<Instant>& crossed() const { return crossed_; }
  /// The step is complete.
  void end_step();

  /// Windows whose records are not written yet begin there or later.
  Instant next_start() const {
    const Instant start = closed_ ? window_.end : window_.start;
    return instant_ ? std::min(start, instant_->start) : start;
  }
  /// The window of dates that begins there.
  Window beginning(Instant start) const { return windows_->containing({start.microseconds + 1}); }
  /// No window of the run begins before. Local.
  Instant earliest() const { return earliest_; }
  /// Has a window begun that counts, and is not at its end?
  bool goes_on() const { return !closed_ && lies_within(window_); }
  /// Of windows of steps, where the one that goes on began; checkpoints keep it.
  std::optional<Instant> open_since() const {
    return windows_ || closed_ ? std::nullopt : std::optional(window_.start);
  }
  void resume_window(Instant start) {
    window_.start = start;
    closed_ = false;
  }

 private:
  bool lies_within(const Window& window) const;
  void begin_state(Instant start);

  Options options_;
  std::optional<Windows> windows_;  // nothing: of steps
  Instant earliest_;
  int slots_ = 1, slot_ = 0;
  Window window_;
  bool closed_ = true;      // window_ had its end, or no step
  bool has_steps_ = false;  // in window_
  bool counts_ = false, ends_ = false;
  std::optional<Window> passed_, instant_;
  std::optional<Instant> crossed_;
};

/// "the step from ... to ... goes past ..., where a window of 90 min ends".
std::string crossing_text(const Clock& clock, const Step& step);

}  // namespace shoal::streams
