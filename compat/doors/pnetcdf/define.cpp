// SPDX-License-Identifier: BSD-3-Clause
// Dimensions and variables are defined and renamed; fill modes.
#include <algorithm>
#include <climits>
#include <cstring>
#include <limits>

#include "pnetcdf/file.hpp"

namespace door::pnetcdf::serve {

namespace {

template <class Named>
int check_new_name(const std::vector<Named>& all, const char* name) {
  if (const int code = check_name(name); code != NC_NOERR) return code;
  return find(all, name) >= 0 ? NC_ENAMEINUSE : NC_NOERR;
}

int check_defining(const File& file) {
  return file.defining ? NC_NOERR : NC_ENOTINDEFINE;
}

// A name may change in data mode, where it becomes no longer.
int check_rename(const File& file, const std::string& old_name, const char* name) {
  if (!file.writable) return NC_EPERM;
  return file.defining || kept_name(name).size() <= old_name.size() ? NC_NOERR : NC_ENOTINDEFINE;
}

// In data mode a definition goes to the file at once, by all ranks.
int made(File& file) {
  return file.defining ? NC_NOERR : end_definitions(file);
}

// Lengths are rounded up to four.
MPI_Offset longest_dim(int format) {
  if (format == NC_FORMAT_CDF5) return std::numeric_limits<MPI_Offset>::max();
  return (format == NC_FORMAT_CDF2 ? MPI_Offset{UINT_MAX} : MPI_Offset{INT_MAX}) - 3;
}

int def_var(File& file, const char* name, nc_type xtype, int ndims, const int* dimids, int* varidp) {
  if (const int code = check_defining(file); code != NC_NOERR) return code;
  if (const int code = check_name(name); code != NC_NOERR) return code;
  if (xtype <= NC_NAT || xtype > NC_UINT64) return NC_EBADTYPE;
  if (file.format != NC_FORMAT_CDF5 && xtype > NC_DOUBLE) return NC_ESTRICTCDF2;
  if (ndims < 0) return NC_EINVAL;
  auto& vars = file.definitions.vars;
  if (find(vars, name) >= 0) return NC_ENAMEINUSE;
  if (ndims > 0 && dimids == nullptr) return NC_EINVAL;
  for (int i = 0; i < ndims; ++i) {
    if (dimids[i] < 0 || static_cast<std::size_t>(dimids[i]) >= file.definitions.dims.size())
      return NC_EBADDIM;
    if (i > 0 && file.definitions.dims[static_cast<std::size_t>(dimids[i])].unlimited) return NC_EUNLIMPOS;
  }
  if (ndims > SHOAL_MAX_DIMS)
    throw HandBack{std::string(name) + " has " + std::to_string(ndims) + " dimensions"};
  Variable var;
  var.name = kept_name(name);
  var.type = xtype;
  if (ndims > 0) var.dims.assign(dimids, dimids + ndims);
  var.no_fill = file.fill_mode == NC_NOFILL ? 1 : 0;
  if (!fits(file, var, std::numeric_limits<MPI_Offset>::max() - 3)) return NC_EVARSIZE;
  file.steps.push_back(
      {[n = var.name, xtype, dims = var.dims](const door_functions& own, int ncid) {
         int id = 0;
         return own.ncmpi_def_var(ncid, n.c_str(), xtype, static_cast<int>(dims.size()), dims.data(), &id);
       },
       [n = var.name, xtype, dims = var.dims, at = vars.size(), owner = &file](shoal_dataset* dataset) {
         const int code = shoal_def_var_dims(dataset, n.c_str(), xtype, static_cast<int>(dims.size()),
                                             dims.data(), nullptr);
         // Before its attributes: a _FillValue says nothing of filling, and would go with it.
         return code == SHOAL_OK && owner->definitions.vars[at].no_fill != 0
                    ? shoal_def_fill(dataset, n.c_str(), 0, nullptr)
                    : code;
       }});
  vars.push_back(std::move(var));
  if (varidp != nullptr) *varidp = static_cast<int>(vars.size()) - 1;
  return NC_NOERR;
}

}  // namespace

int ncmpi_def_dim(int ncid, const char* name, MPI_Offset len, int* idp) {
  return answer(ncid, [&](File& file) {
    if (const int code = check_defining(file); code != NC_NOERR) return code;
    if (const int code = check_name(name); code != NC_NOERR) return code;
    auto& dims = file.definitions.dims;
    const bool unlimited = len == NC_UNLIMITED;
    if (len < 0 || len > longest_dim(file.format)) return NC_EDIMSIZE;
    if (unlimited &&
        std::any_of(dims.begin(), dims.end(), [](const Dimension& dim) { return dim.unlimited; }))
      return NC_EUNLIMIT;
    if (find(dims, name) >= 0) return NC_ENAMEINUSE;
    dims.push_back({kept_name(name), static_cast<std::size_t>(len), unlimited});
    file.steps.push_back({[n = std::string(name), len](const door_functions& own, int id) {
                            int dimid = 0;
                            return own.ncmpi_def_dim(id, n.c_str(), len, &dimid);
                          },
                          [n = kept_name(name), len](shoal_dataset* dataset) {
                            return shoal_def_dim(dataset, n.c_str(), len);
                          }});
    if (idp != nullptr) *idp = static_cast<int>(dims.size()) - 1;
    return NC_NOERR;
  });
}

int ncmpi_def_var(int ncid, const char* name, nc_type xtype, int ndims, const int* dimids, int* varidp) {
  return answer(ncid, [&](File& file) { return def_var(file, name, xtype, ndims, dimids, varidp); });
}

int ncmpi_rename_dim(int ncid, int dimid, const char* name) {
  return answer(ncid, [&](File& file) {
    auto& dims = file.definitions.dims;
    if (!file.writable) return NC_EPERM;
    if (dimid < 0 || static_cast<std::size_t>(dimid) >= dims.size()) return NC_EBADDIM;
    if (const int code = check_new_name(dims, name); code != NC_NOERR) return code;
    std::string& old_name = dims[static_cast<std::size_t>(dimid)].name;
    if (const int code = check_rename(file, old_name, name); code != NC_NOERR) return code;
    file.steps.push_back({[dimid, n = kept_name(name)](const door_functions& own, int id) {
                            return own.ncmpi_rename_dim(id, dimid, n.c_str());
                          },
                          [old_name, n = kept_name(name)](shoal_dataset* dataset) {
                            return shoal_rename_dim(dataset, old_name.c_str(), n.c_str());
                          }});
    old_name = kept_name(name);
    return made(file);
  });
}

int ncmpi_rename_var(int ncid, int varid, const char* name) {
  return answer(ncid, [&](File& file) {
    if (!file.writable) return NC_EPERM;
    Variable* var = file.variable(varid);
    if (var == nullptr) return NC_ENOTVAR;
    if (const int code = check_new_name(file.definitions.vars, name); code != NC_NOERR) return code;
    if (const int code = check_rename(file, var->name, name); code != NC_NOERR) return code;
    file.steps.push_back({[varid, n = kept_name(name)](const door_functions& own, int id) {
                            return own.ncmpi_rename_var(id, varid, n.c_str());
                          },
                          [old_name = var->name, n = kept_name(name)](shoal_dataset* dataset) {
                            return shoal_rename_var(dataset, old_name.c_str(), n.c_str());
                          }});
    var->name = kept_name(name);
    return made(file);
  });
}

int ncmpi_set_fill(int ncid, int fillmode, int* old_modep) {
  return answer(ncid, [&](File& file) {
    if (!file.writable) return NC_EPERM;
    if (const int code = check_defining(file); code != NC_NOERR) return code;
    if (fillmode != NC_FILL && fillmode != NC_NOFILL) return NC_EINVAL;
    if (old_modep != nullptr) *old_modep = file.fill_mode;
    file.fill_mode = fillmode;
    for (Variable& var : file.definitions.vars)
      var.no_fill = fillmode == NC_NOFILL ? 1 : 0;
    file.steps.push_back({[fillmode](const door_functions& own, int id) {
                            int old_mode = 0;
                            return own.ncmpi_set_fill(id, fillmode, &old_mode);
                          },
                          {}});
    return NC_NOERR;
  });
}

int ncmpi_def_var_fill(int ncid, int varid, int no_fill, const void* fill_value) {
  return answer(ncid, [&](File& file) {
    if (const int code = check_defining(file); code != NC_NOERR) return code;
    if (varid == NC_GLOBAL) return NC_EGLOBAL;
    Variable* var = file.variable(varid);
    if (var == nullptr) return NC_ENOTVAR;
    var->no_fill = no_fill != 0 ? 1 : 0;
    if (no_fill == 0 && fill_value != nullptr) {
      const auto* bytes = static_cast<const char*>(fill_value);
      const std::vector<char> value(bytes, bytes + size_of(var->type));
      if (const int code = serve::ncmpi_put_att(ncid, varid, "_FillValue", var->type, 1, value.data());
          code != NC_NOERR)
        return code;
    }
    file.steps.push_back({[varid, no_fill](const door_functions& own, int id) {
                            return own.ncmpi_def_var_fill(id, varid, no_fill, nullptr);
                          },
                          {}});
    return NC_NOERR;
  });
}

int ncmpi_inq_var_fill(int ncid, int varid, int* no_fill, void* fill_value) {
  return answer(ncid, [&](File& file) {
    if (varid == NC_GLOBAL) return NC_EGLOBAL;
    const Variable* var = file.variable(varid);
    if (var == nullptr) return NC_ENOTVAR;
    if (no_fill != nullptr) *no_fill = var->no_fill;
    const std::vector<char> value = fill_of(*var);
    if (fill_value != nullptr) std::memcpy(fill_value, value.data(), size_of(var->type));
    return NC_NOERR;
  });
}

// Rank 0 brings the whole record, in the order of all calls that ranks make together.
int ncmpi_fill_var_rec(int ncid, int varid, MPI_Offset recno) {
  return answer(ncid, [&](File& file) {
    if (!file.writable) return NC_EPERM;
    if (file.defining) return NC_EINDEFINE;
    if (file.alone) return NC_EINDEP;
    const Variable* var = file.variable(varid);
    int code = varid == NC_GLOBAL                                             ? NC_EGLOBAL
               : var == nullptr                                               ? NC_ENOTVAR
               : !file.grows(*var)                                            ? NC_ENOTRECVAR
               : var->no_fill != 0 && find(var->attributes, "_FillValue") < 0 ? NC_ENOTFILL
               : recno < 0                                                    ? NC_EINVAL
                                                                              : NC_NOERR;
    Move move;
    int rank = 0;
    MPI_Comm_rank(file.comm, &rank);
    if (code == NC_NOERR && rank == 0) {
      Box box;
      box.varid = varid;
      box.type = var->type;
      box.start.assign(var->dims.size(), 0);
      box.stride.assign(var->dims.size(), 1);
      box.count.assign(var->dims.size(), 1);
      box.start[0] = recno;
      move.cells = 1;
      for (std::size_t i = 1; i < var->dims.size(); ++i)
        move.cells *= box.count[i] = file.length(var->dims[i]);
      const std::vector<char> value = fill_of(*var);
      for (std::int64_t i = 0; i < move.cells; ++i)
        move.values.insert(move.values.end(), value.begin(), value.end());
      box.values = move.values.data();
      move.boxes.push_back(std::move(box));
    }
    const int moved = move_together(file, true, {&move});
    return code != NC_NOERR ? code : moved;
  });
}

}  // namespace door::pnetcdf::serve
