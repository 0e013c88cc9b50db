// SPDX-License-Identifier: BSD-3-Clause
// How long a model is in `write` for a record, against a plain copy of the same bytes to shared memory.
//
//     mpirun -n 4 micro_blocked [RECORDS ROUNDS PAUSE] [SETTINGS...]
//
// Six fields of 656x640x16 floats, cut in tiles 2x2 on 4 ranks, else in rows; every variant in turns, each
// time with a new file. PAUSE: seconds between two records, in which nobody computes. Prints medians over the
// records of the slowest rank's time.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "comm/comm.hpp"
#include "comm/nodes.hpp"
#include "comm/shared_window.hpp"
#include "shoal/shoal.hpp"

namespace {

using shoal::Comm;
using shoal::Seconds;

constexpr std::int64_t k_x = 656, k_y = 640, k_z = 16;
constexpr int k_fields = 6;

struct Tile {
  std::vector<std::int64_t> first, count;
  std::int64_t cells() const { return count[0] * count[1] * count[2]; }
};

Tile tile_of(const Comm& comm) {
  const int columns = comm.size() == 4 ? 2 : 1;
  const int rows = comm.size() / columns;
  const auto begin = [](std::int64_t n, int i, int parts) { return n * i / parts; };
  const int row = comm.rank() / columns, column = comm.rank() % columns;
  const std::int64_t y = begin(k_y, row, rows), x = begin(k_x, column, columns);
  return {{0, y, x}, {k_z, begin(k_y, row + 1, rows) - y, begin(k_x, column + 1, columns) - x}};
}

struct Run {
  int records = 4;
  int rounds = 9;
  double pause = 0.2;
};

/// Seconds of each record, of the slowest rank.
template <class Write>
void measure(const Comm& comm, const Run& run, std::vector<Seconds>& times, Write write) {
  for (int record = 0; record < run.records; ++record) {
    comm.barrier();
    const Seconds begin = shoal::now();
    for (int field = 0; field < k_fields; ++field)
      write(record, field);
    times.push_back(comm.max(shoal::now() - begin));
    std::this_thread::sleep_for(std::chrono::duration<double>(run.pause));
  }
}

shoal::Dataset new_file(const Comm& comm, const std::string& settings, const shoal::Decomposition& cut) {
  auto file = shoal::Dataset::create(comm.handle(), "blocked.nc", settings);
  file.def_dim("t", SHOAL_UNLIMITED);
  file.def_dim("z", k_z);
  file.def_dim("y", k_y);
  file.def_dim("x", k_x);
  for (int field = 0; field < k_fields; ++field)
    file.def_var("v" + std::to_string(field), shoal::Type::float_, "t z y x", cut);
  file.end_define();
  return file;
}

void print(const std::string& name, std::vector<Seconds> times, Seconds copy) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf("%-60s %8.2f ms  (quartiles %.2f %.2f)  %.2f times the copy\n", name.c_str(), 1e3 * at(0.5),
              1e3 * at(0.25), 1e3 * at(0.75), at(0.5) / copy);
}

int compare(int argc, char** argv) {
  const Comm comm(MPI_COMM_WORLD);
  Run run;
  if (argc > 1) run.records = std::atoi(argv[1]);
  if (argc > 2) run.rounds = std::atoi(argv[2]);
  if (argc > 3) run.pause = std::atof(argv[3]);
  std::vector<std::string> variants(argv + std::min(argc, 4), argv + argc);
  if (variants.empty()) variants = {"background=thread", "background=off", "driver=pnetcdf"};
  const Tile tile = tile_of(comm);
  const auto cells = static_cast<std::size_t>(tile.cells());
  std::vector<std::vector<float>> fields(k_fields, std::vector<float>(cells));
  for (std::size_t i = 0; i < cells; ++i)
    for (int field = 0; field < k_fields; ++field)
      fields[static_cast<std::size_t>(field)][i] =
          0.5F * static_cast<float>(i % 977) + static_cast<float>(field);
  const auto cut = shoal::Decomposition::block(MPI_COMM_WORLD, {k_z, k_y, k_x}, tile.first, tile.count);

  // Room for one record, whose pages this rank has touched, as those of a stage that is in use.
  const shoal::Nodes nodes(comm, 0);
  const std::size_t most =
      static_cast<std::size_t>(nodes.node().max(tile.cells())) * sizeof(float) * k_fields;
  const shoal::SharedWindow window(nodes.node(), most * static_cast<std::size_t>(nodes.node().size()));
  std::byte* mine = window.data() + most * static_cast<std::size_t>(nodes.node().rank());
  std::memset(mine, 1, most);

  std::vector<Seconds> copies;
  std::vector<std::vector<Seconds>> times(variants.size());
  for (int round = 0; round <= run.rounds; ++round) {
    if (round == 1) {  // the first one warms up
      copies.clear();
      for (auto& of_way : times)
        of_way.clear();
    }
    measure(comm, run, copies, [&](int, int field) {
      const auto& values = fields[static_cast<std::size_t>(field)];
      std::memcpy(mine + static_cast<std::size_t>(field) * cells * sizeof(float), values.data(),
                  cells * sizeof(float));
    });
    for (std::size_t variant = 0; variant < variants.size(); ++variant) {
      auto file = new_file(comm, variants[variant], cut);
      measure(comm, run, times[variant], [&](int record, int field) {
        file.write("v" + std::to_string(field), {fields[static_cast<std::size_t>(field)].data(), tile.count},
                   record);
      });
      file.close();
    }
  }
  if (comm.rank() != 0) return 0;
  std::remove("blocked.nc");
  std::vector<Seconds> sorted = copies;
  std::sort(sorted.begin(), sorted.end());
  const Seconds copy = sorted[(sorted.size() - 1) / 2];
  print("copy to shared memory", copies, copy);
  for (std::size_t variant = 0; variant < variants.size(); ++variant)
    print(variants[variant], times[variant], copy);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int status = 2;
  try {
    status = compare(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "micro_blocked: %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  MPI_Finalize();
  return status;
}
