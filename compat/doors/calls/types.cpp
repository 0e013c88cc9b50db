// SPDX-License-Identifier: BSD-3-Clause
// Groups and types of files that have neither: the root group, and netCDF's own types.
#include <array>
#include <cstring>

#include "calls/calls.hpp"

namespace door::serve {

namespace {

constexpr std::array<const char*, 13> k_names = {"",      "byte",   "char",  "short",  "int",
                                                 "float", "double", "ubyte", "ushort", "uint",
                                                 "int64", "uint64", "string"};

// Groups are netCDF-4's.
int root(const File& file) {
  return file.netcdf4() ? NC_NOERR : NC_ENOTNC4;
}

int check_type(nc_type type) {
  return size_of(type) == 0 ? NC_EBADTYPE : NC_NOERR;
}

void give(char* out, const char* text) {
  if (out != nullptr) std::strcpy(out, text);
}

}  // namespace

int nc_inq_ncid(File& file, const char* name, int* grp_ncid) {
  if (!file.netcdf4()) return NC_ENOTNC4;
  if (name != nullptr && std::strcmp(name, "/") != 0) return NC_ENOGRP;
  if (grp_ncid != nullptr) *grp_ncid = id_of(file);
  return NC_NOERR;
}

int nc_inq_grps(File& file, int* numgrps, int*) {
  if (numgrps != nullptr) *numgrps = 0;
  return root(file) == NC_NOERR || numgrps != nullptr ? NC_NOERR : NC_ENOTNC4;
}

int nc_inq_grpname(File& file, char* name) {
  if (const int code = root(file); code != NC_NOERR) return code;
  give(name, "/");
  return NC_NOERR;
}

int nc_inq_grpname_full(File& file, size_t* lenp, char* full_name) {
  if (const int code = nc_inq_grpname(file, full_name); code != NC_NOERR) return code;
  if (lenp != nullptr) *lenp = 1;
  return NC_NOERR;
}

int nc_inq_grpname_len(File& file, size_t* lenp) {
  return nc_inq_grpname_full(file, lenp, nullptr);
}

int nc_inq_grp_parent(File& file, int*) {
  return file.netcdf4() ? NC_ENOGRP : NC_ENOTNC4;
}

int nc_inq_grp_ncid(File& file, const char* grp_name, int*) {
  if (grp_name == nullptr) return NC_EINVAL;
  return file.netcdf4() ? NC_ENOGRP : NC_ENOTNC4;
}

int nc_inq_grp_full_ncid(File& file, const char* full_name, int* grp_ncid) {
  if (full_name == nullptr) return NC_EINVAL;
  return nc_inq_ncid(file, full_name, grp_ncid);
}

int nc_inq_typeids(File&, int* ntypes, int*) {
  if (ntypes != nullptr) *ntypes = 0;
  return NC_NOERR;
}

int nc_inq_type(File&, nc_type xtype, char* name, size_t* size) {
  if (const int code = check_type(xtype); code != NC_NOERR) return code;
  give(name, k_names[static_cast<std::size_t>(xtype)]);
  if (size != nullptr) *size = size_of(xtype);
  return NC_NOERR;
}

int nc_inq_typeid(File&, const char* name, nc_type* typeidp) {
  for (std::size_t type = 1; name != nullptr && type < k_names.size(); ++type) {
    if (std::strcmp(name, k_names[type]) != 0) continue;
    if (typeidp != nullptr) *typeidp = static_cast<nc_type>(type);
    return NC_NOERR;
  }
  return NC_EBADTYPE;
}

int nc_inq_user_type(File&, nc_type, char*, size_t*, nc_type*, size_t*, int*) {
  return NC_EBADTYPE;
}

int nc_reclaim_data(File&, nc_type xtype, void* memory, size_t count) {
  if (const int code = check_type(xtype); code != NC_NOERR) return code;
  if (memory == nullptr && count > 0) return NC_EINVAL;
  for (size_t i = 0; xtype == NC_STRING && i < count; ++i)
    program().release(static_cast<char**>(memory)[i]);
  return NC_NOERR;
}

int nc_reclaim_data_all(File& file, nc_type xtype, void* memory, size_t count) {
  const int code = nc_reclaim_data(file, xtype, memory, count);
  if (code == NC_NOERR) program().release(memory);
  return code;
}

int nc_copy_data(File&, nc_type xtype, const void* memory, size_t count, void* copy) {
  if (const int code = check_type(xtype); code != NC_NOERR) return code;
  if (count > 0 && (memory == nullptr || copy == nullptr)) return NC_EINVAL;
  if (xtype != NC_STRING) {
    if (count > 0) std::memcpy(copy, memory, count * size_of(xtype));
    return NC_NOERR;
  }
  for (size_t i = 0; i < count; ++i) {
    const char* text = static_cast<char* const*>(memory)[i];
    char*& made = static_cast<char**>(copy)[i];
    made = text == nullptr ? nullptr : static_cast<char*>(program().allocate(std::strlen(text) + 1));
    if (made != nullptr) std::strcpy(made, text);
    if (made == nullptr && text != nullptr) return NC_ENOMEM;
  }
  return NC_NOERR;
}

int nc_copy_data_all(File& file, nc_type xtype, const void* memory, size_t count, void** copyp) {
  if (const int code = check_type(xtype); code != NC_NOERR) return code;
  if (copyp == nullptr) return NC_NOERR;
  *copyp = count == 0 ? nullptr : program().allocate(count * size_of(xtype));
  if (*copyp == nullptr && count > 0) return NC_ENOMEM;
  return nc_copy_data(file, xtype, memory, count, *copyp);
}

}  // namespace door::serve
