// SPDX-License-Identifier: BSD-3-Clause
#include "streams/time/window.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include "base/error.hpp"

namespace shoal::streams {

namespace {

// Ends of windows of dates are then far from what an Instant can hold.
constexpr std::int64_t k_most_years = 10'000;

/// What a letter of a pattern is.
enum class Letter { itself, of_start, of_end };

// Calls use(letter, what it is).
template <class Use>
void for_each_part(std::string_view pattern, Use&& use) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      use(pattern[i], Letter::itself);
      continue;
    }
    const bool of_end = i + 1 < pattern.size() && pattern[i + 1] == 'E';
    if (of_end) ++i;
    const char letter = i + 1 < pattern.size() ? pattern[++i] : '\0';
    if (std::string_view(of_end ? "YmdHMSj" : "YmdHMSj%").find(letter) == std::string_view::npos ||
        letter == '\0')
      throw Error(
          Code::setting,
          "the file name '{}' has {}; a name can have %Y %m %d %H %M %S, %j (day of the year), the same of "
          "the end of the file (%EY ...), and %% for %",
          pattern,
          letter == '\0' ? fmt::format("a %{} at its end", of_end ? "E" : "")
                         : fmt::format("%{}{}", of_end ? "E" : "", letter));
    use(letter, of_end ? Letter::of_end : Letter::of_start);
  }
}

// A part of a date, as names have it.
std::string part_of(char letter, const Calendar& calendar, const Date& d) {
  switch (letter) {
    case 'Y':
      return year_text(d.year);
    case 'm':
      return fmt::format("{:02}", d.month);
    case 'd':
      return fmt::format("{:02}", d.day);
    case 'H':
      return fmt::format("{:02}", d.hour);
    case 'M':
      return fmt::format("{:02}", d.minute);
    case 'S':
      return fmt::format("{:02}", d.second);
    case 'j':
      return fmt::format("{:03}", calendar.day_of_year(d));
    default:
      return "%";
  }
}

/// Do the letters tell dates apart that are so far from each other?
bool letters_tell_apart(const std::string& letters, Duration length) {
  const auto has = [&](char letter) { return letters.find(letter) != std::string::npos; };
  if (!has('Y')) return false;
  if (length.kind == Duration::Kind::months) return length.count % 12 == 0 || has('m') || has('j');
  const bool day = has('j') || (has('m') && has('d'));
  const bool hour = day && has('H'), minute = hour && has('M'), second = minute && has('S');
  if (length.kind == Duration::Kind::steps) return second;
  if (length.count % k_day == 0) return day;
  if (length.count % k_hour == 0) return hour;
  if (length.count % k_minute == 0) return minute;
  return length.count % k_second == 0 && second;
}

}  // namespace

Windows::Windows(Calendar calendar, Duration every, Duration offset, Instant run_start)
    : calendar_(calendar), every_(every), offset_(offset) {
  using Kind = Duration::Kind;
  if (every.kind == Kind::steps)
    throw Error(Code::setting, "windows of {} are counted by steps, not by dates", text_of(every));
  if (every.count <= 0)
    throw Error(Code::setting, "windows of {} have no length; it must be more than 0", text_of(every));
  const auto is_long = [](Duration length) {
    const bool months = length.kind == Duration::Kind::months;
    return std::abs(length.count) > k_most_years * (months ? 12 : 366 * k_day);
  };
  for (const Duration length : {every, offset})
    if (is_long(length))
      throw Error(Code::setting, "{} is too long for windows; they have at most {} years", text_of(length),
                  k_most_years);
  if (offset.count != 0 &&
      (offset.kind == Kind::steps || (offset.kind == Kind::months && every.kind != Kind::months)))
    throw Error(Code::setting,
                "windows of {} cannot be moved by {}; an offset is of s, min, h or day, of windows of months "
                "or years also of month",
                text_of(every), text_of(offset));
  const std::int64_t midnight = floor_div(run_start.microseconds, k_day) * k_day;
  origin_ = {midnight + (every.kind == Kind::microseconds ? offset.count : 0)};
}

Instant Windows::start_of(std::int64_t number) const {
  if (every_.kind == Duration::Kind::microseconds) return {origin_.microseconds + number * every_.count};
  if (offset_.kind == Duration::Kind::months)
    return calendar_.month_start(number * every_.count + offset_.count);
  return {calendar_.month_start(number * every_.count).microseconds + offset_.count};
}

std::int64_t Windows::number_of(Instant instant) const {
  // The window begins before the instant, and ends with it or later.
  if (every_.kind == Duration::Kind::microseconds)
    return floor_div(instant.microseconds - origin_.microseconds - 1, every_.count);
  const bool by_months = offset_.kind == Duration::Kind::months;
  const Instant moved{instant.microseconds - 1 - (by_months ? 0 : offset_.count)};
  return floor_div(calendar_.month_number(moved) - (by_months ? offset_.count : 0), every_.count);
}

Window Windows::containing(Instant instant) const {
  const std::int64_t number = number_of(instant);
  return {start_of(number), start_of(number + 1)};
}

Window Windows::next(const Window& window) const {
  return {window.end, start_of(number_of(window.end) + 2)};
}

int Windows::slots_of_year() const {
  if (every_.kind != Duration::Kind::months || 12 % every_.count != 0)
    throw Error(
        Code::setting,
        "a climatology is of windows of 1, 2, 3, 4, 6 months or 1 year, so that each year has the same "
        "ones, not of {}",
        text_of(every_));
  return static_cast<int>(12 / every_.count);
}

int Windows::slot(const Window& window) const {
  const int slots = slots_of_year();
  const std::int64_t number = number_of(window.end);
  return static_cast<int>(number - floor_div(number, slots) * slots);
}

std::string file_name(std::string_view pattern, const Calendar& calendar, Instant first,
                      std::optional<Instant> end) {
  const Date begin = calendar.date(first);
  std::optional<Date> last;
  if (end) last = calendar.date({end->microseconds - k_second});
  std::string out;
  for_each_part(pattern, [&](char letter, Letter is) {
    if (is == Letter::of_end && !last)
      throw Error(
          Code::setting,
          "the file name '{}' has a date of the end of the file, which is known with new_file or until",
          pattern);
    out += is == Letter::itself ? std::string(1, letter)
                                : part_of(letter, calendar, is == Letter::of_end ? *last : begin);
  });
  return out;
}

void check_file_name(std::string_view pattern) {
  for_each_part(pattern, [](char, Letter) {});
}

bool has_end_date(std::string_view pattern) {
  bool found = false;
  const Status status =
      caught([&] { for_each_part(pattern, [&](char, Letter is) { found |= is == Letter::of_end; }); });
  return status.ok() && found;
}

bool tells_apart(std::string_view pattern, Duration new_file) {
  std::string of_start, of_end;
  const Status status = caught([&] {
    for_each_part(pattern, [&](char letter, Letter is) {
      if (is != Letter::itself) (is == Letter::of_end ? of_end : of_start) += letter;
    });
  });
  return !status.ok() || letters_tell_apart(of_start, new_file) || letters_tell_apart(of_end, new_file);
}

}  // namespace shoal::streams
