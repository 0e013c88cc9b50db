// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

namespace shoal {

/// Shoal's code for an error of the netCDF library; positive ones are the system's. Local.
Code code_of_netcdf(int status);

}  // namespace shoal
