// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/box.hpp"
#include "base/bytes.hpp"
#include "codec/shard_coder.hpp"
#include "format/schema.hpp"

/// Zarr: https://zarr-specs.readthedocs.io. A dataset is a folder of objects: groups and arrays, each with
/// its metadata in JSON.
namespace shoal::zarr {

/// What the elements of an array are in its chunks.
enum class StoredAs : int {
  numbers,        ///< of Type, in the order of bytes that the array says
  logicals,       ///< bool, one byte: byte_ with the attributes of a logical in a Schema
  characters,     ///< uint8 that stand for char_, by a note of Shoal's
  texts,          ///< strings of any length (version 3: string; version 2: object with vlen-utf8)
  fixed_bytes,    ///< texts of at most `element` bytes, with zeros behind ("|S12", null_terminated_bytes)
  fixed_unicode,  ///< texts of element / 4 characters of 4 bytes ("<U12", fixed_length_utf32)
};

/// Attributes that Shoal has no type for (objects, nested lists, ...) or does not show, as JSON. They are
/// written again as they were.
struct KeptAttribute {
  std::string name;
  std::string json;
};

/// What the metadata of an array say.
struct ArrayMetadata {
  int version = 3;
  Dims shape;
  Type type = Type::none;  ///< in a Schema: string for all kinds of texts; none where refused
  StoredAs stored_as = StoredAs::numbers;
  std::size_t element = 0;  ///< bytes of an element in a chunk; 0: any
  bool big_endian = false;
  Dims chunk;   ///< what filters take as a whole: in a shard an inner chunk; 1 or more in each dimension
  Dims object;  ///< cells of an object: a shard, whole chunks of it; without shards one chunk
  bool sharded = false;  ///< an object has an index of its chunks
  bool index_at_start = true;
  bool index_checksum = true;     ///< crc32c behind the index
  bool whole_objects = false;     ///< objects are stored as a whole (Container::stores_whole)
  Filters filters;                ///< of a chunk
  std::vector<int> order;         ///< dimensions in the order of storage; empty: row-major
  Bytes fill;                     ///< one element in memory order of Type; empty: texts, or not said
  std::string fill_text;          ///< of texts
  std::string prefix = "c/";      ///< of the names of objects: prefix, then their indices
  char separator = '/';           ///< between the indices
  bool scalar_is_prefix = true;   ///< the object of an array without dimensions is "c"; otherwise "0"
  std::vector<std::string> dims;  ///< name of each dimension; "": it has none. With the path of its group
                                  ///< where `dims` of the Hierarchy has it, a plain name otherwise
  bool no_fill = false;           ///< VariableDef::no_fill, which Shoal notes
  std::vector<Attribute>
      attributes;              ///< _FillValue included, of the array's type, if readers of CF shall see one
  bool implies_flags = false;  ///< bool: flag_values and flag_meanings are not in its document
  std::vector<UnreadAttribute> unread;
  std::vector<KeptAttribute> kept;
  std::string refusal;   ///< why values cannot be read or written (codec, type, ...); empty: they can
  std::string document;  ///< where refused: zarr.json as it was read, which text_of gives again

  /// What is stored as a whole: a chunk, or the object that has it.
  const Dims& unit() const { return whole_objects ? object : chunk; }
  /// Are units found by an index that the catalog stores?
  bool has_index() const { return sharded && !whole_objects; }
  /// Does a rule say where units lie, as each has the same number of bytes?
  bool is_placed_by_rule() const { return filters.empty() && element > 0 && !whole_objects; }
  /// Of units that are shards.
  std::optional<ShardLayout> shard_layout() const {
    if (!sharded || !whole_objects) return std::nullopt;
    return ShardLayout{chunk, index_at_start, index_checksum};
  }
};

struct GroupMetadata {
  int version = 3;
  std::vector<Attribute> attributes;
  std::vector<UnreadAttribute> unread;
  std::vector<KeptAttribute> kept;
};

/// A dimension that Shoal noted: NetCDF has dimensions beside variables, Zarr has none.
struct NotedDimension {
  std::string name;  ///< with the path of its group
  std::int64_t length = 0;
  bool unlimited = false;
};

/// Groups and arrays of a store, by path ("ocean/temp").
struct Hierarchy {
  GroupMetadata root;
  std::vector<std::pair<std::string, GroupMetadata>> groups;  ///< each behind the one that it is in
  std::vector<std::pair<std::string, ArrayMetadata>> arrays;  ///< in the order in which they were defined
  std::vector<NotedDimension> dims;  ///< what Shoal noted; empty: another program's store
  bool noted = false;                ///< Shoal wrote the store

  struct Reading;
  std::shared_ptr<Reading> reading;  ///< of parse_... alone: names so far, and notes
};

/// Error(invalid_argument): the path of a variable or a group has a name that Zarr does not allow. Local.
void check_zarr_name(const std::string& path);

// --- To write (version 3): each a whole document. Error(invalid_argument, not_supported): Zarr has no such
// array.

/// zarr.json of an array, as it stands in its folder.
std::string text_of(const ArrayMetadata& array);
/// zarr.json of a group that is not the root.
std::string text_of(const GroupMetadata& group);
/// zarr.json of the root: its attributes, Shoal's notes, and the metadata of all groups and arrays below
/// (consolidated metadata as zarr-python 3 writes them).
std::string root_text(const Hierarchy& all);

// --- To read. `where` is the path of the file for messages. Error(format): no JSON, or no Zarr; what is JSON
// and Zarr but cannot be read as values is a refusal of the array. Groups that are there by the path of what
// is in them alone are added.

/// A root's zarr.json. consolidated: it has the metadata of all below, which are in the Hierarchy then;
/// otherwise the root group alone is.
Hierarchy parse_root(const std::string& text, const std::string& where, bool& consolidated);
/// The zarr.json of a node below the root: adds a group or an array.
void parse_node(const std::string& text, const std::string& path, const std::string& where, Hierarchy& into);

/// Version 2: .zmetadata, or .zgroup and .zarray with .zattrs (empty: there is none). The root's path is "".
Hierarchy parse_consolidated_v2(const std::string& text, const std::string& where);
void parse_group_v2(const std::string& zgroup, const std::string& zattrs, const std::string& path,
                    const std::string& where, Hierarchy& into);
void parse_array_v2(const std::string& zarray, const std::string& zattrs, const std::string& path,
                    const std::string& where, Hierarchy& into);

/// After the last node: what Shoal noted is compared with the arrays, since other programs change them. The
/// order of arrays and the paths of their dimensions are as they were noted; lengths are those of the arrays;
/// notes that do not fit go. Local.
void settle_notes(Hierarchy& all);

/// The names of objects: "c/0/3", "0.3", "c" ... below the array's folder.
std::string object_name(const ArrayMetadata& array, const Dims& index);

}  // namespace shoal::zarr
