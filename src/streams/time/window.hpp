// SPDX-License-Identifier: BSD-3-Clause
// Windows of time, one after another: what a record is the mean of, or what a file holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "streams/time/calendar.hpp"

namespace shoal::streams {

/// Half-open: start < t <= end. What holds for a step that ends at `end` belongs to it.
struct Window {
  Instant start, end;
  auto operator<=>(const Window&) const = default;
};

/// Windows of one length without gaps, by the calendar.
///
/// Months (and years): of n months, the first of the windows begins in January of year 0, so that 3 months
/// are quarters, 12 are years and 120 are decades. Seconds to days: counted from midnight of the day on which
/// the run started, so that lengths which divide a day begin at midnight, and "5 days" with the first day of
/// the run. The offset moves all of them: "2 months" or "-1 month" with 3 months are DJF, MAM, JJA, SON; "12
/// h" with days are days from noon to noon; a run that starts again in the middle has the same windows.
class Windows {
 public:
  /// run_start: of the whole run, not of a part after a restart. Error(setting) unless `every` is months or
  /// microseconds, more than nothing and at most 10000 years, and the offset is months (with months) or
  /// microseconds.
  Windows(Calendar calendar, Duration every, Duration offset, Instant run_start);

  Window containing(Instant instant) const;
  Window next(const Window& window) const;
  const Calendar& calendar() const { return calendar_; }
  Duration every() const { return every_; }

  /// Windows of a year, for climatologies: 12 for months, 4 for seasons, 1 for years. Error(setting) unless
  /// they are whole months that divide a year.
  int slots_of_year() const;
  /// Which of them it is, from 0; 0 begins in January, moved by the offset.
  int slot(const Window& window) const;

 private:
  std::int64_t number_of(Instant instant) const;  // of the window which holds it
  Instant start_of(std::int64_t number) const;

  Calendar calendar_;
  Duration every_, offset_;
  Instant origin_;  // of windows of microseconds
};

/// Windows of n steps: window k has the steps k*n+1 to (k+1)*n, where step 1 is the first of the run.
struct StepWindows {
  std::int64_t every = 1;
  /// Of the window that step `step` (from 1) belongs to, from 0.
  std::int64_t containing(std::int64_t step) const { return (step - 1) / every; }
  bool ends_with(std::int64_t step) const { return step % every == 0; }
};

/// The name of a file whose pattern has %Y %m %d %H %M %S (date and time), %j (day of the year, 001) and %%
/// of where its first window begins, and %EY %Em ... of where it ends, less a second, so that January ends on
/// the 31st. Years have at least 4 digits. Error(setting) for another letter after %, and for an end that is
/// not known.
std::string file_name(std::string_view pattern, const Calendar& calendar, Instant first,
                      std::optional<Instant> end = {});
/// The same error for letters, without a date.
void check_file_name(std::string_view pattern);
/// Has it a part of the date of the end? No for a pattern that check_file_name() refuses.
bool has_end_date(std::string_view pattern);
/// Do files that begin every so often get names of their own: has the pattern what tells their dates apart?
/// Yes for a pattern that check_file_name() refuses.
bool tells_apart(std::string_view pattern, Duration new_file);

}  // namespace shoal::streams
