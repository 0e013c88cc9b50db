// SPDX-License-Identifier: BSD-3-Clause
// Definitions that change what is there: other names, and attributes that go. In the file they come before
// what is added (Schema::changes).
#include <algorithm>
#include <utility>

#include "base/names.hpp"
#include "dataset/definitions/definitions.hpp"
#include "dataset/definitions/quantized.hpp"
#include "dataset/gathered/gathering.hpp"
#include "format/checks.hpp"
#include "format/group_paths.hpp"

namespace shoal {

namespace {

// Names in the attribute compress are those of dimensions, and a list has the name of its dimension.
void check_not_gathered(const Schema& schema, const std::string& name, int dim, int variable) {
  for (const Gathering& gathering : gatherings_of(schema)) {
    const auto& grid = gathering.grid;
    if (gathering.list != variable && gathering.dim != dim &&
        std::find(grid.begin(), grid.end(), dim) == grid.end())
      continue;
    throw Error(Code::not_supported,
                "'{}' cannot be renamed: the list of points '{}' names it in its attribute compress", name,
                schema.variable(gathering.list).name);
  }
}

}  // namespace

// A list names the dimensions of its grid as its group sees them: none of another length may come between.
void Definitions::check_hides_no_grid(const std::string& path) const {
  const std::string group = group_of(path);
  if (group.empty()) return;
  for (const Gathering& gathering : gatherings_of(schema())) {
    const std::string& list = schema().variable(gathering.list).name;
    for (const int d : gathering.grid) {
      const std::string& named = schema().dim(d).name;
      if (named != path && name_in_group(named) == name_in_group(path) && is_within(group_of(list), group) &&
          is_within(group, group_of(named)))
        throw Error(Code::not_supported,
                    "a dimension '{}' would hide '{}' from the list of points '{}', whose attribute compress "
                    "names it; choose another name",
                    path, named, list);
    }
  }
}

namespace {

// A name may get another form.
bool is_of_other(const std::unordered_map<std::string, int>& by_name, const std::string& name, int index) {
  const auto found = find_name(by_name, name);
  return found != by_name.end() && found->second != index;
}

void give_name(std::unordered_map<std::string, int>& by_name, const std::string& old, const std::string& to,
               int index) {
  for (const std::string& form : {old, composed(old)})
    if (const auto found = by_name.find(form); found != by_name.end() && found->second == index)
      by_name.erase(found);
  add_name(by_name, to, index);
}

}  // namespace

void Definitions::note_change(SchemaChange change) {
  wanted().changes.push_back(std::move(change));
}

void Definitions::rename_dim(const std::string& given, const std::string& given_to) {
  const int d = dimension(given);
  const std::string name = schema().dim(d).name, to = renamed_path(name, given_to, "dimension");
  if (name == to) return;
  if (is_of_other(dim_by_name_, to, d)) throw Error(Code::exists, "there is a dimension '{}' already", to);
  check_not_gathered(schema(), name, d, -1);
  check_hides_no_grid(to);
  wanted().dim(d).name = to;
  give_name(dim_by_name_, name, to, d);
  if (d < dims_in_file_) note_change({SchemaChange::Kind::rename_dim, d, name, to});
}

void Definitions::rename_var(const std::string& given, const std::string& given_to) {
  const int v = variable(given);
  const std::string name = schema().variable(v).name, to = renamed_path(name, given_to, "variable");
  if (name == to) return;
  if (is_of_other(variable_by_name_, to, v))
    throw Error(Code::exists, "there is a variable '{}' already", to).of_variable(name);
  check_not_gathered(schema(), name, -1, v);
  if (is_quantization_container(schema().variable(v)))
    throw Error(Code::not_supported, "it says how values of others are quantized, and keeps its name")
        .of_variable(name);
  wanted().variable(v).name = to;
  give_name(variable_by_name_, name, to, v);
  move_notes(name, to);
  if (v < variables_in_file_) note_change({SchemaChange::Kind::rename_variable, v, name, to});
}

void Definitions::rename_group(const std::string& given, const std::string& given_to) {
  const int owned = owner((given.ends_with('/') ? given : given + '/').c_str());
  if (!is_group(owned)) throw Error(Code::not_found, "'{}' is the file itself, which has no name", given);
  const int g = group_number(owned);
  const std::string name = schema().groups[g].name, to = renamed_path(name, given_to, "group");
  if (name == to) return;
  check_group(to);
  for (const Gathering& gathering : gatherings_of(schema())) {
    const VariableDef& list = schema().variable(gathering.list);
    const Bytes& text = find_attribute_or_throw(list.attributes, "compress").data;
    const bool paths = std::find(text.begin(), text.end(), std::byte{'/'}) != text.end();
    for (const int d : gathering.grid)
      if (paths && is_within(schema().dim(d).name, name))
        throw Error(
            Code::not_supported,
            "group '{}' cannot be renamed: the list of points '{}' names it in its attribute compress", name,
            list.name);
  }
  const SchemaChange change{SchemaChange::Kind::rename_group, g, name, to};
  std::vector<std::string> moved;
  for (const VariableDef& variable : schema().variables)
    if (is_within(variable.name, name)) moved.push_back(variable.name);
  wanted() = changed(std::move(wanted()), {change});
  index_names(group_by_name_, schema().groups);
  index_names(dim_by_name_, schema().dims);
  index_names(variable_by_name_, schema().variables);
  for (const std::string& variable : moved)
    move_notes(variable, to + variable.substr(name.size()));
  if (g < groups_in_file_) note_change(change);
}

// What is known of a variable by its name.
void Definitions::move_notes(const std::string& from, const std::string& to) {
  const auto move_entry = [&](auto& entries) {
    entries.erase(to);
    if (auto entry = entries.extract(from)) {
      entry.key() = to;
      entries.insert(std::move(entry));
    }
  };
  move_entry(quantized_);
  move_entry(by_pattern_);
  move_entry(pack_requests_);
  move_entry(packings_);
  if (defined_.erase(from) > 0) defined_.insert(to);
  std::replace(added_fill_.begin(), added_fill_.end(), from, to);
}

// The attributes among which one is to be changed, if it may be.
std::vector<Attribute>& Definitions::changeable_attributes(int owner, const std::string& name) {
  if (owner < 0) {
    find_attribute_or_throw(schema().attributes_of(owner), name);
    return wanted().attributes_of(owner);
  }
  const int variable = owner;
  VariableDef& definition = wanted().variable(variable);
  find_attribute_or_throw(definition.attributes, name);
  if (name == k_fill_name && variable < variables_in_file_)
    throw Error(Code::not_supported,
                "_FillValue says what cells hold that are in the file already, and stays");
  const auto gatherings = gatherings_of(schema());
  const bool is_list = std::any_of(gatherings.begin(), gatherings.end(),
                                   [&](const Gathering& gathering) { return gathering.list == variable; });
  if ((name == "compress" && is_list) ||
      (quantized_.contains(definition.name) && is_quantization_attribute(name)) ||
      (variable < variables_in_file_ && stays_packed(variable, name)))
    throw Error(Code::not_supported, "attribute '{}' says how values are stored, and stays", name);
  return definition.attributes;
}

// Of an attribute that is there.
bool Definitions::is_attribute_in_file(int owner, const std::string& name) const {
  return !is_new(owner) && !added_attributes_.contains({owner, name});
}

void Definitions::rename_att(const char* variable, const std::string& given, const std::string& given_to) {
  const int v = owner(variable);
  auto& attributes = changeable_attributes(v, given);
  const std::string name = find_attribute_or_throw(attributes, given).name, to = composed(given_to);
  if (name == to) return;
  check_name(to, "attribute");
  const Attribute* const there = find_attribute(attributes, to);
  if (there != nullptr && there->name != name)
    throw Error(Code::exists, "there is an attribute '{}' already", to);
  if (v >= 0 && stays_packed(v, to))
    throw Error(Code::not_supported, "attribute '{}' would say how values are stored; its name stays", name);
  for (const UnreadAttribute& unread : schema().unread_of(v))
    if (same_name(unread.name, to))
      throw Error(Code::exists, "there is an attribute '{}' already, of type {}, which Shoal cannot read", to,
                  unread.type);
  if (v >= 0 && to == k_fill_name)
    throw Error(Code::not_supported,
                "an attribute cannot become _FillValue; a fill value is given with def_fill");
  std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) {
    return a.name == name;
  })->name = to;
  if (is_attribute_in_file(v, name))
    note_change({SchemaChange::Kind::rename_attribute, v, name, to});
  else if (added_attributes_.erase({v, name}) > 0)
    added_attributes_.emplace(v, to);
}

void Definitions::delete_att(const char* variable, const std::string& given) {
  const int v = owner(variable);
  auto& attributes = changeable_attributes(v, given);
  const std::string name = find_attribute_or_throw(attributes, given).name;
  std::erase_if(attributes, [&](const Attribute& a) { return a.name == name; });
  if (is_attribute_in_file(v, name))
    note_change({SchemaChange::Kind::delete_attribute, v, name, {}});
  else
    added_attributes_.erase({v, name});
}

}  // namespace shoal
