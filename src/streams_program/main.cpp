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

struct DatesRequest {
  std::string calendar = "standard", from, to, every = "1 day";
};

/// A line a date: the date, the microseconds since year 1, and the day of the year, with tabs between.
void print_dates(const DatesRequest& request) {
  const Calendar calendar = Calendar::of(request.calendar);
  const Duration every = parse_duration(request.every);
  if (every.count <= 0)
    throw Error(Code::invalid_argument, "--every is '{}'; it is more than nothing", request.every);
  const Instant to = calendar.parse(request.to);
  for (Instant t = calendar.parse(request.from); t < to; t = calendar.add(t, every))
    std::cout << calendar.text(t) << '\t' << t.microseconds << '\t' << calendar.day_of_year(calendar.date(t))
              << '\n';
}

int run(int argc, char** argv) {
  CLI::App app{"What a configuration of streams would write, before the run.", "shoal-streams"};
  app.require_subcommand(1);
  CheckRequest request;
  auto* check_command =
      app.add_subcommand("check", "Errors, files, dates, records, sizes and memory, as JSON.");
  check_command->add_option("configuration", request.configuration, "The file in TOML")->required();
  check_command->add_option("--fields", request.fields, "File of the model's fields");
  check_command->add_option("--calendar", request.calendar, "Of the run (standard)");
  check_command->add_option("--start", request.start, "Of the whole run; --from unless given");
  check_command->add_option("--from", request.from, "Where the run begins, or goes on");
  check_command->add_option("--to", request.to, "Where it ends");
  check_command->add_option("--step", request.step, "Length of a step of the model: '30 min'");
  check_command->add_option("--ranks", request.ranks, "Of the job, for the memory of one (1)")
      ->check(CLI::Range(1, 100'000'000));
  DatesRequest dates;
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
  const bool has_run = !request.from.empty();
  if (has_run != !request.to.empty() || has_run != !request.step.empty())
    throw Error(Code::invalid_argument, "--from, --to and --step go together");
  if (!has_run && !request.start.empty()) throw Error(Code::invalid_argument, "--start needs --from");
  const MpiOfOne mpi;
  const auto found = check(request);
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
