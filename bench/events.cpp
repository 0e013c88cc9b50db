// SPDX-License-Identifier: BSD-3-Clause
#include "events.hpp"

#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "json.hpp"
#include "verify.hpp"

namespace shoal::bench {

namespace {

// mpiexec gives its processes terminals, whatever it has itself: only that one counts.
bool terminal_of_launcher() {
  std::error_code error;
  const auto where =
      std::filesystem::read_symlink("/proc/" + std::to_string(getppid()) + "/fd/1", error).string();
  return isatty(STDOUT_FILENO) != 0 && (where.starts_with("/dev/pts/") || where.starts_with("/dev/tty"));
}

}  // namespace

Events::Events(const Setup& setup, int rank)
    : setup_(setup), speaks_(rank == 0), stream_(setup.options.stream), terminal_(terminal_of_launcher()) {}

void Events::line(const std::string& object) const {
  if (speaks_ && stream_) std::cout << object << std::endl;
}

void Events::clear_progress() {
  if (progress_shown_) std::cout << "\r\033[K";
  progress_shown_ = false;
}

void Events::begin(std::size_t cases, std::int64_t bytes) {
  cases_ = cases;
  const auto& s = setup_;
  if (stream_) {
    line(line_of({{"event", "begin"},
                  {"experiment", s.options.experiment},
                  {"ranks", s.ranks},
                  {"tiles", Json::array({s.tiling.xi, s.tiling.eta})},
                  {"shape", Json::array({s.grid.xi, s.grid.eta, s.grid.s})},
                  {"records", s.records},
                  {"rounds", s.options.repetitions},
                  {"first_round", s.options.first_round},
                  {"cases", cases},
                  {"bytes", bytes},
                  {"files", s.files}}));
    return;
  }
  if (!speaks_) return;
  std::cout << s.options.experiment << ": " << s.grid.xi << "x" << s.grid.eta << "x" << s.grid.s << ", "
            << s.records << " records, " << s.ranks << " ranks as " << s.tiling.xi << "x" << s.tiling.eta
            << " tiles, " << s.machine.nodes << (s.machine.nodes == 1 ? " node of " : " nodes of ")
            << s.machine.cores << " cores"
            << (s.machine.more_ranks_than_cores ? ", MORE RANKS THAN CORES" : "") << ", files checked by "
            << checked_by() << "\n";
  for (std::size_t i = 0; i < s.options.dirs.size(); ++i)
    std::cout << "  in " << s.options.dirs[i] << " (" << s.file_systems[i] << ")\n";
  for (const auto& [name, version] : s.versions)
    std::cout << "  " << name << ": " << version << "\n";
  std::cout.flush();
}

void Events::start(const std::string& operation, const std::string& method, const std::string& format,
                   const std::string& dir, int round) {
  if (!speaks_) return;
  if (stream_) {
    line(line_of({{"event", "case"},
                  {"operation", operation},
                  {"method", method},
                  {"format", format},
                  {"dir", dir},
                  {"round", round}}));
  } else if (terminal_) {
    clear_progress();
    std::cout << (round == 0 ? std::string("warming up")
                             : "repetition " + std::to_string(round) + " of " +
                                   std::to_string(setup_.options.repetitions))
              << ": " << operation << " " << method << " " << format << " in " << dir << std::flush;
    progress_shown_ = true;
  }
}

void Events::result(const Result& result) {
  if (result.wrong != 0)
    note(result.operation + " " + result.method.text + " " + result.format + " in " + result.dir + ": " +
         std::to_string(result.wrong) + " wrong");
  if (stream_ && result.repetition > 0) line(object_of(setup_, result, "result"));
}

void Events::skipped(const std::string& method, const std::string& format, const std::string& dir,
                     const std::string& reason) {
  line(line_of(
      {{"event", "skipped"}, {"method", method}, {"format", format}, {"dir", dir}, {"reason", reason}}));
  if (!stream_) note("skipped: " + method + " " + format + " in " + dir + ": " + reason);
}

void Events::round_done(int round) {
  if (!speaks_ || stream_) return;
  clear_progress();
  std::cout << (round == 0 ? std::string("warmed up") : "repetition " + std::to_string(round)) << std::endl;
}

void Events::note(const std::string& text) {
  if (!speaks_) return;
  clear_progress();
  (stream_ ? std::cerr : std::cout) << text << std::endl;
}

void Events::end() {
  clear_progress();
  line(line_of({{"event", "end"}}));
}

}  // namespace shoal::bench
