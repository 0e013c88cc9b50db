// SPDX-License-Identifier: BSD-3-Clause
#include "streams_program/schedule.hpp"

#include <set>

#include "base/error.hpp"
#include "streams/clock.hpp"

namespace shoal::streams {

std::int64_t Schedule::records() const {
  std::int64_t all = 0;
  for (const auto& file : files)
    all += file.records;
  return all;
}

Schedule schedule_of(const FileChoice& choice, const RunOfSteps& run) {
  Clock::Options options{run.calendar,       choice.every, choice.offset.value_or(Duration{}),
                         choice.climatology, {},           {}};
  if (!choice.from.empty()) options.from = run.calendar.parse(choice.from);
  if (!choice.until.empty()) options.until = run.calendar.parse(choice.until);
  Clock clock(options, run.start, run.from);
  std::optional<Windows> files;
  if (choice.new_file) files.emplace(run.calendar, *choice.new_file, Duration{}, run.start);

  Schedule out;
  std::optional<Window> file;  // the time of the last file
  std::set<int> slots;         // of a climatology, which have had a window
  const auto add = [&](const Window& window, int slot) {
    const bool is_new_record = !choice.climatology || slots.insert(slot).second;
    if (out.windows.size() < Schedule::k_most_windows) out.windows.push_back(window);
    // The file is that of the record's beginning, whose date its name has.
    if (out.files.empty() || (files && window.start >= file->end)) {
      if (files) file = files->containing({window.start.microseconds + 1});
      out.files.push_back(
          {file_name(choice.name, run.calendar, window.start, end_of_file(choice, run.calendar, file)), 0,
           window, window});
    }
    out.files.back().last = window;
    if (is_new_record) ++out.files.back().records;
  };
  std::int64_t number = (run.from.microseconds - run.start.microseconds) / run.step;
  for (Instant now = run.from; now < run.to;) {
    const Instant end{std::min(now.microseconds + run.step, run.to.microseconds)};
    const Step step{now, end, ++number};
    clock.begin_step(step);
    if (clock.crossed() && out.crossing.empty()) out.crossing = crossing_text(clock, step);
    if (clock.passed()) add(*clock.passed(), clock.slot());
    if (clock.ends() && clock.counts()) add(clock.window(), clock.slot());
    out.unfinished.reset();
    if (!clock.ends() && clock.counts()) out.unfinished = clock.window();
    clock.end_step();
    now = end;
  }
  if (out.unfinished && choice.unfinished == Unfinished::write) {
    const Window window{out.unfinished->start, run.to};
    out.unfinished.reset();
    add(window, clock.slot());
  }
  return out;
}

}  // namespace shoal::streams
