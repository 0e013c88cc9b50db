// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/nodes.hpp"
#include "driver/driver.hpp"

namespace shoal {

/// Which ranks share a stage: those of a node, or of a group of its ranks; which of them serve; and how well
/// they see each other's bytes. Fixed when the file is opened, but for nodes that have no shared memory.
class RankGroups {
 public:
  /// options: the driver's, which become those of a group where ranks are grouped.
  RankGroups(const Comm& comm, DriverOptions& options, Counters& counters)
      : comm_(comm), options_(options), counters_(counters) {}

  // While the file is opened, in this order. Collective.
  /// Error(setting): more writers than any node has ranks.
  void find_nodes();
  /// What the file system means for nodes. I/O ranks, if those of one node must store for all. Error on all
  /// ranks alike: the file is not the same for all nodes, or settings ask for what cannot be there.
  std::optional<std::vector<int>> share_file(const std::string& path, const FileSystem& found, bool writable);
  /// Ranks that serve, of all nodes or of rank 0's.
  std::vector<int> servers(bool of_one_node) const;
  /// A group with an I/O rank is what a node is otherwise: its ranks share a stage, and none of their cells
  /// leave it. Error(setting) on all ranks alike.
  void make_groups();

  /// Nodes have no memory that their ranks could share: each rank counts as a node from now on, with its part
  /// of the memory. Collective.
  void split_into_ranks();

  const Nodes& nodes() const { return *nodes_; }
  const Comm& node() const { return nodes_->node(); }
  bool single() const { return nodes_->single(); }
  bool is_node_leader() const { return node().rank() == 0; }
  /// Is this rank one that only stores?
  bool serves() const { return comm_.rank() >= comm_.size() - options_.servers.count; }
  int servers_of_node() const { return servers_of_node_; }
  /// Of this group, as its communicator counts; -1: there are no groups.
  int io_rank_of_group() const { return io_rank_of_group_; }
  FileSystem::Sharing sharing() const { return sharing_; }

 private:
  const Comm& comm_;
  DriverOptions& options_;
  Counters& counters_;
  std::unique_ptr<Nodes> nodes_;
  FileSystem::Sharing sharing_ = FileSystem::Sharing::unknown;
  int servers_of_node_ = 0;
  int io_rank_of_group_ = -1;
};

}  // namespace shoal
