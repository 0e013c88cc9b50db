// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "simulate/pretended.hpp"

namespace shoal {

/// In the subset way groups with an I/O rank each are what nodes are otherwise (choose_io_groups).
struct PretendedGroups {
  PretendedField field;             ///< its nodes are groups
  std::vector<int> io_ranks;        ///< of each group
  std::vector<int> node_of;         ///< each group
  std::vector<int> groups_of_node;  ///< of each group's node
};
/// Error(setting) where a node has no I/O rank.
PretendedGroups pretended_groups(const PretendedField& field, const DriverOptions& options);

}  // namespace shoal
