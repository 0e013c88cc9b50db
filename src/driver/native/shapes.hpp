// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "decomp/node_share.hpp"
#include "driver/options.hpp"
#include "rearrange/even_partition.hpp"

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
/// largest_chunk: of those that are compressed, in bytes; each is worked on by one rank, as a whole.
StageShape stage_shape(const StageOptions& options, StoredBy stored_by, int ranks,
                       std::int64_t largest_chunk = 0);

/// Of nodes that are cut into groups with an I/O rank each: what options are where a group stands for a node.
void set_for_groups(DriverOptions& options, int groups_of_node);

/// Error(setting) if there are to be more writers than any node has ranks (or ranks that serve): most.
void require_writers(int writers, int most, bool serve = false);

/// Bytes: shorter runs gain from being joined with those of other ranks.
inline constexpr std::int64_t k_long_run = 128 * 1024;
/// Do the ranks of a node store their tiles themselves, past the stage? If all are long runs, which chunks of
/// the variable do not cut. long_run: bytes.
bool are_long_runs(const NodeShare& share, const Dims& global, const Dims& chunk, std::size_t element_size,
                   std::int64_t long_run);

/// Runs of the file, and their bytes, that cells in boxes make: of one index of the dimensions in front of
/// the boxes'.
struct RunCount {
  std::int64_t runs = 0, bytes = 0;
};
RunCount runs_in_file(const std::vector<Box>& boxes, const Box& region, const Dims& chunk,
                      std::size_t element_size);

/// About how many runs the boxes of so many I/O ranks are together.
double runs_of_boxes(const Box& region, int io_ranks, const PartRules& rules, const Dims& chunk,
                     std::size_t element_size);

}  // namespace shoal
