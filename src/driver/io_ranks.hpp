// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "comm/nodes.hpp"
#include "driver/driver.hpp"

namespace shoal {

/// Which ranks hand cells to a library, as the settings io_ranks, io_stride and io_base say (each 0: not
/// set): ranks base, base + stride, ... Without a stride they are as far apart as they can be; without a
/// number there are as many as fit. Error(setting) says what would fit. Local.
std::vector<int> io_ranks_of(int ranks, int count, int stride, int base);

/// The same, where nothing is set: up to k_io_ranks_of_node ranks of each node, as far apart as they can be.
/// Ascending, the same on all ranks. Collective over comm.
std::vector<int> choose_io_ranks(const Comm& comm, const DriverOptions& options);

/// On one node of two cores, 1 to 16 of them took the same time; few share the memory and messages of a node
/// among more ranks than one, and leave the calls of a library large.
inline constexpr int k_io_ranks_of_node = 8;

/// Bytes of messages that a rank may have under way.
inline std::int64_t exchange_bytes(const DriverOptions& options) {
  constexpr std::int64_t k_exchange_bytes = 64 * 1024 * 1024;
  return options.whole_stage ? std::min(k_exchange_bytes, options.stage_bytes) : k_exchange_bytes;
}

/// Is any of the three set?
inline bool sets_io_ranks(const DriverOptions& options) {
  return options.io_ranks > 0 || options.io_stride > 0 || options.io_base > 0;
}

}  // namespace shoal
