// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/zarr/attributes_json.hpp"
#include "format/zarr/metadata.hpp"

namespace shoal::zarr {

/// What is known while nodes are read one after another.
struct Hierarchy::Reading {
  Json notes = Json::object();  ///< Shoal's, or empty
  struct Node {
    bool is_group = false;
    bool implied = false;  ///< a group that only the path of what is in it told of
    std::size_t at = 0;    ///< in groups or arrays
  };
  std::unordered_map<std::string, Node> nodes;
  // Of the notes, by path.
  std::unordered_map<std::string, AttributeNotes> attributes;
  std::unordered_map<std::string, std::vector<std::string>> paths;  ///< of dimensions
  std::unordered_set<std::string> characters, no_fill;
};

/// Takes Shoal's notes out of the attributes of the root group, if it has such.
void take_notes(const Json& attributes, Hierarchy& all);
const AttributeNotes& notes_of(const Hierarchy& all, const std::string& path);

/// Error(format): the path is none, or is there already.
void add_group(const std::string& path, GroupMetadata group, Hierarchy& all);
void add_array(const std::string& path, ArrayMetadata array, Hierarchy& all);

/// The notes of what is to be written. First those of the dimensions, whose lengths commits change.
Json dimension_notes(const Hierarchy& all);
/// The others: of definitions, and of `attributes` by path. order: paths of groups and arrays as readers find
/// them.
Json definition_notes(const Hierarchy& all,
                      const std::vector<std::pair<std::string, AttributeNotes>>& attributes,
                      const std::vector<std::string>& order);

/// Error(format): the document is of another version.
void check_version(const Json& json, int version);
inline const std::string k_whose = "the array";  // in messages

/// The shape of a chunk of an array of that shape; nullopt: of too many dimensions. Error(format): it does
/// not fit.
Dims check_chunks(const std::optional<Dims>& found, const Dims& shape);
/// nullptr: the usual one.
void set_separator(const Json* json, char usual, ArrayMetadata& array);
/// Cells of a shape, of an object and of a chunk can be counted; otherwise a refusal.
void check_sizes(ArrayMetadata& array);
/// What an array is in a Schema beyond what its document says: bool has the attributes of a logical.
void add_logical_attributes(ArrayMetadata& array);
/// A name as dimensions have it: "" in place of one that NetCDF does not allow.
std::string dimension_name(const Json& json);

}  // namespace shoal::zarr
