// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

namespace shoal {

/// Shoal's code for an error of the netCDF library; positive ones are the system's. Local.
Code code_of_netcdf(int status);

/// Is it of a call that writes and could not, and not of arguments that the library refused? Then nobody
/// knows what of all that was given to the library is in the file: netCDF and HDF5 keep values, and where
/// they lie, in memory, and do not say what of that they gave up. Local.
bool is_failed_write(int status);

}  // namespace shoal
