// SPDX-License-Identifier: BSD-3-Clause
// Values of one type as those of another, with netCDF's rules: numbers among each other, text to text alone.
#ifndef SHOAL_DOORS_DATA_CONVERT_HPP
#define SHOAL_DOORS_DATA_CONVERT_HPP

#include <netcdf.h>

#include <cstddef>

namespace door {

struct ConversionRules {
  bool bytes_have_no_sign = false;     // CDF-1 and CDF-2: NC_BYTE and unsigned char are bits
  const void* out_of_range = nullptr;  // what stands for values that do not fit, of the type they go to;
                                       // nullptr: what the machine makes of them
};

// `count` values of `from` to those of `to`, both contiguous, which do not overlap; types of netCDF but
// NC_STRING. NC_ERANGE: some do not fit, and all others are there. NC_ECHAR: one of the types alone is
// text.
int convert(nc_type from, const void* values, nc_type to, void* out, std::size_t count,
            const ConversionRules& rules);
// Need the bytes be changed? False for equal types, and where `rules` take bytes for bits.
bool converts(nc_type from, nc_type to, const ConversionRules& rules);

}  // namespace door

#endif
