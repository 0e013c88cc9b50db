// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "comm/comm.hpp"

namespace shoal {

/// How the ranks of a communicator are grouped into nodes.
class Nodes {
 public:
  /// ranks_per_node 0: nodes are the ranks that share memory; n > 0: every n consecutive ranks of those
  /// (tests, NUMA domains). Collective.
  Nodes(const Comm& comm, int ranks_per_node);
  /// Groups of ranks of one node in place of nodes: those of one color. Collective over comm.
  Nodes(const Comm& comm, const Comm& node, int color);

  const Comm& node() const { return node_; }  ///< the ranks of this node
  int index() const { return index_; }        ///< number of this node
  int count() const { return count_; }        ///< how many nodes there are
  bool single() const { return count_ == 1; }

 private:
  void number(const Comm& comm);
  Comm node_;
  int index_ = 0;
  int count_ = 1;
};

/// Of a node, for each of its ranks to have a thread beside it.
inline constexpr int k_cores_of_rank_and_thread = 2;
inline bool have_cores_for_threads(std::int64_t cores, std::int64_t ranks) {
  return cores >= k_cores_of_rank_and_thread * ranks;
}

/// Has every rank a core of its own for a second thread, on all nodes, and did MPI start such that it may
/// have one? The same on all ranks. Collective.
bool have_cores_for_threads(const Comm& comm);
/// Was MPI started for other threads than the one that calls it (MPI_THREAD_FUNNELED) on every rank?
/// Collective.
bool allows_threads(const Comm& comm);
/// How a program comes by them, for messages: with the variable of this MPI library for programs that call
/// MPI_Init.
const char* way_to_threads();

}  // namespace shoal
