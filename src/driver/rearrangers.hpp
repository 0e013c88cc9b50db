// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "driver/decomposition_plans.hpp"
#include "driver/driver.hpp"
#include "rearrange/node_messages.hpp"
#include "rearrange/rearranger.hpp"

namespace shoal {

/// The messages between the ranks of several nodes and I/O ranks, with counts for the report.
class CountedMessages {
 public:
  /// The messages; nullptr: there is one node, and messages are not joined. comm and nodes must outlive this.
  /// Collective the first time.
  NodeMessages* of(const Comm& comm, const Nodes& nodes, const std::vector<int>& io_ranks,
                   const StageOptions& stage);
  /// Adds the messages since the last call to the counters.
  void count(Counters& counters);

 private:
  std::optional<NodeMessages> messages_;
  std::int64_t counted_ = 0, counted_bytes_ = 0;
};

/// The Rearrangers of one file, made as decompositions are used, with the messages that they share.
class Rearrangers {
 public:
  /// io_ranks: as of a Rearranger. comm and nodes outlive this. Collective.
  Rearrangers(const Comm& comm, const Nodes& nodes, std::vector<int> io_ranks, const StageOptions& stage);
  /// The same, with nodes as the options say.
  Rearrangers(const Comm& comm, const RearrangeOptions& options, std::vector<int> io_ranks,
              const StageOptions& stage)
      : Rearrangers(comm, std::make_unique<Nodes>(comm, options.ranks_per_node), std::move(io_ranks), stage) {
  }

  bool empty() const { return rearrangers_.empty(); }
  const std::vector<int>& io_ranks() const { return io_ranks_; }
  NodeMessages* messages() const { return node_messages_; }
  void count_messages(Counters& counters) { messages_.count(counters); }

  /// The map of a decomposition: itself, or the map of the cells of its tiles, with halo or without.
  /// Collective the first time.
  std::shared_ptr<const Decomposition> map_of(const std::shared_ptr<const Decomposition>& decomposition,
                                              bool halo);
  /// The same, if it was made; nullptr: it was not. Local.
  std::shared_ptr<const Decomposition> known_map(const std::shared_ptr<const Decomposition>& decomposition,
                                                 bool halo) const;
  /// The Rearranger of a map. Collective the first time.
  Rearranger& of(const std::shared_ptr<const Decomposition>& map);
  /// The Rearranger of a map; nullptr: none. Local.
  Rearranger* find(const Decomposition* map) const;

 private:
  Rearrangers(const Comm& comm, std::unique_ptr<const Nodes> nodes, std::vector<int> io_ranks,
              const StageOptions& stage)
      : Rearrangers(comm, *nodes, std::move(io_ranks), stage) {
    own_nodes_ = std::move(nodes);
  }

  const Comm& comm_;
  std::int64_t rearrange_bytes_;
  std::vector<int> io_ranks_;
  std::unique_ptr<const Nodes> own_nodes_;
  CountedMessages messages_;
  NodeMessages* node_messages_;                                                        ///< over several nodes
  DecompositionPlans<std::array<std::shared_ptr<const Decomposition>, 2>> tile_maps_;  ///< by halo
  DecompositionPlans<std::unique_ptr<Rearranger>> rearrangers_;                        ///< by map
};

}  // namespace shoal
