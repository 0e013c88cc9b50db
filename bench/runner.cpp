// SPDX-License-Identifier: BSD-3-Clause
#include "runner.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "node.hpp"
#include "verify.hpp"

namespace shoal::bench {

namespace {

struct Case {
  MethodChoice method;
  std::string format;
};

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Every method with every format it has; a method left with none is a mistake of the command line.
std::vector<Case> cases_of(const Options& options, const Workload& workload, const Content& content) {
  std::vector<Case> cases;
  bool hints_used = options.hints.empty();
  for (const auto& text : options.methods) {
    const auto choice = parse_method(text);
    const auto& entry = *choice.entry;
    if (entry.define_only && !content.define_only)
      throw std::invalid_argument("method " + text + " makes definitions only, " + workload.name +
                                  " writes values");
    const auto before = cases.size();
    if (contains(entry.formats, "raw") && !content.define_only) cases.push_back({choice, "raw"});
    for (const auto& format : options.formats)
      if (contains(entry.formats, format)) cases.push_back({choice, format});
    if (cases.size() == before)
      throw std::invalid_argument("method " + text +
                                  " has none of the formats asked for, or nothing to do in " + workload.name);
    hints_used = hints_used || entry.takes_hints;
  }
  // Methods that have a format of their own need none of those asked for.
  const bool raw_only =
      std::all_of(cases.begin(), cases.end(), [](const Case& c) { return c.format == "raw"; });
  for (const auto& format : options.formats)
    if (!raw_only &&
        std::none_of(cases.begin(), cases.end(), [&](const Case& c) { return c.format == format; }))
      throw std::invalid_argument("no method asked for writes format '" + format + "'");
  if (!hints_used) throw std::invalid_argument("--hints is given, but none of the methods takes hints");
  if (options.read && content.define_only)
    throw std::invalid_argument("--read is given, but " + workload.name + " writes no values");
  if (options.plant_error && content.define_only)
    throw std::invalid_argument("--plant-error is given, but " + workload.name + " writes no values");
  return cases;
}

using Clock = std::chrono::steady_clock;

double seconds_since_epoch(Clock::time_point t) {
  return std::chrono::duration<double>(t.time_since_epoch()).count();
}

class Runner {
 public:
  Runner(MPI_Comm comm, const Setup& setup, const Workload& workload)
      : comm_(comm),
        setup_(setup),
        content_(workload.content(setup.grid)),
        cases_(cases_of(setup.options, workload, content_)) {
    MPI_Comm_rank(comm_, &rank_);
    one_node_ = on_one_node(comm_);
    if (content_.define_only) {
      make_tiles_only();
      return;
    }
    arrays_ =
        make_arrays(content_, setup.grid, setup.tiling, rank_, std::max<std::int64_t>(setup.records, 1));
    for (auto& a : arrays_)
      a.fill();
    if (setup.options.read) targets_ = make_arrays(content_, setup.grid, setup.tiling, rank_, 1);
  }

  std::vector<Result> run() {
    for (repetition_ = 0; repetition_ <= setup_.options.repetitions; ++repetition_) {
      for (const auto& c : cases_)
        one(c);
      if (rank_ == 0)
        std::cout << (repetition_ == 0 ? std::string("warmed up")
                                       : "repetition " + std::to_string(repetition_))
                  << std::endl;
    }
    return std::move(results_);
  }

 private:
  // Definitions need to know how fields are cut, but no cells: a tile of the same place in a field of one
  // level.
  void make_tiles_only() {
    arrays_.reserve(content_.fields.size());
    for (const auto& field : content_.fields)
      if (field.distributed)
        arrays_.emplace_back(field, tile_of(field, setup_.grid, setup_.tiling, rank_), 1,
                             LocalField::Memory::none);
  }

  void one(const Case& c) {
    const std::string path = path_of(c);
    remove(path);
    const auto method = c.method.entry->make();
    Result result{
        content_.define_only ? "define" : "write", c.method, c.format, repetition_, bytes(), 0, {}, 0, 0, 0};
    Run run = make_run(c, path, arrays_, result.phases);
    method->prepare(run);
    measure(run, result, [&] { method->write(run); });
    if (setup_.options.plant_error && rank_ == 0) plant_error(run);
    quiet_barrier(comm_);
    result.wrong = wrong_in_file(*method, run);
    keep(result);
    if (setup_.options.read) read_back(c, path, *method);
    quiet_barrier(comm_);
    if (!setup_.options.keep || repetition_ < setup_.options.repetitions) remove(path);
  }

  void read_back(const Case& c, const std::string& path, Method& method) {
    Result result{"read", c.method, c.format, repetition_, content_.distributed_bytes(setup_.records),
                  0,      {},       0,        0,           0};
    for (auto& t : targets_)
      t.spoil();
    Run run = make_run(c, path, targets_, result.phases);
    // In the repetition that is not counted there is time to look at every record.
    if (repetition_ == 0)
      run.after_read = [&](std::int64_t r) { result.wrong += wrong_in_arrays(targets_, r); };
    measure(run, result, [&] { method.read(run); });
    const auto own = method.wrong_in_memory(run);
    if (own >= 0) {
      result.wrong = own;
    } else if (repetition_ > 0) {
      result.wrong = wrong_in_arrays(targets_, -1) + wrong_in_arrays(targets_, setup_.records - 1);
    }
    MPI_Allreduce(MPI_IN_PLACE, &result.wrong, 1, MPI_INT64_T, MPI_SUM, comm_);
    keep(result);
  }

  Run make_run(const Case& c, const std::string& path, std::vector<LocalField>& arrays, Phases& phases) {
    return Run{comm_,
               rank_,
               setup_.ranks,
               path,
               c.format,
               setup_.records,
               setup_.options.flush,
               content_,
               c.method.settings,
               setup_.options.hints,
               arrays,
               phases,
               [](std::int64_t) {},
               [] {},
               0};
  }

  template <class F>
  void measure(Run& run, Result& result, F&& f) {
    std::int64_t shared = 0;
    run.at_peak = [&shared] { shared = memory_status("RssShmem"); };
    reset_peak_memory();
    const auto resident = memory_status("VmRSS"), shared_before = memory_status("RssShmem");
    quiet_barrier(comm_);
    const auto begin = Clock::now();
    f();
    const auto end = Clock::now();
    const auto peak = memory_status("VmHWM");
    quiet_barrier(comm_);
    run.phases[Phase::total] = std::chrono::duration<double>(end - begin).count();
    MPI_Allreduce(MPI_IN_PLACE, run.phases.data(), static_cast<int>(k_phases), MPI_DOUBLE, MPI_MAX, comm_);
    if (one_node_) {
      // One clock: from the first rank's start to the last one's end, since a rank that starts late is not
      // fast for that.
      std::array<double, 2> span{-seconds_since_epoch(begin), seconds_since_epoch(end)};
      MPI_Allreduce(MPI_IN_PLACE, span.data(), 2, MPI_DOUBLE, MPI_MAX, comm_);
      run.phases[Phase::total] = span[0] + span[1];
    }
    result.stage_bytes = run.stage_bytes;
    MPI_Allreduce(MPI_IN_PLACE, &result.stage_bytes, 1, MPI_INT64_T, MPI_MAX, comm_);
    result.peak_rss_bytes = node_memory(comm_, peak, shared);
    result.added_rss_bytes = result.peak_rss_bytes - node_memory(comm_, resident, shared_before);
  }

  void keep(const Result& result) {
    if (result.wrong != 0 && rank_ == 0)
      std::cout << result.operation << " " << result.method.text << " " << result.format << ": "
                << result.wrong << " wrong\n";
    results_.push_back(result);
  }

  std::int64_t bytes() const {
    if (content_.define_only) return 0;
    return content_.distributed_bytes(setup_.records) + content_.replicated_bytes(setup_.records);
  }

  std::string path_of(const Case& c) const {
    std::string name = "shoal-bench-" + c.method.text + "-" + c.format + (c.format == "raw" ? ".bin" : ".nc");
    std::replace_if(
        name.begin(), name.end(), [](char x) { return x == '/' || x == ' ' || x == '='; }, '_');
    return (std::filesystem::path(setup_.options.dir) / name).string();
  }

  void remove(const std::string& path) {
    if (rank_ == 0) std::filesystem::remove(path);
    quiet_barrier(comm_);
  }

  MPI_Comm comm_;
  const Setup& setup_;
  Content content_;
  std::vector<Case> cases_;
  std::vector<LocalField> arrays_, targets_;
  std::vector<Result> results_;
  int rank_ = 0;
  int repetition_ = 0;
  bool one_node_ = true;
};

}  // namespace

std::vector<Result> run_all(MPI_Comm comm, const Setup& setup, const Workload& workload) {
  return Runner(comm, setup, workload).run();
}

}  // namespace shoal::bench
