// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_program.hpp"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "node.hpp"

namespace shoal::bench {

int say(const std::string& text) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::cout << text;
  return EXIT_SUCCESS;
}

void remove_file(MPI_Comm comm, const std::string& path) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  quiet_barrier(comm);
  if (rank == 0) std::filesystem::remove(path);
  quiet_barrier(comm);
}

int run_mpi_program(const char* name, int argc, char** argv,
                    const std::function<int(const std::vector<std::string>&)>& body) {
  MPI_Init(&argc, &argv);
  int rank = 0, code = EXIT_FAILURE;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    code = body({argv + 1, argv + argc});
  } catch (const std::invalid_argument& e) {
    if (rank == 0) std::cerr << name << ": " << e.what() << '\n';
  } catch (const std::exception& e) {
    // Perhaps not on all ranks: nobody shall wait for this one.
    std::cerr << name << ": rank " << rank << ": " << e.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return code;
}

}  // namespace shoal::bench
