// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "content.hpp"

namespace shoal::bench {

/// Whether a variable of the workload is a logical switch of the model (spherical, LuvSrc, ...).
bool is_switch(const Field& field);

/// Values of a switch in a file, read through Shoal: numbers that are not 0, and texts that begin with T, t,
/// are 1. Empty if the file has no such variable. std::runtime_error with Shoal's message if it cannot be
/// read as a switch. Collective.
std::vector<double> read_switch(MPI_Comm comm, const std::string& path, const Field& field);

}  // namespace shoal::bench
