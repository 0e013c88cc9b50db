// SPDX-License-Identifier: BSD-3-Clause
#include "handback/outline.hpp"

namespace door {

namespace {

// Of every outline, also of a file that has nothing in it.
const char k_first_line[] = "file\n";

std::string line_of_dim(const std::string& name, std::size_t length, bool unlimited) {
  return "dimension " + name + (unlimited ? " unlimited" : " " + std::to_string(length)) + "\n";
}

std::string line_of_var(const std::string& name, nc_type type, const std::vector<int>& dims) {
  std::string line = "variable " + name + " type " + std::to_string(type) + " dimensions";
  for (const int dim : dims)
    line += " " + std::to_string(dim);
  return line + "\n";
}

// Groups and types of the file's own have no place in an outline.
bool is_plain(const door_functions& library, int ncid) {
  int groups = 0, types = 0;
  if (library.nc_inq_grps != nullptr && library.nc_inq_grps(ncid, &groups, nullptr) == NC_NOERR && groups > 0)
    return false;
  return !(library.nc_inq_typeids != nullptr && library.nc_inq_typeids(ncid, &types, nullptr) == NC_NOERR &&
           types > 0);
}

}  // namespace

std::string outline_of(const File& file) {
  std::string outline = k_first_line;
  for (const Dimension& dim : file.definitions.dims)
    outline += line_of_dim(dim.name, dim.length, dim.unlimited);
  for (const Variable& var : file.definitions.vars)
    outline += line_of_var(var.name, var.type, var.dims);
  return outline;
}

std::string outline_of(const door_functions& library, int ncid) {
  int dims = 0, vars = 0;
  if (library.nc_inq(ncid, &dims, &vars, nullptr, nullptr) != NC_NOERR || !is_plain(library, ncid)) return "";
  std::vector<int> grow(static_cast<std::size_t>(dims) + 1, -1);
  int growing = 0;
  if (library.nc_inq_unlimdims(ncid, &growing, grow.data()) != NC_NOERR) return "";
  std::string outline = k_first_line;
  char name[NC_MAX_NAME + 1];
  for (int i = 0; i < dims; ++i) {
    std::size_t length = 0;
    if (library.nc_inq_dim(ncid, i, name, &length) != NC_NOERR) return "";
    bool grows = false;
    for (int k = 0; k < growing; ++k)
      grows |= grow[static_cast<std::size_t>(k)] == i;
    outline += line_of_dim(name, length, grows);
  }
  for (int i = 0; i < vars; ++i) {
    nc_type type = NC_NAT;
    int ndims = 0;
    if (library.nc_inq_varndims(ncid, i, &ndims) != NC_NOERR) return "";
    std::vector<int> ids(static_cast<std::size_t>(ndims) + 1);
    if (library.nc_inq_var(ncid, i, name, &type, nullptr, ids.data(), nullptr) != NC_NOERR) return "";
    ids.pop_back();
    outline += line_of_var(name, type, ids);
  }
  return outline;
}

}  // namespace door
