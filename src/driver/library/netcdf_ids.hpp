// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <netcdf.h>

#include <string>

#include "format/group_paths.hpp"

namespace shoal {

/// By which numbers netCDF-C knows a variable, or the attributes of the file or a group: the number of the
/// group, in which the variable is counted, or NC_GLOBAL.
struct NetcdfId {
  int group = -1;
  int variable = NC_GLOBAL;
  bool known() const { return group >= 0; }
};

/// The number of the group with that path in the file; netCDF's code.
inline int find_group_by_netcdf(int file, const std::string& path, int* id) {
  *id = file;
  return path.empty() ? NC_NOERR : nc_inq_grp_full_ncid(file, ("/" + path).c_str(), id);
}

/// Makes the group, in one that is there.
inline int define_group_by_netcdf(int file, const std::string& path) {
  int parent = -1, made = -1;
  const int code = find_group_by_netcdf(file, group_of(path), &parent);
  return code != NC_NOERR ? code : nc_def_grp(parent, name_in_group(path).c_str(), &made);
}

inline int find_variable_by_netcdf(int file, const std::string& path, NetcdfId* id) {
  NetcdfId found;
  int code = find_group_by_netcdf(file, group_of(path), &found.group);
  if (code == NC_NOERR) code = nc_inq_varid(found.group, name_in_group(path).c_str(), &found.variable);
  *id = code == NC_NOERR ? found : NetcdfId{};
  return code;
}

/// Dimensions have one number in the whole file.
inline int find_dim_by_netcdf(int file, const std::string& path, int* dim) {
  int group = -1;
  const int code = find_group_by_netcdf(file, group_of(path), &group);
  return code != NC_NOERR ? code : nc_inq_dimid(group, name_in_group(path).c_str(), dim);
}

}  // namespace shoal
