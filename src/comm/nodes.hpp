// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "comm/comm.hpp"

namespace shoal {

/// How the ranks of a communicator are grouped into nodes.
class Nodes {
 public:
  /// ranks_per_node 0: a node is the ranks that share memory; n > 0: n consecutive ranks of those (tests,
  /// NUMA domains). Collective.
  Nodes(const Comm& comm, int ranks_per_node);
  /// Groups of ranks of a node, by color, in place of nodes. Collective over comm.
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

/// Cores that a rank needs for a thread beside it.
inline constexpr int k_cores_of_rank_and_thread = 2;
inline bool have_cores_for_threads(std::int64_t cores, std::int64_t ranks) {
  return cores >= k_cores_of_rank_and_thread * ranks;
}

/// Has every rank, on all nodes, a core for a second thread, and does MPI allow threads (allows_threads)? The
/// same on all ranks. Collective.
bool have_cores_for_threads(const Comm& comm);
/// Was MPI started with MPI_THREAD_FUNNELED or more on every rank? Collective.
bool allows_threads(const Comm& comm);
/// Advice for messages: how a program starts MPI for threads, with the environment variable that this MPI
/// library has for programs that call MPI_Init.
const char* way_to_threads();

}  // namespace shoal
