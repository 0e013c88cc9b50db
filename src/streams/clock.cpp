// SPDX-License-Identifier: BSD-3-Clause
#include "streams/clock.hpp"

#include <fmt/core.h>

#include "base/error.hpp"

namespace shoal::streams {

Clock::Clock(const Options& options, Instant run_start, Instant now) : options_(options) {
  window_ = {now, now};
  earliest_ = run_start;
  if (options_.every.kind == Duration::Kind::steps) return;
  windows_.emplace(options_.calendar, options_.every, options_.offset, run_start);
  if (options_.climatology) slots_ = windows_->slots_of_year();
  window_ = windows_->containing(now);
  earliest_ = windows_->containing(run_start).start;
  closed_ = window_.end == now;
  has_steps_ = now > run_start && window_.start < now && !closed_;  // of the jobs before
}

bool Clock::lies_within(const Window& window) const {
  return (!options_.from || window.start >= *options_.from) &&
         (!options_.until || window.end <= *options_.until);
}

// Its window has no length: the one before the run has no other values, and is of the file before.
void Clock::begin_state(Instant start) {
  const Window ended = windows_ ? windows_->containing(start) : Window{start, start};
  counts_ = false;
  ends_ = closed_;  // what was closed stays so
  if (ended.end == start && lies_within(ended)) instant_ = Window{start, start};
}

void Clock::begin_step(const Step& step) {
  passed_.reset();
  instant_.reset();
  crossed_.reset();
  if (step.start == step.end) return begin_state(step.start);
  if (!windows_) {  // of steps
    if (closed_) window_.start = step.start;
    window_.end = step.end;
    closed_ = false;
    counts_ = lies_within(window_);
    ends_ = StepWindows{options_.every.count}.ends_with(step.number);
    if (ends_ && counts_) instant_ = window_;
    return;
  }
  if (step.end > window_.end) {
    const Window following = windows_->next(window_);
    const bool goes_past = !closed_;
    if (goes_past && step.start < window_.end && (lies_within(window_) || lies_within(following)))
      crossed_ = window_.end;
    if (step.end > following.end || (goes_past && step.end == following.end))
      throw Error(Code::invalid_argument,
                  "the step from {} to {} is longer than windows of {}, so that some would have no values",
                  options_.calendar.text(step.start), options_.calendar.text(step.end),
                  streams::text_of(options_.every));
    if (goes_past && !options_.climatology && lies_within(window_)) {
      instant_ = window_;
      if (has_steps_) passed_ = window_;
    }
    window_ = following;
    has_steps_ = false;
  }
  closed_ = false;
  has_steps_ = true;
  counts_ = lies_within(window_);
  ends_ = step.end == window_.end;
  if (options_.climatology) slot_ = windows_->slot(window_);
  if (ends_ && counts_) instant_ = window_;
}

void Clock::end_step() {
  closed_ = ends_;
  passed_.reset();
  instant_.reset();
  crossed_.reset();
}

std::string crossing_text(const Clock& clock, const Step& step) {
  const Calendar& calendar = clock.options().calendar;
  return fmt::format("the step from {} to {} goes past {}, where a window of {} ends",
                     calendar.text(step.start), calendar.text(step.end), calendar.text(*clock.crossed()),
                     text_of(clock.options().every));
}

}  // namespace shoal::streams
