// SPDX-License-Identifier: BSD-3-Clause
// How long a map takes to build, and how many bytes of memory it is.
//
// Run it on its own, or on several ranks with mpirun: the second part makes decompositions of as many cells a
// rank on all of them, with the search for cells of two owners and of none. Prints the best of several.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "comm/comm.hpp"
#include "decomp/decomposition.hpp"

namespace {

using namespace shoal;
using Cells = std::vector<std::int64_t>;

constexpr int k_repetitions = 7;

template <class Work>
Seconds best_time(Work work) {
  Seconds best = 1e9;
  for (int i = 0; i < k_repetitions; ++i) {
    const Seconds start = now();
    work();
    best = std::min(best, now() - start);
  }
  return best;
}

/// This rank's share of ranks * n cells that are `step` apart, dealt out in stretches.
Cells dealt(std::int64_t n, std::int64_t stretch, std::int64_t step, const Comm& comm) {
  Cells cells;
  cells.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    cells.push_back(((i / stretch * comm.size() + comm.rank()) * stretch + i % stretch) * step);
  return cells;
}

Cells shuffled(Cells cells, std::int64_t stretch) {
  std::mt19937_64 random(1);
  const auto n = static_cast<std::int64_t>(cells.size()) / stretch;
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  Cells out;
  out.reserve(cells.size());
  for (const std::int64_t i : order)
    out.insert(out.end(), cells.begin() + i * stretch, cells.begin() + (i + 1) * stretch);
  return out;
}

void measure(const Comm& comm, const char* name, const Cells& cells, std::int64_t step) {
  const auto n = static_cast<std::int64_t>(cells.size());
  const std::int64_t global = (n * comm.size() + 1) * step;
  std::int64_t bytes = 0;
  std::int64_t runs = 0;
  comm.barrier();
  const Seconds build = best_time([&] {
    const IndexMap map(cells, global);
    bytes = map.bytes();
    runs = map.runs();
  });
  const IndexMap map(cells, global);
  std::int64_t sum = 0;
  const Seconds visit = best_time(
      [&] { map.for_each_run(0, global, [&](const IndexMap::Run& run) { sum += run.local * run.length; }); });
  const Seconds whole = comm.max(best_time([&] {
    comm.barrier();
    Decomposition::map(comm, {global, 2}, 1, cells);
  }));
  if (comm.rank() == 0)
    std::printf(
        "  %-36s %9lld runs %6.2f bytes a cell  build %6.1f ms  visit %5.2f ms  decomposition %6.1f ms%s\n",
        name, static_cast<long long>(runs), static_cast<double>(bytes) / static_cast<double>(n), 1e3 * build,
        1e3 * visit, 1e3 * whole, sum == 1 ? " " : "");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Comm comm(MPI_COMM_WORLD);
    const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 1000000;
    if (comm.rank() == 0)
      std::printf("%lld cells on each of %d ranks\n", static_cast<long long>(n), comm.size());
    measure(comm, "one run", dealt(n, n, 1, comm), 1);
    measure(comm, "runs of 50, in order", dealt(n, 50, 1, comm), 1);
    measure(comm, "runs of 50, shuffled", shuffled(dealt(n, 50, 1, comm), 50), 1);
    measure(comm, "runs of 2, shuffled", shuffled(dealt(n, 2, 1, comm), 2), 1);
    measure(comm, "single cells, in order", dealt(n, 1, 1, comm), 1);
    measure(comm, "scattered cells", shuffled(dealt(n, 1, 1, comm), 1), 1);
    measure(comm, "scattered, every 30th owned", shuffled(dealt(n, 1, 30, comm), 1), 30);
    measure(comm, "scattered over 2^40 cells", shuffled(dealt(n, 1, 1 << 20, comm), 1), 1 << 20);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
