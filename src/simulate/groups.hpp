// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "simulate/simulation.hpp"

namespace shoal {

/// With rearranger=subset groups with an I/O rank each are what nodes are otherwise (choose_io_groups).
struct SimulatedGroups {
  SimulatedField field;             ///< its nodes are groups
  std::vector<int> io_ranks;        ///< of each group
  std::vector<int> node_of;         ///< each group
  std::vector<int> groups_of_node;  ///< of each group's node
};
/// Error(setting) where a node has no I/O rank.
SimulatedGroups simulated_groups(const SimulatedField& field, const DriverOptions& options);
/// The same request where a group stands for a node.
SimulationRequest as_groups(const SimulationRequest& request, const SimulatedGroups& groups);

/// Error(setting) for options that cannot be, as the library refuses them.
void check_request(const SimulationRequest& request);

}  // namespace shoal
