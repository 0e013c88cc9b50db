// SPDX-License-Identifier: BSD-3-Clause
// Dimensions and variables are defined and renamed.
#include <algorithm>
#include <climits>
#include <limits>

#include "calls/calls.hpp"
#include "data/kept.hpp"

namespace door::serve {

namespace {

// Types of the classic model, and those that its formats take.
bool takes(const File& file, nc_type type) {
  switch (file.format) {
    case NC_FORMAT_NETCDF4:
      return true;
    case NC_FORMAT_64BIT_DATA:
      return type <= NC_UINT64;
    default:
      return type <= NC_DOUBLE;
  }
}

// What Shoal has no place for is the library's.
void check_shape(const File& file, const char* name, int ndims, const int* dims) {
  if (ndims > SHOAL_MAX_DIMS)
    throw HandBack{std::string(name) + " has " + std::to_string(ndims) + " dimensions"};
  for (int i = 1; i < ndims; ++i)
    if (file.definitions.dims[static_cast<std::size_t>(dims[i])].unlimited)
      throw HandBack{std::string(name) + " has an unlimited dimension that is not its first"};
}

int check_dims(const File& file, int ndims, const int* dims) {
  if (ndims < 0) return NC_EINVAL;
  if (ndims > 0 && dims == nullptr) return NC_EINVAL;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] < 0 || static_cast<std::size_t>(dims[i]) >= file.definitions.dims.size()) return NC_EBADDIM;
    const bool grows = file.definitions.dims[static_cast<std::size_t>(dims[i])].unlimited;
    if (grows && i > 0 && !file.netcdf4()) return NC_EUNLIMPOS;
  }
  return NC_NOERR;
}

template <class Named>
int check_new_name(const std::vector<Named>& all, int index, const char* name) {
  if (index < 0 || static_cast<std::size_t>(index) >= all.size()) return NC_EINVAL;
  if (const int code = check_name(name); code != NC_NOERR) return code;
  return find(all, name) >= 0 ? NC_ENAMEINUSE : NC_NOERR;
}

// A name may change in data mode, where netCDF-3 asks that it be no longer than the old one.
int begin_rename(File& file, const std::string& old_name, const std::string& name) {
  if (file.writable && !file.defining && file.strict())
    return kept_name(name.c_str()).size() > old_name.size() ? NC_ENOTINDEFINE : NC_NOERR;
  return begin_definition(file);
}

}  // namespace

int nc_def_dim(File& file, const char* name, size_t len, int* idp) {
  if (!file.writable) return NC_EPERM;
  if (file.strict() && !file.defining) return NC_ENOTINDEFINE;
  if (const int code = check_name(name); code != NC_NOERR) return code;
  auto& dims = file.definitions.dims;
  const bool unlimited = len == NC_UNLIMITED;
  const auto grows = [](const Dimension& dim) { return dim.unlimited; };
  if (file.strict() && unlimited && std::any_of(dims.begin(), dims.end(), grows)) return NC_EUNLIMIT;
  constexpr size_t most_of_cdf5 = std::numeric_limits<std::int64_t>::max();
  if (file.format != NC_FORMAT_NETCDF4 &&
      len > (file.format == NC_FORMAT_64BIT_DATA ? most_of_cdf5 : INT_MAX))
    return NC_EDIMSIZE;
  if (find(dims, name) >= 0) return NC_ENAMEINUSE;
  if (const int code = begin_definition(file); code != NC_NOERR) return code;
  dims.push_back({kept_name(name), len, unlimited});
  file.steps.push_back({[n = std::string(name), len](const door_functions& own, int ncid) {
                          int id = 0;
                          return own.nc_def_dim(ncid, n.c_str(), len, &id);
                        },
                        [n = kept_name(name), len](shoal_dataset* dataset) {
                          return shoal_def_dim(dataset, n.c_str(), static_cast<std::int64_t>(len));
                        }});
  if (idp != nullptr) *idp = static_cast<int>(dims.size()) - 1;
  return NC_NOERR;
}

int nc_def_var(File& file, const char* name, nc_type xtype, int ndims, const int* dimidsp, int* varidp) {
  if (!file.writable) return NC_EPERM;
  if (file.strict() && !file.defining) return NC_ENOTINDEFINE;
  if (const int code = check_name(name); code != NC_NOERR) return code;
  if (xtype <= NC_NAT || xtype > NC_STRING) return NC_EBADTYPE;
  if (!takes(file, xtype)) return file.format == NC_FORMAT_NETCDF4_CLASSIC ? NC_ESTRICTNC3 : NC_EBADTYPE;
  if (const int code = check_dims(file, ndims, dimidsp); code != NC_NOERR) return code;
  auto& vars = file.definitions.vars;
  if (find(vars, name) >= 0) return NC_ENAMEINUSE;
  if (xtype == NC_STRING) throw HandBack{std::string(name) + " has strings of any length"};
  check_shape(file, name, ndims, dimidsp);
  if (const int code = begin_definition(file); code != NC_NOERR) return code;
  Variable var;
  var.name = kept_name(name);
  var.type = xtype;
  var.dims.assign(dimidsp, dimidsp + ndims);
  var.no_fill = file.fill_mode;
  if (ndims > 0 && file.definitions.dims[static_cast<std::size_t>(dimidsp[0])].unlimited)
    var.storage = NC_CHUNKED;
  file.steps.push_back({[n = var.name, xtype, dims = var.dims](const door_functions& own, int ncid) {
                          int id = 0;
                          return own.nc_def_var(ncid, n.c_str(), xtype, static_cast<int>(dims.size()),
                                                dims.data(), &id);
                        },
                        [n = var.name, xtype, dims = var.dims](shoal_dataset* dataset) {
                          return shoal_def_var_dims(dataset, n.c_str(), xtype, static_cast<int>(dims.size()),
                                                    dims.data(), nullptr);
                        }});
  vars.push_back(std::move(var));
  if (varidp != nullptr) *varidp = static_cast<int>(vars.size()) - 1;
  return NC_NOERR;
}

int nc_rename_dim(File& file, int dimid, const char* name) {
  if (!file.writable) return NC_EPERM;
  auto& dims = file.definitions.dims;
  if (dimid < 0 || static_cast<std::size_t>(dimid) >= dims.size()) return NC_EBADDIM;
  if (const int code = check_new_name(dims, dimid, name); code != NC_NOERR) return code;
  std::string& old_name = dims[static_cast<std::size_t>(dimid)].name;
  if (const int code = begin_rename(file, old_name, name); code != NC_NOERR) return code;
  file.steps.push_back({[dimid, n = kept_name(name)](const door_functions& own, int ncid) {
                          return own.nc_rename_dim(ncid, dimid, n.c_str());
                        },
                        [old_name, n = kept_name(name)](shoal_dataset* dataset) {
                          return shoal_rename_dim(dataset, old_name.c_str(), n.c_str());
                        }});
  old_name = kept_name(name);
  return NC_NOERR;
}

int nc_rename_var(File& file, int varid, const char* name) {
  if (!file.writable) return NC_EPERM;
  Variable* var = file.variable(varid);
  if (var == nullptr) return NC_ENOTVAR;
  if (const int code = check_new_name(file.definitions.vars, varid, name); code != NC_NOERR) return code;
  if (const int code = begin_rename(file, var->name, name); code != NC_NOERR) return code;
  file.steps.push_back({[varid, n = kept_name(name)](const door_functions& own, int ncid) {
                          return own.nc_rename_var(ncid, varid, n.c_str());
                        },
                        [old_name = var->name, n = kept_name(name)](shoal_dataset* dataset) {
                          return shoal_rename_var(dataset, old_name.c_str(), n.c_str());
                        }});
  var->name = kept_name(name);
  return NC_NOERR;
}

int nc_set_fill(File& file, int fillmode, int* old_modep) {
  if (!file.writable) return NC_EPERM;
  if (fillmode != NC_FILL && fillmode != NC_NOFILL) return NC_EINVAL;
  if (old_modep != nullptr) *old_modep = file.fill_mode;
  file.fill_mode = fillmode;
  if (file.defining)
    file.steps.push_back({[fillmode](const door_functions& own, int ncid) {
                            int old_mode = 0;
                            return own.nc_set_fill(ncid, fillmode, &old_mode);
                          },
                          {}});
  return NC_NOERR;
}

int nc_var_par_access(File& file, int varid, int par_access) {
  if (par_access != NC_INDEPENDENT && par_access != NC_COLLECTIVE) return NC_EINVAL;
  // In classic formats the access is the file's, whatever variable is named.
  Variable* var = file.netcdf4() ? file.variable(varid) : nullptr;
  if (var == nullptr && file.netcdf4()) return NC_ENOTVAR;
  if (par_access == NC_INDEPENDENT && var != nullptr && var->filtered()) return NC_EINVAL;
  // What ranks put together lies with the ranks that store it; alone each of them reads the file.
  const bool leaves = par_access == NC_INDEPENDENT && (var == nullptr || var->access == NC_COLLECTIVE);
  const bool meets = par_access == NC_COLLECTIVE && var == nullptr;  // of classic files
  if (meets && !file.defining)
    if (const int code = write_kept(file); code != SHOAL_OK)
      return report_error(file, "nc_var_par_access", code);
  if (leaves && file.together)
    if (const int code = sync_file(file, "nc_var_par_access"); code != NC_NOERR) return code;
  if (var != nullptr) {
    var->access = par_access;
    return NC_NOERR;
  }
  for (Variable& one : file.definitions.vars)
    one.access = par_access;
  return NC_NOERR;
}

}  // namespace door::serve
