// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "sections.hpp"

// What the methods through netCDF-C share, and the check of what was written, which trusts nobody's code
// under test.
namespace shoal::bench {

/// std::runtime_error with netCDF's message if the status is one of failure.
void check_netcdf(int status, const std::string& what, const std::string& path);

/// What netCDF-C opens: the path; of format nczarr, which netCDF knows by a URL alone, that.
std::string netcdf_name(const std::string& path, const std::string& format);

/// Flags of nc_create for cdf1, cdf2, cdf5, netcdf4, netcdf4-classic, nczarr.
int netcdf_create_mode(const std::string& format);

/// Defines the content in an open file and leaves define mode; returns the variables' ids in order. Cells are
/// not filled beforehand, since all are written. compression: of distributed fields, by netCDF's own calls:
/// "shuffle+deflate:1"; "": none. Refused: another filter.
std::vector<int> define_netcdf(int file, const Content& content, const std::string& path,
                               const std::string& compression = {});

/// Id of a variable in an open file.
int find_netcdf_variable(int file, const Field& field, const std::string& path);

}  // namespace shoal::bench
