// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "decomp/node_share.hpp"
#include "driver/options.hpp"
#include "rearrange/even_partition.hpp"

namespace shoal {

// Choices of the driver that follow from numbers alone.

/// The shape of a node's stage, where there is shared memory for it.
struct StageShape {
  int slots = 0;
  std::int64_t slot_bytes = 0;
  int writers = 1;
};
inline constexpr std::int64_t k_least_slot = 64 * 1024;
inline constexpr int k_least_slots = 2;
/// largest_chunk: of those that are compressed, in bytes; each is worked on by one rank, as a whole.
StageShape stage_shape(const StageOptions& options, StoredBy stored_by, int ranks,
                       std::int64_t largest_chunk = 0);

/// Changes the options of a node to those of a group, where nodes are cut into groups with an I/O rank each.
void set_for_groups(DriverOptions& options, int groups_of_node);

/// Error(setting): more writers than `most`, the ranks (serve: the servers) of the node that has most.
void require_writers(int writers, int most, bool serve = false);

/// Bytes: shorter runs gain from being joined with those of other ranks.
inline constexpr std::int64_t k_long_run = 128 * 1024;
/// Are all tiles of a node's ranks long runs in the file, which chunks of the variable do not cut? Then ranks
/// store them past the stage. long_run: bytes.
bool are_long_runs(const NodeShare& share, const Dims& global, const Dims& chunk, std::size_t element_size,
                   std::int64_t long_run);

/// A number of runs in the file, and their bytes.
struct RunCount {
  std::int64_t runs = 0, bytes = 0;
};
/// The runs of cells in boxes, for one index of the dimensions in front of theirs.
RunCount runs_in_file(const std::vector<Box>& boxes, const Box& region, const Dims& chunk,
                      std::size_t element_size);

/// The approximate number of runs in the file that the boxes of so many I/O ranks are.
double runs_of_boxes(const Box& region, int io_ranks, const PartRules& rules, const Dims& chunk,
                     std::size_t element_size);

}  // namespace shoal
