// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "comm/nodes.hpp"

namespace shoal {

/// The role of a rank in a job: it computes in a component of the coupled model (0, 1, ...), or it serves.
struct Role {
  static constexpr int k_serves = -1;
  int component = 0;
  bool serves() const { return component == k_serves; }
};

/// The role of this rank where the last of_node ranks of each node serve, and the others are one component.
/// Error on all ranks alike: a node has too few ranks, or ranks give different numbers. Collective over all.
Role last_ranks_serve(const Comm& all, int of_node, int ranks_per_node, const Status& problem);

/// The ranks of a component and its servers, which make the same calls of drivers, without cells. The first
/// computing rank of a node (its node leader) sends each call to the servers of the node. Where there are
/// several components, each server serves one of them, so that no component waits for another.
class Servers {
 public:
  /// The components with ranks on a node get even parts of its servers, in the order of both; a server on a
  /// node without such ranks has nothing to do. ranks_per_node: as for Nodes. Error on all ranks alike: a
  /// node has fewer servers than components, or MPI allows no threads. problem: of this rank's arguments.
  /// Collective over all.
  Servers(const Comm& all, const Role& role, int ranks_per_node, const Status& problem);

  bool serves() const { return serves_; }
  /// Has this server computing ranks to serve?
  bool needed() const { return computing_ranks_ > 0; }
  /// The computing ranks; on servers: the servers.
  const Comm& computing() const { return *computing_; }
  /// The computing ranks, with the same numbers as in computing(), and then the servers.
  const Comm& merged() const { return *merged_; }
  int count() const { return merged_->size() - computing_ranks_; }
  int ranks_per_node() const { return ranks_per_node_; }
  /// The number of this rank's node among the ranks that share memory with it.
  int node_color() const { return color_; }

  /// The number of the next dataset; the same on all computing ranks.
  std::uint64_t next_id() { return ++last_id_; }
  /// Sends a call to the servers. All computing ranks make this call with the same message; node leaders
  /// alone send it. Does not wait for servers.
  void send_call(Bytes message);
  /// Waits until all messages have been received.
  void finish_reporting();
  /// On servers: waits for the next message, asleep.
  Bytes hear() const;

  /// The open datasets in which the servers have a part.
  int datasets() const { return datasets_; }
  void count_dataset(int more) { datasets_ += more; }
  /// To be called when servers get no more messages.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

 private:
  int ranks_per_node_;
  int color_ = 0;
  bool serves_ = false;
  int computing_ranks_ = 0;
  std::optional<Comm> computing_, merged_, control_;
  int node_leader_ = 0;        ///< in merged
  std::vector<int> reported_;  ///< of a node leader: the servers of its node
  std::deque<std::pair<std::shared_ptr<const Bytes>, MPI_Request>> sent_;
  std::uint64_t last_id_ = 0;
  int datasets_ = 0;
  bool stopped_ = false;
};

/// The Servers of this process; nullptr: there are none.
std::shared_ptr<Servers>& current_servers();

}  // namespace shoal
