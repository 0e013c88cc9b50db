// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

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
/// largest_chunk: of those that are compressed, in bytes; each is worked on by one rank, as a whole.
StageShape stage_shape(const DriverOptions& options, int ranks, std::int64_t largest_chunk = 0);

/// Error(setting) if there are to be more writers than any node has ranks (or ranks that serve): most.
void require_writers(int writers, int most, bool serve = false);

/// Do the ranks of a node store their tiles themselves, past the stage? If all are long runs, which chunks of
/// the variable do not cut. long_run: bytes; 0: chosen here.
bool are_long_runs(const NodeShare& share, const Dims& global, const Dims& chunk, std::size_t element_size,
                   std::int64_t long_run);

/// Runs of the file, and their bytes, that cells in boxes make: of one index of the dimensions in front of
/// the boxes'.
struct RunCount {
  std::int64_t runs = 0, bytes = 0;
};
RunCount runs_in_file(const std::vector<Box>& boxes, const Box& region, const Dims& chunk,
                      std::size_t element_size);

/// Shorter runs are dearer to store one by one than to send: a system call of 10 microseconds or more, in
/// which some GB/s go over the network.
inline constexpr double k_short_run = 16 * 1024;
/// About how many runs the boxes of so many I/O ranks are together. align: as EvenPartition.
double runs_of_boxes(const Box& region, int io_ranks, const Dims& align, const Dims& chunk,
                     std::size_t element_size);
/// Is it better that I/O ranks store so many runs, than that nodes store others of so many bytes in all?
bool rearranging_is_cheaper(double runs, double bytes, double runs_of_boxes);
/// Of a node that stores cells of a map itself; more are sent to I/O ranks. Each takes 150 bytes on each of
/// its ranks.
inline constexpr std::int64_t k_most_boxes = 64 * 1024;

}  // namespace shoal
