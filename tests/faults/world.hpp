// SPDX-License-Identifier: BSD-3-Clause
// A line of cells that is cut over all ranks, by Shoal's C interface.
#pragma once

#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "shoal/shoal.h"

namespace shoal::testing {

constexpr std::int64_t k_cells = 24;

struct World {
  int rank = 0;
  int size = 1;
  std::int64_t first = 0;  ///< of this rank's cells, where they lie together
  std::int64_t count = 0;
  shoal_decomposition* cut = nullptr;

  /// mapped: every size-th cell is this rank's.
  explicit World(bool mapped = false) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (mapped) {
      std::vector<std::int64_t> cells;
      for (std::int64_t i = rank; i < k_cells; i += size)
        cells.push_back(i);
      count = static_cast<std::int64_t>(cells.size());
      REQUIRE(shoal_map(MPI_COMM_WORLD, 1, &k_cells, 0, count, cells.data(), &cut) == SHOAL_OK);
      return;
    }
    first = k_cells * rank / size;
    count = k_cells * (rank + 1) / size - first;
    REQUIRE(shoal_block(MPI_COMM_WORLD, 1, &k_cells, &first, &count, nullptr, nullptr, &cut) == SHOAL_OK);
  }
  ~World() { shoal_decomposition_free(&cut); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
};

}  // namespace shoal::testing
