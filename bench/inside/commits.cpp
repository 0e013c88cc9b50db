// SPDX-License-Identifier: BSD-3-Clause
// What a commit costs: a small record written and synced, many times.
//
//     mpirun -n 4 micro_commits [SYNCS ROUNDS FOLDER ROWS COLUMNS] [SETTINGS...]
//
// A time axis and two fields of ROWS x COLUMNS doubles (64x100), cut in rows; each of SETTINGS
// ("format=cdf5",
// ...) in turns, every time with a new file. Prints seconds for all syncs: the median and the fastest of the
// rounds.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "shoal/shoal.hpp"

namespace {

struct Grid {
  std::int64_t rows = 64, columns = 100;
};

double seconds_of(const std::string& path, const Grid& grid, const std::string& settings, int syncs) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::int64_t first = grid.rows * rank / ranks, rows = grid.rows * (rank + 1) / ranks - first;
  const std::vector<double> values(static_cast<std::size_t>(rows * grid.columns), 1.5 + rank);
  const shoal::ConstArray cells(values.data(), {rows, grid.columns});
  const auto cut = shoal::Decomposition::block(MPI_COMM_WORLD, {grid.rows, grid.columns}, {first, 0},
                                               {rows, grid.columns});
  auto file = shoal::Dataset::create(MPI_COMM_WORLD, path, settings);
  file.def_dim("time", SHOAL_UNLIMITED);
  file.def_dim("y", grid.rows);
  file.def_dim("x", grid.columns);
  file.def_var("time", shoal::Type::double_, "time");
  file.def_var("u", shoal::Type::double_, "time y x", cut);
  file.def_var("v", shoal::Type::double_, "time y x", cut);
  file.end_define();
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int record = 0; record < syncs; ++record) {
    const double time = 0.5 * record;
    file.put("time", shoal::scalar(time), record);
    file.write("u", cells, record);
    file.write("v", cells, record);
    file.sync();
  }
  const double taken = MPI_Wtime() - begin;
  file.close();
  if (rank == 0) std::remove(path.c_str());
  return taken;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int syncs = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::string folder = argc > 3 ? argv[3] : "/dev/shm";
  Grid grid;
  if (argc > 5) grid = {std::atoll(argv[4]), std::atoll(argv[5])};
  std::vector<std::string> variants(argv + std::min(argc, 6), argv + argc);
  if (variants.empty()) variants = {"format=cdf5", "format=netcdf4"};
  std::vector<std::vector<double>> taken(variants.size());
  for (int round = 0; round <= rounds; ++round)
    for (std::size_t w = 0; w < variants.size(); ++w) {
      const double one = seconds_of(folder + "/shoal_commits.nc", grid, variants[w], syncs);
      if (round > 0) taken[w].push_back(one);  // the first one touches memory for the first time
    }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (std::size_t w = 0; w < variants.size() && rank == 0; ++w) {
    auto& all = taken[w];
    std::sort(all.begin(), all.end());
    std::printf("%-40s %d syncs: median %.4f s, fastest %.4f s\n", variants[w].c_str(), syncs,
                all[all.size() / 2], all[0]);
  }
  MPI_Finalize();
}
