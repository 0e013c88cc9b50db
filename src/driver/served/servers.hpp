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

/// What a rank of a job does: it computes in a component of the coupled model (0, 1, ...), or it serves.
struct Role {
  static constexpr int k_serves = -1;
  int component = 0;
  bool serves() const { return component == k_serves; }
};

/// The last of_node ranks of each node serve, the others are one component. Error on all ranks alike: more
/// than a node has to spare, not the same number on all ranks. Collective over all.
Role last_ranks_serve(const Comm& all, int of_node, int ranks_per_node, const Status& problem);

/// The ranks of a component, and those that serve it: they make the same calls of drivers, without cells. The
/// first computing rank of a node (its node leader) tells the servers of the node which. Several components
/// share the servers of a node out: one serves one component, so that none waits for another's calls.
class Servers {
 public:
  /// The servers of a node are dealt out evenly to the components with ranks there, in the order of both; one
  /// on a node without such ranks serves nobody. ranks_per_node: as for Nodes. Error on all ranks alike: a
  /// node with fewer servers than components, ranks that cannot have threads. problem: of this rank's
  /// arguments. Collective over all.
  Servers(const Comm& all, const Role& role, int ranks_per_node, const Status& problem);

  bool serves() const { return serves_; }
  /// Is there somebody whom this rank serves?
  bool needed() const { return computing_ranks_ > 0; }
  /// The computing ranks; on servers: the servers.
  const Comm& computing() const { return *computing_; }
  /// The computing ranks, with the numbers that they have there, and then the servers.
  const Comm& merged() const { return *merged_; }
  int count() const { return merged_->size() - computing_ranks_; }
  int ranks_per_node() const { return ranks_per_node_; }
  /// Of this rank's node among those of the ranks that share memory with it.
  int node_color() const { return color_; }

  /// The number of the next dataset; the same on all computing ranks.
  std::uint64_t next_id() { return ++last_id_; }
  /// By computing ranks, all of which say the same; only node leaders send it. Does not wait for servers.
  void send_call(Bytes message);
  /// All messages that were sent have been received when this returns.
  void finish_reporting();
  /// By servers: the next message, once there is one. Asleep until then.
  Bytes hear() const;

  /// Datasets that the servers have a part in.
  int datasets() const { return datasets_; }
  void count_dataset(int more) { datasets_ += more; }
  /// Servers hear nothing any more.
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

/// Those of this process; nullptr: nobody serves.
std::shared_ptr<Servers>& current_servers();

}  // namespace shoal
