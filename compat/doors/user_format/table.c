// SPDX-License-Identifier: BSD-3-Clause
// The table of functions that netCDF-C calls, and how it gets it. Almost all of them are functions of the
// door's own table, with the id of who answers in place of netCDF-C's.
#include "user_format/format.h"

#include <stdio.h>

// ---- Calls on a file that differ in its id alone.

#define OF_FILE(ncid)                                         \
  const struct door_functions* const of = format_file(&ncid); \
  if (of == NULL) return NC_EBADID;

#define MAKES(name, parameters, arguments)
#define DATA(suffix, put, get, memory)
#define ATTRIBUTE(suffix, put, get, memory)
#define FUNCTION(name, parameters, arguments)                    \
  static __attribute__((unused)) int format_##name parameters {  \
    OF_FILE(ncid)                                                \
    return of->name != NULL ? of->name arguments : NC_ENOTBUILT; \
  }
#define TWO_FILES(name, parameters, arguments)                              \
  static __attribute__((unused)) int format_##name parameters {             \
    const struct door_functions* const of = format_files(&ncid, &ncid_out); \
    return of != NULL && of->name != NULL ? of->name arguments : NC_EBADID; \
  }
#include "front/functions.def"

// What gives the id of the file itself.
static int inq_ncid(int ncid, const char* name, int* grp_ncid) {
  const int code = format_nc_inq_ncid(ncid, name, grp_ncid);
  if (code == NC_NOERR && grp_ncid != NULL) *grp_ncid = format_outer_id(ncid, *grp_ncid);
  return code;
}
static int inq_grp_full_ncid(int ncid, const char* full_name, int* grp_ncid) {
  const int code = format_nc_inq_grp_full_ncid(ncid, full_name, grp_ncid);
  if (code == NC_NOERR && grp_ncid != NULL) *grp_ncid = format_outer_id(ncid, *grp_ncid);
  return code;
}

// ---- Values and attributes: one function for all types in memory, where the door's own table has one for
// each. Values of other types than netCDF's own are as in the file.

static int get_vara(int ncid, int varid, const size_t* start, const size_t* count, void* values,
                    nc_type type) {
  OF_FILE(ncid)
#define DATA(suffix, put, get, memory) \
  if (type == (memory)) return of->nc_get_vara##suffix(ncid, varid, start, count, (get*)values);
#include "front/functions.def"
  return of->nc_get_vara(ncid, varid, start, count, values);
}

static int put_vara(int ncid, int varid, const size_t* start, const size_t* count, const void* values,
                    nc_type type) {
  OF_FILE(ncid)
#define DATA(suffix, put, get, memory) \
  if (type == (memory)) return of->nc_put_vara##suffix(ncid, varid, start, count, (put*)values);
#include "front/functions.def"
  return of->nc_put_vara(ncid, varid, start, count, values);
}

static int get_vars(int ncid, int varid, const size_t* start, const size_t* count, const ptrdiff_t* stride,
                    void* values, nc_type type) {
  OF_FILE(ncid)
#define DATA(suffix, put, get, memory) \
  if (type == (memory)) return of->nc_get_vars##suffix(ncid, varid, start, count, stride, (get*)values);
#include "front/functions.def"
  return of->nc_get_vars(ncid, varid, start, count, stride, values);
}

static int put_vars(int ncid, int varid, const size_t* start, const size_t* count, const ptrdiff_t* stride,
                    const void* values, nc_type type) {
  OF_FILE(ncid)
#define DATA(suffix, put, get, memory) \
  if (type == (memory)) return of->nc_put_vars##suffix(ncid, varid, start, count, stride, (put*)values);
#include "front/functions.def"
  return of->nc_put_vars(ncid, varid, start, count, stride, values);
}

static int get_varm(int ncid, int varid, const size_t* start, const size_t* count, const ptrdiff_t* stride,
                    const ptrdiff_t* imap, void* values, nc_type type) {
  OF_FILE(ncid)
#define DATA(suffix, put, get, memory) \
  if (type == (memory)) return of->nc_get_varm##suffix(ncid, varid, start, count, stride, imap, (get*)values);
#include "front/functions.def"
  return of->nc_get_varm(ncid, varid, start, count, stride, imap, values);
}

static int put_varm(int ncid, int varid, const size_t* start, const size_t* count, const ptrdiff_t* stride,
                    const ptrdiff_t* imap, const void* values, nc_type type) {
  OF_FILE(ncid)
#define DATA(suffix, put, get, memory) \
  if (type == (memory)) return of->nc_put_varm##suffix(ncid, varid, start, count, stride, imap, (put*)values);
#include "front/functions.def"
  return of->nc_put_varm(ncid, varid, start, count, stride, imap, values);
}

static int get_att(int ncid, int varid, const char* name, void* values, nc_type type) {
  OF_FILE(ncid)
  if (type == NC_CHAR) return of->nc_get_att_text(ncid, varid, name, values);
  if (type == NC_STRING) return of->nc_get_att_string(ncid, varid, name, values);
#define ATTRIBUTE(suffix, put, get, memory) \
  if (type == (memory)) return of->nc_get_att##suffix(ncid, varid, name, (get*)values);
#include "front/functions.def"
  return of->nc_get_att(ncid, varid, name, values);
}

static int put_att(int ncid, int varid, const char* name, nc_type xtype, size_t len, const void* values,
                   nc_type type) {
  OF_FILE(ncid)
  if (type == NC_CHAR && xtype == NC_CHAR) return of->nc_put_att_text(ncid, varid, name, len, values);
  if (type == NC_STRING && xtype == NC_STRING)
    return of->nc_put_att_string(ncid, varid, name, len, (const char**)values);
#define ATTRIBUTE(suffix, put, get, memory) \
  if (type == (memory)) return of->nc_put_att##suffix(ncid, varid, name, xtype, len, (put*)values);
#include "front/functions.def"
  return type == xtype ? of->nc_put_att(ncid, varid, name, xtype, len, values) : NC_ECHAR;
}

// ---- All that there is to ask of a variable.

static int inq_var_all(int ncid, int varid, char* name, nc_type* xtypep, int* ndimsp, int* dimidsp,
                       int* nattsp, int* shufflep, int* deflatep, int* levelp, int* fletcher32p,
                       int* storagep, size_t* chunksizesp, int* no_fill, void* fill_valuep, int* endianp,
                       unsigned* idp, size_t* nparamsp, unsigned* params) {
  OF_FILE(ncid)
  int code = of->nc_inq_var(ncid, varid, name, xtypep, ndimsp, dimidsp, nattsp);
  if (code == NC_NOERR && (shufflep != NULL || deflatep != NULL || levelp != NULL))
    code = of->nc_inq_var_deflate(ncid, varid, shufflep, deflatep, levelp);
  if (code == NC_NOERR && fletcher32p != NULL) code = of->nc_inq_var_fletcher32(ncid, varid, fletcher32p);
  if (code == NC_NOERR && (storagep != NULL || chunksizesp != NULL))
    code = of->nc_inq_var_chunking(ncid, varid, storagep, chunksizesp);
  if (code == NC_NOERR && (no_fill != NULL || fill_valuep != NULL))
    code = of->nc_inq_var_fill(ncid, varid, no_fill, fill_valuep);
  if (code == NC_NOERR && endianp != NULL) code = of->nc_inq_var_endian(ncid, varid, endianp);
  if (code == NC_NOERR && (idp != NULL || nparamsp != NULL || params != NULL))
    code = of->nc_inq_var_filter(ncid, varid, idp, nparamsp, params);
  return code;
}

// ---- The table.

#define OF_ROW(name) .name = format_nc_##name

NC_Dispatch format_table = {
    .model = NC_FORMATX_UDF0,
    .dispatch_version = NC_DISPATCH_VERSION,
    .create = format_create,
    .open = format_open,
    .close = format_close,
    .abort = format_abort,
    .inq_var_all = inq_var_all,
    .get_att = get_att,
    .put_att = put_att,
    .get_vara = get_vara,
    .put_vara = put_vara,
    .get_vars = get_vars,
    .put_vars = put_vars,
    .get_varm = get_varm,
    .put_varm = put_varm,
    .inq_ncid = inq_ncid,
    .inq_grp_full_ncid = inq_grp_full_ncid,
    OF_ROW(redef),
    OF_ROW(_enddef),
    OF_ROW(sync),
    OF_ROW(set_fill),
    OF_ROW(inq_format),
    OF_ROW(inq_format_extended),
    OF_ROW(inq),
    OF_ROW(inq_type),
    OF_ROW(def_dim),
    OF_ROW(inq_dimid),
    OF_ROW(inq_dim),
    OF_ROW(inq_unlimdim),
    OF_ROW(rename_dim),
    OF_ROW(inq_att),
    OF_ROW(inq_attid),
    OF_ROW(inq_attname),
    OF_ROW(rename_att),
    OF_ROW(del_att),
    OF_ROW(def_var),
    OF_ROW(inq_varid),
    OF_ROW(rename_var),
    OF_ROW(var_par_access),
    OF_ROW(def_var_fill),
    OF_ROW(show_metadata),
    OF_ROW(inq_unlimdims),
    OF_ROW(inq_grps),
    OF_ROW(inq_grpname),
    OF_ROW(inq_grpname_full),
    OF_ROW(inq_grp_parent),
    OF_ROW(inq_varids),
    OF_ROW(inq_dimids),
    OF_ROW(inq_typeids),
    OF_ROW(inq_type_equal),
    OF_ROW(def_grp),
    OF_ROW(rename_grp),
    OF_ROW(inq_user_type),
    OF_ROW(inq_typeid),
    OF_ROW(def_compound),
    OF_ROW(insert_compound),
    OF_ROW(insert_array_compound),
    OF_ROW(inq_compound_field),
    OF_ROW(inq_compound_fieldindex),
    OF_ROW(def_vlen),
    OF_ROW(put_vlen_element),
    OF_ROW(get_vlen_element),
    OF_ROW(def_enum),
    OF_ROW(insert_enum),
    OF_ROW(inq_enum_member),
    OF_ROW(inq_enum_ident),
    OF_ROW(def_opaque),
    OF_ROW(def_var_deflate),
    OF_ROW(def_var_fletcher32),
    OF_ROW(def_var_chunking),
    OF_ROW(def_var_endian),
    OF_ROW(def_var_filter),
    OF_ROW(set_var_chunk_cache),
    OF_ROW(get_var_chunk_cache),
    OF_ROW(inq_var_filter_ids),
    OF_ROW(inq_var_filter_info),
    OF_ROW(def_var_quantize),
    OF_ROW(inq_var_quantize),
    OF_ROW(inq_filter_avail),
};

// ---- What netCDF-C calls when it has loaded this library: once for each slot that names it.

static void say_once(const char* what, const char* why) {
  static int said = 0;
  if (!said) door_say(what, why);
  said = 1;
}

// Why the library that asks cannot have the table; 0: it can.
static int refuses(char* why, size_t size, const void* caller) {
  if (!format_take_library(caller))
    return snprintf(why, size, "its symbols are not there, as of a static library, or another one has it");
  const int version = format_version_of_library();
  if (version >= 0 && version != NC_DISPATCH_VERSION)
    return snprintf(why, size,
                    "its tables of functions are of version %d, and Shoal's is of version %d; load a Shoal "
                    "that was built with its headers",
                    version, NC_DISPATCH_VERSION);
  return door_has_other_mpi(why, size);
}

__attribute__((visibility("default"))) NC_Dispatch* shoal_netcdf_format(void) {
  char why[512];
  if (refuses(why, sizeof why, __builtin_return_address(0))) {
    say_once("is no format of this netCDF-C", why);
    return NULL;
  }
  // Some functions of netCDF-C that netCDF-Fortran calls take every file for one of HDF5's, without asking a
  // table. The program ends there, and nothing in between could answer.
  if (format_has_fortran())
    say_once(
        "is a format of netCDF-C",
        "a program in Fortran that names or asks for chunk sizes, contiguous storage or chunk caches ends "
        "in netCDF-C on its files; preload the door for it");
  return &format_table;
}
