#pragma once

#include <mpi.h>

#include <memory>

#include "dataset/serve.hpp"
#include "driver/served/servers.hpp"

namespace shoal::testing {

/// While there is one, so many ranks of each node serve, and MPI_COMM_WORLD is the others' for the tests; or
/// each rank says what it does, and MPI_COMM_WORLD is that of its component. On those that serve the
/// constructor returns when the others' destructors have run. Collective over all ranks.
struct Served {
  explicit Served(int servers, const ServeOptions& how = {});
  explicit Served(const Role& role, const ServeOptions& how = {});
  ~Served();
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  bool computes;
};

/// Where this rank is among the nodes of the whole world. Collective over it.
struct Place {
  int node = 0, rank = 0, size = 1;
};
Place place_in_world();

/// Of the whole world.
int ranks_of_all();
/// Of the node that has fewest of them: fewer than these can serve. Collective over the whole world.
int ranks_of_smallest_node();

/// TEST_SERVERS=n: n ranks of each node serve in all tests. nullptr: none.
std::unique_ptr<Served> served_by_environment();

}  // namespace shoal::testing
