// SPDX-License-Identifier: BSD-3-Clause
// Calls on two files, either of which may be the door's or the library's.
#include "calls/calls.hpp"
#include "calls/core.hpp"
#include "handback/handback.hpp"

namespace door::serve {

namespace {

// The functions for a file of the door or of the library.
const door_functions& functions_of(int ncid) {
  return door_is_id(ncid) ? functions() : library();
}

}  // namespace

int nc_copy_att(int ncid, int varid, const char* name, int ncid_out, int varid_out) {
  const int own = library_id_of(ncid), own_out = library_id_of(ncid_out);
  if (own >= 0 && own_out >= 0) return library().nc_copy_att(own, varid, name, own_out, varid_out);
  const door_functions &from = functions_of(ncid), &to = functions_of(ncid_out);
  nc_type type = NC_NAT;
  size_t count = 0;
  if (const int code = from.nc_inq_att(ncid, varid, name, &type, &count); code != NC_NOERR) return code;
  if (ncid == ncid_out && varid == varid_out) return NC_NOERR;
  if (type > NC_STRING) return NC_EBADTYPE;
  if (type == NC_STRING) {
    std::vector<char*> strings(count);
    if (const int code = from.nc_get_att_string(ncid, varid, name, strings.data()); code != NC_NOERR)
      return code;
    std::vector<const char*> values(strings.begin(), strings.end());
    const int code = to.nc_put_att_string(ncid_out, varid_out, name, count, values.data());
    for (char* string : strings)
      program().release(string);
    return code;
  }
  std::vector<char> values(count * size_of(type));
  if (const int code = from.nc_get_att(ncid, varid, name, values.data()); code != NC_NOERR) return code;
  return to.nc_put_att(ncid_out, varid_out, name, type, count, values.data());
}

int nc_copy_var(int ncid, int varid, int ncid_out) {
  const auto served = [](int id) {
    File* file = door_is_id(id) ? file_of(id) : nullptr;
    return file == nullptr || file->handed_back() ? nullptr : file;
  };
  for (const bool stores : {true, false})
    for (const int id : {ncid, ncid_out}) {
      File* file = served(id);
      if (file == nullptr || file->is_store != stores) continue;  // what a store cannot is found before
      if (const int code = hand_back(*file, "nc_copy_var"); code != NC_NOERR) return code;
    }
  const int own = library_id_of(ncid), own_out = library_id_of(ncid_out);
  return own < 0 || own_out < 0 ? NC_EBADID : library().nc_copy_var(own, varid, own_out);
}

int nc_inq_type_equal(int ncid, nc_type xtype, int ncid_out, nc_type xtype_out, int* equal) {
  const int own = library_id_of(ncid), own_out = library_id_of(ncid_out);
  if (own >= 0 && own_out >= 0) return library().nc_inq_type_equal(own, xtype, own_out, xtype_out, equal);
  if (equal == nullptr) return NC_NOERR;
  if (xtype <= NC_NAT || xtype_out <= NC_NAT) return NC_EINVAL;
  *equal = xtype == xtype_out && xtype <= NC_STRING
               ? 1
               : 0;  // types of a program are in files of the library alone
  return NC_NOERR;
}

}  // namespace door::serve
