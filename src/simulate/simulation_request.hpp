// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "base/clock.hpp"
#include "simulate/simulated_field.hpp"

namespace shoal {

/// Memory that this process has allocated, and the most since restart. Empty functions: it is not measured.
struct MemoryMeter {
  std::function<std::int64_t()> now;
  std::function<std::int64_t()> peak;
  std::function<void()> restart;
};

/// What is simulated: one field, written once.
struct SimulationRequest {
  SimulatedField field;
  DriverOptions options;
  bool native = true;   ///< the driver; others always send cells to I/O ranks
  Seconds budget = 60;  ///< if all ranks would take longer, only some nodes are simulated
  int least_nodes = 0;  ///< so many of them at least, if not all
  MemoryMeter meter;
  std::vector<std::int64_t> stage_bytes;  ///< of each node, where they differ; else empty

  DriverOptions options_of_node(int node) const {
    DriverOptions own = options;
    if (!stage_bytes.empty()) own.stage.bytes = stage_bytes[static_cast<std::size_t>(node)];
    return own;
  }
};

}  // namespace shoal
