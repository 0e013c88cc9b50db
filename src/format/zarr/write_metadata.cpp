// SPDX-License-Identifier: BSD-3-Clause
// Metadata of version 3, as zarr-python 3 writes them.
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "format/group_paths.hpp"
#include "format/zarr/attributes_json.hpp"
#include "format/zarr/codecs_json.hpp"
#include "format/zarr/hierarchy.hpp"
#include "format/zarr/json_text.hpp"
#include "format/zarr/metadata.hpp"
#include "format/zarr/types_json.hpp"

namespace shoal::zarr {

namespace {

constexpr int k_indent = 2;  // zarr-python's

Json list_of(const Dims& dims) {
  Json list = Json::array();
  for (const std::int64_t n : dims)
    list.push_back(n);
  return list;
}

// {"name", "configuration": {key: value}}
Json named(const char* name, const char* key, Json value) {
  Json json;
  json["name"] = name;
  json["configuration"][key] = std::move(value);
  return json;
}

Json document_of(const ArrayMetadata& array, AttributeNotes& notes) {
  if (!array.document.empty()) return parse_json(array.document);
  if (array.version != 3)
    throw Error(Code::not_supported, "arrays of Zarr's version {} are read; version 3 is written",
                array.version);
  Json json;
  json["shape"] = list_of(array.shape);
  json["data_type"] = data_type_of(array);
  json["chunk_grid"] = named("regular", "chunk_shape", list_of(array.sharded ? array.object : array.chunk));
  json["chunk_key_encoding"] =
      named(array.scalar_is_prefix ? "default" : "v2", "separator", std::string(1, array.separator));
  json["fill_value"] = fill_of(array);
  json["codecs"] = codecs_of(array);
  json["attributes"] = attributes_json(array.attributes, array.kept, &array, notes);
  if (!array.dims.empty() || array.shape.empty()) {
    Json& names = json["dimension_names"] = Json::array();
    for (const std::string& dim : array.dims)
      names.push_back(dim.empty() ? Json() : Json(name_in_group(dim)));
  }
  json["zarr_format"] = 3;
  json["node_type"] = "array";
  json["storage_transformers"] = Json::array();
  return json;
}

Json consolidated(Json nodes) {
  Json json;
  json["kind"] = "inline";
  json["must_understand"] = false;
  json["metadata"] = std::move(nodes);
  return json;
}

// nodes: metadata of what is in the group; null: they are not said.
Json document_of(const GroupMetadata& group, Json nodes, AttributeNotes& notes) {
  Json json;
  json["attributes"] = attributes_json(group.attributes, group.kept, nullptr, notes);
  json["zarr_format"] = 3;
  if (!nodes.is_null()) json["consolidated_metadata"] = consolidated(std::move(nodes));
  json["node_type"] = "group";
  return json;
}

// zarr-python finds the nodes of a group only where they stand together, behind the group: by their depth,
// and then by their group.
struct Node {
  std::string path;
  const GroupMetadata* group = nullptr;
  const ArrayMetadata* array = nullptr;
};

std::vector<Node> nodes_of(const Hierarchy& all) {
  std::vector<Node> nodes;
  for (const auto& [path, group] : all.groups)
    nodes.push_back({path, &group, nullptr});
  for (const auto& [path, array] : all.arrays)
    nodes.push_back({path, nullptr, &array});
  std::unordered_map<std::string, std::size_t> groups;
  for (const Node& node : nodes)
    groups.emplace(group_of(node.path), groups.size());
  const auto place = [&](const Node& node) {
    return std::pair{std::count(node.path.begin(), node.path.end(), '/'), groups.at(group_of(node.path))};
  };
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](const Node& a, const Node& b) { return place(a) < place(b); });
  return nodes;
}

}  // namespace

std::string text_of(const ArrayMetadata& array) {
  AttributeNotes notes;
  return json_text(document_of(array, notes), k_indent);
}

std::string text_of(const GroupMetadata& group) {
  AttributeNotes notes;
  return json_text(document_of(group, Json(), notes), k_indent);
}

std::string root_text(const Hierarchy& all) {
  std::vector<std::pair<std::string, AttributeNotes>> notes(1);
  std::vector<std::string> order;
  Json nodes = Json::object();
  // All paths differ, and are not looked up.
  auto& members = nodes.get_ref<Json::object_t&>();
  for (const Node& node : nodes_of(all)) {
    AttributeNotes own;
    in_context_of_variable(node.path, [&] {
      members.push_back({node.path, node.array != nullptr ? document_of(*node.array, own)
                                                          : document_of(*node.group, Json::object(), own)});
    });
    notes.emplace_back(node.path, std::move(own));
    order.push_back(node.path);
  }
  AttributeNotes& own = notes.front().second;
  Json root = document_of(all.root, std::move(nodes), own);
  root["attributes"][k_notes_name] = notes_json(all, notes, order);
  return json_text(root);
}

std::string object_name(const ArrayMetadata& array, const Dims& index) {
  if (index.empty()) return array.scalar_is_prefix ? array.prefix.substr(0, array.prefix.size() - 1) : "0";
  std::string name = array.prefix;
  for (int d = 0; d < index.size(); ++d) {
    if (d > 0) name += array.separator;
    name += std::to_string(index[d]);
  }
  return name;
}

}  // namespace shoal::zarr
