// SPDX-License-Identifier: BSD-3-Clause
// shoal-streams: what a configuration of streams would write, before the run; and dates of calendars. `shoal
// streams check` runs it. It links the library's modules, not libshoal, and prints one JSON object; dates are
// lines.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <new>
#include <string>

#include "base/error.hpp"
#include "streams/time/calendar.hpp"
#include "streams_program/check.hpp"

namespace {

using namespace shoal;
using namespace shoal::streams;

/// MPI, of one process.
class MpiOfOne {
 public:
  MpiOfOne() { MPI_Init(nullptr, nullptr); }
  MpiOfOne(const MpiOfOne&) = delete;
  MpiOfOne& operator=(const MpiOfOne&) = delete;
  ~MpiOfOne() { MPI_Finalize(); }
};

struct DatesWish {
  std::string calendar = "standard", from, to, every = "1 day";
};

/// A line a date: the date, the microseconds since year 1, and the day of the year, with tabs between.
void print_dates(const DatesWish& wish) {
  const Calendar calendar = Calendar::of(wish.calendar);
  const Duration every = parse_duration(wish.every);
  if (every.count <= 0)
    throw Error(Code::invalid_argument, "--every is '{}'; it is more than nothing", wish.every);
  const Instant to = calendar.parse(wish.to);
  for (Instant t = calendar.parse(wish.from); t < to; t = calendar.add(t, every))
    std::cout << calendar.text(t) << '\t' << t.microseconds << '\t' << calendar.day_of_year(calendar.date(t))
              << '\n';
}

int run(int argc, char** argv) {
  CLI::App app{"What a configuration of streams would write, before the run.", "shoal-streams"};
  app.require_subcommand(1);
  CheckWish wish;
  auto* check_command =
      app.add_subcommand("check", "Errors, files, dates, records, sizes and memory, as JSON.");
  check_command->add_option("configuration", wish.configuration, "The file in TOML")->required();
  check_command->add_option("--fields", wish.fields, "File of the model's fields");
  check_command->add_option("--calendar", wish.calendar, "Of the run (standard)");
  check_command->add_option("--start", wish.start, "Of the whole run; --from unless given");
  check_command->add_option("--from", wish.from, "Where the run begins, or goes on");
  check_command->add_option("--to", wish.to, "Where it ends");
  check_command->add_option("--step", wish.step, "Length of a step of the model: '30 min'");
  check_command->add_option("--ranks", wish.ranks, "Of the job, for the memory of one (1)")
      ->check(CLI::Range(1, 100'000'000));
  DatesWish dates;
  auto* dates_command = app.add_subcommand("dates", "Dates of a calendar, one a line.");
  dates_command->add_option("--calendar", dates.calendar, "One of CF (standard)");
  dates_command->add_option("--from", dates.from, "The first one")->required();
  dates_command->add_option("--to", dates.to, "Before this one")->required();
  dates_command->add_option("--every", dates.every, "From one to the next: '6 h' (1 day)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& e) {
    throw Error(Code::invalid_argument, std::string(e.what()) + "; --help says what options take");
  }
  if (dates_command->parsed()) {
    print_dates(dates);
    return 0;
  }
  const bool has_run = !wish.from.empty();
  if (has_run != !wish.to.empty() || has_run != !wish.step.empty())
    throw Error(Code::invalid_argument, "--from, --to and --step go together");
  if (!has_run && !wish.start.empty()) throw Error(Code::invalid_argument, "--start needs --from");
  const MpiOfOne mpi;
  const auto found = check(wish);
  std::cout << found.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  return found["problems"].empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::cerr << "shoal-streams: there is not enough memory for it on this machine\n";
    return 2;
  } catch (const shoal::Error& e) {
    std::cerr << "shoal-streams: " << e.status().text() << "\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "shoal-streams: " << e.what() << "\n";
    return 2;
  }
}
