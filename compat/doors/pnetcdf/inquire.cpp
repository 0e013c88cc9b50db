// SPDX-License-Identifier: BSD-3-Clause
// What is in a file: dimensions, variables, the file itself.
#include <algorithm>
#include <cstring>

#include "pnetcdf/file.hpp"
#include "pnetcdf/hints.hpp"

namespace door::pnetcdf::serve {

namespace {

template <class To, class From>
void give(To* out, From value) {
  if (out != nullptr) *out = static_cast<To>(value);
}
void give_name(char* out, const std::string& name) {
  if (out != nullptr) std::strcpy(out, name.c_str());
}

int first_unlimited(const File& file) {
  const auto& dims = file.definitions.dims;
  const auto found =
      std::find_if(dims.begin(), dims.end(), [](const Dimension& dim) { return dim.unlimited; });
  return found == dims.end() ? -1 : static_cast<int>(found - dims.begin());
}

// Of the header as the library reads it, by this rank alone.
template <class Ask>
int ask_library(const File& file, Ask&& ask) {
  int ncid = -1;
  if (library().ncmpi_open == nullptr) return NC_ENOTSUPPORT;
  if (const int code =
          library().ncmpi_open(MPI_COMM_SELF, file.path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &ncid);
      code != NC_NOERR)
    return code;
  const int code = ask(ncid);
  library().ncmpi_close(ncid);
  return code;
}

// Bytes of a record of a variable, or of all of a fixed one.
std::int64_t bytes_of(const File& file, const Variable& var) {
  auto bytes = static_cast<std::int64_t>(size_of(var.type));
  for (std::size_t i = file.grows(var) ? 1 : 0; i < var.dims.size(); ++i)
    bytes *= file.length(var.dims[i]);
  return bytes;
}

}  // namespace

int ncmpi_inq(int ncid, int* ndimsp, int* nvarsp, int* nattsp, int* unlimdimidp) {
  return answer(ncid, [&](File& file) {
    give(ndimsp, file.definitions.dims.size());
    give(nvarsp, file.definitions.vars.size());
    give(nattsp, file.definitions.attributes.size());
    give(unlimdimidp, first_unlimited(file));
    return NC_NOERR;
  });
}
int ncmpi_inq_ndims(int ncid, int* ndimsp) {
  return serve::ncmpi_inq(ncid, ndimsp, nullptr, nullptr, nullptr);
}
int ncmpi_inq_nvars(int ncid, int* nvarsp) {
  return serve::ncmpi_inq(ncid, nullptr, nvarsp, nullptr, nullptr);
}
int ncmpi_inq_natts(int ncid, int* nattsp) {
  return serve::ncmpi_inq(ncid, nullptr, nullptr, nattsp, nullptr);
}
int ncmpi_inq_unlimdim(int ncid, int* idp) {
  return serve::ncmpi_inq(ncid, nullptr, nullptr, nullptr, idp);
}
int ncmpi_inq_num_rec_vars(int ncid, int* nvarsp) {
  return answer(ncid, [&](File& file) {
    const auto& vars = file.definitions.vars;
    give(nvarsp,
         std::count_if(vars.begin(), vars.end(), [&](const Variable& var) { return file.grows(var); }));
    return NC_NOERR;
  });
}
int ncmpi_inq_num_fix_vars(int ncid, int* nvarsp) {
  return answer(ncid, [&](File& file) {
    const auto& vars = file.definitions.vars;
    give(nvarsp,
         std::count_if(vars.begin(), vars.end(), [&](const Variable& var) { return !file.grows(var); }));
    return NC_NOERR;
  });
}
int ncmpi_inq_format(int ncid, int* formatp) {
  return answer(ncid, [&](File& file) {
    give(formatp, file.format);
    return NC_NOERR;
  });
}
int ncmpi_inq_version(int ncid, int* modep) {
  return answer(ncid, [&](File& file) {
    give(modep, file.format == NC_FORMAT_CDF5   ? NC_64BIT_DATA
                : file.format == NC_FORMAT_CDF2 ? NC_64BIT_OFFSET
                                                : NC_CLASSIC_MODEL);
    return NC_NOERR;
  });
}
int ncmpi_inq_striping(int ncid, int* sizep, int* countp) {
  return answer(ncid, [&](File&) {
    give(sizep, 0);
    give(countp, 0);
    return NC_NOERR;
  });
}
int ncmpi_inq_file_info(int ncid, MPI_Info* info_used) {
  return answer(ncid, [&](File& file) {
    if (info_used != nullptr) *info_used = told_hints(file.info, file.in_place);
    return NC_NOERR;
  });
}
int ncmpi_get_file_info(int ncid, MPI_Info* info_used) {
  return serve::ncmpi_inq_file_info(ncid, info_used);
}
int ncmpi_inq_path(int ncid, int* pathlen, char* path) {
  return answer(ncid, [&](File& file) {
    give(pathlen, file.path.size());
    give_name(path, file.path);
    return NC_NOERR;
  });
}
int ncmpi_inq_dimid(int ncid, const char* name, int* idp) {
  return answer(ncid, [&](File& file) {
    if (const int code = check_key(name); code != NC_NOERR) return code;
    const int id = door::find(file.definitions.dims, name);
    if (id < 0) return NC_EBADDIM;
    give(idp, id);
    return NC_NOERR;
  });
}
int ncmpi_inq_dim(int ncid, int dimid, char* name, MPI_Offset* lenp) {
  return answer(ncid, [&](File& file) {
    if (dimid < 0 || static_cast<std::size_t>(dimid) >= file.definitions.dims.size()) return NC_EBADDIM;
    give_name(name, file.definitions.dims[static_cast<std::size_t>(dimid)].name);
    if (lenp != nullptr) *lenp = file.length(dimid);
    return NC_NOERR;
  });
}
int ncmpi_inq_dimname(int ncid, int dimid, char* name) {
  return serve::ncmpi_inq_dim(ncid, dimid, name, nullptr);
}
int ncmpi_inq_dimlen(int ncid, int dimid, MPI_Offset* lenp) {
  return serve::ncmpi_inq_dim(ncid, dimid, nullptr, lenp);
}
int ncmpi_inq_var(int ncid, int varid, char* name, nc_type* xtypep, int* ndimsp, int* dimidsp, int* nattsp) {
  return answer(ncid, [&](File& file) {
    if (varid == NC_GLOBAL && nattsp != nullptr) {
      give(nattsp, file.definitions.attributes.size());
      return NC_NOERR;
    }
    const Variable* var = file.variable(varid);
    if (var == nullptr) return varid == NC_GLOBAL ? NC_EGLOBAL : NC_ENOTVAR;
    give_name(name, var->name);
    give(xtypep, var->type);
    give(ndimsp, var->dims.size());
    if (dimidsp != nullptr) std::copy(var->dims.begin(), var->dims.end(), dimidsp);
    give(nattsp, var->attributes.size());
    return NC_NOERR;
  });
}
int ncmpi_inq_varid(int ncid, const char* name, int* varidp) {
  return answer(ncid, [&](File& file) {
    if (const int code = check_key(name); code != NC_NOERR) return code;
    const int id = door::find(file.definitions.vars, name);
    if (id < 0) return NC_ENOTVAR;
    give(varidp, id);
    return NC_NOERR;
  });
}
int ncmpi_inq_varname(int ncid, int varid, char* name) {
  return serve::ncmpi_inq_var(ncid, varid, name, nullptr, nullptr, nullptr, nullptr);
}
int ncmpi_inq_vartype(int ncid, int varid, nc_type* xtypep) {
  return serve::ncmpi_inq_var(ncid, varid, nullptr, xtypep, nullptr, nullptr, nullptr);
}
int ncmpi_inq_varndims(int ncid, int varid, int* ndimsp) {
  return serve::ncmpi_inq_var(ncid, varid, nullptr, nullptr, ndimsp, nullptr, nullptr);
}
int ncmpi_inq_vardimid(int ncid, int varid, int* dimidsp) {
  return serve::ncmpi_inq_var(ncid, varid, nullptr, nullptr, nullptr, dimidsp, nullptr);
}
int ncmpi_inq_varnatts(int ncid, int varid, int* nattsp) {
  return serve::ncmpi_inq_var(ncid, varid, nullptr, nullptr, nullptr, nullptr, nattsp);
}
int ncmpi_inq_varoffset(int ncid, int varid, MPI_Offset* offset) {
  return answer(ncid, [&](File& file) {
    if (varid == NC_GLOBAL) return NC_EGLOBAL;
    const Variable* var = file.variable(varid);
    if (var == nullptr) return NC_ENOTVAR;
    if (!var->made) return give(offset, 0), NC_NOERR;
    return ask_library(file, [&](int id) { return library().ncmpi_inq_varoffset(id, varid, offset); });
  });
}
int ncmpi_inq_header_size(int ncid, MPI_Offset* size) {
  return answer(ncid, [&](File& file) {
    if (!file.in_place) return give(size, 0), NC_NOERR;
    return ask_library(file, [&](int id) { return library().ncmpi_inq_header_size(id, size); });
  });
}
int ncmpi_inq_header_extent(int ncid, MPI_Offset* extent) {
  return answer(ncid, [&](File& file) {
    if (!file.in_place) return give(extent, 0), NC_NOERR;
    return ask_library(file, [&](int id) { return library().ncmpi_inq_header_extent(id, extent); });
  });
}
int ncmpi_inq_recsize(int ncid, MPI_Offset* recsize) {
  return answer(ncid, [&](File& file) {
    std::int64_t sum = 0, last = 0;
    int records = 0;
    for (const Variable& var : file.definitions.vars) {
      if (!file.grows(var)) continue;
      last = bytes_of(file, var);
      sum += (last + 3) / 4 * 4;
      ++records;
    }
    give(recsize, records == 1 ? last : sum);  // the only one has no padding
    return NC_NOERR;
  });
}

namespace {

// Of a file that was handed back, what Shoal moved before counts, too.
int moved(int ncid, std::int64_t File::*bytes, int (*in_library)(int ncid, MPI_Offset* size),
          MPI_Offset* size) {
  MPI_Offset behind = 0;
  int code = answer(ncid, [](File&) { return NC_NOERR; });
  if (code == DOOR_PASS_ON) code = in_library(library_id(ncid), &behind);
  if (code == NC_NOERR) give(size, file_of(ncid)->*bytes + behind);
  return code;
}

}  // namespace

int ncmpi_inq_put_size(int ncid, MPI_Offset* size) {
  return moved(ncid, &File::put_bytes, library().ncmpi_inq_put_size, size);
}
int ncmpi_inq_get_size(int ncid, MPI_Offset* size) {
  return moved(ncid, &File::got_bytes, library().ncmpi_inq_get_size, size);
}

}  // namespace door::pnetcdf::serve
