// SPDX-License-Identifier: BSD-3-Clause
// Variables whose decomposition comes later: where they lie in the file, and which puts wait for other ranks.
#include <doctest/doctest.h>
#include <mpi.h>

#include <vector>

#include "dataset/dataset.hpp"
#include "shoal/shoal.h"

using namespace shoal;

TEST_CASE("def_cut: the variable is aligned as those that are defined with a decomposition") {
  for (const char* format : {"cdf1", "cdf5", "raw"}) {
    CAPTURE(format);
    DatasetOptions options;
    options.settings = std::string("alignment=4096, format=") + format;
    options.sources = {"", ""};
    const auto file = Dataset::create(MPI_COMM_WORLD, "def_cut.nc", options);
    file->def_dim("n", 1000);
    file->def_var("small", Type::byte_, "n", nullptr);
    file->def_var("plain", Type::double_, "n", nullptr);
    file->def_var("cut", Type::double_, "n", nullptr);
    file->def_cut("cut");
    file->end_define();
    const auto begin = [&](const char* name) {
      return file->placement(file->schema().find_variable(name))->begin;
    };
    CHECK(begin("plain") % 4096 != 0);
    CHECK(begin("cut") % 4096 == 0);
    file->close(false);
  }
}

TEST_CASE("def_cut: a put waits for nobody before a field was written") {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::int64_t n = 10 * ranks, first = 10 * rank, ten = 10;
  shoal_decomposition* cut = nullptr;
  REQUIRE(shoal_block(MPI_COMM_WORLD, 1, &n, &first, &ten, nullptr, nullptr, &cut) == SHOAL_OK);
  for (const char* settings :
       {"wait_seconds=20", "wait_seconds=20, ranks_per_node=1", "wait_seconds=20, format=netcdf4"}) {
    CAPTURE(settings);
    shoal_dataset* file = nullptr;
    REQUIRE(shoal_create(MPI_COMM_WORLD, "def_cut.nc", settings, &file) == SHOAL_OK);
    REQUIRE(shoal_def_dim(file, "n", n) == SHOAL_OK);
    for (const char* name : {"a", "b"}) {
      REQUIRE(shoal_def_var(file, name, SHOAL_DOUBLE, "n", nullptr) == SHOAL_OK);
      REQUIRE(shoal_def_cut(file, name) == SHOAL_OK);
    }
    REQUIRE(shoal_end_define(file) == SHOAL_OK);
    std::vector<double> values(static_cast<std::size_t>(n), 3);
    const shoal_array all = shoal_array_of(values.data(), SHOAL_DOUBLE, 1, &n);
    const shoal_array mine = shoal_array_of(values.data(), SHOAL_DOUBLE, 1, &ten);
    for (int time = 0; time < 2; ++time) {  // the second one after a sync
      // The others come to their puts when rank 0 has come out of its own.
      int token = 0;
      if (rank > 0) MPI_Recv(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (const char* name : {"a", "b", "a"})
        REQUIRE(shoal_put(file, name, &all, nullptr) == SHOAL_OK);
      for (int r = 1; rank == 0 && r < ranks; ++r)
        MPI_Send(&token, 1, MPI_INT, r, 7, MPI_COMM_WORLD);
      REQUIRE(shoal_write(file, "a", cut, &mine, nullptr) == SHOAL_OK);
      // Over what was written: in order, whatever waits.
      values.assign(values.size(), 4 + time);
      REQUIRE(shoal_put(file, "a", &all, nullptr) == SHOAL_OK);
      REQUIRE(shoal_sync(file, 0) == SHOAL_OK);
    }
    REQUIRE(shoal_close(&file, 0) == SHOAL_OK);
    REQUIRE(shoal_open(MPI_COMM_WORLD, "def_cut.nc", SHOAL_READ, nullptr, &file) == SHOAL_OK);
    std::vector<double> found(static_cast<std::size_t>(n));
    const shoal_array into = shoal_array_of(found.data(), SHOAL_DOUBLE, 1, &n);
    REQUIRE(shoal_get(file, "a", &into, nullptr) == SHOAL_OK);
    CHECK(found == std::vector<double>(static_cast<std::size_t>(n), 5));
    REQUIRE(shoal_get(file, "b", &into, nullptr) == SHOAL_OK);
    CHECK(found == std::vector<double>(static_cast<std::size_t>(n), 4));
    REQUIRE(shoal_close(&file, 0) == SHOAL_OK);
  }
  shoal_decomposition_free(&cut);
}
