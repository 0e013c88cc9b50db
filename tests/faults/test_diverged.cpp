// A rank that leaves out a call: with every driver and layout an error on all ranks, and nobody waits for
// ever.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "faults/world.hpp"
#include "shoal/shoal.h"
#include "support/builds.hpp"

namespace {

using shoal::testing::in_this_build;
using shoal::testing::k_cells;
using shoal::testing::World;

std::vector<std::string> variants() {
  return in_this_build({"driver=native, format=cdf5",
                        "driver=native, format=netcdf4",
                        "driver=native, format=netcdf4, ranks_per_node=1",
                        "driver=native, format=cdf5, ranks_per_node=2, rearrange=on",
                        "driver=native, format=netcdf4, io_ranks_per_node=1",
                        "driver=native, format=cdf5, rearranger=subset, io_stride=2",
                        "driver=native, layout=process",
                        "driver=native, layout=node, ranks_per_node=2, format=netcdf4",
                        "driver=gather, format=cdf5",
                        "driver=gather, format=ascii",
                        "driver=gather, layout=process, format=raw",
                        "driver=gather, layout=node, ranks_per_node=2",
                        "driver=mpiio, format=raw, access=collective",
                        "driver=mpiio, format=cdf5, access=independent",
                        "driver=pnetcdf, access=collective",
                        "driver=pnetcdf, access=independent",
                        "driver=pnetcdf, access=nonblocking",
                        "driver=pnetcdf, layout=node, ranks_per_node=2",
                        "driver=netcdf, format=netcdf4, access=collective",
                        "driver=netcdf, format=netcdf4, access=independent"});
}

/// Ways for fields that are cut by maps.
std::vector<std::string> variants_of_maps() {
  return in_this_build(
      {"driver=native, format=cdf5", "driver=native, format=cdf5, ranks_per_node=1",
       "driver=native, format=netcdf4, ranks_per_node=1", "driver=native, format=netcdf4, io_ranks=2",
       "driver=native, format=cdf5, ranks_per_node=1, rearrange=off",
       "driver=native, format=cdf5, ranks_per_node=2, rearrange=on",
       "driver=native, format=netcdf4, ranks_per_node=2, rearrange=on",
       "driver=native, format=cdf5, ranks_per_node=1, rearrange=on, stage_bytes=64KiB",
       "driver=gather, format=cdf5", "driver=mpiio, format=raw, access=independent",
       "driver=pnetcdf, access=collective", "driver=pnetcdf, access=independent",
       "driver=pnetcdf, access=nonblocking, io_ranks=1", "driver=netcdf, format=netcdf4, access=collective"});
}

int write(shoal_dataset* file, const World& world, double value, std::int64_t record) {
  std::vector<double> data(static_cast<std::size_t>(world.count) + 1, value);
  const shoal_array array = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
  return shoal_write(file, "v", world.cut, &array, SHOAL_RECORD(record));
}

int put(shoal_dataset* file, double value, std::int64_t record) {
  const shoal_array array = shoal_array_of(&value, SHOAL_DOUBLE, 0, nullptr);
  return shoal_put(file, "time", &array, SHOAL_RECORD(record));
}

/// Four records, the first of them committed; one rank leaves one call of the third out. The first code that
/// is not SHOAL_OK.
int write_without(const std::string& what, const World& world, const std::string& settings) {
  shoal_dataset* file = nullptr;
  const int made = shoal_create(MPI_COMM_WORLD, "apart.nc", settings.c_str(), &file);
  REQUIRE_MESSAGE(made == SHOAL_OK, std::string(shoal_error_message()));
  int first = SHOAL_OK;
  const auto note = [&first](int code) {
    if (first == SHOAL_OK) first = code;
  };
  note(shoal_def_dim(file, "t", SHOAL_UNLIMITED));
  note(shoal_def_dim(file, "x", k_cells));
  note(shoal_def_var(file, "time", SHOAL_DOUBLE, "t", nullptr));
  note(shoal_def_var(file, "v", SHOAL_DOUBLE, "t x", world.cut));
  for (std::int64_t record = 0; record < 4; ++record) {
    const bool absent = record == 2 && world.rank == 1;
    if (!absent || what != "put") note(put(file, static_cast<double>(record), record));
    if (!absent || what != "write") note(write(file, world, static_cast<double>(record), record));
    if (!absent || what != "sync") note(shoal_sync(file, 0));
  }
  note(shoal_close(&file, 0));
  return first;
}

void find_left_out_call(bool mapped, const std::vector<std::string>& variants) {
  const World world(mapped);
  if (world.size == 1) return;
  for (const std::string& variant : variants) {
    for (const std::string what : {"write", "put", "sync"}) {
      INFO(variant, ": without ", what);
      const int code = write_without(what, world, variant + ", quiet=true");
      CHECK(code == SHOAL_OUT_OF_STEP);
      // Nothing hangs, and the library can go on with other datasets.
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

void find_left_out_read(bool mapped, const std::vector<std::string>& variants) {
  const World world(mapped);
  if (world.size == 1) return;
  for (const std::string& variant : variants) {
    REQUIRE(write_without("nothing", world, variant + ", quiet=true") == SHOAL_OK);
    for (const std::string what : {"read", "get"}) {
      INFO(variant, ": without ", what);
      // The format and the layout are found in the file.
      const bool in_set = variant.find("layout") != std::string::npos;
      std::string settings = in_set ? std::string() : variant;
      if (const auto at = settings.find(", format="); at != std::string::npos)
        settings.erase(at, settings.find(',', at + 1) - at);
      shoal_dataset* file = nullptr;
      REQUIRE(shoal_open(MPI_COMM_WORLD, "apart.nc", SHOAL_READ, settings.c_str(), &file) == SHOAL_OK);
      int first = SHOAL_OK;
      for (std::int64_t record = 0; record < 3; ++record) {
        const bool absent = record == 1 && world.rank == 1;
        std::vector<double> data(static_cast<std::size_t>(world.count) + 1);
        const shoal_array cells = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
        double time = -1;
        const shoal_array scalar = shoal_array_of(&time, SHOAL_DOUBLE, 0, nullptr);
        if (!absent || what != "get") {
          const int code = shoal_get(file, "time", &scalar, SHOAL_RECORD(record));
          if (first == SHOAL_OK) first = code;
        }
        if (!absent || what != "read") {
          const int code = shoal_read(file, "v", world.cut, &cells, SHOAL_RECORD(record));
          if (first == SHOAL_OK) first = code;
        }
      }
      const int code = shoal_close(&file, 0);
      if (first == SHOAL_OK) first = code;
      CHECK(first == SHOAL_OUT_OF_STEP);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

}  // namespace

TEST_CASE("a rank that leaves out a call is found, and all ranks learn of it") {
  find_left_out_call(false, variants());
}

TEST_CASE("a rank that leaves out a call for a map is found, and all ranks learn of it") {
  find_left_out_call(true, variants_of_maps());
}

TEST_CASE("a rank that leaves out a read is found, and all ranks learn of it") {
  find_left_out_read(false, variants());
}

TEST_CASE("a rank that leaves out a read of a map is found, and all ranks learn of it") {
  find_left_out_read(true, variants_of_maps());
}

// While fields wait to be sent ranks do not match calls to write. One that could not take part finds the
// others where they wait for it, whatever comes next.
TEST_CASE("a rank that cannot say what it writes leaves nobody waiting, and writing goes on after sync") {
  const World world(true);
  if (world.size == 1) return;
  for (const std::string variant :
       {"format=cdf5, ranks_per_node=2, rearrange=on", "format=netcdf4, ranks_per_node=2, rearrange=on",
        "format=cdf5, ranks_per_node=1, rearrange=on, stage_bytes=64KiB"})
    for (const std::string next : {"sync", "read", "get", "put"})
      for (const int calls : {1, 150}) {  // more than can wait
        INFO(variant, ": then ", next, " after ", calls);
        shoal_dataset* file = nullptr;
        REQUIRE(shoal_create(MPI_COMM_WORLD, "apart.nc", (variant + ", quiet=true").c_str(), &file) ==
                SHOAL_OK);
        CHECK(shoal_def_dim(file, "t", SHOAL_UNLIMITED) == SHOAL_OK);
        CHECK(shoal_def_dim(file, "x", k_cells) == SHOAL_OK);
        CHECK(shoal_def_var(file, "time", SHOAL_DOUBLE, "t", nullptr) == SHOAL_OK);
        CHECK(shoal_def_var(file, "v", SHOAL_DOUBLE, "t x", world.cut) == SHOAL_OK);
        for (std::int64_t record = 0; record < 3; ++record)
          CHECK(write(file, world, 1, record) == SHOAL_OK);
        CHECK(shoal_sync(file, 0) == SHOAL_OK);
        std::vector<double> data(static_cast<std::size_t>(world.count) + 1, 7);
        const shoal_array cells = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
        const char* name = world.rank == 1 ? "nix" : "v";
        CHECK(shoal_write(file, name, world.cut, &cells, SHOAL_RECORD(3)) == SHOAL_OK);
        int first = SHOAL_OK;
        const auto note = [&first](int code) {
          if (first == SHOAL_OK) first = code;
        };
        for (int i = 1; i < calls; ++i)
          note(write(file, world, 1, 3 + i));
        double time = 0;
        const shoal_array scalar = shoal_array_of(&time, SHOAL_DOUBLE, 0, nullptr);
        if (next == "read") note(shoal_read(file, "v", world.cut, &cells, SHOAL_RECORD(0)));
        if (next == "get") note(shoal_get(file, "time", &scalar, SHOAL_RECORD(0)));
        if (next == "put") note(put(file, 3, 3));
        note(shoal_sync(file, 0));
        CHECK(first == SHOAL_NOT_FOUND);
        CHECK(write(file, world, 5, 3) == SHOAL_OK);
        CHECK(write(file, world, 6, 4) == SHOAL_OK);
        CHECK(shoal_sync(file, 0) == SHOAL_OK);
        for (std::int64_t record = 0; record < 5; ++record) {
          CHECK(shoal_read(file, "v", world.cut, &cells, SHOAL_RECORD(record)) == SHOAL_OK);
          if (world.count > 0) CHECK(data.front() == (record < 3 ? 1 : static_cast<double>(record + 2)));
        }
        CHECK(shoal_close(&file, 0) == SHOAL_OK);
        MPI_Barrier(MPI_COMM_WORLD);
      }
}

TEST_CASE("after a put that one rank left out, writing goes on") {
  const World world;
  if (world.size == 1) return;
  for (const std::string format : {"cdf5", "netcdf4"}) {
    CAPTURE(format);
    shoal_dataset* file = nullptr;
    REQUIRE(shoal_create(MPI_COMM_WORLD, "apart.nc", ("driver=native, format=" + format).c_str(), &file) ==
            SHOAL_OK);
    CHECK(shoal_def_dim(file, "t", SHOAL_UNLIMITED) == SHOAL_OK);
    CHECK(shoal_def_dim(file, "x", k_cells) == SHOAL_OK);
    CHECK(shoal_def_var(file, "time", SHOAL_DOUBLE, "t", nullptr) == SHOAL_OK);
    CHECK(shoal_def_var(file, "v", SHOAL_DOUBLE, "t x", world.cut) == SHOAL_OK);
    CHECK(put(file, 0, 0) == SHOAL_OK);
    CHECK(write(file, world, 0, 0) == SHOAL_OK);
    CHECK(shoal_sync(file, 0) == SHOAL_OK);
    if (world.rank != 1) CHECK(put(file, 1, 1) == SHOAL_OK);
    CHECK(shoal_sync(file, 0) == SHOAL_OUT_OF_STEP);
    CHECK(put(file, 5, 1) == SHOAL_OK);
    CHECK(write(file, world, 5, 1) == SHOAL_OK);
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
    REQUIRE(shoal_open(MPI_COMM_WORLD, "apart.nc", SHOAL_READ, "", &file) == SHOAL_OK);
    std::vector<double> found(static_cast<std::size_t>(world.count) + 1, -1);
    const shoal_array cells = shoal_array_of(found.data(), SHOAL_DOUBLE, 1, &world.count);
    CHECK(shoal_read(file, "v", world.cut, &cells, SHOAL_RECORD(1)) == SHOAL_OK);
    if (world.count > 0) CHECK(found.front() == 5);
    CHECK(shoal_close(&file, 0) == SHOAL_OK);
  }
}

TEST_CASE("after a write that one rank got wrong, a field of a map that is new leaves nobody waiting") {
  const World world;
  const World mapped(true);
  if (world.size == 1) return;
  for (const std::string variant : {"format=cdf5", "format=netcdf4", "format=cdf5, ranks_per_node=2"}) {
    CAPTURE(variant);
    shoal_dataset* file = nullptr;
    REQUIRE(shoal_create(MPI_COMM_WORLD, "apart.nc", (variant + ", quiet=true").c_str(), &file) == SHOAL_OK);
    CHECK(shoal_def_dim(file, "t", SHOAL_UNLIMITED) == SHOAL_OK);
    CHECK(shoal_def_dim(file, "x", k_cells) == SHOAL_OK);
    CHECK(shoal_def_var(file, "v", SHOAL_DOUBLE, "t x", world.cut) == SHOAL_OK);
    CHECK(shoal_def_var(file, "w", SHOAL_DOUBLE, "t x", nullptr) == SHOAL_OK);
    CHECK(shoal_def_fill(file, "w", 0, nullptr) == SHOAL_OK);
    std::vector<double> data(static_cast<std::size_t>(std::max(world.count, mapped.count)) + 1, 1);
    const shoal_array cells = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &world.count);
    const shoal_array some = shoal_array_of(data.data(), SHOAL_DOUBLE, 1, &mapped.count);
    CHECK(shoal_write(file, world.rank == 0 ? "nix" : "v", world.cut, &cells, SHOAL_RECORD(0)) == SHOAL_OK);
    CHECK(shoal_write(file, "w", mapped.cut, &some, SHOAL_RECORD(0)) == SHOAL_OK);
    CHECK(shoal_close(&file, 0) == SHOAL_NOT_FOUND);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
