// SPDX-License-Identifier: BSD-3-Clause
//
// Exceptions that nobody catches, after abort_on_error: one of Shoal on all ranks; one of the program's own
// on all ranks ("own"), or on the last one alone, where the others would wait for ever ("one"); something
// else that is thrown ("number"); none at all ("none"). What is printed the test looks at.
#include <exception>
#include <shoal/shoal.hpp>
#include <stdexcept>
#include <string>

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  MPI_Init(nullptr, nullptr);
  // One that Shoal is not called with otherwise.
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  shoal::abort_on_error(comm);
  if (what == "none") std::terminate();
  if (what == "number") throw 7;
  if (what == "own" || (what == "one" && rank == size - 1))
    throw std::runtime_error("the grid has no cells\nin the file grid.nc");
  if (what == "one") MPI_Barrier(comm);
  shoal::Dataset::open(comm, "no_such.nc");
  MPI_Finalize();
}
