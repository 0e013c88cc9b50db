// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "machine/figures.hpp"
#include "rearrange/options.hpp"

namespace shoal {

/// Slots that stay in a core's cache. Four to eight of 1 to 2 MiB are the fastest unless a file system wants
/// larger writes, as from 256 KiB on the size of a write hardly matters. 8 MiB are slower, and 32 MiB reach
/// half of what one contiguous block of each rank does: nothing overlaps while the first slot fills and the
/// last one drains.
inline constexpr std::int64_t k_default_slot_bytes = 1024 * 1024;

/// How a file system is written to where no setting says.
struct StoringChoice {
  int writers = 1;  ///< ranks of a node at a time
  std::int64_t slot_bytes = k_default_slot_bytes;
  int io_ranks_of_node = k_io_ranks_of_node;
  int io_nodes = 0;                  ///< nodes that have I/O ranks; 0: all
  std::int64_t least_box_bytes = 0;  ///< of an I/O rank; 0: as even as can be
  std::int64_t stripe_count = 0;     ///< of new files; 0: as the folder is set
  /// What of this the figures chose, by the setting that would change it, and why: "writers", "writers=4: 4
  /// ranks of a node write 2.1 times as fast as 1".
  std::vector<std::pair<std::string, std::string>> why;
};

/// By figures; without them (nullptr) the same on all machines. What gains less than a tenth is left as it
/// is. Local.
StoringChoice choose_storing(const MachineFigures* figures);

}  // namespace shoal
