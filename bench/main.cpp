// SPDX-License-Identifier: BSD-3-Clause
// shoal-bench: the same data written and read in several ways, taking turns. README.md says how to read what
// it prints.
#include <mpi.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "node.hpp"
#include "options.hpp"
#include "runner.hpp"
#include "verify.hpp"

namespace {

using namespace shoal::bench;

void print_list() {
  std::cout << "Experiments\n";
  for (const auto& w : workloads())
    std::cout << "  " << w.name << ": " << w.summary << " (" << size_names(w) << ")\n";
  std::cout << "Methods\n";
  for (const auto& m : methods()) {
    std::cout << "  " << m.name << ": " << m.summary << " (";
    for (std::size_t i = 0; i < m.formats.size(); ++i)
      std::cout << (i == 0 ? "" : ", ") << m.formats[i];
    std::cout << ")\n";
  }
}

void print_head(const Setup& s) {
  std::cout << s.options.experiment << ": " << s.grid.xi << "x" << s.grid.eta << "x" << s.grid.s << ", "
            << s.records << " records, " << s.ranks << " ranks as " << s.tiling.xi << "x" << s.tiling.eta
            << " tiles, " << s.options.dir << " (" << s.file_system << "), files checked by " << checked_by()
            << "\n";
  for (const auto& [name, version] : s.versions)
    std::cout << "  " << name << ": " << version << "\n";
}

// 0: all as it should be; 2: a check found wrong values, or did not find the planted ones.
int verdict(const Setup& setup, const std::vector<Result>& results) {
  if (!setup.options.plant_error) {
    for (const auto& r : results)
      if (r.wrong != 0) return 2;
    return 0;
  }
  for (const auto& r : results)
    if (r.wrong != 1 && !(r.operation == "read" && r.method.entry->name == "limit")) {
      std::cout << "The planted error was not found as one wrong value: " << r.operation << " "
                << r.method.text << " " << r.format << "\n";
      return 2;
    }
  std::cout << "Every planted error was found.\n";
  return 0;
}

int run(const std::vector<std::string>& arguments, int rank) {
  Setup setup;
  setup.options = parse_options(arguments);
  if (setup.options.help || setup.options.list) {
    if (rank == 0 && setup.options.list) print_list();
    if (rank == 0 && setup.options.help) std::cout << usage();
    return 0;
  }
  const auto& workload = find_workload(setup.options.experiment);
  MPI_Comm_size(MPI_COMM_WORLD, &setup.ranks);
  setup.grid = grid_of(workload, setup.options.size);
  setup.tiling = tiling_of(setup.options, setup.ranks);
  setup.records = setup.options.records < 0 ? workload.records : setup.options.records;
  if (workload.records == 0 && setup.options.records > 0)
    throw std::invalid_argument("--records is given, but " + workload.name + " writes none");
  if (!std::filesystem::is_directory(setup.options.dir))
    throw std::invalid_argument("--dir is '" + setup.options.dir + "', which is no directory");
  std::ofstream json;
  if (rank == 0 && !setup.options.json.empty()) {
    json.open(setup.options.json);
    if (!json) throw std::invalid_argument("--json is '" + setup.options.json + "', which cannot be written");
  }
  setup.file_system = file_system_of(setup.options.dir);
  setup.versions = versions(setup.options.label);
  if (rank == 0) print_head(setup);
  const auto results = run_all(MPI_COMM_WORLD, setup, workload);
  int code = 0;
  if (rank == 0) {
    if (json.is_open()) json << json_of(setup, results);
    std::cout << table_of(setup, results);
    code = verdict(setup, results);
    std::cout.flush();
  }
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int code = 1;
  try {
    code = run({argv + 1, argv + argc}, rank);
  } catch (const std::invalid_argument& e) {
    // Every rank reads the same command line and comes to the same end.
    if (rank == 0) std::cerr << "shoal-bench: " << e.what() << std::endl;
  } catch (const std::exception& e) {
    std::cerr << "shoal-bench: rank " << rank << ": " << e.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
