// SPDX-License-Identifier: BSD-3-Clause
// Dates of the calendars of CF, and lengths of time.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::streams {

/// A point in time of one calendar: microseconds since 0001-01-01 00:00:00 of it. It can be negative.
struct Instant {
  std::int64_t microseconds = 0;
  auto operator<=>(const Instant&) const = default;
};

inline constexpr std::int64_t k_second = 1'000'000;
inline constexpr std::int64_t k_minute = 60 * k_second;
inline constexpr std::int64_t k_hour = 60 * k_minute;
inline constexpr std::int64_t k_day = 24 * k_hour;

/// Rounded down, of negative numbers, too; b > 0.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// Month and day count from 1. Year 0 is a year in the calendars that have_year_zero(); in the others year 1
/// comes after year -1.
struct Date {
  std::int64_t year = 1;
  int month = 1, day = 1, hour = 0, minute = 0, second = 0, microsecond = 0;
  auto operator<=>(const Date&) const = default;
};

/// At least 4 digits: "0044", "-0044".
std::string year_text(std::int64_t year);

/// A length of time as people say it. Months (years are twelve) have no fixed length, and steps are the
/// model's.
struct Duration {
  enum class Kind { steps, microseconds, months };
  Kind kind = Kind::microseconds;
  std::int64_t count = 0;
  auto operator<=>(const Duration&) const = default;
};

/// "15 min", "1 day", "3 months", "-1 month", "1.5 h", "4 steps": a number and a unit of step, s, min, h,
/// day, month, year, their plurals and usual abbreviations. Months, years and steps are whole numbers, the
/// others whole microseconds. Error(setting), which has the units.
Duration parse_duration(std::string_view text);
/// In the largest unit that makes it a whole number: "15 min", "1 day", "3 months".
std::string text_of(Duration duration);

/// One of the calendars of CF: standard (gregorian; Julian up to 1582-10-04, the next day is 1582-10-15),
/// proleptic_gregorian, julian, noleap (365_day), all_leap (366_day), 360_day. A value.
class Calendar {
 public:
  enum class Kind { standard, proleptic_gregorian, julian, noleap, all_leap, day_360 };

  Calendar() = default;
  explicit Calendar(Kind kind) : kind_(kind) {}
  /// By CF's name or its other name, in any case. Error(setting), which has the names.
  static Calendar of(std::string_view name);
  static std::vector<std::string> names();

  /// As the attribute `calendar` has it: "standard", "360_day".
  std::string name() const;
  Kind kind() const { return kind_; }
  bool operator==(const Calendar&) const = default;

  /// In standard and julian there is no year 0, as CF and cftime have it.
  bool have_year_zero() const { return kind_ != Kind::standard && kind_ != Kind::julian; }
  bool is_leap(std::int64_t year) const;
  /// 28 to 31; of October 1582 in standard, 21.
  int days_in_month(std::int64_t year, int month) const;
  /// From 1.
  int day_of_year(const Date& date) const;

  /// Error(invalid_argument) if the calendar has no such date, or its year is beyond +-100000.
  Instant instant(const Date& date) const;
  Date date(Instant instant) const;

  /// "2001-02-03", "2001-02-03 04:05", "2001-02-03T04:05:06.000007", with a year of any number of digits and
  /// a minus, and "Z" at the end allowed. Error(invalid_argument) says what a date looks like.
  Instant parse(std::string_view text) const;
  /// "2001-02-03 04:05:06", with ".000007" where there are microseconds. Years have at least 4 digits.
  std::string text(Instant instant) const;

  /// Months later, on the same day of the month and at the same time; on the last day where the month is
  /// shorter. Microseconds are added. Error(invalid_argument) for steps, and beyond the years of instant().
  Instant add(Instant instant, Duration duration) const;

  /// Months since January of the year before which the calendar's year 1 comes: contiguous over the years,
  /// whether there is a year 0 or not.
  std::int64_t month_number(Instant instant) const;
  /// The first day of that month, 00:00.
  Instant month_start(std::int64_t month_number) const;

 private:
  std::int64_t days_before_year(std::int64_t y) const;  // y counts through: 0 is the year before year 1
  int days_before_month(std::int64_t y, int month) const;
  bool is_leap_counted(std::int64_t y) const;
  std::int64_t day_number(const Date& date) const;
  std::int64_t counted(std::int64_t year) const { return year < 0 && !have_year_zero() ? year + 1 : year; }
  std::int64_t named(std::int64_t y) const { return y < 1 && !have_year_zero() ? y - 1 : y; }

  Kind kind_ = Kind::standard;
};

/// Units of a time coordinate.
enum class TimeUnit { seconds, minutes, hours, days };

/// "days since 2001-02-03 00:00:00".
std::string cf_units(TimeUnit unit, const Calendar& calendar, Instant reference);
/// The value of a time coordinate with those units.
double cf_value(TimeUnit unit, Instant instant, Instant reference);

}  // namespace shoal::streams
