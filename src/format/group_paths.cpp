// SPDX-License-Identifier: BSD-3-Clause
#include "format/group_paths.hpp"

#include <utility>

namespace shoal {

std::string group_of(std::string_view path) {
  const auto last = path.rfind('/');
  return std::string(last == std::string_view::npos ? "" : path.substr(0, last));
}

std::string name_in_group(std::string_view path) {
  const auto last = path.rfind('/');
  return std::string(last == std::string_view::npos ? path : path.substr(last + 1));
}

std::string path_in(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

std::string from_root(const std::string& given) {
  return given.starts_with('/') ? given.substr(1) : given;
}

std::vector<std::string> from_root(std::vector<std::string> given) {
  for (std::string& one : given)
    one = from_root(std::as_const(one));
  return given;
}

int find_dim_from(const Schema& schema, const std::string& group, const std::string& name) {
  if (name.starts_with('/')) return schema.find_dim(name.substr(1));
  int found = -1;
  for_groups_outwards(group, [&](const std::string& here) {
    found = schema.find_dim(path_in(here, name));
    return found >= 0;
  });
  return found;
}

std::string dim_name_from(const Schema& schema, const std::string& group, int dim) {
  const std::string& path = schema.dim(dim).name;
  std::string name = name_in_group(path);
  return find_dim_from(schema, group, name) == dim ? name : "/" + path;
}

}  // namespace shoal
