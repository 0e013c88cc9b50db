// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "content.hpp"

// What the methods through netCDF-C share, and the check of what was written, which trusts nobody's code
// under test.
namespace shoal::bench {

/// std::runtime_error with netCDF's message if the status is one of failure.
void check_netcdf(int status, const std::string& what, const std::string& path);

/// Flags of nc_create for cdf1, cdf2, cdf5, netcdf4, netcdf4-classic.
int netcdf_create_mode(const std::string& format);

/// Defines the content in an open file and leaves define mode; returns the variables' ids in order. Cells are
/// not filled beforehand, since all are written.
std::vector<int> define_netcdf(int file, const Content& content, const std::string& path);

/// Ids of the content's variables in a file opened for reading.
std::vector<int> find_netcdf_variables(int file, const Content& content, const std::string& path);

/// A box of a distributed variable: record (if it has records), all levels, rows and columns of a tile.
/// Without cells: counts 0.
struct NetcdfSection {
  std::vector<std::size_t> start, count;
};
NetcdfSection netcdf_section(const Field& field, const Tile& tile, std::int64_t record);

/// All of a replicated variable, or of one record of it.
NetcdfSection netcdf_whole(const Field& field, std::int64_t record);

}  // namespace shoal::bench
