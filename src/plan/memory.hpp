// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "simulate/simulation.hpp"

namespace shoal::plan {

/// All that this program's C++ code has allocated, as the allocator rounds it. For one thread.
MemoryMeter allocations();

}  // namespace shoal::plan
