// SPDX-License-Identifier: BSD-3-Clause
// What a commit costs: a small record written and synced, many times.
//
//     mpirun -n 4 micro_commits [SYNCS ROUNDS FOLDER] [SETTINGS...]
//
// A time axis and two fields of 64x100 doubles, cut in rows; each of SETTINGS ("format=cdf5", ...) in turns,
// every time with a new file. Prints seconds for all syncs: the median and the fastest of the rounds.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "shoal/shoal.hpp"

namespace {

constexpr std::int64_t k_rows = 64, k_columns = 100;

double seconds_of(const std::string& path, const std::string& settings, int syncs) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::int64_t first = k_rows * rank / ranks, rows = k_rows * (rank + 1) / ranks - first;
  const std::vector<double> values(static_cast<std::size_t>(rows * k_columns), 1.5 + rank);
  const shoal::ConstArray cells(values.data(), {rows, k_columns});
  const auto cut =
      shoal::Decomposition::block(MPI_COMM_WORLD, {k_rows, k_columns}, {first, 0}, {rows, k_columns});
  auto file = shoal::Dataset::create(MPI_COMM_WORLD, path, settings);
  file.def_dim("time", SHOAL_UNLIMITED);
  file.def_dim("y", k_rows);
  file.def_dim("x", k_columns);
  file.def_var("time", SHOAL_DOUBLE, "time");
  file.def_var("u", SHOAL_DOUBLE, "time y x", cut);
  file.def_var("v", SHOAL_DOUBLE, "time y x", cut);
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
  std::vector<std::string> ways(argv + std::min(argc, 4), argv + argc);
  if (ways.empty()) ways = {"format=cdf5", "format=netcdf4"};
  std::vector<std::vector<double>> taken(ways.size());
  for (int round = 0; round <= rounds; ++round)
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const double one = seconds_of(folder + "/shoal_commits.nc", ways[w], syncs);
      if (round > 0) taken[w].push_back(one);  // the first one touches memory for the first time
    }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (std::size_t w = 0; w < ways.size() && rank == 0; ++w) {
    auto& all = taken[w];
    std::sort(all.begin(), all.end());
    std::printf("%-40s %d syncs: median %.4f s, fastest %.4f s\n", ways[w].c_str(), syncs,
                all[all.size() / 2], all[0]);
  }
  MPI_Finalize();
}
