// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/array_view.hpp"
#include "base/bytes.hpp"
#include "base/numbered.hpp"
#include "base/type.hpp"
#include "codec/filters.hpp"

namespace shoal {

enum class Format : int {
  cdf1 = 1,
  cdf2 = 2,
  netcdf4 = 3,
  netcdf4_classic = 4,
  cdf5 = 5,     // up to here numbers of nc_inq_format
  raw = 101,    ///< bytes only, what is where in a file beside it
  ascii = 102,  ///< the same as text, one value a line
  zarr = 103,   ///< Zarr, version 3
  zarr2 = 104   ///< version 2, for reading
};

/// "cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic", "raw", "ascii", "zarr", "zarr2".
const char* name_of(Format format);
/// The format of that name; also "64bit-offset", "nc4", "classic", ... ; throws Error(setting) with the
/// nearest name.
Format format_of(const std::string& name);
/// May the format hold the type? Classic model: byte char short int float double; cdf5, raw and ascii the
/// unsigned and 64-bit ones too; netcdf4 also strings.
bool holds(Format format, Type type);

struct Attribute {
  std::string name;
  Type type = Type::none;
  Bytes data;                        ///< elements in this machine's byte order; char_: the text
  std::vector<std::string> strings;  ///< instead of data, for Type::string

  std::int64_t count() const {
    return type == Type::string ? static_cast<std::int64_t>(strings.size())
                                : static_cast<std::int64_t>(data.size() / size_of(type));
  }
  static Attribute text(std::string name, const std::string& value);
  /// count elements of a number type, in memory order.
  static Attribute numbers(std::string name, Type type, const void* values, std::int64_t count);
};

/// An attribute of a file that Shoal cannot read: its type has no counterpart.
struct UnreadAttribute {
  std::string name;
  std::string type;  ///< in a word or two: "compound", "enum", ...
};

struct Dimension {
  std::string name;         ///< with the path of its group
  std::int64_t length = 0;  ///< records so far, if unlimited
  bool unlimited = false;
};

/// A group of names, of a format that has groups.
struct GroupDef {
  std::string name;  ///< its path, without a '/' in front (group_paths.hpp)
  std::vector<Attribute> attributes;
  std::vector<UnreadAttribute> unread = {};
};

struct VariableDef {
  std::string name;        ///< with the path of its group
  Type type = Type::none;  ///< type in the file; never logical (that is byte_ with flag attributes)
  Numbered<int> dims;      ///< indices into Schema::dims, slowest first
  std::vector<Attribute> attributes;  ///< _FillValue included, if there is one
  std::vector<UnreadAttribute> unread;
  bool no_fill = false;      ///< cells that nobody writes are undefined, or stay
  bool distributed = false;  ///< will be written through placements (a hint for layout in the file)
  bool independent = false;  ///< of a new one: ranks will write it alone, as soon as it is there
  std::vector<std::int64_t>
      chunks;                   ///< [dims] chunk shape, asked for or found; empty: default or not chunked
  Filters filters;              ///< of its chunks, asked for or found
  bool fits_plainly = true;     ///< false: cannot be read or written; most have a type Shoal has no name for
  std::string refusal;          ///< why not, where that is not the type
  bool in_other_files = false;  ///< netcdf4: its values lie in other files (external, virtual)
  Bytes absent;                 ///< zarr: a cell of a chunk that is not there, if that is not fill_of
};

/// Error(not_supported): the variable cannot be read or written (fits_plainly), and why. Local.
void require_plain(const VariableDef& variable);

/// Something that a file has gets another name, or goes. What is in a group has the group's in its path.
struct SchemaChange {
  enum class Kind : int { rename_dim, rename_variable, rename_attribute, delete_attribute, rename_group };
  Kind kind = Kind::rename_dim;
  int index = 0;  ///< of the dimension, variable or group; of attributes: whose (Schema::attributes_of)
  std::string name, to;  ///< as it is called when the change is made, and then
};

/// Whose attributes, beside the numbers of variables: the file's, and those of a group by its number.
constexpr int k_of_file = -1;
constexpr int of_group(int group) {
  return -2 - group;
}
constexpr bool is_group(int owner) {
  return owner <= -2;
}
constexpr int group_number(int owner) {
  return -2 - owner;
}

/// What a file holds, as plain data. The same on every rank.
struct Schema {
  Format format = Format::cdf5;
  Numbered<GroupDef> groups;  ///< all but the root, each behind the one that it is in
  Numbered<Dimension> dims;
  std::vector<Attribute> attributes;
  std::vector<UnreadAttribute> unread;
  Numbered<VariableDef> variables;
  /// Of a schema that a file is to be brought to: what is to be made of the file's own, in this order, before
  /// anything is added. Names and attributes of this schema are those afterwards. Otherwise empty.
  std::vector<SchemaChange> changes;

  const Dimension& dim(int index) const { return dims[index]; }
  Dimension& dim(int index) { return dims[index]; }
  const VariableDef& variable(int index) const { return variables[index]; }
  VariableDef& variable(int index) { return variables[index]; }
  /// owner: a variable's number, k_of_file or of_group.
  const std::vector<Attribute>& attributes_of(int owner) const;
  std::vector<Attribute>& attributes_of(int owner);
  const std::vector<UnreadAttribute>& unread_of(int owner) const;
  std::vector<UnreadAttribute>& unread_of(int owner);
  int find_dim(const std::string& name) const;       ///< -1 if there is none
  int find_variable(const std::string& name) const;  ///< -1 if there is none
  int record_dim() const;                            ///< the first unlimited one, -1 if there is none
  bool has_record(int variable) const;               ///< first dimension is unlimited
  /// Current lengths of all dimensions of the variable, record dimension included.
  Dims shape(int variable) const;
};

constexpr const char* k_fill_name = "_FillValue";

std::string text_of(const SchemaChange& change);  ///< "rename dimension 'lon' to 'longitude'"
/// The schema with these changes, which it has the names for. Local.
Schema changed(Schema schema, const std::vector<SchemaChange>& changes);

const Attribute* find_attribute(const std::vector<Attribute>& attributes, const std::string& name);
/// Of one type, whatever their names.
bool have_same_values(const Attribute& a, const Attribute& b);

/// The fill value of a variable in memory order, size_of(type) bytes: its _FillValue or NetCDF's default.
/// Undefined for strings (empty).
Bytes fill_of(const VariableDef& variable);
/// What a cell is read as that has no place in the file: the same, unless the file says another value.
inline Bytes absent_value_of(const VariableDef& variable) {
  return variable.absent.empty() ? fill_of(variable) : variable.absent;
}
/// Why the _FillValue of the variable is not used: it is of another type, or not one value; "": it is, or
/// there is none. (Programs that call HDF5, and NCO, write such.)
std::string fault_of_fill(const VariableDef& variable);

void pack(ByteWriter& out, const Schema& schema);
Schema unpack_schema(ByteReader& in);

}  // namespace shoal
