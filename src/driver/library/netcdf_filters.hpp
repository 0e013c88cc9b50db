// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <netcdf.h>
#include <netcdf_filter.h>

#include <algorithm>
#include "base/error.hpp"

#include "codec/filters.hpp"
#include "format/netcdf4/contents.hpp"
#include "format/schema.hpp"

namespace shoal {

/// Compression of a new variable by netCDF-C; its error code.
inline int define_filters(int file, int variable, const Filters& filters) {
  netcdf4::provide_filters();
  const auto has = [&](int id) {
    return std::any_of(filters.begin(), filters.end(), [&](const Filter& f) { return f.id == id; });
  };
  const int shuffles = has(Filter::shuffle) ? 1 : 0;
  if (shuffles != 0 && !has(Filter::deflate)) {
    const int code = nc_def_var_deflate(file, variable, 1, 0, 0);
    if (code != NC_NOERR) return code;
  }
  for (const auto& filter : filters) {
    const unsigned level = static_cast<unsigned>(filter.level);
    int code = NC_NOERR;
    if (filter.id == Filter::deflate)
      code = nc_def_var_deflate(file, variable, shuffles, 1, filter.level);
    else if (filter.id == Filter::fletcher32)
      code = nc_def_var_fletcher32(file, variable, NC_FLETCHER32);
    else if (filter.id != Filter::shuffle)
      code = nc_def_var_filter(file, variable, static_cast<unsigned>(filter.id), 1, &level);
    if (code != NC_NOERR) return code;
  }
  return NC_NOERR;
}

/// zlib has levels up to 9.
inline void check_levels(const VariableDef& def) {
  for (const auto& filter : def.filters)
    if (filter.id == Filter::deflate && filter.level > 9)
      throw Error(Code::not_supported,
                  "netCDF-C has levels 1 to 9 of deflate, not {}; choose one of them, or driver native",
                  filter.level)
          .of_variable(def.name);
}

}  // namespace shoal
