// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "results.hpp"

namespace shoal::bench {

/// What a start would need, as one JSON object: {"memory_bytes": of all ranks together, "disk_bytes": the
/// most at one time in a directory, "shape", "records", "bytes"}. Rather too much than too little. Of the
/// setup, options, experiment, grid, tiling, ranks, records and steps count. Local.
std::string estimate_of(const Setup& setup, const Workload& workload);

}  // namespace shoal::bench
