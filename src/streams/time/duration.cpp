// SPDX-License-Identifier: BSD-3-Clause
// Lengths of time as text, and values of time coordinates.
#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"
#include "streams/time/calendar.hpp"

namespace shoal::streams {

namespace {

using LengthKind = Duration::Kind;

struct Unit {
  const char* name;    // as messages have it
  const char* others;  // beside it and its plural
  LengthKind kind;
  std::int64_t size;
};

// Of each kind, from small to large.
constexpr std::array<Unit, 7> k_units{{{"step", "timestep", LengthKind::steps, 1},
                                       {"s", "sec second", LengthKind::microseconds, k_second},
                                       {"min", "minute", LengthKind::microseconds, k_minute},
                                       {"h", "hr hour", LengthKind::microseconds, k_hour},
                                       {"day", "d", LengthKind::microseconds, k_day},
                                       {"month", "mon mo", LengthKind::months, 1},
                                       {"year", "yr y", LengthKind::months, 12}}};
constexpr const char* k_unit_names = "steps, s, min, h, day, month, year";

bool is_name_of(const Unit& unit, const std::string& word) {
  const auto fits = [&](const std::string& name) { return word == name || word == name + "s"; };
  if (fits(unit.name)) return true;
  for (const auto& other : words(unit.others))
    if (fits(other)) return true;
  return false;
}

// A decimal number as whole ones of 10^-6.
bool read_millionths(std::string_view text, std::int64_t& value) {
  std::size_t at = 0;
  const bool negative = at < text.size() && text[at] == '-';
  if (negative || (at < text.size() && text[at] == '+')) ++at;
  const std::size_t point = text.find('.', at);
  const std::string_view whole = text.substr(at, point == std::string_view::npos ? point : point - at);
  std::string fraction(point == std::string_view::npos ? "" : text.substr(point + 1));
  if (point != std::string_view::npos && fraction.empty()) return false;
  while (fraction.size() > 6 && fraction.back() == '0')
    fraction.pop_back();
  if (whole.empty() || fraction.size() > 6) return false;
  const std::string all = std::string(whole) + fraction + std::string(6 - fraction.size(), '0');
  if (all.find_first_not_of("0123456789") != std::string::npos) return false;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  if (error != std::errc()) return false;
  if (negative) value = -value;
  return end == all.data() + all.size();
}

}  // namespace

Duration parse_duration(std::string_view text) {
  const std::string all = trimmed(text);
  const std::size_t split = all.find_first_not_of("+-0123456789.");
  const std::string number = trimmed(all.substr(0, split));
  const std::string word = split == std::string::npos ? "" : lower(trimmed(all.substr(split)));
  const auto refuse = [&](const std::string& why) {
    return Error(Code::setting,
                 "'{}' is no length of time: {}; write a number and a unit of {}: 15 min, 3 months", text,
                 why, k_unit_names);
  };
  if (word.empty()) throw refuse("it has no unit");
  for (const Unit& unit : k_units) {
    if (!is_name_of(unit, word)) continue;
    constexpr std::int64_t k_million = 1'000'000;
    std::int64_t millionths = 0;
    if (number.empty())
      millionths = k_million;  // "month"
    else if (!read_millionths(number, millionths))
      throw refuse(fmt::format("'{}' is no number with at most 6 decimals", number));
    Duration out{unit.kind, 0};
    // Of the unit in microseconds every one is a multiple of a million.
    if (unit.kind == LengthKind::microseconds) {
      if (__builtin_mul_overflow(millionths, unit.size / k_million, &out.count))
        throw refuse("it is too long");
      return out;
    }
    if (millionths % k_million != 0) throw refuse(fmt::format("{}s are whole numbers", unit.name));
    out.count = millionths / k_million * unit.size;
    return out;
  }
  throw refuse(fmt::format("'{}' is no unit", word));
}

std::string text_of(Duration duration) {
  const Unit* best = nullptr;
  for (const Unit& unit : k_units)
    if (unit.kind == duration.kind && (best == nullptr || duration.count % unit.size == 0)) best = &unit;
  if (duration.count % best->size != 0) {  // less than a second, or a part of one
    const std::int64_t whole = duration.count / k_second, rest = std::abs(duration.count % k_second);
    const std::string text = fmt::format("{}{}.{:06}", duration.count < 0 ? "-" : "", std::abs(whole), rest);
    return text.substr(0, text.find_last_not_of('0') + 1) + " s";
  }
  const std::int64_t n = duration.count / best->size;
  const std::string name = best->name;
  const bool plural = n != 1 && n != -1 && name.size() > 3;  // s, min, h and day have none in tables of CF
  return fmt::format("{} {}{}", n, name, plural || (name == "day" && n != 1 && n != -1) ? "s" : "");
}

std::string cf_units(TimeUnit unit, const Calendar& calendar, Instant reference) {
  constexpr std::array<const char*, 4> names{"seconds", "minutes", "hours", "days"};
  return fmt::format("{} since {}", names[static_cast<std::size_t>(unit)], calendar.text(reference));
}

double cf_value(TimeUnit unit, Instant instant, Instant reference) {
  constexpr std::array<std::int64_t, 4> sizes{k_second, k_minute, k_hour, k_day};
  const std::int64_t size = sizes[static_cast<std::size_t>(unit)];
  const std::int64_t difference = instant.microseconds - reference.microseconds;
  const std::int64_t whole = difference / size, rest = difference % size;
  if (rest == 0) return static_cast<double>(whole);
  return static_cast<double>(static_cast<long double>(difference) / static_cast<long double>(size));
}

}  // namespace shoal::streams
