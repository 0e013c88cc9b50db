// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "results.hpp"

namespace shoal::bench {

/// Runs everything that the options ask for, methods taking turns; results are complete on rank 0.
/// Collective. Repetition 0, which warms up and is not to be counted, is among them. Prints progress on rank
/// 0.
std::vector<Result> run_all(MPI_Comm comm, const Setup& setup, const Workload& workload);

}  // namespace shoal::bench
