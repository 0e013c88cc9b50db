// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/zarr/json_text.hpp"
#include "format/zarr/metadata.hpp"

namespace shoal::zarr {

/// What was noted of the attributes of one array or group, which JSON has no types for: {"scale_factor":
/// "float", ...}. Notes are hints: an attribute that another program has changed since has the type that its
/// value has.
///
///     "short"             type of numbers, or "string" of a single text
///     "char[12]"          a text with zeros behind, up to that length
///     "char latin-1"      bytes that are not UTF-8, each as the character with its number
///     "json"              a text in JSON, which is there as JSON: what conventions for Zarr ask for
struct AttributeNotes {
  Json types = Json::object();
  Json hidden = Json::object();  ///< attributes that are here alone: {"missing_value": ["double", "NaN"]}
};

/// The value, and in `note` its type, if JSON does not give that back ("" if it does).
Json attribute_json(const Attribute& attribute, std::string& note);
/// An attribute by its value alone, or by its note, where the value fits that. nullopt: Shoal has no such
/// type, which `unread` says in two words.
std::optional<Attribute> attribute_from(const std::string& name, const Json& json, const std::string& note,
                                        std::string& unread);

/// The attributes, and what is to be noted of them. array: whose they are; nullptr: a group's. Error
/// (invalid_argument): one has the name of Shoal's notes.
Json attributes_json(const std::vector<Attribute>& attributes, const std::vector<KeptAttribute>& kept,
                     const ArrayMetadata* array, AttributeNotes& notes);
/// Sets attributes, unread and kept of an array or a group.
void read_attributes(const Json& json, const AttributeNotes& notes, ArrayMetadata& array);
void read_attributes(const Json& json, const AttributeNotes& notes, GroupMetadata& group);

/// The attribute of the root group that has Shoal's notes. xarray does not show attributes of groups that
/// begin so.
constexpr const char* k_notes_name = "_nc_shoal";

}  // namespace shoal::zarr
