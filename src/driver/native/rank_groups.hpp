// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/nodes.hpp"
#include "driver/driver.hpp"

namespace shoal {

/// The groups of ranks that share a stage: the ranks of a node, or a part of them; which ranks serve; and
/// when nodes see each other's writes. Fixed when the file is opened, but for nodes without shared memory.
class RankGroups {
 public:
  /// options: the driver's, which become those of a group where ranks are grouped.
  RankGroups(const Comm& comm, DriverOptions& options, Counters& counters)
      : comm_(comm), options_(options), counters_(counters) {}

  // While the file is opened, in this order. Collective.
  /// Error(setting): more writers than any node has ranks.
  void find_nodes();
  /// Finds when nodes see each other's writes on the file system. Returns I/O ranks if the ranks of one node
  /// must store for all. Error on all ranks alike: the file is not the same for all nodes, or the settings
  /// ask for what is not possible there.
  std::optional<std::vector<int>> share_file(const std::string& path, const FileSystem& found, bool writable);
  /// The ranks that serve, of all nodes or of rank 0's.
  std::vector<int> servers(bool of_one_node) const;
  /// Makes groups with one I/O rank each (rearranger=subset): the ranks of a group share a stage, and their
  /// cells do not leave it. Error(setting) on all ranks alike.
  void make_groups();

  /// For nodes without shared memory: from now on each rank counts as a node, with its part of the memory.
  /// Collective.
  void split_into_ranks();

  const Nodes& nodes() const { return *nodes_; }
  const Comm& node() const { return nodes_->node(); }
  bool single() const { return nodes_->single(); }
  bool is_node_leader() const { return node().rank() == 0; }
  /// Is this rank one that only stores?
  bool serves() const { return comm_.rank() >= comm_.size() - options_.servers.count; }
  int servers_of_node() const { return servers_of_node_; }
  /// The I/O rank of this group, by its number in node(); -1: there are no groups.
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
