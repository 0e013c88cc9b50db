// SPDX-License-Identifier: BSD-3-Clause
#include "driver/native/rank_groups.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/numbered.hpp"
#include "driver/file/shared_file.hpp"
#include "driver/native/shapes.hpp"
#include "rearrange/io_ranks.hpp"
#include "rearrange/strategy.hpp"

namespace shoal {

void RankGroups::find_nodes() {
  const bool serve = options_.background.stored_by == StoredBy::ranks;
  // Servers are the last ranks of all, and among those of their node.
  nodes_ = serve ? std::make_unique<Nodes>(comm_, comm_.split_shared(), options_.servers.node_color)
                 : std::make_unique<Nodes>(comm_, options_.rearranging.ranks_per_node);
  if (serve) servers_of_node_ = static_cast<int>(node().sum(serves() ? 1 : 0));
  if (!options_.stage.writers) return;
  // Smaller nodes have as many as they have ranks.
  const int storers = serve ? servers_of_node_ : node().size();
  require_writers(*options_.stage.writers, static_cast<int>(comm_.max(std::int64_t{storers})), serve);
}

// Where nodes do not see each other's bytes, parts of a page that two of them write are lost, and what was
// written cannot be read back: then all cells go through rank 0's node.
std::optional<std::vector<int>> RankGroups::share_file(const std::string& path, const FileSystem& found,
                                                       bool writable) {
  counters_.file_system = found.type;
  sharing_ = found.sharing;
  if (!writable || single()) return std::nullopt;
  require_one_file(comm_, *nodes_, path, found);
  const FileSystem where = as_nodes_have_it(comm_, *nodes_, path, found, options_.system.find_file_system);
  const std::string warning = sharing_warning(where, false);
  if (!warning.empty()) counters_.warnings.push_back(warning);
  if (where.sharing != FileSystem::Sharing::close_to_open) return std::nullopt;
  if (const std::string setting = setting_that_keeps(options_.rearranging); !setting.empty())
    throw Error(Code::setting,
                "{}, but the file is on {}, where nodes do not see each other's writes, and the ranks of one "
                "node must store for all; leave the setting out, or choose layout=node",
                setting, where.type);
  bool elsewhere = false;
  auto io_ranks = io_ranks_of_one_node(comm_, *nodes_, options_.rearranging, elsewhere);
  if (elsewhere)
    counters_.warnings.push_back(
        fmt::format("settings io_ranks, io_ranks_per_node, io_stride or io_base choose ranks of other nodes "
                    "than rank 0's to store, and on {} cells that several nodes store may be lost; leave "
                    "them out, or choose ranks of one node",
                    where.type));
  return io_ranks;
}

std::vector<int> RankGroups::servers(bool of_one_node) const {
  const Numbered<std::int64_t> nodes = comm_.all_gather(std::int64_t{nodes_->index()});
  std::vector<int> servers;
  for (int r = comm_.size() - options_.servers.count; r < comm_.size(); ++r)
    if (const auto node = nodes[r];
        of_one_node ? node == nodes[0]
                    : is_io_node(static_cast<int>(node), nodes_->count(), options_.rearranging.most_io_nodes))
      servers.push_back(r);
  return servers;
}

void RankGroups::make_groups() {
  IoGroups made = choose_io_groups(comm_, *nodes_, options_.rearranging);
  set_for_groups(options_, made.of_node);
  nodes_ = std::move(made.groups);
  io_rank_of_group_ = made.io_rank;
}

void RankGroups::split_into_ranks() {
  // What a node may have is for all of its ranks.
  options_.stage.bytes = std::max(k_least_slots * k_least_slot, options_.stage.bytes / node().size());
  nodes_ = std::make_unique<Nodes>(comm_, 1);
}

}  // namespace shoal
