// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "codec/convert.hpp"
#include "format/schema.hpp"
#include "pack/transfer.hpp"

namespace shoal {

// Elements of a transfer on their way between the caller's array and the file.

/// The elements of the caller's array.
inline Element in_memory(const Transfer& transfer) {
  return transfer.array.element();
}

/// From the caller's array to elements of the file, rounded as the variable is.
inline ConvertRun to_stored(const Transfer& transfer, const Element& stored) {
  return find_conversion(in_memory(transfer), stored).rounded(transfer.rounding.get(), stored);
}

/// The fill value of a variable as the file has it: in this machine's byte order, or in the other.
Bytes stored_fill(const VariableDef& variable, bool swapped);
/// absent_value_of, as stored.
Bytes stored_absent_value(const VariableDef& variable, bool swapped);

/// What stands in the caller's array where a value of the file does not fit.
const std::byte* substitute_for(Type type);

/// "value 3e+40 at [3, 17, 4] does not fit ...": for so many values, the first of which is at these indices
/// of the field and of the array.
Status unfitting(const Transfer& transfer, const VariableDef& variable, std::int64_t count, Dims global,
                 const Dims& in_array, bool writing);

/// A failure that means bytes are missing in the file, not just that a rank gave bad values.
bool loses_bytes(const Status& status);

}  // namespace shoal
