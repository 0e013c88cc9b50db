// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "comm/nodes.hpp"
#include "rearrange/options.hpp"

namespace shoal {

/// What the settings say of I/O ranks, each 0: not set. node: the ranks of this node are meant, and the count
/// is io_ranks_per_node; -1: all ranks.
struct IoRanksRequest {
  int count = 0, stride = 0, base = 0;
  int node = -1;
};

/// Which ranks store and fetch for others: base, base + stride, ... Without a stride they are as far apart as
/// they can be; without a number there are as many as fit. Error(setting) says what would fit. Local.
std::vector<int> io_ranks_of(int ranks, const IoRanksRequest& request);

/// Has this one of so many nodes I/O ranks, if so many at most have? They are as far apart as they can be,
/// and the first is among them. most: 0: all.
bool is_io_node(int node, int nodes, int most);

/// The same, as the options say; where nothing is set: up to most_io_ranks_of_node ranks of each node (of
/// most_io_nodes of them), as far apart as they can be. Ascending, the same on all ranks, as Error(setting)
/// is. Collective over comm.
std::vector<int> choose_io_ranks(const Comm& comm, const RearrangeOptions& options);

/// Ranks of a node in groups, each with one of the I/O ranks: it has the ranks from itself to the next one
/// (the first also those before it). Unless settings say otherwise, a node is one group. Stride and base
/// count the ranks of a node, unless io_ranks is set.
struct IoGroups {
  std::unique_ptr<Nodes> groups;  ///< in place of nodes
  int io_rank = 0;                ///< of this group, as its communicator counts
  int of_node = 1;                ///< groups of this node
};
/// Error(setting), on all ranks alike, where a node has no I/O rank. Collective over comm.
IoGroups choose_io_groups(const Comm& comm, const Nodes& nodes, const RearrangeOptions& options);

/// Error(setting), on all ranks alike, if the options ask for I/O ranks that cannot be. Collective over comm.
void check_io_ranks(const Comm& comm, const RearrangeOptions& options);

}  // namespace shoal
