/* SPDX-License-Identifier: BSD-3-Clause
 * Files of PnetCDF: several variables in a call, what a rank alone adds and reads again, requests that nobody
 * waited for; and files that Shoal cannot write, which go to PnetCDF, at once or later. */
#include "say.h"

#include <pnetcdf.h>

static MPI_Offset start, count;

static int begin(const char* path, int* dim, int* var) {
  int ncid = -9, old = -9;
  SAY(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
  SAY(ncmpi_set_fill(ncid, NC_FILL, &old));
  SAY(ncmpi_def_dim(ncid, "x", 12, dim));
  SAY(ncmpi_def_var(ncid, "before", NC_FLOAT, 1, dim, var));
  SAY(ncmpi_put_att_text(ncid, *var, "units", 1, "1"));
  return ncid;
}

static void put_and_get(int ncid, int var) {
  float values[12], back[12];
  for (int i = 0; i < 12; ++i)
    values[i] = (float)(100 * rank + i);
  SAY(ncmpi_put_vara_float_all(ncid, var, &start, &count, values));
  SAY(ncmpi_get_vara_float_all(ncid, var, &start, &count, back));
  fprintf(say_log, "%s\n", memcmp(values, back, (size_t)count * sizeof *back) == 0 ? "alike" : "differ");
}

static void deep(int ncid) {
  int other = -9, dims[17];
  for (int i = 0; i < 17; ++i) {
    char name[8];
    snprintf(name, sizeof name, "d%d", i);
    SAY(ncmpi_def_dim(ncid, name, 1, &dims[i]));
  }
  SAY(ncmpi_def_var(ncid, "deep", NC_INT, 17, dims, &other));
  fprintf(say_log, "number %d\n", other);
}

static void served(void) {
  int dim = -9, time = -9, vars[2] = {-9, -9}, request = -9;
  const int ncid = begin("served.nc", &dim, &vars[0]);
  SAY(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time));
  const int dims[] = {time, dim};
  SAY(ncmpi_def_var(ncid, "series", NC_DOUBLE, 2, dims, &vars[1]));
  SAY(ncmpi_enddef(ncid));
  SAY(ncmpi_fill_var_rec(ncid, vars[1], 0));
  MPI_Offset first[] = {start}, cells[] = {count}, second[] = {0, start}, record[] = {1, count};
  MPI_Offset *starts[] = {first, second}, *counts[] = {cells, record};
  int ones[12], twos[12], *const puts[] = {ones, twos};
  for (int i = 0; i < 12; ++i)
    ones[i] = (int)start + i, twos[i] = 1000 + (int)start + i;
  SAY(ncmpi_mput_vara_int_all(ncid, 2, vars, starts, counts, puts));
  double got[12] = {0}, more[12] = {0}, *gets[] = {got, more};
  SAY(ncmpi_mget_vara_double_all(ncid, 2, vars, starts, counts, gets));
  say_numbers("got", (size_t)count, got);
  say_numbers("of the record", (size_t)count, more);

  /* Records 1 to 3 are filled by all ranks; beyond them each has one of its own, alone, and reads it. */
  for (MPI_Offset i = 1; i < 4; ++i)
    SAY(ncmpi_fill_var_rec(ncid, vars[1], i));
  SAY(ncmpi_begin_indep_data(ncid));
  MPI_Offset own[] = {4 + rank, 0}, some[] = {1, 7}, length = 0;
  SAY(ncmpi_put_vara_int(ncid, vars[1], own, some, ones));
  own[1] = 4, some[1] = 8; /* the second one counts where both are */
  SAY(ncmpi_put_vara_int(ncid, vars[1], own, some, twos));
  own[1] = 2, some[1] = 7;
  memset(got, 0, sizeof got);
  SAY(ncmpi_get_vara_double(ncid, vars[1], own, some, got));
  say_numbers("its own", 7, got);
  SAY(ncmpi_end_indep_data(ncid));
  SAY(ncmpi_sync(ncid));
  SAY(ncmpi_inq_dimlen(ncid, time, &length));
  fprintf(say_log, "%lld records\n", (long long)length);
  own[0] = 3 + ranks;
  SAY(ncmpi_get_vara_double_all(ncid, vars[1], own, some, got));
  say_numbers("of the last", 7, got);
  SAY(ncmpi_wait_all(ncid, 1, (int[]){1234}, &request));
  fprintf(say_log, "status %d\n", request);
  SAY(ncmpi_iput_vara_int(ncid, vars[0], &start, &count, twos, &request));
  SAY(ncmpi_close(ncid));
}

static void many_dims(void) {
  int dim = -9, var = -9;
  const int ncid = begin("dims.nc", &dim, &var);
  deep(ncid);
  SAY(ncmpi_enddef(ncid));
  put_and_get(ncid, var);
  SAY(ncmpi_close(ncid));
}

static void later(void) {
  int dim = -9, var = -9;
  const int ncid = begin("later.nc", &dim, &var);
  SAY(ncmpi_enddef(ncid));
  put_and_get(ncid, var);
  SAY(ncmpi_redef(ncid));
  deep(ncid);
  SAY(ncmpi_enddef(ncid));
  put_and_get(ncid, var);
  SAY(ncmpi_close(ncid));
}

static void file_types(void) {
  int dim = -9, var = -9;
  const int ncid = begin("vard.nc", &dim, &var);
  SAY(ncmpi_enddef(ncid));
  put_and_get(ncid, var);
  const int sizes[] = {12}, part[] = {(int)count}, first[] = {(int)start};
  float values[12];
  for (int i = 0; i < 12; ++i)
    values[i] = (float)(-100 * rank - i);
  MPI_Datatype type;
  MPI_Type_create_subarray(1, sizes, part, first, MPI_ORDER_C, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  SAY(ncmpi_put_vard_all(ncid, var, type, values, count, MPI_FLOAT));
  MPI_Type_free(&type);
  SAY(ncmpi_get_vara_float_all(ncid, var, &start, &count, values));
  fprintf(say_log, "%g\n", (double)values[0]);
  SAY(ncmpi_close(ncid));
}

int main(int argc, char** argv) {
  say_start(argc, argv);
  start = 12 * rank / ranks, count = 12 * (rank + 1) / ranks - start;
  served();
  many_dims();
  later();
  file_types();
  return say_end();
}
