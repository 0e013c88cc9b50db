// SPDX-License-Identifier: BSD-3-Clause
// shoal-bench: the same data written and read in several ways, taking turns. README.md says how to read what
// it prints.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "estimate.hpp"
#include "events.hpp"
#include "listing.hpp"
#include "node.hpp"
#include "options.hpp"
#include "programs/stream_files.hpp"
#include "results_file.hpp"
#include "runner.hpp"
#include "verify.hpp"

namespace {

using namespace shoal::bench;

// 0: all as it should be; 2: a check found wrong values, or did not find the injected ones.
int verdict(const Setup& setup, Events& events, const std::vector<Result>& results) {
  bool injected_found = true;
  for (const auto& r : results) {
    if (!setup.options.inject_error) {
      if (r.wrong != 0) return 2;
    } else if (r.method.entry->writes() && r.wrong != 1) {
      events.note("The injected error was not found as one wrong value: " + r.operation + " " +
                  r.method.text + " " + r.format);
      injected_found = false;
    }
  }
  if (setup.options.inject_error && injected_found) events.note("Every injected error was found.");
  return injected_found ? 0 : 2;
}

// All that follows from the options and the number of ranks.
Setup setup_of(const Options& options, const Workload& workload, int ranks) {
  Setup setup;
  setup.options = options;
  setup.experiment = experiment_of(options.experiment);
  setup.ranks = ranks;
  setup.grid = find_size(workload, options.size.empty() ? setup.experiment.size : options.size);
  const auto content = content_of(workload, setup.grid, options.cut);
  setup.tiling = tiling_of(options, ranks);
  // Fields of one row are cut along it.
  if (content.cut == 1 && options.tiling.eta > 1)
    throw std::invalid_argument("--tiles " + std::to_string(options.tiling.xi) + "x" +
                                std::to_string(options.tiling.eta) + " cuts rows, but fields of " +
                                workload.name + " have one; " + std::to_string(ranks) + "x1 is possible");
  if (content.cut == 1) setup.tiling = {ranks, 1};
  setup.runs = contiguous_runs(content, setup.grid, setup.tiling);
  setup.records = options.records < 0 ? workload.records : options.records;
  if (workload.records == 0 && options.records > 0)
    throw std::invalid_argument("--records is given, but " + workload.name + " writes none");
  setup.sync_every = options.sync_every < 0 ? workload.sync_every : options.sync_every;
  const auto program = setup.experiment.program;
  if (options.sync_every > 0 && (setup.records == 0 || program == ProgramKind::roms_benchmark))
    throw std::invalid_argument(
        "--sync-every is given, but " + workload.name +
        (setup.records == 0 ? " writes no records" : " commits when it closes its files"));
  if (options.sync_every > 1 && program == ProgramKind::streams)
    throw std::invalid_argument("--sync-every is " + std::to_string(options.sync_every) + ", but " +
                                workload.name + " commits after each record (1), or when it closes a file");
  for (const auto& [given, name] :
       {std::pair{options.steps > 0, "--steps"}, {!options.switches.empty(), "--switches"}})
    if (given && !setup.experiment.computes())
      throw std::invalid_argument(std::string(name) + " is given, but " + workload.name +
                                  " does not compute");
  if (!options.check_in.empty() && !setup.experiment.checks_in_other_folder())
    throw std::invalid_argument("--check-in is given, but " + workload.name + " looks at its files itself");
  setup.steps = options.steps > 0 ? options.steps : setup.experiment.every * setup.records;
  if (setup.experiment.computes() && setup.steps % setup.records != 0)
    throw std::invalid_argument("--steps is " + std::to_string(setup.steps) + ", which " +
                                std::to_string(setup.records) +
                                " records do not divide into equal intervals");
  if (program == ProgramKind::streams && k_minutes_of_day % steps_of_day(setup) != 0)
    throw std::invalid_argument("--steps is " + std::to_string(setup.steps) + ", " +
                                std::to_string(steps_of_day(setup)) +
                                " a day, which are not whole minutes long");
  return setup;
}

std::string host_name() {
  std::array<char, 64> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

// How all file names of this start begin: no other start has the same.
std::string common_name(const std::string& experiment) {
  // Hosts of the same name and numbers of processes come back, on one file system.
  const auto now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "shoal-bench-%s-%s-%lld-%ld-", experiment.c_str(),
                host_name().c_str(), static_cast<long long>(now), static_cast<long>(getpid()));
  MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  return text.data();
}

// Best effort, before the job is aborted.
void remove_leftovers(const Setup& setup) {
  std::error_code ignored;
  for (const auto& dir : setup.options.dirs)
    for (const auto& entry : std::filesystem::directory_iterator(dir, ignored))
      if (!setup.files.empty() && entry.path().filename().string().starts_with(setup.files))
        std::filesystem::remove(entry.path(), ignored);
}

int run(Setup& setup, const Workload& workload, int rank) {
  const auto& options = setup.options;
  // A node may lack what others have: all ranks must come to the same end.
  std::string failure;
  for (const auto& dir : options.dirs) {
    std::error_code ignored;
    if (failure.empty() && !std::filesystem::is_directory(dir, ignored))
      failure = "--dir is '" + dir + "', which is no directory on " + host_name();
    setup.file_systems.push_back(file_system_of(dir));
    if (failure.empty() && options.touch_memory && setup.file_systems.back() != "tmpfs")
      failure = "--touch-memory is for files in memory (tmpfs), but '" + dir + "' is on " +
                setup.file_systems.back() + "; --flush times a device";
  }
  ResultsFile json(rank == 0 ? options.json : "");
  if (failure.empty() && !json.good()) failure = "--json is '" + options.json + "', which cannot be written";
  agree(MPI_COMM_WORLD, failure);
  setup.files = common_name(options.experiment);
  setup.machine = machine_of(MPI_COMM_WORLD);
  setup.versions = versions(!options.label.empty() ? options.label
                            : rank == 0            ? mpi_io_of(options.dirs.front())
                                                   : "");
  Events events(setup, rank);
  const auto results = run_all(MPI_COMM_WORLD, setup, events, workload);
  int code = 0;
  if (rank == 0) {
    json.write([&] { return json_of(setup, results); });
    if (!options.stream) std::cout << table_of(setup, results);
    code = verdict(setup, events, results);
    std::cout.flush();
  }
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return code;
}

// What needs no MPI works without mpiexec; under it, one process speaks.
bool first_process() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* rank = std::getenv(name); rank != nullptr) return std::string(rank) == "0";
  return true;
}

int run_without_mpi(const Options& options) {
  if (!first_process()) return 0;
  if (options.help)
    std::cout << usage();
  else if (options.list)
    std::cout << (options.stream ? list_json() + "\n" : list_text());
  else
    std::cout << estimate_of(setup_of(options, find_workload(options.experiment), options.ranks),
                             find_workload(options.experiment))
              << "\n";
  std::cout.flush();
  return 0;
}

int run_with_mpi(const Options& options) {
  int rank = 0, ranks = 1, code = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Setup setup;
  try {
    const auto& workload = find_workload(options.experiment);
    setup = setup_of(options, workload, ranks);
    if (options.estimate) {
      if (rank == 0) std::cout << estimate_of(setup, workload) << std::endl;
      return 0;
    }
    code = run(setup, workload, rank);
  } catch (const std::invalid_argument& e) {
    // Every rank comes to the same end: by the same command line, or by agreement.
    if (rank == 0) std::cerr << "shoal-bench: " << e.what() << std::endl;
  } catch (const std::exception& e) {
    std::cerr << "shoal-bench: rank " << rank << ": " << e.what() << std::endl;
    remove_leftovers(setup);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  Options options;
  try {
    options = parse_options({argv + 1, argv + argc});
    if (options.list || options.help || (options.estimate && options.ranks > 0))
      return run_without_mpi(options);
  } catch (const std::invalid_argument& e) {
    if (first_process()) std::cerr << "shoal-bench: " << e.what() << std::endl;
    return 1;
  }
  int level = MPI_THREAD_SINGLE;  // threads that store in the background call no MPI
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  const int code = run_with_mpi(options);
  MPI_Finalize();
  return code;
}
