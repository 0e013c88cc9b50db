// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

namespace shoal {

/// Shoal's code for an error of the netCDF library; positive ones are the system's. Local.
Code code_of_netcdf(int status);

/// Is this the code of a write that failed, not of arguments that the library refused? Then it is not known
/// which of all values given to the library are in the file: netCDF and HDF5 keep values and addresses in
/// memory, and do not report what they gave up. Local.
bool is_failed_write(int status);

}  // namespace shoal
