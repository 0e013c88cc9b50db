// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace shoal {

/// Do cells go to I/O ranks, or does each node store what its ranks have? automatic: whichever costs less.
enum class Rearrange { automatic, on, off };

/// What I/O ranks do. box: each stores an even box of a field, to which all ranks send their cells; subset:
/// each stores what its own group of ranks of its node has. automatic: the driver chooses.
enum class RearrangerKind { automatic, box, subset };

/// On one node of two cores, 1 to 16 of them took the same time; few share the memory and messages of a node
/// among more ranks than one, and leave the calls of a library large.
inline constexpr int k_io_ranks_of_node = 8;

/// What settings say of I/O ranks, and of cells that go to them.
struct RearrangeOptions {
  /// Ranks that store and fetch boxes of fields: how many, each how many after the one before, which first;
  /// so many of each node, of whose ranks the two others then count. 0: chosen (io_ranks.hpp).
  int io_ranks = 0, io_stride = 0, io_base = 0, io_ranks_per_node = 0;
  RearrangerKind rearranger = RearrangerKind::automatic;
  Rearrange rearrange = Rearrange::automatic;  ///< driver native on several nodes
  int ranks_per_node = 0;                      ///< 0: ranks that share memory; n: every n of them
  /// Boxes of I/O ranks begin at multiples of so many bytes of the file, where they can; 0: anywhere.
  std::int64_t alignment_bytes = 0;
  int most_io_ranks_of_node = k_io_ranks_of_node;  ///< unless settings say
  int most_io_nodes = 0;                           ///< nodes that have I/O ranks, unless settings say; 0: all
  /// Smaller boxes are not made, but fewer; 0: each I/O rank has one.
  std::int64_t least_box_bytes = 0;
};

/// Is any of the four set?
inline bool sets_io_ranks(const RearrangeOptions& options) {
  return options.io_ranks > 0 || options.io_stride > 0 || options.io_base > 0 ||
         options.io_ranks_per_node > 0;
}

/// Do boxes of I/O ranks get the cells of tiles, too?
inline bool asks_for_boxes(const RearrangeOptions& options) {
  return sets_io_ranks(options) || options.rearranger == RearrangerKind::box;
}

}  // namespace shoal
