// SPDX-License-Identifier: BSD-3-Clause
#include "format/zarr/hierarchy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "format/checks.hpp"
#include "format/group_paths.hpp"

namespace shoal::zarr {

namespace {

constexpr int k_notes_version = 1;
constexpr std::size_t k_longest_path = 4096;
constexpr std::size_t k_most_groups = 64;  // in each other

void check_node_path(const std::string& path) {
  std::size_t parts = 0;
  for (std::size_t begin = 0; begin <= path.size(); ++parts) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos)
      damaged(fmt::format("\"{}\" is no path of an array or a group", printable_name(path)));
    begin = end + 1;
  }
  if (path.size() > k_longest_path || parts > k_most_groups)
    damaged(fmt::format("\"{}\" is longer than a path may be", without_middle(printable_name(path))));
}

// The groups around a node, outermost first.
void add_groups_around(const std::string& path, Hierarchy& all) {
  const std::string group = group_of(path);
  if (group.empty()) return;
  const auto found = all.reading->nodes.find(group);
  if (found != all.reading->nodes.end()) {
    if (!found->second.is_group)
      damaged(
          fmt::format("\"{}\" is in \"{}\", which is an array", printable_name(path), printable_name(group)));
    return;
  }
  add_groups_around(group, all);
  all.reading->nodes[group] = {true, true, all.groups.size()};
  all.groups.emplace_back(group, GroupMetadata{});
}

void check_new(const std::string& path, const Hierarchy& all) {
  check_node_path(path);
  const auto found = all.reading->nodes.find(path);
  if (found != all.reading->nodes.end() && !found->second.implied)
    damaged(fmt::format("there are two nodes \"{}\"", printable_name(path)));
}

std::vector<NotedDimension> dims_of(const Json& notes) {
  std::vector<NotedDimension> dims;
  const Json* list = find_member(notes, "dimensions");
  if (list == nullptr || !list->is_array()) return dims;
  std::set<std::string> names;
  for (const Json& one : *list) {
    if (!one.is_array() || one.size() < 2 || !one[0].is_string()) continue;
    NotedDimension dim;
    dim.name = one[0].get<std::string>();
    const auto length = whole_number(one[1]);
    if (!length || *length < 0 || dimension_name(name_in_group(dim.name)).empty() ||
        !names.insert(dim.name).second)
      continue;
    dim.length = *length;
    dim.unlimited = one.size() > 2 && one[2] == "unlimited";
    dims.push_back(std::move(dim));
  }
  return dims;
}

using DimsByName = std::map<std::string, std::size_t>;

DimsByName by_name(const std::vector<NotedDimension>& dims) {
  DimsByName names;
  for (std::size_t i = 0; i < dims.size(); ++i)
    names[dims[i].name] = i;
  return names;
}

// The dimension that an array means by a name, as find_dim_from does.
DimsByName::const_iterator find_outwards(const DimsByName& dims, const std::string& array,
                                         const std::string& name) {
  auto found = dims.end();
  for_groups_outwards(group_of(array), [&](const std::string& group) {
    found = dims.find(path_in(group, name));
    return found != dims.end();
  });
  return found;
}

void sort_as_noted(Hierarchy& all) {
  const Json* order = find_member(all.reading->notes, "order");
  if (order == nullptr || !order->is_array()) return;
  std::unordered_map<std::string, std::size_t> places;
  for (const Json& path : *order)
    if (path.is_string()) places.emplace(path.get<std::string>(), places.size());
  const auto place = [&](const auto& node) {
    const auto found = places.find(node.first);
    return found == places.end() ? std::numeric_limits<std::size_t>::max() : found->second;
  };
  const auto before = [&](const auto& a, const auto& b) { return place(a) < place(b); };
  std::stable_sort(all.arrays.begin(), all.arrays.end(), before);
  auto groups = all.groups;
  std::stable_sort(groups.begin(), groups.end(), before);
  std::set<std::string> seen{""};
  const bool whole = std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
    seen.insert(group.first);
    return seen.contains(group_of(group.first));
  });
  if (whole) all.groups = std::move(groups);
}

// Names of dimensions become paths of those that were noted.
void name_dims(Hierarchy& all) {
  const DimsByName dims = by_name(all.dims);
  for (auto& [path, array] : all.arrays) {
    const auto own = all.reading->paths.find(path);
    for (std::size_t d = 0; d < array.dims.size(); ++d) {
      std::string& name = array.dims[d];
      if (name.empty()) continue;
      auto found = find_outwards(dims, path, name);
      if (own != all.reading->paths.end() && d < own->second.size()) {
        const auto said = dims.find(own->second[d]);
        if (said != dims.end() && name_in_group(said->first) == name) found = said;
      }
      if (found != dims.end()) name = found->first;
    }
  }
}

// Lengths are those of the arrays; a dimension with several of them is none.
void fit_dims(Hierarchy& all) {
  const DimsByName names = by_name(all.dims);
  std::vector<std::set<std::int64_t>> lengths(all.dims.size());
  for (const auto& [path, array] : all.arrays)
    for (std::size_t d = 0; d < array.dims.size() && static_cast<int>(d) < array.shape.size(); ++d)
      if (const auto found = names.find(array.dims[d]); found != names.end())
        lengths[found->second].insert(array.shape[static_cast<int>(d)]);
  std::vector<NotedDimension> kept;
  std::set<std::string> gone;
  for (std::size_t i = 0; i < all.dims.size(); ++i) {
    NotedDimension& dim = all.dims[i];
    if (!lengths[i].empty()) dim.length = *lengths[i].rbegin();
    const std::string group = group_of(dim.name);
    const auto node = all.reading->nodes.find(group);
    const bool has_group = group.empty() || (node != all.reading->nodes.end() && node->second.is_group);
    if (has_group && (dim.unlimited || lengths[i].size() < 2))
      kept.push_back(std::move(dim));
    else
      gone.insert(dim.name);
  }
  all.dims = std::move(kept);
  for (auto& [path, array] : all.arrays)
    for (std::string& name : array.dims)
      if (gone.contains(name)) name = name_in_group(name);
}

std::unordered_set<std::string> noted_paths(const Json& notes, const char* list) {
  std::unordered_set<std::string> paths;
  const Json* found = find_member(notes, list);
  if (found != nullptr && found->is_array())
    for (const Json& path : *found)
      if (path.is_string()) paths.insert(path.get<std::string>());
  return paths;
}

void take_attribute_notes(const Json& notes, const char* list, Json AttributeNotes::*to,
                          Hierarchy::Reading& reading) {
  const Json* found = find_member(notes, list);
  if (found == nullptr || !found->is_object()) return;
  for (const auto& [path, own] : found->items())
    if (own.is_object()) reading.attributes[path].*to = own;
}

bool is_product_small(const Dims& dims, std::int64_t most) {
  std::int64_t product = 1;
  for (const std::int64_t n : dims) {
    if (n == 0) return true;
    if (product > most / n) return false;
    product *= n;
  }
  return true;
}

}  // namespace

void take_notes(const Json& attributes, Hierarchy& all) {
  const Json* notes = find_member(attributes, k_notes_name);
  if (notes == nullptr) return;
  const Json* version = find_member(*notes, "version");
  if (version == nullptr || *version != k_notes_version) return;
  Hierarchy::Reading& reading = *all.reading;
  all.noted = true;
  reading.notes = *notes;
  take_attribute_notes(*notes, "types", &AttributeNotes::types, reading);
  take_attribute_notes(*notes, "hidden", &AttributeNotes::hidden, reading);
  reading.characters = noted_paths(*notes, "characters");
  reading.no_fill = noted_paths(*notes, "no_fill");
  const Json* paths = find_member(*notes, "paths");
  if (paths == nullptr || !paths->is_object()) return;
  for (const auto& [array, dims] : paths->items())
    for (const Json& dim : dims)
      reading.paths[array].push_back(dim.is_string() ? dim.get<std::string>() : "");
}

const AttributeNotes& notes_of(const Hierarchy& all, const std::string& path) {
  static const AttributeNotes nothing;
  const auto found = all.reading->attributes.find(path);
  return found == all.reading->attributes.end() ? nothing : found->second;
}

void add_group(const std::string& path, GroupMetadata group, Hierarchy& all) {
  if (path.empty()) {
    all.root = std::move(group);
    return;
  }
  check_new(path, all);
  add_groups_around(path, all);
  const auto found = all.reading->nodes.find(path);
  if (found != all.reading->nodes.end()) {  // implied so far
    found->second.implied = false;
    all.groups[found->second.at].second = std::move(group);
    return;
  }
  all.reading->nodes[path] = {true, false, all.groups.size()};
  all.groups.emplace_back(path, std::move(group));
}

void add_array(const std::string& path, ArrayMetadata array, Hierarchy& all) {
  check_new(path, all);
  if (all.reading->nodes.contains(path))
    damaged(fmt::format("\"{}\" is an array, and something is in it", printable_name(path)));
  add_groups_around(path, all);
  all.reading->nodes[path] = {false, false, all.arrays.size()};
  all.arrays.emplace_back(path, std::move(array));
}

void settle_notes(Hierarchy& all) {
  if (all.reading == nullptr) return;
  all.dims = dims_of(all.reading->notes);
  sort_as_noted(all);
  name_dims(all);
  fit_dims(all);
  all.reading.reset();
}

Json dimension_notes(const Hierarchy& all) {
  Json notes;
  notes["version"] = k_notes_version;
  Json& dims = notes["dimensions"] = Json::array();
  for (const NotedDimension& dim : all.dims) {
    Json one = Json::array({dim.name, dim.length});
    if (dim.unlimited) one.push_back("unlimited");
    dims.push_back(std::move(one));
  }
  return notes;
}

Json definition_notes(const Hierarchy& all,
                      const std::vector<std::pair<std::string, AttributeNotes>>& attributes,
                      const std::vector<std::string>& order) {
  Json notes = Json::object();
  // All paths differ, and are not looked up.
  Json types = Json::object();
  Json hidden = Json::object();
  for (const auto& [path, own] : attributes) {
    if (!own.types.empty()) types.get_ref<Json::object_t&>().push_back({path, own.types});
    if (!own.hidden.empty()) hidden.get_ref<Json::object_t&>().push_back({path, own.hidden});
  }
  if (!types.empty()) notes["types"] = std::move(types);
  if (!hidden.empty()) notes["hidden"] = std::move(hidden);
  const DimsByName names = by_name(all.dims);
  std::vector<std::string> wanted;
  for (const auto& [path, group] : all.groups)
    wanted.push_back(path);
  for (const auto& [path, array] : all.arrays) {
    wanted.push_back(path);
    if (array.stored_as == StoredAs::characters) notes["characters"].push_back(path);
    if (array.no_fill) notes["no_fill"].push_back(path);
    const bool plain = std::all_of(array.dims.begin(), array.dims.end(), [&](const std::string& dim) {
      const auto found = find_outwards(names, path, name_in_group(dim));
      return dim.empty() || (found == names.end() ? group_of(dim).empty() : found->first == dim);
    });
    if (!plain) notes["paths"][path] = array.dims;
  }
  std::unordered_set<std::string> groups;
  for (const auto& [path, group] : all.groups)
    groups.insert(path);
  auto found = order;
  std::stable_partition(found.begin(), found.end(),
                        [&](const std::string& path) { return groups.contains(path); });
  if (found != wanted) notes["order"] = wanted;
  return notes;
}

void check_version(const Json& json, int version) {
  const Json& found = member(json, "zarr_format", "the document");
  if (found != version)
    damaged(fmt::format("\"zarr_format\" is {} in a document of version {}", shown(found), version));
}

void check_sizes(ArrayMetadata& array) {
  constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();
  const auto element = static_cast<std::int64_t>(std::max<std::size_t>(array.element, 8));
  if (array.refusal.empty() &&
      !(is_product_small(array.shape, k_most / element) && is_product_small(array.object, k_most / element)))
    array.refusal = "it has, or a chunk of it has, more bytes than can be counted";
  if (!array.refusal.empty()) return;
  // They are in memory as a whole, whatever the file has of them.
  constexpr std::int64_t k_most_bytes = std::int64_t{1} << 32;
  constexpr std::int64_t k_most_texts = std::int64_t{1} << 26;
  const std::int64_t cells = volume(array.chunk);
  if (array.type == Type::string && cells > k_most_texts)
    array.refusal = fmt::format("a chunk of it has {} texts; there may be up to {}", cells, k_most_texts);
  else if ((!array.filters.empty() || !array.order.empty()) &&
           cells > k_most_bytes / static_cast<std::int64_t>(std::max<std::size_t>(array.element, 1)))
    array.refusal = fmt::format("a chunk of it has {} elements of {} bytes; codecs take up to 4 GiB", cells,
                                array.element);
}

void add_logical_attributes(ArrayMetadata& array) {
  if (array.stored_as != StoredAs::logicals || find_attribute(array.attributes, "flag_values") != nullptr ||
      find_attribute(array.attributes, "flag_meanings") != nullptr)
    return;
  array.implies_flags = true;
  constexpr std::int8_t k_values[] = {0, 1};
  array.attributes.push_back(Attribute::numbers("flag_values", Type::byte_, k_values, 2));
  array.attributes.push_back(Attribute::text("flag_meanings", "false true"));
}

std::string dimension_name(const Json& json) {
  if (!json.is_string()) return {};
  try {
    check_name(json.get<std::string>(), "dimension");
    return json.get<std::string>();
  } catch (const Error&) {
    return {};
  }
}

void check_zarr_name(const std::string& path) {
  constexpr std::size_t k_longest_name = 255;
  for (std::string rest = path; !rest.empty(); rest = group_of(rest)) {
    const std::string name = name_in_group(rest);
    const auto refuse_name = [&](const std::string& why) {
      throw Error(Code::invalid_argument, "'{}' cannot be a name in Zarr: {}; choose another name",
                  printable_name(name), why);
    };
    if (name.find_first_not_of('.') == std::string::npos) refuse_name("it is empty, or has periods alone");
    if (name.starts_with("__")) refuse_name("names that begin with two '_' are reserved");
    if (name == "zarr.json") refuse_name("metadata are called so");
    if (name.size() > k_longest_name)
      refuse_name(fmt::format("it is a folder, whose name has up to {} bytes", k_longest_name));
  }
}

}  // namespace shoal::zarr
