// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

namespace shoal::bench {

/// All of a small program between the start of MPI and its end; returns the exit code. body(command line) is
/// run on all ranks, and returns the code: 0; 2 for wrong values. std::invalid_argument, which all ranks get
/// alike, is printed once, and the code is 1; any other exception ends all ranks.
int run_mpi_program(const char* name, int argc, char** argv,
                    const std::function<int(const std::vector<std::string>&)>& body);

/// Prints on one rank; returns 0.
int say(const std::string& text);

/// Removes a file that all ranks have done with. Collective.
void remove_file(MPI_Comm comm, const std::string& path);

}  // namespace shoal::bench
