// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "format/zarr/json_text.hpp"
#include "format/zarr/metadata.hpp"

namespace shoal::zarr {

/// The data type of version 3 ("float32", {"name": ...}), or the dtype of version 2 ("<f4"), with the order
/// of bytes; sets array.type, stored_as, element and big_endian, or the refusal.
void read_data_type(const Json& json, ArrayMetadata& array);
void read_dtype(const Json& json, ArrayMetadata& array);
/// "float32", as version 3 has it. Error(not_supported): Zarr has no name for it.
Json data_type_of(const ArrayMetadata& array);

/// The fill value, of an array whose type is known. Error(format): none of that type.
void read_fill(const Json& json, ArrayMetadata& array);
/// array.fill; where it is not said, _FillValue, or what NetCDF fills with.
Json fill_of(const ArrayMetadata& array);

/// The value of the attribute _FillValue, as xarray has it in version 3 (floats in base64), or as a number.
/// nullopt: it is none of the array's type.
std::optional<Attribute> fill_attribute_of(const Json& json, const ArrayMetadata& array);
/// nullopt: xarray would not take it, so that it cannot be among the attributes of the array.
std::optional<Json> fill_attribute_json(const Attribute& attribute, const ArrayMetadata& array);

/// One number, exactly; false: it is none of the type. quoted: NaN and Infinity may be texts.
bool read_number(const Json& json, Type type, bool quoted, std::byte* to);
/// One number at p.
Json number_json(Type type, const std::byte* p);

}  // namespace shoal::zarr
