/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stddef.h>
#include <string.h>

#include "random_library.h"

static int create(const char* path, int format, int* ncid) {
  const int mode = NC_NETCDF4 | NC_MPIIO | NC_CLOBBER | (format == 3 ? NC_CLASSIC_MODEL : 0);
  return nc_create_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, ncid);
}
static int create_classic(const char* path, int format, int* ncid) {
  const int mode = format == 1 ? NC_CLOBBER : format == 2 ? NC_64BIT_OFFSET : NC_64BIT_DATA;
  return nc_create_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, ncid);
}
static int open_again(const char* path, int* ncid) {
  return nc_open_par(path, NC_WRITE | NC_MPIIO, MPI_COMM_WORLD, MPI_INFO_NULL, ncid);
}
static int def_dim(int ncid, const char* name, long long length, int* id) {
  return nc_def_dim(ncid, name, length == 0 ? NC_UNLIMITED : (size_t)length, id);
}
static int def_var(int ncid, const char* name, int type, int ndims, const int* dims, int* id) {
  return nc_def_var(ncid, name, type, ndims, dims, id);
}
static int pack(int ncid, int id) {
  return nc_def_var_deflate(ncid, id, 1, 1, 2);
}
static int put_att(int ncid, int id, const char* name, int type, int n, const double* values) {
  return nc_put_att_double(ncid, id, name, type, (size_t)n, values);
}
static int set_fill(int ncid, int id, double value) {
  nc_type type;
  const int code = nc_inq_vartype(ncid, id, &type);
  return code != NC_NOERR ? code : put_att(ncid, id, "_FillValue", type, 1, &value);
}
static int put_text(int ncid, int id, const char* name, const char* text) {
  return nc_put_att_text(ncid, id, name, strlen(text), text);
}
static int length_of(int ncid, int dim, long long* length) {
  size_t cells = 0;
  const int code = nc_inq_dimlen(ncid, dim, &cells);
  *length = (long long)cells;
  return code;
}
static int access_of(int ncid, int id, int how) {
  return nc_var_par_access(ncid, id, how == independent ? NC_INDEPENDENT : NC_COLLECTIVE);
}

#define TYPED(CALL, ARGUMENTS)                             \
  (r->memory == as_schar    ? nc_##CALL##_schar ARGUMENTS  \
   : r->memory == as_short  ? nc_##CALL##_short ARGUMENTS  \
   : r->memory == as_int    ? nc_##CALL##_int ARGUMENTS    \
   : r->memory == as_float  ? nc_##CALL##_float ARGUMENTS  \
   : r->memory == as_double ? nc_##CALL##_double ARGUMENTS \
                            : nc_##CALL##_longlong ARGUMENTS)
#define BY_FORM(VERB)                                                                          \
  (r->form == vara   ? TYPED(VERB##_vara, (ncid, r->id, start, count, r->values))              \
   : r->form == vars ? TYPED(VERB##_vars, (ncid, r->id, start, count, stride, r->values))      \
   : r->form == varm ? TYPED(VERB##_varm, (ncid, r->id, start, count, stride, map, r->values)) \
                     : TYPED(VERB##_var1, (ncid, r->id, start, r->values)))

static int move(int ncid, const request* r, int get) {
  size_t start[k_dims], count[k_dims];
  ptrdiff_t stride[k_dims], map[k_dims];
  for (int d = 0; d < k_dims; ++d) {
    start[d] = (size_t)r->boxes[0].start[d];
    count[d] = (size_t)r->boxes[0].count[d];
    stride[d] = (ptrdiff_t)r->boxes[0].stride[d];
    map[d] = (ptrdiff_t)r->boxes[0].map[d];
  }
  return get ? BY_FORM(get) : BY_FORM(put);
}
static int put(int ncid, const request* r, int how) {
  (void)how;
  return move(ncid, r, 0);
}
static int get(int ncid, const request* r, int how) {
  (void)how;
  return move(ncid, r, 1);
}

const library netcdf_library = {create,  open_again, nc_close, nc_redef, nc_enddef, nc_sync, def_dim,
                                def_var, pack,       set_fill, put_att,  put_text,  NULL,    length_of,
                                NULL,    access_of,  put,      get,      NULL};
const library classic_library = {
    create_classic, open_again, nc_close, nc_redef,  nc_enddef, nc_sync,   def_dim, def_var, NULL, set_fill,
    put_att,        put_text,   NULL,     length_of, NULL,      access_of, put,     get,     NULL};
