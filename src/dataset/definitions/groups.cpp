// SPDX-License-Identifier: BSD-3-Clause
// Names in groups: where they are looked for, and what new ones bring with them.
#include "base/error.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "dataset/definitions/definitions.hpp"
#include "format/checks.hpp"
#include "format/format_traits.hpp"
#include "format/group_paths.hpp"

namespace shoal {

int Definitions::owner(const char* variable) const {
  if (variable == nullptr) return k_of_file;
  const std::string given = variable;
  if (given == "/") return k_of_file;
  const bool only_group = given.ends_with('/');
  const std::string path = from_root(only_group ? given.substr(0, given.size() - 1) : given);
  if (!only_group)
    if (const auto found = find_name(variable_by_name_, path); found != variable_by_name_.end())
      return found->second;
  if (const auto group = find_name(group_by_name_, path); group != group_by_name_.end())
    return of_group(group->second);
  if (!only_group) return find_variable_or_throw(schema(), given);
  std::vector<std::string> names;
  for (const GroupDef& group : schema().groups)
    names.push_back(group.name);
  throw Error(Code::not_found, "there is no group '{}'{}", given, did_you_mean(path, names));
}

// Is it one that is being defined?
bool Definitions::is_new(int owner) const {
  return is_group(owner) ? group_number(owner) >= groups_in_file_ : owner >= variables_in_file_;
}

// In a file, groups, variables and dimensions are links of one table: none has the name of another. This one
// is new, with those that it is in, or there already.
void Definitions::check_group(std::string group) const {
  for (; !group.empty() && !group_by_name_.contains(group); group = group_of(group)) {
    const bool is_variable = find_name(variable_by_name_, group) != variable_by_name_.end();
    if (is_variable || find_name(dim_by_name_, group) != dim_by_name_.end())
      throw Error(Code::exists, "there is a {} '{}'; a group cannot be called so",
                  is_variable ? "variable" : "dimension", group);
  }
}

// From the root, composed, but for the names of groups that the file has in another form.
std::string Definitions::stored_path(const std::string& given) const {
  const std::string path = from_root(given);
  std::string stored = composed(path);
  if (is_ascii(path)) return stored;
  for_groups_outwards(path, [&](const std::string& group) {
    const auto found = find_name(group_by_name_, group);
    if (found == group_by_name_.end()) return false;
    stored = schema().groups[found->second].name + composed(path.substr(group.size()));
    return true;
  });
  return stored;
}

// The path of a new dimension or variable.
std::string Definitions::new_path(const std::string& given, const char* what) const {
  const std::string path = stored_path(given);
  check_path(path, what, schema().format);
  if (group_by_name_.contains(path))
    throw Error(Code::exists, "there is a group '{}'; a {} cannot be called so", path, what);
  check_group(group_of(path));
  return path;
}

// What is there gets a name in its own group.
std::string Definitions::renamed_path(const std::string& name, const std::string& given_to,
                                      const char* what) const {
  const std::string group = group_of(name), given = from_root(given_to);
  const bool is_path = given_to.find('/') != std::string::npos;
  const std::string path =
      path_in(is_path ? stored_path(group_of(given)) : group, composed(name_in_group(given)));
  if (path == name) return path;
  check_path(path, what, schema().format);
  if (group_of(path) != group)
    throw Error(Code::invalid_argument,
                "{} '{}' cannot become '{}', which is in another group; a name without '/' is in its own",
                what, name, path);
  const auto other = find_name(group_by_name_, path);
  if (other != group_by_name_.end() && schema().groups[other->second].name != name)
    throw Error(Code::exists, "there is a group '{}'; a {} cannot be called so", path, what);
  return path;
}

// With those that it is in.
void Definitions::make_groups(const std::string& path) {
  if (path.empty() || group_by_name_.contains(path)) return;
  make_groups(group_of(path));
  add_name(group_by_name_, path, static_cast<int>(schema().groups.size()));
  wanted().groups.push_back({path, {}});
}

void Definitions::def_group(const std::string& given) {
  const std::string name = stored_path(given.ends_with('/') ? given.substr(0, given.size() - 1) : given);
  if (group_by_name_.contains(name)) return;
  if (!traits_of(schema().format).has_groups)
    throw Error(Code::not_supported, "group '{}': format {} has no groups; use netcdf4", name,
                name_of(schema().format));
  check_path(name, "group", schema().format);
  check_group(name);
  make_groups(name);
}

}  // namespace shoal
