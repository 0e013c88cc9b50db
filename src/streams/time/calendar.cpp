// SPDX-License-Identifier: BSD-3-Clause
#include "streams/time/calendar.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"

namespace shoal::streams {

namespace {

using Kind = Calendar::Kind;

constexpr std::int64_t k_last_year = 100'000;
// No instant is farther from 0: differences of two can be counted.
constexpr std::int64_t k_farthest = (k_last_year + 1) * 366 * k_day;
// Of calendar standard: the first Gregorian day is the one after 1582-10-04.
constexpr std::int64_t k_change_year = 1582;
constexpr int k_change_month = 10, k_last_julian_day = 4, k_first_gregorian_day = 15;
constexpr int k_days_left_out = k_first_gregorian_day - k_last_julian_day - 1;
// 0001-01-01 of the Gregorian rule is two days after that of the Julian one.
constexpr std::int64_t k_gregorian_begin = 2;

struct NamedCalendar {
  const char* name;
  Kind kind;
};
// The first name of each kind is the one that files get.
constexpr std::array<NamedCalendar, 9> k_calendars{{{"standard", Kind::standard},
                                                    {"gregorian", Kind::standard},
                                                    {"proleptic_gregorian", Kind::proleptic_gregorian},
                                                    {"julian", Kind::julian},
                                                    {"noleap", Kind::noleap},
                                                    {"365_day", Kind::noleap},
                                                    {"all_leap", Kind::all_leap},
                                                    {"366_day", Kind::all_leap},
                                                    {"360_day", Kind::day_360}}};

bool is_gregorian_leap(std::int64_t y) {
  return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
}

std::int64_t julian_days(std::int64_t y) {
  return 365 * (y - 1) + floor_div(y - 1, 4);
}

std::int64_t gregorian_days(std::int64_t y) {
  return julian_days(y) - floor_div(y - 1, 100) + floor_div(y - 1, 400);
}

bool is_before_change(std::int64_t y, int month, int day) {
  return y < k_change_year || (y == k_change_year && (month < k_change_month ||
                                                      (month == k_change_month && day <= k_last_julian_day)));
}

// Digits at `at`, which goes behind them; -1 if there are fewer than `least` or more than `most`.
std::int64_t digits(std::string_view text, std::size_t& at, std::size_t least, std::size_t most) {
  const std::size_t begin = at;
  std::int64_t n = 0;
  while (at < text.size() && at - begin < most && text[at] >= '0' && text[at] <= '9')
    n = 10 * n + (text[at++] - '0');
  return at - begin < least ? -1 : n;
}

bool took(std::string_view text, std::size_t& at, std::string_view letters) {
  if (at == text.size() || letters.find(text[at]) == std::string_view::npos) return false;
  ++at;
  return true;
}

// hh:mm[:ss[.ffffff]], of which the end is the end of the text.
bool read_time(std::string_view text, std::size_t& at, Date& date) {
  const auto two = [&](int& into) {
    const std::int64_t n = digits(text, at, 2, 2);
    into = static_cast<int>(n);
    return n >= 0;
  };
  if (!two(date.hour) || !took(text, at, ":") || !two(date.minute)) return false;
  if (!took(text, at, ":")) return true;
  if (!two(date.second)) return false;
  if (!took(text, at, ".")) return true;
  const std::size_t begin = at;
  std::int64_t n = digits(text, at, 1, 6);
  if (n < 0) return false;
  for (std::size_t i = at - begin; i < 6; ++i)
    n *= 10;
  date.microsecond = static_cast<int>(n);
  return true;
}

bool read_date(std::string_view text, Date& date) {
  std::size_t at = 0;
  const bool negative = took(text, at, "-");
  const std::int64_t year = digits(text, at, 1, 9);
  if (year < 0 || !took(text, at, "-")) return false;
  date.year = negative ? -year : year;
  const std::int64_t month = digits(text, at, 1, 2);
  if (month < 0 || !took(text, at, "-")) return false;
  date.month = static_cast<int>(month);
  const std::int64_t day = digits(text, at, 1, 2);
  if (day < 0) return false;
  date.day = static_cast<int>(day);
  if (took(text, at, " T") && !read_time(text, at, date)) return false;
  took(text, at, "Z");
  return at == text.size();
}

}  // namespace

std::string year_text(std::int64_t year) {
  return year < 0 ? fmt::format("-{:04}", -year) : fmt::format("{:04}", year);
}

Calendar Calendar::of(std::string_view name) {
  const std::string small = lower(trimmed(name));
  for (const auto& [known, kind] : k_calendars)
    if (small == known) return Calendar(kind);
  throw Error(Code::setting, "'{}' is no calendar of CF; there are {}", name, joined(names(), ", "));
}

std::vector<std::string> Calendar::names() {
  std::vector<std::string> all;
  for (const auto& calendar : k_calendars)
    all.emplace_back(calendar.name);
  return all;
}

std::string Calendar::name() const {
  const auto* const found = std::find_if(k_calendars.begin(), k_calendars.end(),
                                         [&](const NamedCalendar& c) { return c.kind == kind_; });
  return found->name;
}

bool Calendar::is_leap_counted(std::int64_t y) const {
  switch (kind_) {
    case Kind::standard:
      return y <= k_change_year ? y % 4 == 0 : is_gregorian_leap(y);
    case Kind::proleptic_gregorian:
      return is_gregorian_leap(y);
    case Kind::julian:
      return y % 4 == 0;
    case Kind::all_leap:
      return true;
    case Kind::noleap:
    case Kind::day_360:
      break;
  }
  return false;
}

bool Calendar::is_leap(std::int64_t year) const {
  return is_leap_counted(counted(year));
}

// Days from 0001-01-01 to January 1 of the year.
std::int64_t Calendar::days_before_year(std::int64_t y) const {
  switch (kind_) {
    case Kind::standard:
      return y <= k_change_year ? julian_days(y) : gregorian_days(y) + k_gregorian_begin;
    case Kind::proleptic_gregorian:
      return gregorian_days(y);
    case Kind::julian:
      return julian_days(y);
    case Kind::noleap:
      return 365 * (y - 1);
    case Kind::all_leap:
      return 366 * (y - 1);
    case Kind::day_360:
      break;
  }
  return 360 * (y - 1);
}

int Calendar::days_before_month(std::int64_t y, int month) const {
  constexpr std::array<int, 12> before{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  if (kind_ == Kind::day_360) return 30 * (month - 1);
  int days = before[static_cast<std::size_t>(month - 1)] + (month > 2 && is_leap_counted(y) ? 1 : 0);
  if (kind_ == Kind::standard && y == k_change_year && month > k_change_month) days -= k_days_left_out;
  return days;
}

int Calendar::days_in_month(std::int64_t year, int month) const {
  const std::int64_t y = counted(year);
  const std::int64_t end =
      month < 12 ? days_before_month(y, month + 1) : days_before_year(y + 1) - days_before_year(y);
  return static_cast<int>(end) - days_before_month(y, month);
}

int Calendar::day_of_year(const Date& date) const {
  return static_cast<int>(day_number(date) - days_before_year(counted(date.year))) + 1;
}

std::int64_t Calendar::day_number(const Date& date) const {
  const std::int64_t y = counted(date.year);
  std::int64_t days = days_before_year(y) + days_before_month(y, date.month) + date.day - 1;
  if (kind_ == Kind::standard && y == k_change_year && date.month == k_change_month &&
      !is_before_change(y, date.month, date.day))
    days -= k_days_left_out;
  return days;
}

Instant Calendar::instant(const Date& date) const {
  const auto refuse = [&](const std::string& why) {
    throw Error(Code::invalid_argument, "{}-{:02}-{:02} {:02}:{:02}:{:02} is no date of calendar {}: {}",
                year_text(date.year), date.month, date.day, date.hour, date.minute, date.second, name(), why);
  };
  if (date.year < -k_last_year || date.year > k_last_year)
    refuse(fmt::format("years can be {} to {}", -k_last_year, k_last_year));
  if (date.year == 0 && !have_year_zero()) refuse("it has no year 0; year 1 comes after year -1");
  if (date.month < 1 || date.month > 12) refuse("months are 1 to 12");
  const bool change = kind_ == Kind::standard && date.year == k_change_year && date.month == k_change_month;
  const int last = change ? 31 : days_in_month(date.year, date.month);
  if (date.day < 1 || date.day > last) refuse(fmt::format("days of this month are 1 to {}", last));
  if (change && date.day > k_last_julian_day && date.day < k_first_gregorian_day)
    refuse("1582-10-15 is the day after 1582-10-04");
  if (date.hour < 0 || date.hour > 23 || date.minute < 0 || date.minute > 59 || date.second < 0 ||
      date.second > 59 || date.microsecond < 0 || date.microsecond > 999'999)
    refuse("times are 00:00:00 to 23:59:59.999999");
  return {day_number(date) * k_day + date.hour * k_hour + date.minute * k_minute + date.second * k_second +
          date.microsecond};
}

Date Calendar::date(Instant instant) const {
  const std::int64_t day = floor_div(instant.microseconds, k_day);
  std::int64_t rest = instant.microseconds - day * k_day;
  // A year that is near, and the right one from there.
  const double days_a_year = static_cast<double>(days_before_year(401) - days_before_year(1)) / 400;
  auto y = static_cast<std::int64_t>(static_cast<double>(day) / days_a_year) + 1;
  while (days_before_year(y) > day)
    --y;
  while (days_before_year(y + 1) <= day)
    ++y;
  const auto within = static_cast<int>(day - days_before_year(y));
  int month = 12;
  while (days_before_month(y, month) > within)
    --month;
  Date out;
  out.year = named(y);
  out.month = month;
  out.day = within - days_before_month(y, month) + 1;
  if (kind_ == Kind::standard && y == k_change_year && month == k_change_month && out.day > k_last_julian_day)
    out.day += k_days_left_out;
  const auto take = [&](std::int64_t unit) {
    const std::int64_t n = rest / unit;
    rest %= unit;
    return static_cast<int>(n);
  };
  out.hour = take(k_hour);
  out.minute = take(k_minute);
  out.second = take(k_second);
  out.microsecond = static_cast<int>(rest);
  return out;
}

Instant Calendar::parse(std::string_view text) const {
  Date date;
  if (!read_date(trimmed(text), date))
    throw Error(Code::invalid_argument,
                "'{}' is no date; write 2001-02-03, 2001-02-03 04:05 or 2001-02-03 04:05:06.5", text);
  return instant(date);
}

std::string Calendar::text(Instant instant) const {
  const Date d = date(instant);
  std::string out = fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02}", year_text(d.year), d.month, d.day, d.hour,
                                d.minute, d.second);
  if (d.microsecond != 0) out += fmt::format(".{:06}", d.microsecond);
  return out;
}

std::int64_t Calendar::month_number(Instant instant) const {
  const Date d = date(instant);
  return 12 * counted(d.year) + d.month - 1;
}

Instant Calendar::month_start(std::int64_t month_number) const {
  const std::int64_t y = floor_div(month_number, 12);
  return {(days_before_year(y) + days_before_month(y, static_cast<int>(month_number - 12 * y) + 1)) * k_day};
}

Instant Calendar::add(Instant start, Duration duration) const {
  const auto beyond = [&] {
    return Error(Code::invalid_argument, "{} and {} is beyond the years {} to {}", text(start),
                 text_of(duration), -k_last_year, k_last_year);
  };
  if (duration.kind == Duration::Kind::steps)
    throw Error(Code::invalid_argument, "{} cannot be added to a date: steps have no fixed length",
                text_of(duration));
  if (duration.kind == Duration::Kind::microseconds) {
    Instant out;
    if (__builtin_add_overflow(start.microseconds, duration.count, &out.microseconds) ||
        std::abs(out.microseconds) > k_farthest)
      throw beyond();
    return out;
  }
  if (std::abs(duration.count) > 12 * 2 * k_last_year) throw beyond();
  Date d = date(start);
  const std::int64_t month = 12 * counted(d.year) + d.month - 1 + duration.count;
  const std::int64_t y = floor_div(month, 12);
  if (std::abs(y) > k_last_year) throw beyond();
  d.year = named(y);
  d.month = static_cast<int>(month - 12 * y) + 1;
  const bool change = kind_ == Kind::standard && y == k_change_year && d.month == k_change_month;
  d.day = std::min(d.day, change ? 31 : days_in_month(d.year, d.month));
  if (change && d.day > k_last_julian_day && d.day < k_first_gregorian_day) d.day = k_last_julian_day;
  return instant(d);
}

}  // namespace shoal::streams
