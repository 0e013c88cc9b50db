// What was put, written and read in turns before a commit; what is left when a rank makes other calls than
// the rest.
#include <doctest/doctest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "comm/nodes.hpp"
#include "faults/world.hpp"
#include "shoal/shoal.h"
#include "support/builds.hpp"
#include "support/nodes.hpp"

namespace {

using shoal::testing::k_cells;
using shoal::testing::World;

shoal_dataset* create(const std::string& path, const std::string& settings) {
  shoal_dataset* file = nullptr;
  REQUIRE(shoal_create(MPI_COMM_WORLD, path.c_str(), settings.c_str(), &file) == SHOAL_OK);
  return file;
}

int write(shoal_dataset* file, const World& world, const char* variable, double value, std::int64_t record) {
  std::vector<double> data(static_cast<std::size_t>(world.count) + 1, value);
  const shoal_array array = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
  return shoal_write(file, variable, world.cut, &array, SHOAL_RECORD(record));
}

double read(shoal_dataset* file, const World& world, const char* variable, std::int64_t record) {
  std::vector<double> data(static_cast<std::size_t>(world.count) + 1, -1);
  const shoal_array array = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
  CHECK(shoal_read(file, variable, world.cut, &array, SHOAL_RECORD(record)) == SHOAL_OK);
  return data.front();
}

int put(shoal_dataset* file, const char* variable, double value) {
  std::vector<double> data(k_cells, value);
  const shoal_array array = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &k_cells);
  return shoal_put(file, variable, &array, nullptr);
}

}  // namespace

TEST_CASE("put, write and read see each other before a commit") {
  const World world;
  for (const std::string format : {"cdf5", "netcdf4"}) {
    for (const std::string nodes : {"0", "1"}) {
      shoal_dataset* file = create("order.nc", "format=" + format + ", ranks_per_node=" + nodes);
      CHECK(shoal_def_dim(file, "x", k_cells) == SHOAL_OK);
      CHECK(shoal_def_var(file, "v", SHOAL_DOUBLE, "x", world.cut) == SHOAL_OK);
      CHECK(put(file, "v", 2) == SHOAL_OK);
      if (world.count > 0) CHECK(read(file, world, "v", SHOAL_NO_RECORD) == 2);
      if (world.count == 0) read(file, world, "v", SHOAL_NO_RECORD);
      CHECK(put(file, "v", 3) == SHOAL_OK);
      CHECK(write(file, world, "v", 4, SHOAL_NO_RECORD) == SHOAL_OK);
      CHECK(shoal_close(&file, 0) == SHOAL_OK);
      REQUIRE(shoal_open(MPI_COMM_WORLD, "order.nc", SHOAL_READ, "", &file) == SHOAL_OK);
      const double value = read(file, world, "v", SHOAL_NO_RECORD);
      if (world.count > 0) CHECK(value == 4);
      CHECK(shoal_close(&file, 0) == SHOAL_OK);
    }
  }
}

TEST_CASE("records that ranks wrote out of step never were") {
  const World world;
  if (world.size == 1) return;
  for (const std::string format : {"cdf5", "netcdf4"}) {
    shoal_dataset* file = create("step.nc", "format=" + format);
    CHECK(shoal_def_dim(file, "t", SHOAL_UNLIMITED) == SHOAL_OK);
    CHECK(shoal_def_dim(file, "x", k_cells) == SHOAL_OK);
    CHECK(shoal_def_var(file, "v", SHOAL_DOUBLE, "t x", world.cut) == SHOAL_OK);
    CHECK(shoal_def_var(file, "fixed", SHOAL_DOUBLE, "x", world.cut) == SHOAL_OK);
    CHECK(write(file, world, "v", 1, 0) == SHOAL_OK);
    CHECK(shoal_sync(file, 0) == SHOAL_OK);
    write(file, world, world.rank == 1 ? "no_such" : "v", 2, 1);
    CHECK(shoal_sync(file, 0) == SHOAL_NOT_FOUND);
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
    REQUIRE(shoal_open(MPI_COMM_WORLD, "step.nc", SHOAL_READ, "", &file) == SHOAL_OK);
    shoal_dim_info dim = SHOAL_DIM_INFO_INIT;
    CHECK(shoal_inq_dim(file, 0, &dim) == SHOAL_OK);
    CHECK(dim.length == 1);
    const double value = read(file, world, "v", 0);
    const double fill = read(file, world, "fixed", SHOAL_NO_RECORD);
    if (world.count > 0) CHECK(value == 1);
    if (world.count > 0) CHECK(fill == 9.9692099683868690e+36);
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
  }
}

TEST_CASE("calls in another order are named with variable and record") {
  const World world;
  if (world.size == 1) return;
  for (const auto& settings :
       shoal::testing::in_this_build({"driver=native", "ranks_per_node=1", "driver=gather"})) {
    CAPTURE(settings);
    shoal_dataset* file = create("named.nc", settings);
    CHECK(shoal_def_dim(file, "t", SHOAL_UNLIMITED) == SHOAL_OK);
    CHECK(shoal_def_dim(file, "x", k_cells) == SHOAL_OK);
    for (const char* name : {"temp", "zeta"})
      CHECK(shoal_def_var(file, name, SHOAL_DOUBLE, "t x", world.cut) == SHOAL_OK);
    CHECK(write(file, world, "temp", 1, 0) == SHOAL_OK);
    CHECK(shoal_sync(file, 0) == SHOAL_OK);
    // Call 2.
    write(file, world, world.rank == 1 ? "zeta" : "temp", 2, 1);
    CHECK(shoal_sync(file, 0) == SHOAL_OUT_OF_STEP);
    const std::string message = shoal_error_message();
    const bool is_named =
        message.find("rank 0 wrote temp record 1, rank 1 zeta record 1") != std::string::npos;
    CHECK_MESSAGE(is_named, message);
    shoal_close(&file, 0);
  }
}

TEST_CASE("a rank that left out a write before cells of a map must stay leaves nobody waiting") {
  const World world;
  if (world.size == 1) return;
  // Every second cell is nobody's.
  std::vector<std::int64_t> cells;
  for (std::int64_t c = world.first; c < world.first + world.count; ++c)
    cells.push_back(2 * c);
  const std::int64_t all = 2 * k_cells;
  shoal_decomposition* map = nullptr;
  REQUIRE(shoal_map(MPI_COMM_WORLD, 1, &all, 0, world.count, cells.data(), &map) == SHOAL_OK);
  for (const std::string format : {"cdf5", "netcdf4"})
    for (const std::string nodes : {"0", "1"}) {
      CAPTURE(format);
      CAPTURE(nodes);
      shoal_dataset* file = create("kept.nc", "fill=false, format=" + format + ", ranks_per_node=" + nodes);
      CHECK(shoal_def_dim(file, "t", SHOAL_UNLIMITED) == SHOAL_OK);
      CHECK(shoal_def_dim(file, "x", all) == SHOAL_OK);
      CHECK(shoal_def_var(file, "v", SHOAL_DOUBLE, "t x", map) == SHOAL_OK);
      const auto write_map = [&](double value, std::int64_t record) {
        std::vector<double> data(static_cast<std::size_t>(world.count) + 1, value);
        const shoal_array array = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
        return shoal_write(file, "v", map, &array, SHOAL_RECORD(record));
      };
      CHECK(write_map(1, 0) == SHOAL_OK);
      CHECK(shoal_sync(file, 0) == SHOAL_OK);
      if (world.rank != world.size - 1) write_map(2, 1);
      write_map(3, 0);  // from here on cells are sent
      CHECK(shoal_sync(file, 0) == SHOAL_OUT_OF_STEP);
      // The file goes on, unless ranks that match each write were found in different calls.
      if (format == "netcdf4" && (nodes == "1" || !shoal::testing::is_on_one_node())) {
        CHECK(shoal_close(&file, 0) == SHOAL_OUT_OF_STEP);
        continue;
      }
      CHECK(write_map(4, 0) == SHOAL_OK);
      CHECK(write_map(5, 1) == SHOAL_OK);
      CHECK(shoal_sync(file, 0) == SHOAL_OK);
      std::vector<double> data(static_cast<std::size_t>(world.count) + 1, -1);
      const shoal_array array = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
      CHECK(shoal_read(file, "v", map, &array, SHOAL_RECORD(0)) == SHOAL_OK);
      if (world.count > 0) CHECK(data.front() == 4);
      CHECK(shoal_close(&file, 0) == SHOAL_OK);
    }
  shoal_decomposition_free(&map);
}

TEST_CASE("ranks that read different records are told so") {
  const World world;
  if (world.size == 1) return;
  shoal_dataset* file = create("mixed.nc", "format=cdf5");
  CHECK(shoal_def_dim(file, "t", SHOAL_UNLIMITED) == SHOAL_OK);
  CHECK(shoal_def_dim(file, "x", k_cells) == SHOAL_OK);
  CHECK(shoal_def_var(file, "v", SHOAL_DOUBLE, "t x", world.cut) == SHOAL_OK);
  for (const std::int64_t record : {0, 1})
    CHECK(write(file, world, "v", static_cast<double>(record), record) == SHOAL_OK);
  CHECK(shoal_sync(file, 0) == SHOAL_OK);
  std::vector<double> data(static_cast<std::size_t>(world.count) + 1);
  const shoal_array array = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
  // Ranks of a node read together, nodes each for themselves: a rank alone on its node disturbs nobody.
  const shoal::Comm comm(MPI_COMM_WORLD);
  const shoal::Nodes nodes(comm, 0);
  const bool together = comm.max(std::int64_t{world.rank == 1 ? nodes.node().size() : 0}) > 1;
  const int code = shoal_read(file, "v", world.cut, &array, SHOAL_RECORD(world.rank == 1 ? 1 : 0));
  // Ranks of several nodes find out where they match calls to rearrange cells.
  CHECK((code == SHOAL_OUT_OF_STEP || (!together && code == SHOAL_OK)));
  const double value = read(file, world, "v", 1);
  if (world.count > 0) CHECK(value == 1);
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
}

TEST_CASE("records that were skipped within a chunk read as fill") {
  const World world;
  shoal_dataset* file = create("chunk.nc", "format=netcdf4");
  const std::int64_t chunks[] = {4, k_cells};
  CHECK(shoal_def_dim(file, "t", SHOAL_UNLIMITED) == SHOAL_OK);
  CHECK(shoal_def_dim(file, "x", k_cells) == SHOAL_OK);
  CHECK(shoal_def_var(file, "v", SHOAL_DOUBLE, "t x", world.cut) == SHOAL_OK);
  CHECK(shoal_def_chunks(file, "v", chunks) == SHOAL_OK);
  CHECK(write(file, world, "v", 1, 0) == SHOAL_OK);
  CHECK(write(file, world, "v", 3, 2) == SHOAL_OK);
  CHECK(shoal_sync(file, 0) == SHOAL_OK);
  const double skipped = read(file, world, "v", 1);
  const double there = read(file, world, "v", 2);
  if (world.count > 0) CHECK(skipped == 9.9692099683868690e+36);
  if (world.count > 0) CHECK(there == 3);
  CHECK(shoal_close(&file, 0) == SHOAL_OK);
}

TEST_CASE("a rank that makes another call leaves nobody waiting where compressed chunks keep cells") {
  const World world;
  if (world.size == 1) return;
  // The last cells are nobody's.
  const std::int64_t all = k_cells + 8, chunk = 10;
  shoal_decomposition* cut = nullptr;
  REQUIRE(shoal_block(MPI_COMM_WORLD, 1, &all, &world.first, &world.count, nullptr, nullptr, &cut) ==
          SHOAL_OK);
  for (const std::string nodes : {"0", "1"}) {
    CAPTURE(nodes);
    shoal_dataset* file = create("order.nc", "format=netcdf4, fill=false, ranks_per_node=" + nodes);
    CHECK(shoal_def_dim(file, "x", all) == SHOAL_OK);
    CHECK(shoal_def_var(file, "v", SHOAL_DOUBLE, "x", cut) == SHOAL_OK);
    CHECK(shoal_def_chunks(file, "v", &chunk) == SHOAL_OK);
    CHECK(shoal_def_compression(file, "v", "shuffle+deflate:1") == SHOAL_OK);
    std::vector<double> whole(static_cast<std::size_t>(all), 2);
    const shoal_array everything = shoal_array_of(whole.data(), SHOAL_DOUBLE, 1, &all);
    CHECK(shoal_put(file, "v", &everything, nullptr) == SHOAL_OK);
    CHECK(shoal_sync(file, 0) == SHOAL_OK);
    const auto write_cut = [&](const char* name, double value) {
      std::vector<double> data(static_cast<std::size_t>(world.count) + 1, value);
      const shoal_array array = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
      return shoal_write(file, name, cut, &array, nullptr);
    };
    const bool odd = world.rank == world.size - 1;
    write_cut(odd ? "nonsense" : "v", 3);
    CHECK(shoal_sync(file, 0) != SHOAL_OK);
    CHECK(write_cut("v", 4) == SHOAL_OK);
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
    REQUIRE(shoal_open(MPI_COMM_WORLD, "order.nc", SHOAL_READ, "", &file) == SHOAL_OK);
    const shoal_array back = shoal_array_of(whole.data(), SHOAL_DOUBLE, 1, &all);
    CHECK(shoal_get(file, "v", &back, nullptr) == SHOAL_OK);
    int wrong = 0;
    for (std::int64_t i = 0; i < all; ++i)
      wrong += whole[static_cast<std::size_t>(i)] != (i < k_cells ? 4 : 2) ? 1 : 0;
    CHECK(wrong == 0);
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
  }
  shoal_decomposition_free(&cut);
}

TEST_CASE("a rank that left out a write comes along where parts of chunks are in the way") {
  const World world;
  if (world.size == 1) return;
  const std::int64_t all = k_cells + 8;  // the last ones are nobody's
  const std::vector<std::int64_t> chunks{2, all};
  shoal_decomposition* cut = nullptr;
  REQUIRE(shoal_block(MPI_COMM_WORLD, 1, &all, &world.first, &world.count, nullptr, nullptr, &cut) ==
          SHOAL_OK);
  const bool odd = world.rank == world.size - 1;
  for (const std::string settings : {"fill=false", "fill=true", "fill=false, ranks_per_node=1"}) {
    CAPTURE(settings);
    shoal_dataset* file = create("order.nc", "format=netcdf4, " + settings);
    CHECK(shoal_def_dim(file, "t", SHOAL_UNLIMITED) == SHOAL_OK);
    CHECK(shoal_def_dim(file, "x", all) == SHOAL_OK);
    CHECK(shoal_def_var(file, "c", SHOAL_DOUBLE, "t x", cut) == SHOAL_OK);
    CHECK(shoal_def_chunks(file, "c", chunks.data()) == SHOAL_OK);
    CHECK(shoal_def_compression(file, "c", "shuffle+deflate:1") == SHOAL_OK);
    // Chunks of this one keep cells, so ranks may match calls in a write.
    CHECK(shoal_def_var(file, "d", SHOAL_DOUBLE, "t x", cut) == SHOAL_OK);
    CHECK(shoal_def_compression(file, "d", "shuffle+deflate:1") == SHOAL_OK);
    CHECK(shoal_def_fill(file, "d", 0, nullptr) == SHOAL_OK);
    const auto write_cut = [&](const char* name, double value) {
      std::vector<double> data(static_cast<std::size_t>(world.count) + 1, value);
      const shoal_array array = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
      return shoal_write(file, name, cut, &array, SHOAL_RECORD(0));
    };
    write_cut(odd ? "nonsense" : "c", 1);
    // Half of the chunk waits for its other record, and is written again before that comes.
    write_cut("c", 2);
    write_cut("c", 3);
    CHECK(shoal_sync(file, 0) != SHOAL_OK);
    CHECK(write_cut("c", 4) == SHOAL_OK);
    CHECK(shoal_sync(file, 0) == SHOAL_OK);
    std::vector<double> back(static_cast<std::size_t>(world.count) + 1, 0);
    const shoal_array array = shoal_array_of(back.data(), SHOAL_DOUBLE, 1, &world.count);
    CHECK(shoal_read(file, "c", cut, &array, SHOAL_RECORD(0)) == SHOAL_OK);
    if (world.count > 0) CHECK(back.front() == 4);
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
  }
  shoal_decomposition_free(&cut);
}
