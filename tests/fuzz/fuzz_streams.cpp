// SPDX-License-Identifier: BSD-3-Clause
// Streams, by the first byte: a configuration, a date, a length of time, the name of a file with dates, a
// table of places.
#include "fuzz.hpp"
#include "streams/configuration.hpp"
#include "streams/sites.hpp"
#include "streams/time/calendar.hpp"
#include "streams/time/window.hpp"

using namespace shoal;
using namespace shoal::streams;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text = fuzz::text_of(data + 1, size - 1);
  const Calendar calendar(static_cast<Calendar::Kind>(data[0] / 4 % 6));
  switch (data[0] % 5) {
    case 0:
      fuzz::taken([&] {
        std::vector<Problem> problems;
        read_configuration(text, "fuzz.toml", problems);
        for (const auto& problem : problems)
          fuzz::require(!problem.message.empty(), "a problem has a message");
      });
      break;
    case 1:
      fuzz::taken([&] {
        const Instant instant = calendar.parse(text);
        fuzz::require(calendar.parse(calendar.text(instant)) == instant,
                      "dates are read as they are written");
      });
      break;
    case 2:
      fuzz::taken([&] {
        const Duration duration = parse_duration(text);
        fuzz::require(parse_duration(text_of(duration)) == duration, "lengths are read as they are written");
        const Instant start = calendar.instant({2000, 1, 31});
        const Window window = Windows(calendar, duration, {}, start).containing(start);
        fuzz::require(window.start < start && start <= window.end, "a window holds its instant");
      });
      break;
    case 3:
      fuzz::taken([&] {
        file_name(text, calendar, calendar.instant({1582, 10, 15, 1, 2, 3}), calendar.instant({1582, 12, 1}));
      });
      break;
    default:
      fuzz::taken([&] {
        const SiteChoice places = read_places(text, "places.csv");
        for (const auto& place : places.places)
          fuzz::require(place.at.size() == places.coordinates.size(), "a place has all coordinates");
      });
  }
  return 0;
}
