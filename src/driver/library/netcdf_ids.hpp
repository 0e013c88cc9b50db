// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/names.hpp"
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
  if (path.empty()) return NC_NOERR;
  if (is_ascii(path)) return nc_inq_grp_full_ncid(file, ("/" + path).c_str(), id);
  // netCDF-C finds composed names alone.
  int parent = -1, count = 0;
  int code = find_group_by_netcdf(file, group_of(path), &parent);
  if (code == NC_NOERR) code = nc_inq_grps(parent, &count, nullptr);
  std::vector<int> groups(static_cast<std::size_t>(count));
  if (code == NC_NOERR && count > 0) code = nc_inq_grps(parent, nullptr, groups.data());
  if (code != NC_NOERR) return code;
  for (const int group : groups) {
    char name[NC_MAX_NAME + 1] = {};
    if (nc_inq_grpname(group, name) != NC_NOERR || name_in_group(path) != name) continue;
    *id = group;
    return NC_NOERR;
  }
  return NC_ENOGRP;
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
