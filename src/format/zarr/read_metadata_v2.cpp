// SPDX-License-Identifier: BSD-3-Clause
// Metadata of version 2, by zarr-python, xarray, NCZarr and others.
#include <fmt/core.h>

#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "format/group_paths.hpp"
#include "format/zarr/attributes_json.hpp"
#include "format/zarr/codecs_json.hpp"
#include "format/zarr/hierarchy.hpp"
#include "format/zarr/json_text.hpp"
#include "format/zarr/metadata.hpp"
#include "format/zarr/types_json.hpp"

namespace shoal::zarr {

namespace {

// The documents of one path.
struct Documents {
  std::string path;
  const Json* array = nullptr;
  const Json* group = nullptr;
  const Json* attributes = nullptr;
};

// Paths of NCZarr's dimensions, "/ocean/x", whose names the array has.
const Json* nczarr_dims(const Json& json) {
  for (const char* name : {"_nczarr_array", "_NCZARR_ARRAY"})
    for (const char* list : {"dimension_references", "dimrefs"})
      if (const Json* own = find_member(json, name); own != nullptr)
        if (const Json* dims = find_member(*own, list); dims != nullptr) return dims;
  return nullptr;
}

void read_dimension_names(const Json& json, const Json* attributes, ArrayMetadata& array) {
  const Json* names = attributes == nullptr ? nullptr : find_member(*attributes, "_ARRAY_DIMENSIONS");
  if (names == nullptr && attributes != nullptr) names = nczarr_dims(*attributes);
  if (names == nullptr) names = nczarr_dims(json);
  if (names == nullptr || !names->is_array() || names->size() != static_cast<std::size_t>(array.shape.size()))
    return;
  for (const Json& name : *names)
    array.dims.push_back(name.is_string() ? dimension_name(name_in_group(name.get<std::string>())) : "");
}

// Readers of version 2 take the fill value of an array for its _FillValue.
void set_fill_attribute(ArrayMetadata& array) {
  if (array.fill.empty() || array.stored_as != StoredAs::numbers) return;
  Attribute fill = Attribute::numbers(k_fill_name, array.type, array.fill.data(), 1);
  for (Attribute& attribute : array.attributes)
    if (attribute.name == k_fill_name) {
      attribute = std::move(fill);
      return;
    }
  array.attributes.push_back(std::move(fill));
}

ArrayMetadata array_from(const Json& json, const Json* attributes, const std::string& path,
                         const Hierarchy& all) {
  check_version(json, 2);
  ArrayMetadata array;
  array.version = 2;
  array.prefix = "";
  array.scalar_is_prefix = false;
  const auto shape = dims_member(json, "shape", 0, k_whose);
  read_dtype(member(json, "dtype", k_whose), array);
  if (!shape) {
    array.refusal = fmt::format("it has {} dimensions; up to {} are read", json["shape"].size(), k_max_dims);
  } else {
    array.shape = *shape;
    array.object = array.chunk = check_chunks(dims_member(json, "chunks", 0, k_whose), array.shape);
    set_separator(find_member(json, "dimension_separator"), '.', array);
    read_fill(member(json, "fill_value", k_whose), array);
    const Json* filters = find_member(json, "filters");
    if (array.refusal.empty())
      read_filters_v2(filters == nullptr ? Json() : *filters, member(json, "compressor", k_whose), array);
    const std::string& order = text_member(json, "order", k_whose);
    if (order != "C" && order != "F")
      damaged(fmt::format("\"order\" is \"{}\"; allowed are C and F", printable_name(order)));
    if (order == "F" && array.shape.size() > 1) {
      array.order.resize(static_cast<std::size_t>(array.shape.size()));
      std::iota(array.order.rbegin(), array.order.rend(), 0);
    }
  }
  check_sizes(array);
  read_dimension_names(json, attributes, array);
  if (attributes != nullptr) read_attributes(*attributes, notes_of(all, path), array);
  set_fill_attribute(array);
  add_logical_attributes(array);
  return array;
}

void read_documents(const Documents& found, Hierarchy& into) {
  if (found.array != nullptr && found.group != nullptr)
    damaged(fmt::format("\"{}\" is an array and a group", printable_name(found.path)));
  if (found.array != nullptr) {
    if (found.path.empty())
      throw Error(Code::not_supported,
                  "the Zarr store is one array without a group around it, which has no name; open a group");
    add_array(found.path, array_from(*found.array, found.attributes, found.path, into), into);
  } else if (found.group != nullptr) {
    check_version(*found.group, 2);
    GroupMetadata group;
    group.version = 2;
    if (found.attributes != nullptr) read_attributes(*found.attributes, notes_of(into, found.path), group);
    add_group(found.path, std::move(group), into);
  }
}

std::optional<Json> optional_json(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return parse_json(text);
}

void read_texts(const std::string& text, bool is_array, const std::string& zattrs, const std::string& path,
                const std::string& where, Hierarchy& into) {
  in_context(where, [&] {
    in_context_of_variable(path, [&] {
      if (into.reading == nullptr) into.reading = std::make_shared<Hierarchy::Reading>();
      const Json json = parse_json(text);
      const auto attributes = optional_json(zattrs);
      Documents found;
      found.path = path;
      (is_array ? found.array : found.group) = &json;
      found.attributes = attributes ? &*attributes : nullptr;
      read_documents(found, into);
    });
  });
}

}  // namespace

Hierarchy parse_consolidated_v2(const std::string& text, const std::string& where) {
  return in_context(where, [&] {
    const Json json = parse_json(text);
    if (member(json, "zarr_consolidated_format", "the document") != 1)
      damaged("\"zarr_consolidated_format\" is not 1");
    const Json& metadata = member(json, "metadata", "the document");
    if (!metadata.is_object()) damaged("\"metadata\" is no object in braces");
    std::vector<Documents> nodes;
    std::unordered_map<std::string, std::size_t> places;
    for (const auto& [name, document] : metadata.items()) {
      const std::string file = name_in_group(name);
      if (file != ".zarray" && file != ".zgroup" && file != ".zattrs") continue;
      const auto place = places.emplace(group_of(name), nodes.size());
      if (place.second) nodes.push_back({.path = group_of(name)});
      Documents& node = nodes[place.first->second];
      (file == ".zarray" ? node.array : file == ".zgroup" ? node.group : node.attributes) = &document;
    }
    Hierarchy all;
    all.root.version = 2;
    all.reading = std::make_shared<Hierarchy::Reading>();
    for (const Documents& node : nodes)
      in_context_of_variable(node.path, [&] { read_documents(node, all); });
    settle_notes(all);
    return all;
  });
}

void parse_group_v2(const std::string& zgroup, const std::string& zattrs, const std::string& path,
                    const std::string& where, Hierarchy& into) {
  read_texts(zgroup, false, zattrs, path, where, into);
}

void parse_array_v2(const std::string& zarray, const std::string& zattrs, const std::string& path,
                    const std::string& where, Hierarchy& into) {
  read_texts(zarray, true, zattrs, path, where, into);
}

}  // namespace shoal::zarr
