// SPDX-License-Identifier: BSD-3-Clause
#include "runner.hpp"

#include <sys/resource.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "files.hpp"
#include "programs/roms_benchmark.hpp"
#include "programs/stream_files.hpp"

namespace shoal::bench {

namespace {

using Clock = std::chrono::steady_clock;

// Processor time of this process so far, all threads: user, system.
std::array<double, 2> processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

}  // namespace

std::vector<RunFile> files_of_run(const Setup& setup, const Content& content) {
  switch (setup.experiment.program) {
    case ProgramKind::roms_benchmark:
      return {{"his", content, setup.records}, {"avg", content, setup.records}};
    case ProgramKind::streams:
      return stream_files(setup, content);
    case ProgramKind::records:
      break;
  }
  return {{"", content, setup.records}};
}

std::int64_t value_bytes(const std::vector<RunFile>& files, bool replicated) {
  std::int64_t bytes = 0;
  for (const auto& [which, content, records] : files)
    if (!content.define_only)
      bytes += content.distributed_bytes(records) + (replicated ? content.replicated_bytes(records) : 0);
  return bytes;
}

Session::Session(MPI_Comm comm, const Setup& setup, Events& events, const Content& content)
    : comm_(comm),
      setup_(setup),
      events_(events),
      content_(content),
      files_(files_of_run(setup, content)),
      one_node_(on_one_node(comm)),
      flushes_(first_of_node(comm)) {
  MPI_Comm_rank(comm_, &rank_);
}

std::string Session::path_of(const Case& c, const std::string& which) const {
  std::filesystem::path name(c.file);
  if (!which.empty()) name = name.stem().string() + "-" + which + name.extension().string();
  return (std::filesystem::path(c.dir) / name).string();
}

std::int64_t Session::bytes_in_files(const std::string& path) const {
  return rank_ == 0 ? bytes_of_files(path) : 0;
}

std::int64_t Session::files_in(const std::string& path) const {
  return rank_ == 0 ? static_cast<std::int64_t>(files_of(path).size()) : 0;
}

void Session::remove(const std::string& path) {
  if (rank_ == 0) remove_files(path);
  quiet_barrier(comm_);
}

Run Session::make_run(const Case& c, const std::string& path, std::vector<LocalField>& arrays,
                      Phases& phases) const {
  return make_run(c, path, content_, setup_.records, arrays, phases);
}

Run Session::make_run(const Case& c, const RunFile& file, std::vector<LocalField>& arrays,
                      Phases& phases) const {
  return make_run(c, path_of(c, file.which), file.content, file.records, arrays, phases);
}

Run Session::make_run(const Case& c, const std::string& path, const Content& content, std::int64_t records,
                      std::vector<LocalField>& arrays, Phases& phases) const {
  return Run{.comm = comm_,
             .rank = rank_,
             .ranks = setup_.ranks,
             .path = path,
             .format = c.format,
             .records = records,
             .flush = setup_.options.flush,
             .flushes = flushes_,
             .content = content,
             .settings = c.method.settings,
             .hints = setup_.options.hints,
             .arrays = arrays,
             .phases = phases};
}

Result Session::make_result(const Case& c, const std::string& operation, std::int64_t bytes) const {
  return Result{.operation = operation,
                .method = c.method,
                .format = c.format,
                .dir = c.dir,
                .cache = setup_.options.flush && operation != "read" ? "device" : "page cache",
                .time = utc_now(),
                .repetition = round_,
                .bytes = bytes};
}

std::int64_t Session::bytes_of(const Case& c) const {
  return c.method.entry->writes() ? value_bytes(files_, c.method.entry->replicated) : 0;
}

void Session::measure(Run& run, Result& result, const std::function<void()>& prepare,
                      const std::function<void()>& f) {
  // To ask the system takes as long as a small run does, and what is shared is the same in every round: it is
  // asked in the first one.
  auto& shared =
      shared_at_peak_[result.operation + " " + result.method.text + " " + result.format + " " + result.dir];
  if (first_round()) run.at_peak = [&shared] { shared = memory_status("RssShmem"); };
  const auto resident = memory_status("VmRSS"), shared_before = memory_status("RssShmem");
  prepare();
  // A quarter more, for what the method takes beside the file.
  if (setup_.options.touch_memory && !run.reads) touch_memory(comm_, result.bytes + result.bytes / 4);
  reset_peak_memory();
  const auto begin = start_together(comm_, one_node_);
  const auto processor = processor_seconds();
  f();
  const auto end = Clock::now();
  auto used = processor_seconds();
  const auto peak = memory_status("VmHWM");
  quiet_barrier(comm_);
  auto& phases = result.phases;
  phases.add(Phase::total, std::chrono::duration<double>(end - begin).count());
  // A model is blocked whenever it does not compute.
  phases.add(Phase::blocked, phases[Phase::total] - phases[Phase::compute]);
  phases.take_slowest(comm_);
  if (phases.has(Phase::compute)) {
    used = {used[0] - processor[0], used[1] - processor[1]};
    MPI_Allreduce(MPI_IN_PLACE, used.data(), 2, MPI_DOUBLE, MPI_SUM, comm_);
    phases.add(Phase::user, used[0]);
    phases.add(Phase::system, used[1]);
  }
  result.stage_bytes = node_memory(comm_, run.stage_bytes + run.shared_stage_bytes, run.shared_stage_bytes);
  result.peak_rss_bytes = node_memory(comm_, peak, shared);
  result.added_rss_bytes = result.peak_rss_bytes - node_memory(comm_, resident, shared_before);
  result.rank_added_bytes = (peak - shared) - (resident - shared_before);
  MPI_Allreduce(MPI_IN_PLACE, &result.rank_added_bytes, 1, MPI_INT64_T, MPI_MAX, comm_);
}

void Session::announce(const Case& c, const std::string& operation) {
  events_.start(operation, c.method.text, c.format, c.dir, round_);
}

void Session::note(const std::string& text) {
  events_.note(text);
}

void Session::keep(const Result& result) {
  events_.result(result);
  results_.push_back(result);
}

/// Turns of all cases, round after round; every other round in the opposite order, since a turn finds the
/// memory and the caches that the one before it left.
class Turns {
 public:
  Turns(Session& session, std::vector<Case> cases, Program& program)
      : session_(session), cases_(std::move(cases)), program_(program) {
    for (const auto& c : cases_)
      if (!c.refused.empty()) skip(c, c.refused);
    std::erase_if(cases_, [](const Case& c) { return !c.refused.empty(); });
  }

  std::vector<Result> run() {
    const auto& options = session_.setup().options;
    if (options.warm_up) round(0);
    for (int r = options.first_round; r <= options.repetitions; ++r)
      round(r);
    return std::move(session_.results_);
  }

 private:
  void round(int number) {
    session_.round_ = number;
    const auto cases = cases_.size();
    for (std::size_t i = 0; i < cases; ++i) {
      auto& c = cases_[number % 2 == 0 ? i : cases - 1 - i];
      try {
        program_.turn(session_, c);
      } catch (const Refused& e) {
        c.refused = without_path(c, e.what());
        quiet_barrier(session_.comm());
        for (const auto& file : session_.files())
          session_.remove(session_.path_of(c, file.which));
        skip(c, c.refused);
      }
    }
    std::erase_if(cases_, [](const Case& c) { return !c.refused.empty(); });
    if (cases_.empty())
      throw std::invalid_argument("nothing is left to measure; the first reason: " + first_reason_);
    session_.events_.round_done(number);
  }

  // Which file it would have been is of no interest.
  std::string without_path(const Case& c, std::string reason) const {
    for (const auto& file : session_.files())
      for (const auto& before : {session_.path_of(c, file.which) + ": ", std::string("rank 0: ")})
        if (reason.starts_with(before)) reason.erase(0, before.size());
    return reason;
  }

  void skip(const Case& c, const std::string& reason) {
    if (first_reason_.empty()) first_reason_ = c.method.text + " " + c.format + ": " + reason;
    session_.events_.skipped(c.method.text, c.format, c.dir, reason);
  }

  Session& session_;
  std::vector<Case> cases_;
  Program& program_;
  std::string first_reason_;
};

static std::unique_ptr<Program> make_program(Session& session) {
  switch (session.setup().experiment.program) {
    case ProgramKind::roms_benchmark:
      return make_roms_benchmark(session);
    case ProgramKind::streams:
      return make_streams(session);
    case ProgramKind::records:
      break;
  }
  return make_records(session);
}

std::vector<Result> run_all(MPI_Comm comm, const Setup& setup, Events& events, const Workload& workload) {
  auto content = content_of(workload, setup.grid, setup.options.cut);
  if (setup.experiment.program == ProgramKind::roms_benchmark || !setup.options.switches.empty())
    give_run_values(comm, setup, content);
  auto cases = cases_of(setup, workload, content);
  Session session(comm, setup, events, content);
  events.begin(cases.size(), value_bytes(session.files(), true));
  const auto program = make_program(session);
  auto results = Turns(session, std::move(cases), *program).run();
  events.end();
  return results;
}

}  // namespace shoal::bench
