// SPDX-License-Identifier: BSD-3-Clause
// Values with fewer bits, as nc_def_var_quantize asks for them: netCDF's BitGroom and BitRound, bit for bit.
#ifndef SHOAL_DOORS_DATA_QUANTIZE_HPP
#define SHOAL_DOORS_DATA_QUANTIZE_HPP

#include <cstddef>

#include "file/definitions.hpp"

namespace door {

// Does the door make such values? Granular BitRound, and BitGroom of so many digits that no bits are left to
// change, are the library's.
bool quantizes(nc_type type, int mode, int digits);
// netCDF's attribute that says so; nullptr: none.
const char* quantize_attribute(int mode);
// NC_QUANTIZE_... and the digits or bits that a variable's attributes tell; NC_NOQUANTIZE.
void read_quantize(Variable& var);
// Changes the values of one call, `count` of the variable's type one after the other; BitGroom makes them
// smaller and larger in turn. Fill values, zeros, infinities and NaN stay.
void quantize(const Variable& var, void* values, std::size_t count);

}  // namespace door

#endif
