// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <set>
#include <string>

#include "codec/quantize.hpp"
#include "format/schema.hpp"

namespace shoal {

/// Throws Error where values of the variable cannot be quantized so: its type (type), too many bits or digits
/// (invalid_argument).
void check_quantization(const VariableDef& variable, const Quantization& quantization);

/// What is said of the quantization in the file: attributes of netCDF's and of CF's (chapter 8.4) at the
/// variable, in place of such as are there.
void describe_quantization(VariableDef& variable, const Quantization& quantization);
/// Does an attribute of this name say it?
bool is_quantization_attribute(const std::string& name);
/// CF's variable without values that names the algorithm and the program that used it.
VariableDef quantization_container(Quantization::Mode mode);
bool is_quantization_container(const VariableDef& variable);

/// Names in attributes of variables by which CF says where cells are and how large (coordinates, bounds,
/// cell_measures, ...): values that nothing should be done to unless somebody asks for it.
std::set<std::string> names_of_coordinates(const Schema& schema);

/// What netCDF's attributes of a variable in a file say; also Shoal's.
Quantization quantization_in_file(const VariableDef& variable);

/// Rounds values of the variable and keeps its fill value and missing values. Error(not_supported): there are
/// too many of these.
std::shared_ptr<const Rounding> rounding_of(const VariableDef& variable, const Quantization& quantization);

}  // namespace shoal
