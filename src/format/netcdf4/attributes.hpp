// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "format/netcdf4/hdf5.hpp"
#include "format/schema.hpp"

namespace shoal::netcdf4 {

// Names that netCDF-4 keeps for itself.
inline constexpr const char* k_class = "CLASS";
inline constexpr const char* k_name = "NAME";
inline constexpr const char* k_dimension_list = "DIMENSION_LIST";
inline constexpr const char* k_reference_list = "REFERENCE_LIST";
inline constexpr const char* k_dimid = "_Netcdf4Dimid";
inline constexpr const char* k_coordinates = "_Netcdf4Coordinates";
inline constexpr const char* k_strict = "_nc3_strict";
inline constexpr const char* k_properties = "_NCProperties";
inline constexpr const char* k_scale_class = "DIMENSION_SCALE";
inline constexpr const char* k_only_dimension = "This is a netCDF dimension but not a netCDF variable.";
inline constexpr const char* k_non_coordinate = "_nc4_non_coord_";

/// True for attributes that belong to netCDF-4 or to HDF5's dimension scales, not to the user.
bool is_reserved(const std::string& attribute);

/// All attributes of the object but the reserved ones; those of types without a counterpart go to unread.
std::vector<Attribute> read_attributes(hid_t object, std::vector<UnreadAttribute>& unread);

/// Rename an attribute, or delete it; it keeps its place among the others.
void change_attribute(hid_t object, const SchemaChange& change);
/// Write an attribute as netCDF-4 does; replace: it may exist.
void write_attribute(hid_t object, const Attribute& attribute, bool replace);

/// One-line text as a fixed-length ASCII string in a scalar, with its closing zero if terminated.
void write_text(hid_t object, const char* name, const std::string& text, bool terminated);
/// A scalar int, or a list of them. An attribute of the name is overwritten when replace.
void write_int(hid_t object, const char* name, int value, bool replace = false);
void write_ints(hid_t object, const char* name, const std::vector<int>& values);

bool has_attribute(hid_t object, const char* name);
std::string read_text(hid_t object, const char* name);
std::vector<int> read_ints(hid_t object, const char* name);

}  // namespace shoal::netcdf4
