// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/array_view.hpp"
#include "base/bytes.hpp"
#include "codec/convert.hpp"
#include "format/schema.hpp"

namespace shoal {

/// Does the array hold values of the variable's own type, contiguous and row-major, so that they need no
/// copy?
bool is_plain(const ArrayView& view, Type variable_type);

/// Values of a strided array as contiguous values of the variable's type. What does not fit becomes the fill
/// value. Error(type).
Bytes gather_values(const ArrayView& view, const VariableDef& variable, const Rounding* rounding,
                    ConversionErrors& conversion_errors);
/// Contiguous values of the variable's type into a strided array. What does not fit becomes NetCDF's fill
/// value of the array's type.
void scatter_values(const std::byte* values, const VariableDef& variable, const ArrayView& view,
                    ConversionErrors& conversion_errors);

/// Texts of an array of const char *; Error(invalid_argument) if one is NULL.
std::vector<std::string> gather_strings(const ArrayView& view);
/// Copies of the texts, made with malloc, into an array of char *. All or none.
void scatter_strings(const std::vector<std::string>& texts, const ArrayView& view);

/// Error(range) that says how many values did not fit and the index of the first, in the variable. Nothing
/// if all fitted. box: what the values are of, row-major.
Status conversion_status(const ConversionErrors& conversion_errors, const Box& box, Type from, Type to);

}  // namespace shoal
