// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "decomp/node_share.hpp"
#include "driver/driver.hpp"

namespace shoal {

// What the driver chooses by numbers alone.

/// The stage of a node with so many ranks, if there is shared memory for it.
struct StageShape {
  int slots = 0;
  std::int64_t slot_bytes = 0;
  int writers = 1;
};
inline constexpr std::int64_t k_least_slot = 64 * 1024;
inline constexpr int k_least_slots = 2;
StageShape stage_shape(const DriverOptions& options, int ranks);

/// Do the ranks of a node store their tiles themselves, past the stage? If all are long runs, which chunks of
/// the variable do not cut. long_run: bytes; 0: chosen here.
bool are_long_runs(const NodeShare& share, const Dims& global, const Dims& chunk, std::size_t element_size,
                   std::int64_t long_run);

}  // namespace shoal
