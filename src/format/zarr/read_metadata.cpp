// SPDX-License-Identifier: BSD-3-Clause
// Metadata of version 3, by zarr-python 3 and others.
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "format/zarr/attributes_json.hpp"
#include "format/zarr/codecs_json.hpp"
#include "format/zarr/hierarchy.hpp"
#include "format/zarr/json_text.hpp"
#include "format/zarr/metadata.hpp"
#include "format/zarr/types_json.hpp"

namespace shoal::zarr {

namespace {

// The name of {"name", "configuration"}, or of a name alone; configuration: null, if there is none.
std::string read_named(const Json& json, const char* what, Json& configuration) {
  configuration = Json();
  if (json.is_string()) return json.get<std::string>();
  if (const Json* found = find_member(json, "configuration"); found != nullptr) configuration = *found;
  return text_member(json, "name", what);
}

void read_grid(const Json& json, ArrayMetadata& array) {
  Json configuration;
  const std::string name = read_named(json, "\"chunk_grid\"", configuration);
  if (name != "regular") {
    array.refusal =
        fmt::format("its chunks are a grid \"{}\"; Shoal reads regular ones", printable_name(name));
    return;
  }
  array.object = check_chunks(dims_member(configuration, "chunk_shape", 0, "\"chunk_grid\""), array.shape);
}

void read_key_encoding(const Json& json, ArrayMetadata& array) {
  Json configuration;
  const std::string name = read_named(json, "\"chunk_key_encoding\"", configuration);
  if (name != "default" && name != "v2") {
    array.refusal =
        fmt::format("its objects are named by \"{}\"; Shoal knows default and v2", printable_name(name));
    return;
  }
  array.scalar_is_prefix = name == "default";
  const Json* separator = find_member(configuration, "separator");
  set_separator(separator, array.scalar_is_prefix ? '/' : '.', array);
  array.prefix = array.scalar_is_prefix ? std::string("c") + array.separator : "";
}

void read_dimension_names(const Json* json, ArrayMetadata& array) {
  if (json == nullptr || json->is_null()) return;
  if (!json->is_array() ||
      (array.refusal.empty() && json->size() != static_cast<std::size_t>(array.shape.size())))
    damaged(fmt::format("\"dimension_names\" is {}; the array has {} dimensions", shown(*json),
                        array.shape.size()));
  if (json->size() != static_cast<std::size_t>(array.shape.size())) return;
  for (const Json& name : *json)
    array.dims.push_back(dimension_name(name));
}

// What a reader may not pass over that it does not know.
void check_members(const Json& json, ArrayMetadata& array) {
  constexpr std::string_view k_known[] = {"zarr_format",
                                          "node_type",
                                          "shape",
                                          "data_type",
                                          "chunk_grid",
                                          "chunk_key_encoding",
                                          "fill_value",
                                          "codecs",
                                          "attributes",
                                          "dimension_names",
                                          "storage_transformers",
                                          "consolidated_metadata"};
  for (const auto& [name, value] : json.items()) {
    if (std::find(std::begin(k_known), std::end(k_known), name) != std::end(k_known)) continue;
    const Json* must = find_member(value, "must_understand");
    if ((must == nullptr || *must != false) && array.refusal.empty())
      array.refusal =
          fmt::format("its metadata have \"{}\", which Shoal does not know", printable_name(name));
  }
  const Json* transformers = find_member(json, "storage_transformers");
  if (transformers != nullptr && !transformers->empty() && array.refusal.empty())
    array.refusal = fmt::format("it has storage transformers, {}; Shoal has none", shown(*transformers));
}

ArrayMetadata array_from(const Json& json, const std::string& path, const Hierarchy& all) {
  ArrayMetadata array;
  const auto shape = dims_member(json, "shape", 0, k_whose);
  read_data_type(member(json, "data_type", k_whose), array);
  if (array.type == Type::ubyte && all.reading->characters.contains(path)) {
    array.type = Type::char_;
    array.stored_as = StoredAs::characters;
  }
  if (!shape) {
    array.refusal = fmt::format("it has {} dimensions; up to {} are read", json["shape"].size(), k_max_dims);
  } else {
    array.shape = *shape;
    read_grid(member(json, "chunk_grid", k_whose), array);
    if (array.refusal.empty()) read_key_encoding(member(json, "chunk_key_encoding", k_whose), array);
    read_fill(member(json, "fill_value", k_whose), array);
    if (array.refusal.empty()) read_codecs(member(json, "codecs", k_whose), array);
  }
  check_members(json, array);
  check_sizes(array);
  read_dimension_names(find_member(json, "dimension_names"), array);
  if (const Json* attributes = find_member(json, "attributes");
      attributes != nullptr && !attributes->is_null())
    read_attributes(*attributes, notes_of(all, path), array);
  add_logical_attributes(array);
  array.no_fill = all.reading->no_fill.contains(path);
  if (!array.refusal.empty()) array.document = json_text(without_specials(json));
  return array;
}

GroupMetadata group_from(const Json& json, const std::string& path, const Hierarchy& all) {
  GroupMetadata group;
  if (const Json* attributes = find_member(json, "attributes");
      attributes != nullptr && !attributes->is_null())
    read_attributes(*attributes, notes_of(all, path), group);
  return group;
}

void read_node(const Json& json, const std::string& path, Hierarchy& into) {
  check_version(json, 3);
  const std::string& node = text_member(json, "node_type", "the document");
  if (node == "array")
    add_array(path, array_from(json, path, into), into);
  else if (node == "group")
    add_group(path, group_from(json, path, into), into);
  else
    damaged(fmt::format("\"node_type\" is \"{}\"; allowed are array and group", printable_name(node)));
}

}  // namespace

Dims check_chunks(const std::optional<Dims>& found, const Dims& shape) {
  if (!found || found->size() != shape.size())
    damaged(fmt::format("the shape of a chunk is not one of {} dimensions", shape.size()));
  Dims chunk = *found;
  for (int d = 0; d < chunk.size(); ++d) {
    // numcodecs' friends write 0 where an array has no cells.
    if (chunk[d] == 0 && shape[d] == 0) chunk[d] = 1;
    if (chunk[d] == 0) damaged(fmt::format("a chunk has no cells in dimension {}", d + 1));
  }
  return chunk;
}

void set_separator(const Json* json, char usual, ArrayMetadata& array) {
  array.separator = usual;
  if (json == nullptr) return;
  if (*json != "/" && *json != ".")
    damaged(fmt::format("the names of objects have separator {}; allowed are \"/\" and \".\"", shown(*json)));
  array.separator = json->get_ref<const std::string&>()[0];
}

Hierarchy parse_root(const std::string& text, const std::string& where, bool& has_all) {
  has_all = false;
  return in_context(where, [&] {
    const Json json = parse_json(text);
    check_version(json, 3);
    Hierarchy all;
    all.reading = std::make_shared<Hierarchy::Reading>();
    if (text_member(json, "node_type", "the document") != "group")
      throw Error(Code::not_supported,
                  "the Zarr store is one array without a group around it, which has no name; open a group");
    if (const Json* attributes = find_member(json, "attributes"); attributes != nullptr)
      take_notes(*attributes, all);
    all.root = group_from(json, "", all);

    const Json* nodes = find_member(json, "consolidated_metadata");
    if (nodes == nullptr || nodes->is_null()) return all;
    if (const Json* kind = find_member(*nodes, "kind"); kind == nullptr || *kind != "inline") return all;
    const Json& metadata = member(*nodes, "metadata", "\"consolidated_metadata\"");
    if (!metadata.is_object()) damaged("\"consolidated_metadata\" has no object of metadata");
    for (const auto& [path, node] : metadata.items())
      in_context_of_variable(path, [&, &path = path, &node = node] { read_node(node, path, all); });
    settle_notes(all);
    has_all = true;
    return all;
  });
}

void parse_node(const std::string& text, const std::string& path, const std::string& where, Hierarchy& into) {
  in_context(where, [&] {
    if (into.reading == nullptr) into.reading = std::make_shared<Hierarchy::Reading>();
    in_context_of_variable(path, [&] { read_node(parse_json(text), path, into); });
  });
}

}  // namespace shoal::zarr
