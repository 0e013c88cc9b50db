/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shoal: values of floating point that are whole numbers of a few bytes in the file, as CF packs them:
 *   value = packed * scale_factor + add_offset
 * The conventions and error codes are those of shoal.h.
 *
 * Of a packed variable, arrays of float and double hold values: each function that writes packs them, to the
 * nearest number, and each that reads unpacks. Arrays of whole numbers hold values too, if the program defined the
 * variable as of floating point, and otherwise the packed numbers as they are. NaN is a cell without a value: it is
 * written as the variable's fill value, and that is read as NaN. So are, in writing, NetCDF's default fill values of
 * float and double, and what the program gave as fill value or missing_value.
 *
 * Values out of the range of packed numbers become the fill value. The report counts them, and shoal_close says so;
 * with the setting pack_out_of_range=error they are SHOAL_RANGE, as other values that do not fit.
 *
 * A file that exists is read and written so by the setting pack: "attributes" for all variables that have scale_factor
 * or add_offset, "temp=attributes" for one.
 */
#ifndef SHOAL_PACKING_H
#define SHOAL_PACKING_H

#include <shoal/shoal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How values of a new variable are packed:
 *   "short(-2, 35)"  a variable that was defined as float or double becomes one of this type when its definition is
 *                    finished, with scale_factor and add_offset (double) for values from -2 to 35; types are byte,
 *                    ubyte, short, ushort, int and uint. Fill value and missing_value, given as values, give way to
 *                    a packed _FillValue; valid_min, valid_max and valid_range are packed
 *   "attributes"     a variable that was defined as one of these types, with scale_factor or add_offset
 *   "none"           not at all
 * The setting pack is the default for variables with a decomposition. Local, as the other functions that define.
 * SHOAL_TYPE: values of the variable's type have no such range. SHOAL_INVALID_ARGUMENT: how. What else is wrong comes
 * out when definitions are finished: SHOAL_NOT_FOUND, no such attribute; SHOAL_TYPE, "attributes" of floating point;
 * SHOAL_INVALID_ARGUMENT, a missing value within the range; SHOAL_NOT_SUPPORTED, the format has no such type. */
SHOAL_API int shoal_def_pack(shoal_dataset* dataset, const char* variable, const char* how);

#ifdef __cplusplus
}
#endif

#endif
