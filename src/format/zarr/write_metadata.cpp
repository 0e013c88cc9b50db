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
#include "format/zarr/documents.hpp"
#include "format/zarr/hierarchy.hpp"
#include "format/zarr/json_text.hpp"
#include "format/zarr/metadata.hpp"
#include "format/zarr/types_json.hpp"

namespace shoal::zarr {

namespace {

constexpr int k_indent = 2;  // zarr-python's
constexpr int k_one_line = -1;

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

// All but the shape, which stands in front of the rest.
Json document_of(const ArrayMetadata& array, AttributeNotes& notes) {
  if (array.version != 3)
    throw Error(Code::not_supported, "arrays of Zarr's version {} are read; version 3 is written",
                array.version);
  Json json;
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

// is_consolidated: with an empty list of what is in it, as zarr-python writes it of groups below the root.
Json document_of(const GroupMetadata& group, bool is_consolidated, AttributeNotes& notes) {
  Json json;
  json["attributes"] = attributes_json(group.attributes, group.kept, nullptr, notes);
  json["zarr_format"] = 3;
  if (is_consolidated) {
    Json& below = json["consolidated_metadata"];
    below["kind"] = "inline";
    below["must_understand"] = false;
    below["metadata"] = Json::object();
  }
  json["node_type"] = "group";
  return json;
}

Documents::Text text_of(const ArrayMetadata& array, AttributeNotes& notes) {
  const bool is_kept = !array.document.empty();
  const Json document = is_kept ? parse_json(array.document) : document_of(array, notes);
  return {json_text(document, k_indent), json_text(document), is_kept};
}

Documents::Text text_of(const GroupMetadata& group, AttributeNotes& notes) {
  AttributeNotes same;
  return {json_text(document_of(group, false, same), k_indent), json_text(document_of(group, true, notes))};
}

// The text of an object of which `first` are the first members, and `others` is the text with the rest.
std::string joined(const Json& first, const std::string& others, int indent) {
  std::string text = json_text(first, indent);
  text.resize(text.find_last_not_of("\n}") + 1);
  return others.size() > 2 ? text + ',' + others.substr(1) : text + others.substr(1);
}

std::string with_shape(const Dims& shape, const std::string& others, int indent) {
  Json first;
  first["shape"] = list_of(shape);
  return joined(first, others, indent);
}

// zarr-python finds the nodes of a group only where they stand together, behind the group: by their depth,
// and then by their group.
struct Place {
  std::string path;
  bool is_group = false;
  std::size_t number = 0;
};

std::vector<Place> places_of(const Hierarchy& all) {
  std::vector<Place> nodes;
  for (std::size_t i = 0; i < all.groups.size(); ++i)
    nodes.push_back({all.groups[i].first, true, i});
  for (std::size_t i = 0; i < all.arrays.size(); ++i)
    nodes.push_back({all.arrays[i].first, false, i});
  std::unordered_map<std::string, std::size_t> groups;
  for (const Place& node : nodes)
    groups.emplace(group_of(node.path), groups.size());
  const auto place = [&](const Place& node) {
    return std::pair{std::count(node.path.begin(), node.path.end(), '/'), groups.at(group_of(node.path))};
  };
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](const Place& a, const Place& b) { return place(a) < place(b); });
  return nodes;
}

}  // namespace

Documents::Documents(const Hierarchy& all) : groups_(all.groups.size()), arrays_(all.arrays.size()) {
  std::vector<std::pair<std::string, AttributeNotes>> notes(1);
  std::vector<std::string> order;
  for (const Place& node : places_of(all)) {
    AttributeNotes own;
    in_context_of_variable(node.path, [&] {
      if (node.is_group)
        groups_[node.number] = text_of(all.groups[node.number].second, own);
      else
        arrays_[node.number] = text_of(all.arrays[node.number].second, own);
      nodes_.push_back({json_text(node.path), node.is_group, node.number});
    });
    notes.emplace_back(node.path, std::move(own));
    order.push_back(node.path);
  }
  Json root = document_of(all.root, true, notes.front().second);
  Json attributes;
  (attributes["attributes"] = std::move(root["attributes"]))[k_notes_name] = nullptr;
  root.erase("attributes");
  begin_ = json_text(attributes);
  begin_.resize(begin_.rfind("null"));
  notes_ = json_text(definition_notes(all, notes, order));
  const std::string others = json_text(root);
  const std::size_t nodes = others.find("{}") + 1;
  middle_ = "}," + others.substr(1, nodes - 1);
  end_ = others.substr(nodes);
}

std::string Documents::array(std::size_t number, const Dims& shape) const {
  const Text& text = arrays_[number];
  return text.has_shape ? text.own : with_shape(shape, text.own, k_indent);
}

std::string Documents::root(const Hierarchy& all) const {
  std::string text = begin_ + joined(dimension_notes(all), notes_, k_one_line) + middle_;
  for (const Node& node : nodes_) {
    const Text& own = node.is_group ? groups_[node.number] : arrays_[node.number];
    if (&node != &nodes_.front()) text += ',';
    text += node.key + ':';
    text += own.has_shape ? own.in_root
                          : with_shape(all.arrays[node.number].second.shape, own.in_root, k_one_line);
  }
  return text + end_;
}

std::string text_of(const ArrayMetadata& array) {
  AttributeNotes notes;
  const Documents::Text text = text_of(array, notes);
  return text.has_shape ? text.own : with_shape(array.shape, text.own, k_indent);
}

std::string text_of(const GroupMetadata& group) {
  AttributeNotes notes;
  return text_of(group, notes).own;
}

std::string root_text(const Hierarchy& all) {
  return Documents(all).root(all);
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
