// SPDX-License-Identifier: BSD-3-Clause
// Codes and formats of Shoal as netCDF numbers them, and PnetCDF.
#ifndef SHOAL_DOORS_FILE_CODES_HPP
#define SHOAL_DOORS_FILE_CODES_HPP

#include <mpi.h>

#include <string>

namespace door {

// netCDF's code for one of Shoal's, or of the system.
int code_of(int shoal_code);
// The last error of Shoal, on standard error by one rank: netCDF's codes have no message. Returns
// code_of(code).
int report_error(MPI_Comm comm, const std::string& path, const char* call, int code);
// Shoal's name of netCDF's format: "cdf5" for NC_FORMAT_64BIT_DATA.
const char* name_of_format(int format);

// Does Shoal say that it cannot, or that it could not? The former is for the library to try.
bool is_refusal(int shoal_code);

}  // namespace door

#endif
