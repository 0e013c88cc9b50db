// SPDX-License-Identifier: BSD-3-Clause
// Define mode and data mode. All of these are Collective.
#ifndef SHOAL_DOORS_CALLS_PHASES_HPP
#define SHOAL_DOORS_CALLS_PHASES_HPP

#include "file/file.hpp"

namespace door {

// To be called first by all that define: NC_EPERM, NC_ENOTINDEFINE; begins a define mode where netCDF-4
// does so.
int begin_definition(File& file);
// Ends the define mode: Shoal makes the file as it was defined, or throws HandBack.
int end_definitions(File& file);
// What ranks have put is in the file, and each of them sees it.
int sync_file(File& file, const char* call);
// A data call begins: ends a define mode that netCDF-4 ends by itself, in the library where that must be;
// NC_EINDEFINE.
int begin_data(File& file);

}  // namespace door

#endif
