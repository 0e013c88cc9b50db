// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "codec/packing.hpp"
#include "format/schema.hpp"

namespace shoal {

/// What is needed to pack values of one variable.
struct VariablePacking {
  Packing packing;
  /// Programs define the variable as of floating point: all their arrays hold values. Otherwise those of
  /// whole numbers hold packed ones.
  bool of_floating_point = false;
  std::vector<double> missing_values = {};  ///< values that programs have where there is none, beside NaN
};

/// Does an attribute of this name say how values are packed, or which are missing?
bool is_packing_attribute(const std::string& name);
/// Is it a variable of packed values, by its type and attributes?
bool has_packing(const VariableDef& variable);

/// A new variable of floating point becomes one of the request's type, with scale_factor and add_offset.
/// _FillValue and missing_value, which programs give as values, are replaced by a packed number; valid_min,
/// valid_max and valid_range are packed. On Error (type, invalid_argument, exists) nothing was changed.
VariablePacking make_packed(VariableDef& variable, const PackRequest& request);

/// How the variable's attributes say that its values are packed. Error(type, not_found, not_supported).
VariablePacking packing_in_attributes(const VariableDef& variable);

/// The packer of a packed variable.
Packer packer_of(const VariableDef& variable, const VariablePacking& packing);

}  // namespace shoal
