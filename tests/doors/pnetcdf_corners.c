/* SPDX-License-Identifier: BSD-3-Clause
 * What programs may rely on at the edges of PnetCDF: names in another form, codes and their order, sizes that
 * a format has not, fill values, ids of requests, hints, and ranks that do not ask for the same. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "say.h"

#include <limits.h>
#include <pnetcdf.h>

static int made(const char* path, int mode) {
  int ncid = -9;
  SAY(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | mode, MPI_INFO_NULL, &ncid));
  return ncid;
}

static void names(void) {
  int dim = -9, var = -9, found = -9;
  const char *apart = "I\xCC\x80", *as_one = "\xC3\x8C";
  char name[NC_MAX_NAME + 1];
  const int ncid = made("names.nc", 0);
  SAY(ncmpi_def_dim(ncid, apart, 3, &dim));
  SAY(ncmpi_def_dim(ncid, as_one, 3, &found));
  SAY(ncmpi_def_var(ncid, apart, NC_INT, 1, &dim, &var));
  SAY(ncmpi_put_att_text(ncid, var, apart, 2, "of"));
  SAY(ncmpi_inq_attname(ncid, var, 0, name));
  fprintf(say_log, "%s\n", name);
  SAY(ncmpi_def_dim(ncid, "\xE0\x80\x80x", 1, &found));
  SAY(ncmpi_def_dim(ncid, "\xED\xA0\x80x", 1, &found));
  SAY(ncmpi_enddef(ncid));
  SAY(ncmpi_inq_varid(ncid, apart, &found));
  SAY(ncmpi_inq_varid(ncid, as_one, &found));
  SAY(ncmpi_close(ncid));
}

static void codes(void) {
  int dims[2] = {-9, -9}, var = -9, byte = -9, other = -9, format = 0;
  MPI_Offset zero[2] = {0, 0}, one[2] = {1, 1}, odd[2] = {4, -1}, none[2] = {0, 0}, back[2] = {1, 0};
  float values[4] = {-2147483648.0F, 1, 2, 3};
  double halves[4] = {127.5, -128.5, 1e300, 5};
  signed char small[4] = {0};
  const int ncid = made("codes.nc", NC_64BIT_OFFSET);
  SAY(ncmpi_inq_files_opened(NULL, NULL));
  SAY(ncmpi_def_dim(ncid, "x", 4, &dims[0]));
  SAY(ncmpi_def_dim(ncid, "y", 2, &dims[1]));
  SAY(ncmpi_def_var(ncid, "var", NC_INT, 2, dims, &var));
  SAY(ncmpi_def_var(ncid, "var", NC_INT, 2, NULL, &other));
  SAY(ncmpi_def_var(ncid, "byte", NC_BYTE, 1, dims, &byte));
  SAY(ncmpi_def_var(ncid, "short", NC_SHORT, 1, dims, &other));
  SAY(ncmpi_put_att_text(ncid, var, "empty", 0, ""));
  SAY(ncmpi_get_att_int(ncid, var, "empty", &format));
  SAY(ncmpi_put_att_double(ncid, NC_GLOBAL, "wide", NC_DOUBLE, 4, halves));
  SAY(ncmpi_get_att_schar(ncid, NC_GLOBAL, "wide", small));
  fprintf(say_log, "%d %d %d %d\n", small[0], small[1], small[2], small[3]);
  SAY(ncmpi_enddef(ncid));
  SAY(ncmpi_put_vara_float_all(ncid, var, NULL, one, values));
  SAY(ncmpi_put_vara_float_all(ncid, var, zero, NULL, values));
  SAY(ncmpi_put_vara_float_all(ncid, var, odd, NULL, values));
  SAY(ncmpi_put_vara_float_all(ncid, var, odd, none, values));
  SAY(ncmpi_put_vars_float_all(ncid, var, zero, one, back, values));
  SAY(ncmpi_put_varm_float_all(ncid, var, zero, odd, back, NULL, values));
  SAY(ncmpi_get_var1_float_all(ncid, var, NULL, values));
  SAY(ncmpi_put_var1_float_all(ncid, var, zero, values));
  SAY(ncmpi_put_var_double_all(ncid, byte, halves));
  SAY(ncmpi_get_var_schar_all(ncid, byte, small));
  fprintf(say_log, "%d %d %d %d\n", small[0], small[1], small[2], small[3]);
  short wide[4] = {-300, 300, 7, 8};
  SAY(ncmpi_put_var_short_all(ncid, other, wide));
  SAY(ncmpi_get_var_schar_all(ncid, other, small));
  fprintf(say_log, "%d %d %d %d\n", small[0], small[1], small[2], small[3]);
  SAY(ncmpi_close(ncid));
  SAY(ncmpi_open(MPI_COMM_WORLD, "codes.nc", NC_NOWRITE, MPI_INFO_NULL, &other));
  SAY(ncmpi_redef(other));
  SAY(ncmpi_def_dim(other, "z", 1, &dims[0]));
  SAY(ncmpi_enddef(other));
  SAY(ncmpi_set_fill(other, NC_FILL, NULL));
  SAY(ncmpi_close(other));
}

static void sizes(void) {
  int dim = -9, var = -9, ncid = made("sizes.nc", 0);
  SAY(ncmpi_def_dim(ncid, "long", (MPI_Offset)INT_MAX - 2, &dim));
  SAY(ncmpi_def_dim(ncid, "long", (MPI_Offset)INT_MAX - 3, &dim));
  SAY(ncmpi_def_var(ncid, "large", NC_SHORT, 1, &dim, &var));
  SAY(ncmpi_def_var(ncid, "last", NC_INT, 0, NULL, &var));
  SAY(ncmpi_enddef(ncid));
  ncmpi_abort(ncid); /* its code depends on which rank removes the file */
  ncid = made("sizes.nc", NC_64BIT_OFFSET);
  SAY(ncmpi_def_dim(ncid, "longer", (MPI_Offset)UINT_MAX - 2, &dim));
  SAY(ncmpi_def_dim(ncid, "longer", (MPI_Offset)UINT_MAX - 3, &dim));
  ncmpi_abort(ncid); /* its code depends on which rank removes the file */
  ncid = made("sizes.nc", NC_64BIT_DATA);
  SAY(ncmpi_def_dim(ncid, "longest", LLONG_MAX, &dim));
  SAY(ncmpi_def_var(ncid, "too large", NC_INT, 1, &dim, &var));
  ncmpi_abort(ncid); /* its code depends on which rank removes the file */
}

static void fills(void) {
  int dims[2] = {-9, -9}, series = -9, fixed = -9, value = -1;
  MPI_Offset offsets[2] = {0, 0}, size = 0;
  const int ncid = made("fills.nc", 0);
  SAY(ncmpi_inq_header_size(ncid, &size));
  SAY(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
  SAY(ncmpi_def_dim(ncid, "x", 4, &dims[1]));
  SAY(ncmpi_def_var(ncid, "series", NC_INT, 2, dims, &series));
  SAY(ncmpi_put_att_int(ncid, series, "_FillValue", NC_INT, 1, &value));
  SAY(ncmpi_put_att_text(ncid, series, "units", 1, "1"));
  SAY(ncmpi_enddef(ncid));
  SAY(ncmpi_fill_var_rec(ncid, series, 0));
  SAY(ncmpi_redef(ncid));
  SAY(ncmpi_put_att_int(ncid, series, "_FillValue", NC_INT, 1, &value));
  SAY(ncmpi_def_var_fill(ncid, series, 0, &value));
  SAY(ncmpi_def_var(ncid, "fixed", NC_INT, 1, &dims[1], &fixed));
  SAY(ncmpi_def_var_fill(ncid, fixed, 0, &value));
  SAY(ncmpi_enddef(ncid));
  SAY(ncmpi_inq_varoffset(ncid, fixed, &offsets[0]));
  SAY(ncmpi_inq_varoffset(ncid, series, &offsets[1]));
  SAY(ncmpi_inq_header_size(ncid, &size));
  fprintf(say_log, "%d %d\n", offsets[0] > 0 && offsets[1] >= offsets[0] + 16,
          size > 0 && size <= offsets[0]);
  SAY(ncmpi_close(ncid));
}

static void requests(void) {
  int dim = -9, var = -9, ids[3] = {77, 77, 77}, statuses[3] = {77, 77, 77};
  const int wide = 1000 + rank, fits = 3;
  MPI_Offset cell = rank;
  MPI_Datatype part;
  const int ncid = made("requests.nc", 0);
  SAY(ncmpi_def_dim(ncid, "x", ranks, &dim));
  SAY(ncmpi_def_var(ncid, "var", NC_BYTE, 1, &dim, &var));
  SAY(ncmpi_enddef(ncid));
  SAY(ncmpi_iput_var1_int(ncid, var, &cell, &wide, &ids[0]));
  ids[0] = NC_REQ_NULL; /* as Fortran leaves it */
  SAY(ncmpi_wait_all(ncid, 1, ids, statuses));
  SAY(ncmpi_iput_var1_int(ncid, var, &cell, &fits, &ids[0]));
  SAY(ncmpi_iput_var1_int(ncid, var, &cell, &fits, &ids[1]));
  fprintf(say_log, "ids %d %d\n", ids[0], ids[1]);
  SAY(ncmpi_wait_all(ncid, 2, ids, statuses));
  SAY(ncmpi_iput_var1_int(ncid, var, &cell, &fits, &ids[0]));
  SAY(ncmpi_wait_all(ncid, 2, ids, statuses));
  fprintf(say_log, "id %d, statuses %d %d\n", ids[0], statuses[0], statuses[1]);

  MPI_Offset before = 0, after = 0;
  const signed char byte = 5;
  SAY(ncmpi_inq_put_size(ncid, &before));
  MPI_Type_create_subarray(1, &ranks, (int[]){1}, &rank, MPI_ORDER_C, MPI_SIGNED_CHAR, &part);
  MPI_Type_commit(&part);
  SAY(ncmpi_put_vard_all(ncid, var, part, &byte, 1, MPI_SIGNED_CHAR)); /* with this PnetCDF has the file */
  SAY(ncmpi_inq_put_size(ncid, &after));
  fprintf(say_log, "%lld more\n", (long long)(after - before));
  MPI_Type_free(&part);
  SAY(ncmpi_close(ncid));
}

static void say_hint(MPI_Info info, const char* name) {
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int there = 0;
  MPI_Info_get(info, name, MPI_MAX_INFO_VAL, value, &there);
  fprintf(say_log, "%s: %d %s\n", name, there, value);
}

static void hints(void) {
  const char* all[] = {"nc_header_align_size",      "nc_var_align_size", "nc_record_align_size",
                       "nc_header_read_chunk_size", "nc_in_place_swap",  "nc_ibuf_size",
                       "pnetcdf_subfiling"};
  int var = -9, ncid = -9;
  MPI_Info info, told = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nc_header_align_size", "1");
  setenv("PNETCDF_HINTS", "nc_var_align_size=197", 1);
  SAY(ncmpi_create(MPI_COMM_WORLD, "hints.nc", NC_CLOBBER, info, &ncid));
  unsetenv("PNETCDF_HINTS");
  MPI_Info_free(&info);
  SAY(ncmpi_def_var(ncid, "var", NC_INT, 0, NULL, &var));
  SAY(ncmpi_set_fill(ncid, NC_FILL, NULL));
  for (int ended = 0; ended < 2; ++ended) {
    if (ended) SAY(ncmpi_enddef(ncid));
    SAY(ncmpi_inq_file_info(ncid, &told));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
      if (ended || i > 1) say_hint(told, all[i]);
    MPI_Info_free(&told);
  }
  SAY(ncmpi_close(ncid));
}

/* Ranks that do not ask for the same; the checks that PnetCDF makes where it is told to. */
static void apart(void) {
  int dim = -9, var = -9, ncid = -9;
  char name[16];
  SAY(ncmpi_create(MPI_COMM_WORLD, "modes.nc", NC_CLOBBER | (rank == 0 ? NC_64BIT_OFFSET : NC_64BIT_DATA),
                   MPI_INFO_NULL, &ncid));
  SAY(ncmpi_close(ncid));
  SAY(ncmpi_open(MPI_COMM_WORLD, "modes.nc", rank == 0 ? NC_NOWRITE : NC_WRITE, MPI_INFO_NULL, &ncid));
  SAY(ncmpi_close(ncid));
  ncid = made("apart.nc", 0);
  SAY(ncmpi_def_dim(ncid, "x", 2, &dim));
  SAY(ncmpi_def_var(ncid, "var", NC_INT, 1, &dim, &var));
  SAY(ncmpi_set_fill(ncid, NC_FILL, NULL));
  snprintf(name, sizeof name, "of_%d", rank);
  SAY(ncmpi_put_att_text(ncid, NC_GLOBAL, name, 1, "1"));
  SAY(ncmpi_enddef(ncid));
  SAY(ncmpi_close(ncid));

  const int value = 7;
  MPI_Offset start = rank == 0 ? 3 : 2, count = 0;
  for (int safe = 0; safe < 2; ++safe) {
    setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1);
    setenv("PNETCDF_RELAX_COORD_BOUND", safe ? "1" : "0", 1);
    ncid = made(safe ? "safe.nc" : "strict.nc", 0);
    SAY(ncmpi_def_dim(ncid, "x", 2, &dim));
    SAY(ncmpi_def_var(ncid, "var", NC_INT, 1, &dim, &var));
    SAY(ncmpi_set_fill(ncid, NC_FILL, NULL));
    SAY(ncmpi_enddef(ncid));
    SAY(ncmpi_put_vara_int_all(ncid, var, &start, &count, &value));
    SAY(ncmpi_close(ncid));
  }
  unsetenv("PNETCDF_SAFE_MODE");
  unsetenv("PNETCDF_RELAX_COORD_BOUND");
}

/* Flexible calls of lists that bring no values. */
static void nothing(void) {
  int dim = -9, var = -9, request = -9, status = -9;
  float values[3] = {1, 2, 3};
  MPI_Offset start[1] = {1}, count[1] = {3};
  MPI_Offset *starts[1] = {start}, *counts[1] = {count};
  const int ncid = made("nothing.nc", 0);
  SAY(ncmpi_def_dim(ncid, "x", 8, &dim));
  SAY(ncmpi_def_var(ncid, "var", NC_FLOAT, 1, &dim, &var));
  SAY(ncmpi_set_fill(ncid, NC_FILL, NULL));
  SAY(ncmpi_enddef(ncid));
  SAY(ncmpi_iput_varn(ncid, var, 1, starts, counts, values, 0, MPI_FLOAT, &request));
  fprintf(say_log, "a request: %d\n", request != NC_REQ_NULL);
  SAY(ncmpi_wait_all(ncid, 1, &request, &status));
  SAY(ncmpi_begin_indep_data(ncid));
  SAY(ncmpi_put_varn(ncid, var, 1, starts, counts, values, 0, MPI_FLOAT));
  SAY(ncmpi_end_indep_data(ncid));
  SAY(ncmpi_close(ncid));
}

int main(int argc, char** argv) {
  say_start(argc, argv);
  names();
  codes();
  sizes();
  fills();
  requests();
  hints();
  apart();
  nothing();
  return say_end();
}
