// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/schema.hpp"

namespace shoal {

// Names in groups. What is in a group has its path for a name: "ocean/ice/temp" is in the group "ocean/ice".
// The root group's path is "", and what is in it has a plain name.

/// The group of a path; "": the root.
std::string group_of(std::string_view path);
/// The last name of a path.
std::string name_in_group(std::string_view path);
/// The path of a name in a group.
std::string path_in(const std::string& group, const std::string& name);
/// As a program gives it, from the root: "/ocean/temp" is "ocean/temp".
std::string from_root(const std::string& given);
std::vector<std::string> from_root(std::vector<std::string> given);

/// Is the group the other one, or in it?
inline bool is_within(const std::string& group, const std::string& other) {
  return other.empty() || group == other || group.starts_with(other + '/');
}

/// Visits the group, the group that it is in, and so on, the root last; stops where visit gives true.
template <class Visit>
void for_groups_outwards(std::string group, Visit&& visit) {
  while (!visit(group) && !group.empty())
    group = group_of(group);
}

/// The dimension that a variable of the group means by a name: the group's own, otherwise that of the group
/// it is in, and so on. "/x": that of the root. -1: there is none.
int find_dim_from(const Schema& schema, const std::string& group, const std::string& name);
/// The name by which a variable of the group finds the dimension.
std::string dim_name_from(const Schema& schema, const std::string& group, int dim);

}  // namespace shoal
