// SPDX-License-Identifier: BSD-3-Clause
// Dates of all calendars, lengths of time, and windows. Day by day against cftime:
// tests/test_streams_calendar.py.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/error.hpp"
#include "streams/time/calendar.hpp"
#include "streams/time/window.hpp"

using namespace shoal;
using namespace shoal::streams;

namespace {

const char* const k_kinds[] = {"standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"};

// What work says when it refuses; "" if it does not.
template <class Work>
std::string refusal(Work&& work) {
  return caught(work).message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string text_of(const Calendar& calendar, const Window& window) {
  return calendar.text(window.start) + " to " + calendar.text(window.end);
}

}  // namespace

TEST_CASE("calendars: names, and those that there are") {
  CHECK(Calendar::of("Gregorian") == Calendar::of("standard"));
  CHECK(Calendar::of("365_day").name() == "noleap");
  CHECK(Calendar::of("366_day").name() == "all_leap");
  CHECK(Calendar::of("360_day").name() == "360_day");
  CHECK(Calendar().name() == "standard");
  const auto said = refusal([] { Calendar::of("lunar"); });
  CHECK(has(said, "'lunar'"));
  CHECK(has(said, "proleptic_gregorian"));
}

TEST_CASE("calendars: the change from Julian to Gregorian") {
  const Calendar c = Calendar::of("standard");
  CHECK(c.instant({1582, 10, 15}).microseconds - c.instant({1582, 10, 4}).microseconds == k_day);
  CHECK(c.text({c.instant({1582, 10, 4, 23}).microseconds + k_hour}) == "1582-10-15 00:00:00");
  CHECK(c.days_in_month(1582, 10) == 21);
  CHECK(c.day_of_year({1582, 12, 31}) == 355);
  CHECK(c.day_of_year({1582, 10, 15}) == 278);
  for (int day = 5; day < 15; ++day)
    CHECK(has(refusal([&] { (void)c.instant({1582, 10, day}); }), "1582-10-15 is the day after 1582-10-04"));
  CHECK(c.text(c.add(c.instant({1582, 9, 10}), parse_duration("1 month"))) == "1582-10-04 00:00:00");
  CHECK(c.text(c.add(c.instant({1582, 9, 20}), parse_duration("1 month"))) == "1582-10-20 00:00:00");
  CHECK(c.is_leap(1500));
  CHECK_FALSE(c.is_leap(1700));
  CHECK(c.is_leap(-1));  // the year before year 1
  CHECK(has(refusal([&] { (void)c.instant({0, 1, 1}); }), "no year 0"));
  CHECK(c.instant({1, 1, 1}).microseconds - c.instant({-1, 12, 31}).microseconds == k_day);
  const Calendar proleptic = Calendar::of("proleptic_gregorian");
  CHECK(proleptic.instant({1582, 10, 15}).microseconds - proleptic.instant({1582, 10, 4}).microseconds ==
        11 * k_day);
  CHECK(proleptic.instant({1, 1, 1}).microseconds - proleptic.instant({0, 12, 31}).microseconds == k_day);
  // Known Julian day numbers: 1858-11-17 is 2400000.5, -4712-01-01 12:00 is 0.
  CHECK(c.instant({1858, 11, 17}).microseconds - c.instant({-4713, 1, 1, 12}).microseconds ==
        2400000 * k_day + k_day / 2);
}

TEST_CASE("calendars: dates that do not exist") {
  for (const char* name : k_kinds) {
    const Calendar c = Calendar::of(name);
    const bool leap = c.days_in_month(2000, 2) == 29;
    CHECK(refusal([&] { (void)c.instant({2000, 2, 29}); }).empty() == (leap || c.name() == "360_day"));
    CHECK(has(refusal([&] { (void)c.instant({2001, 2, 31}); }), "2001-02-31"));
    CHECK(has(refusal([&] { (void)c.instant({2001, 2, 31}); }), c.name()));
    CHECK(has(refusal([&] { (void)c.instant({2001, 13, 1}); }), "months"));
    CHECK(has(refusal([&] { (void)c.instant({2001, 1, 0}); }), "days"));
    CHECK(has(refusal([&] { (void)c.instant({2001, 1, 1, 24}); }), "23:59:59"));
    CHECK(has(refusal([&] { (void)c.instant({100001, 1, 1}); }), "years can be"));
    CHECK(has(refusal([&] {
                (void)c.add(c.instant({99999, 1, 1}), parse_duration("2000 years"));
              }),
              "beyond"));
    CHECK(has(refusal([&] {
                (void)c.add(c.instant({99999, 1, 1}), parse_duration("9000000 days"));
              }),
              "beyond"));
    CHECK(has(refusal([&] { (void)c.add(c.instant({2000, 1, 1}), parse_duration("2 steps")); }), "steps"));
  }
}

TEST_CASE("calendars: every day is one after the other, and dates are read as they are written") {
  for (const char* name : k_kinds) {
    CAPTURE(name);
    const Calendar c = Calendar::of(name);
    for (const std::int64_t around : {-4712, 0, 1582, 1900, 2000, 99990}) {
      std::int64_t day = c.month_start(12 * (around - 2)).microseconds / k_day;
      Date before = c.date({(day - 1) * k_day});
      for (int i = 0; i < 1500; ++i, ++day) {
        const Date d = c.date({day * k_day});
        REQUIRE(c.instant(d).microseconds == day * k_day);
        REQUIRE(before < d);
        REQUIRE(c.parse(c.text({day * k_day})).microseconds == day * k_day);
        if (d.day == 1) REQUIRE(c.month_start(c.month_number({day * k_day})).microseconds == day * k_day);
        REQUIRE(c.day_of_year(d) == (d.month == 1 && d.day == 1 ? 1 : c.day_of_year(before) + 1));
        before = d;
      }
    }
    std::mt19937_64 random(7);
    for (int i = 0; i < 20000; ++i) {
      const Instant t{static_cast<std::int64_t>(random() % 6'000'000'000'000'000'000ULL) -
                      3'000'000'000'000'000'000};
      REQUIRE(c.instant(c.date(t)) == t);
      REQUIRE(c.parse(c.text(t)) == t);
    }
  }
}

TEST_CASE("dates: forms that are read, and what is said of others") {
  const Calendar c = Calendar::of("proleptic_gregorian");
  CHECK(c.text(c.parse("2001-2-3")) == "2001-02-03 00:00:00");
  CHECK(c.text(c.parse(" 2001-02-03 04:05 ")) == "2001-02-03 04:05:00");
  CHECK(c.text(c.parse("2001-02-03T04:05:06Z")) == "2001-02-03 04:05:06");
  CHECK(c.text(c.parse("2001-02-03 04:05:06.5")) == "2001-02-03 04:05:06.500000");
  CHECK(c.text(c.parse("-0044-03-15")) == "-0044-03-15 00:00:00");
  CHECK(c.text(c.parse("12345-03-15")) == "12345-03-15 00:00:00");
  for (const char* text : {"", "2001", "2001-02", "2001-02-03 04", "2001-02-03 04:05:06.", "2001-02-03x",
                           "2001-02-03 4:05", "2001-02-03 04:05:06.1234567", "99999999999-01-01"})
    CHECK_MESSAGE(has(refusal([&] { (void)c.parse(text); }), "is no date; write"), text);
}

TEST_CASE("lengths of time: read and written") {
  using Kind = Duration::Kind;
  const auto same = [](const char* text, Kind kind, std::int64_t count) {
    const Duration expected{kind, count};
    CHECK_MESSAGE(parse_duration(text) == expected, text);
  };
  same("15 min", Kind::microseconds, 15 * k_minute);
  same("1 day", Kind::microseconds, k_day);
  same("1d", Kind::microseconds, k_day);
  same("day", Kind::microseconds, k_day);
  same("1.5 h", Kind::microseconds, 90 * k_minute);
  same("0.000001 s", Kind::microseconds, 1);
  same("-6 hours", Kind::microseconds, -6 * k_hour);
  same("3 months", Kind::months, 3);
  same("-1 month", Kind::months, -1);
  same("2 Years", Kind::months, 24);
  same("4 steps", Kind::steps, 4);
  same("1.0 month", Kind::months, 1);
  for (const std::string text :
       {"15 min", "1 day", "5 days", "90 s", "36 h", "0.5 s", "-0.000001 s", "9223372036854.775807 s",
        "3 months", "1 year", "10 years", "1 step", "4 steps", "18 months", "-6 h"}) {
    CHECK(text_of(parse_duration(text)) == text);
    CHECK(parse_duration(text_of(parse_duration(text))) == parse_duration(text));
  }
  for (const char* text : {"", "5", "1 fortnight", "1.5 months", "0.5 steps", "1e3 s", "0.0000001 s", "1. s",
                           "--1 s", "99999999999999999999 s", "9000000000000 days", "1 m"}) {
    const auto said = refusal([&] { parse_duration(text); });
    CHECK_MESSAGE(has(said, "steps, s, min, h, day, month, year"), text);
  }
}

TEST_CASE("windows: by the calendar, half-open") {
  const Calendar c = Calendar::of("standard");
  const auto window = [&](const char* every, const char* offset, const char* date) {
    const Windows windows(c, parse_duration(every), parse_duration(offset), c.parse("2000-01-03 05:00"));
    return text_of(c, windows.containing(c.parse(date)));
  };
  CHECK(window("1 month", "0 s", "2000-02-10") == "2000-02-01 00:00:00 to 2000-03-01 00:00:00");
  CHECK(window("1 month", "0 s", "2000-03-01") == "2000-02-01 00:00:00 to 2000-03-01 00:00:00");
  CHECK(window("1 month", "0 s", "2000-03-01 00:00:01") == "2000-03-01 00:00:00 to 2000-04-01 00:00:00");
  CHECK(window("3 months", "-1 month", "2001-01-15") == "2000-12-01 00:00:00 to 2001-03-01 00:00:00");
  CHECK(window("3 months", "2 months", "2001-01-15") == "2000-12-01 00:00:00 to 2001-03-01 00:00:00");
  CHECK(window("1 year", "0 s", "1582-10-20") == "1582-01-01 00:00:00 to 1583-01-01 00:00:00");
  CHECK(window("10 years", "0 s", "1999-10-20") == "1990-01-01 00:00:00 to 2000-01-01 00:00:00");
  CHECK(window("1 day", "12 h", "2000-02-10 08:00") == "2000-02-09 12:00:00 to 2000-02-10 12:00:00");
  CHECK(window("1 month", "6 h", "2000-02-01 06:00") == "2000-01-01 06:00:00 to 2000-02-01 06:00:00");
  CHECK(window("15 min", "0 s", "2000-02-10 08:15") == "2000-02-10 08:00:00 to 2000-02-10 08:15:00");
  CHECK(window("5 days", "0 s", "2000-01-08 00:00:01") == "2000-01-08 00:00:00 to 2000-01-13 00:00:00");
  CHECK(window("5 days", "0 s", "1999-12-31") == "1999-12-29 00:00:00 to 2000-01-03 00:00:00");
}

TEST_CASE("windows: one after another without gaps, in all calendars") {
  for (const char* name : k_kinds) {
    CAPTURE(name);
    const Calendar c = Calendar::of(name);
    for (const char* every :
         {"1 month", "3 months", "5 months", "1 year", "20 min", "7 h", "1 day", "5 days"})
      for (const char* offset : {"0 s", "9 h", "-1 month"}) {
        const Duration d = parse_duration(every), o = parse_duration(offset);
        if (o.kind == Duration::Kind::months && d.kind != Duration::Kind::months) continue;
        const Windows windows(c, d, o, c.parse("1582-08-27 03:20"));
        Window w = windows.containing(c.parse("1582-08-27 03:20"));
        for (int i = 0; i < 200; ++i) {
          REQUIRE(w.start < w.end);
          REQUIRE(windows.containing(w.end) == w);
          REQUIRE(windows.containing({w.start.microseconds + 1}) == w);
          REQUIRE(windows.containing({(w.start.microseconds + w.end.microseconds) / 2}) == w);
          const Window next = windows.next(w);
          REQUIRE(next.start == w.end);
          w = next;
        }
      }
  }
}

TEST_CASE("windows: what cannot be") {
  const Calendar c;
  const auto refused = [&](const char* every, const char* offset) {
    return refusal([&] { Windows(c, parse_duration(every), parse_duration(offset), {}); });
  };
  CHECK(has(refused("2 steps", "0 s"), "steps"));
  CHECK(has(refused("0 days", "0 s"), "more than 0"));
  CHECK(has(refused("10001 years", "0 s"), "too long"));
  CHECK(has(refused("1 day", "-4000000 days"), "too long"));
  CHECK(has(refused("1 day", "1 month"), "cannot be moved by 1 month"));
  CHECK(has(refused("1 month", "1 step"), "cannot be moved"));
}

TEST_CASE("windows: slots of a climatology") {
  const Calendar c = Calendar::of("noleap");
  const Windows months(c, parse_duration("1 month"), {}, {});
  const Windows seasons(c, parse_duration("3 months"), parse_duration("-1 month"), {});
  CHECK(months.slots_of_year() == 12);
  CHECK(seasons.slots_of_year() == 4);
  Window w = months.containing(c.parse("1999-01-15"));
  for (int i = 0; i < 30; ++i, w = months.next(w))
    CHECK(months.slot(w) == i % 12);
  for (const char* date : {"1999-12-15", "2000-02-15", "-0003-01-01"})
    CHECK(seasons.slot(seasons.containing(c.parse(date))) == 0);
  CHECK(seasons.slot(seasons.containing(c.parse("2000-11-15"))) == 3);
  CHECK(has(refusal([&] { (void)Windows(c, parse_duration("5 months"), {}, {}).slots_of_year(); }),
            "climatology"));
}

TEST_CASE("windows: of steps") {
  const StepWindows windows{3};
  CHECK(windows.containing(1) == 0);
  CHECK(windows.containing(3) == 0);
  CHECK(windows.containing(4) == 1);
  CHECK(windows.ends_with(3));
  CHECK_FALSE(windows.ends_with(4));
}

TEST_CASE("file names: patterns of dates") {
  const Calendar c = Calendar::of("noleap");
  const Instant t = c.parse("0044-03-15 06:07:08");
  CHECK(file_name("a_%Y-%m-%d_%H%M%S_%j_100%%.nc", c, t) == "a_0044-03-15_060708_074_100%.nc");
  CHECK(file_name("plain.nc", c, t) == "plain.nc");
  CHECK(file_name("%Y", c, c.parse("12044-01-01")) == "12044");
  // The end of a file is less than a second before it.
  CHECK(file_name("%Y%m%d-%EY%Em%Ed%EH_%Ej", c, t, c.parse("0044-04-01")) == "00440315-0044033123_090");
  CHECK(has(refusal([&] { file_name("%EY", c, t); }), "with new_file or until"));
  CHECK(has(refusal([] { check_file_name("a_%E%.nc"); }), "has %E%"));
  CHECK(has(refusal([] { check_file_name("a_%E"); }), "has a %E at its end"));
  CHECK((has_end_date("%Y_%Em") && !has_end_date("%Y_E%%Em")));
  CHECK(tells_apart("%EY%Em.nc", parse_duration("1 month")));
  CHECK_FALSE(tells_apart("%EY%m.nc", parse_duration("1 month")));
  CHECK(has(refusal([] { check_file_name("a_%y.nc"); }), "has %y"));
  CHECK(has(refusal([] { check_file_name("a_%"); }), "at its end"));
  CHECK(tells_apart("%Y.nc", parse_duration("1 year")));
  CHECK_FALSE(tells_apart("%Y.nc", parse_duration("1 month")));
  CHECK_FALSE(tells_apart("%m.nc", parse_duration("1 month")));
  CHECK(tells_apart("%Y%m.nc", parse_duration("1 month")));
  CHECK(tells_apart("%Y%j.nc", parse_duration("5 days")));
  CHECK_FALSE(tells_apart("%Y%m%d.nc", parse_duration("6 h")));
  CHECK(tells_apart("%Y%m%d%H.nc", parse_duration("6 h")));
  CHECK(tells_apart("%Q", parse_duration("6 h")));  // which check_file_name() refuses
}

TEST_CASE("time coordinates: units and values") {
  const Calendar c = Calendar::of("360_day");
  const Instant reference = c.parse("2000-02-30");
  CHECK(cf_units(TimeUnit::days, c, reference) == "days since 2000-02-30 00:00:00");
  CHECK(cf_units(TimeUnit::seconds, c, reference) == "seconds since 2000-02-30 00:00:00");
  CHECK(cf_value(TimeUnit::days, c.parse("2000-03-01 12:00"), reference) == 1.5);
  CHECK(cf_value(TimeUnit::seconds, c.parse("2000-02-29 23:59:59.5"), reference) == -0.5);
  CHECK(cf_value(TimeUnit::hours, c.parse("2000-01-30"), reference) == -720);
}
