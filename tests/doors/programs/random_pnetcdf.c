/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <pnetcdf.h>
#include <string.h>

#include "random_library.h"

static int create(const char* path, int format, int* ncid) {
  const int mode = NC_CLOBBER | (format == 5 ? NC_64BIT_DATA : format == 2 ? NC_64BIT_OFFSET : 0);
  int code = ncmpi_create(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, ncid), old;
  if (code == NC_NOERR) code = ncmpi_set_fill(*ncid, NC_FILL, &old);
  return code != NC_NOERR ? code : ncmpi_buffer_attach(*ncid, 1 << 20);
}
static int open_again(const char* path, int* ncid) {
  int code = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, ncid);
  return code != NC_NOERR ? code : ncmpi_buffer_attach(*ncid, 1 << 20);
}
static int close_file(int ncid) {
  const int code = ncmpi_buffer_detach(ncid), closed = ncmpi_close(ncid);
  return code != NC_NOERR ? code : closed;
}
/* The fill mode is no part of the file. */
static int redef(int ncid) {
  int old;
  const int code = ncmpi_redef(ncid);
  return code != NC_NOERR ? code : ncmpi_set_fill(ncid, NC_FILL, &old);
}
static int def_dim(int ncid, const char* name, long long length, int* id) {
  return ncmpi_def_dim(ncid, name, length == 0 ? NC_UNLIMITED : (MPI_Offset)length, id);
}
static int def_var(int ncid, const char* name, int type, int ndims, const int* dims, int* id) {
  return ncmpi_def_var(ncid, name, type, ndims, dims, id);
}
static int put_att(int ncid, int id, const char* name, int type, int n, const double* values) {
  return ncmpi_put_att_double(ncid, id, name, type, n, values);
}
static int set_fill(int ncid, int id, double value) {
  nc_type type;
  const int code = ncmpi_inq_vartype(ncid, id, &type);
  return code != NC_NOERR ? code : put_att(ncid, id, "_FillValue", type, 1, &value);
}
static int put_text(int ncid, int id, const char* name, const char* text) {
  return ncmpi_put_att_text(ncid, id, name, (MPI_Offset)strlen(text), text);
}
static int length_of(int ncid, int dim, long long* length) {
  MPI_Offset cells = 0;
  const int code = ncmpi_inq_dimlen(ncid, dim, &cells);
  *length = cells;
  return code;
}
static int fill_record(int ncid, int id, long long record) {
  return ncmpi_fill_var_rec(ncid, id, record);
}
static int access_of(int ncid, int id, int how) {
  static int alone;
  (void)id;
  if (alone == (how == independent)) return NC_NOERR;
  alone = how == independent;
  return alone ? ncmpi_begin_indep_data(ncid) : ncmpi_end_indep_data(ncid);
}
static int wait_all(int ncid) {
  return ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
}

#define TYPED(CALL, SUFFIX, ARGUMENTS)                                \
  (r->memory == as_schar    ? ncmpi_##CALL##_schar##SUFFIX ARGUMENTS  \
   : r->memory == as_short  ? ncmpi_##CALL##_short##SUFFIX ARGUMENTS  \
   : r->memory == as_int    ? ncmpi_##CALL##_int##SUFFIX ARGUMENTS    \
   : r->memory == as_float  ? ncmpi_##CALL##_float##SUFFIX ARGUMENTS  \
   : r->memory == as_double ? ncmpi_##CALL##_double##SUFFIX ARGUMENTS \
                            : ncmpi_##CALL##_longlong##SUFFIX ARGUMENTS)
#define BY_FORM(VERB, SUFFIX, ...)                                                                   \
  (r->form == vara ? TYPED(VERB##_vara, SUFFIX, (ncid, r->id, start, count, r->values __VA_ARGS__))  \
   : r->form == vars                                                                                 \
       ? TYPED(VERB##_vars, SUFFIX, (ncid, r->id, start, count, stride, r->values __VA_ARGS__))      \
   : r->form == varm                                                                                 \
       ? TYPED(VERB##_varm, SUFFIX, (ncid, r->id, start, count, stride, map, r->values __VA_ARGS__)) \
   : r->form == lists                                                                                \
       ? TYPED(VERB##_varn, SUFFIX, (ncid, r->id, r->n, starts, counts, r->values __VA_ARGS__))      \
       : TYPED(VERB##_var1, SUFFIX, (ncid, r->id, start, r->values __VA_ARGS__)))

#define PLACES                                                                                      \
  MPI_Offset all_starts[k_boxes][k_dims], all_counts[k_boxes][k_dims], stride[k_dims], map[k_dims]; \
  MPI_Offset *starts[k_boxes], *counts[k_boxes];                                                    \
  for (int b = 0; b < k_boxes; ++b) {                                                               \
    starts[b] = all_starts[b], counts[b] = all_counts[b];                                           \
    for (int d = 0; d < k_dims; ++d)                                                                \
      starts[b][d] = r->boxes[b].start[d], counts[b][d] = r->boxes[b].count[d];                     \
  }                                                                                                 \
  for (int d = 0; d < k_dims; ++d)                                                                  \
    stride[d] = r->boxes[0].stride[d], map[d] = r->boxes[0].map[d];                                 \
  const MPI_Offset *start = starts[0], *count = counts[0];

static int put(int ncid, const request* r, int how) {
  PLACES
  int queue;
  if (how == collective) return BY_FORM(put, _all, );
  if (how == independent) return BY_FORM(put, , );
  return how == queued ? BY_FORM(iput, , , &queue) : BY_FORM(bput, , , &queue);
}
static int get(int ncid, const request* r, int how) {
  PLACES
  int queue;
  if (how == collective) return BY_FORM(get, _all, );
  return how == independent ? BY_FORM(get, , ) : BY_FORM(iget, , , &queue);
}

const library pnetcdf_library = {
    create,      open_again, close_file, redef,   ncmpi_enddef, ncmpi_sync,       def_dim,
    def_var,     NULL,       set_fill,   put_att, put_text,     ncmpi_rename_var, length_of,
    fill_record, access_of,  put,        get,     wait_all};
