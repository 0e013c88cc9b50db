// SPDX-License-Identifier: BSD-3-Clause
// What is in a file: dimensions, variables, the file itself.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "calls/calls.hpp"

namespace door::serve {

namespace {

void give(char* out, const std::string& name) {
  if (out != nullptr) std::strcpy(out, name.c_str());
}
void give(int* out, std::size_t value) {
  if (out != nullptr) *out = static_cast<int>(value);
}
void give_numbers(int* out, std::size_t count) {
  if (out != nullptr) std::iota(out, out + count, 0);
}

// The first one; -1: none.
int first_unlimited(const File& file) {
  const auto& dims = file.definitions.dims;
  const auto grows = [](const Dimension& dim) { return dim.unlimited; };
  const auto found = std::find_if(dims.begin(), dims.end(), grows);
  return found == dims.end() ? -1 : static_cast<int>(found - dims.begin());
}

}  // namespace

int nc_inq(File& file, int* ndimsp, int* nvarsp, int* nattsp, int* unlimdimidp) {
  give(ndimsp, file.definitions.dims.size());
  give(nvarsp, file.definitions.vars.size());
  give(nattsp, file.definitions.attributes.size());
  if (unlimdimidp != nullptr) *unlimdimidp = first_unlimited(file);
  return NC_NOERR;
}

int nc_inq_ndims(File& file, int* ndimsp) {
  return nc_inq(file, ndimsp, nullptr, nullptr, nullptr);
}
int nc_inq_nvars(File& file, int* nvarsp) {
  return nc_inq(file, nullptr, nvarsp, nullptr, nullptr);
}
int nc_inq_natts(File& file, int* nattsp) {
  return nc_inq(file, nullptr, nullptr, nattsp, nullptr);
}
int nc_inq_unlimdim(File& file, int* id) {
  return nc_inq(file, nullptr, nullptr, nullptr, id);
}

int nc_inq_unlimdims(File& file, int* nunlimdimsp, int* unlimdimidsp) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < file.definitions.dims.size(); ++i) {
    if (!file.definitions.dims[i].unlimited) continue;
    if (unlimdimidsp != nullptr) unlimdimidsp[count] = static_cast<int>(i);
    ++count;
  }
  give(nunlimdimsp, count);
  return NC_NOERR;
}

int nc_inq_path(File& file, size_t* pathlen, char* path) {
  if (pathlen != nullptr) *pathlen = file.path.size();
  give(path, file.path);
  return NC_NOERR;
}

int nc_inq_format(File& file, int* formatp) {
  if (formatp != nullptr) *formatp = file.format;
  return NC_NOERR;
}

int nc_inq_format_extended(File& file, int* formatp, int* modep) {
  if (formatp != nullptr) *formatp = file.netcdf4() ? NC_FORMATX_NC_HDF5 : NC_FORMATX_PNETCDF;
  if (modep != nullptr) *modep = file.mode | (file.netcdf4() ? NC_NETCDF4 : 0);
  return NC_NOERR;
}

int nc_set_base_pe(File& file, int pe) {
  return file.netcdf4() ? NC_ENOTNC3 : pe != 0 ? NC_EINVAL : NC_NOERR;
}
int nc_inq_base_pe(File& file, int* pe) {
  if (file.netcdf4()) return NC_ENOTNC3;
  give(pe, 0);
  return NC_NOERR;
}
int nc_show_metadata(File&) {
  return NC_NOERR;
}

int nc_inq_dimid(File& file, const char* name, int* idp) {
  if (name == nullptr) return NC_EINVAL;
  if (const int code = check_asked(name); code != NC_NOERR) return code;
  if (*name == '\0' && !file.netcdf4()) return NC_EBADNAME;
  if (file.netcdf4() && std::strchr(name, '/') != nullptr) return NC_EINVAL;  // there are no groups
  const int id = door::find(file.definitions.dims, name);
  if (id < 0) return NC_EBADDIM;
  if (idp != nullptr) *idp = id;
  return NC_NOERR;
}

int nc_inq_dim(File& file, int dimid, char* name, size_t* lenp) {
  if (dimid < 0 || static_cast<std::size_t>(dimid) >= file.definitions.dims.size()) return NC_EBADDIM;
  give(name, file.definitions.dims[static_cast<std::size_t>(dimid)].name);
  if (lenp != nullptr) *lenp = file.length(dimid);
  return NC_NOERR;
}

int nc_inq_dimname(File& file, int dimid, char* name) {
  return nc_inq_dim(file, dimid, name, nullptr);
}
int nc_inq_dimlen(File& file, int dimid, size_t* lenp) {
  return nc_inq_dim(file, dimid, nullptr, lenp);
}

int nc_inq_dimids(File& file, int* ndims, int* dimids, int) {
  give(ndims, file.definitions.dims.size());
  give_numbers(dimids, file.definitions.dims.size());
  return NC_NOERR;
}

int nc_inq_var(File& file, int varid, char* name, nc_type* xtypep, int* ndimsp, int* dimidsp, int* nattsp) {
  if (varid == NC_GLOBAL) return nc_inq_natts(file, nattsp);
  const Variable* var = file.variable(varid);
  if (var == nullptr) return NC_ENOTVAR;
  give(name, var->name);
  if (xtypep != nullptr) *xtypep = var->type;
  give(ndimsp, var->dims.size());
  if (dimidsp != nullptr) std::copy(var->dims.begin(), var->dims.end(), dimidsp);
  give(nattsp, var->attributes.size());
  return NC_NOERR;
}

int nc_inq_varname(File& file, int varid, char* name) {
  return nc_inq_var(file, varid, name, nullptr, nullptr, nullptr, nullptr);
}
int nc_inq_vartype(File& file, int varid, nc_type* xtypep) {
  return nc_inq_var(file, varid, nullptr, xtypep, nullptr, nullptr, nullptr);
}
int nc_inq_varndims(File& file, int varid, int* ndimsp) {
  return nc_inq_var(file, varid, nullptr, nullptr, ndimsp, nullptr, nullptr);
}
int nc_inq_vardimid(File& file, int varid, int* dimidsp) {
  return nc_inq_var(file, varid, nullptr, nullptr, nullptr, dimidsp, nullptr);
}
int nc_inq_varnatts(File& file, int varid, int* nattsp) {
  return nc_inq_var(file, varid, nullptr, nullptr, nullptr, nullptr, nattsp);
}

int nc_inq_varid(File& file, const char* name, int* varidp) {
  if (name == nullptr) return NC_EINVAL;
  if (const int code = check_asked(name); code != NC_NOERR) return code;
  if (*name == '\0' && !file.netcdf4()) return NC_EBADNAME;
  const int id = door::find(file.definitions.vars, name);
  if (id < 0) return NC_ENOTVAR;
  if (varidp != nullptr) *varidp = id;
  return NC_NOERR;
}

int nc_inq_varids(File& file, int* nvars, int* varids) {
  give(nvars, file.definitions.vars.size());
  give_numbers(varids, file.definitions.vars.size());
  return NC_NOERR;
}

}  // namespace door::serve
