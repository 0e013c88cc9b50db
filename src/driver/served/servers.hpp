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

/// The ranks of a job in two parts: those that compute, and the last n of each node, which serve them: they
/// make the same calls of drivers, without cells. The first computing rank of a node (its node leader) tells
/// the servers of the node which.
class Servers {
 public:
  /// of_node: how many of each node, 1 or more. ranks_per_node: as for Nodes. Error on all ranks alike: more
  /// than a node has to spare, not the same number on all ranks, ranks that cannot have threads. problem: of
  /// this rank's arguments. Collective over all.
  Servers(const Comm& all, int of_node, int ranks_per_node, const Status& problem);

  bool serves() const { return serves_; }
  /// The computing ranks; on servers: the servers.
  const Comm& computing() const { return *computing_; }
  /// The computing ranks, with the numbers that they have there, and then the servers.
  const Comm& merged() const { return *merged_; }
  int count() const { return merged_->size() - computing_ranks_; }
  int of_node() const { return of_node_; }
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
  int of_node_;
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
