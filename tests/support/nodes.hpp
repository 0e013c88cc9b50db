// Where the ranks of a test are.
#pragma once

#include <mpi.h>

namespace shoal::testing {

/// Ranks share memory, so that they see which calls the others are in. Collective.
inline bool is_on_one_node() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int here = 0, all = 0;
  MPI_Comm_size(node, &here);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  MPI_Comm_free(&node);
  return here == all;
}

}  // namespace shoal::testing
