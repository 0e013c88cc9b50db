/* SPDX-License-Identifier: BSD-3-Clause
 * Stores of Zarr by PnetCDF's calls beside a file: made by name and by SHOAL_FORMAT, appended to, and read.
 * Without the door these are NetCDF files; what the program says is the same. */
#define _POSIX_C_SOURCE 200809L
#include "say.h"

#include <pnetcdf.h>

static MPI_Offset first, count;

static void put(int ncid, int var, MPI_Offset record) {
  const MPI_Offset start[] = {record, first}, cells[] = {1, count};
  double values[12];
  for (int i = 0; i < 12; ++i)
    values[i] = 100.0 * (double)record + (double)first + i;
  SAY(ncmpi_put_vara_double_all(ncid, var, start, cells, values));
}

static void get(int ncid, int var, MPI_Offset record) {
  const MPI_Offset start[] = {record, first}, cells[] = {1, count};
  double values[12] = {0};
  SAY(ncmpi_get_vara_double_all(ncid, var, start, cells, values));
  say_numbers("values", (size_t)count, values);
}

static void store(const char* path) {
  int ncid = -9, var = -9, dims[2] = {-9, -9}, format = -9;
  MPI_Offset length = -9;
  SAY(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
  SAY(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
  SAY(ncmpi_def_dim(ncid, "x", 12, &dims[1]));
  SAY(ncmpi_def_var(ncid, "series", NC_DOUBLE, 2, dims, &var));
  SAY(ncmpi_put_att_text(ncid, var, "units", 1, "m"));
  SAY(ncmpi_enddef(ncid));
  put(ncid, var, 0);
  put(ncid, var, 1);
  SAY(ncmpi_close(ncid));
  SAY(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid));
  SAY(ncmpi_inq_format(ncid, &format));
  SAY(ncmpi_inq_dimlen(ncid, dims[0], &length));
  fprintf(say_log, "format %d, %lld records\n", format, (long long)length);
  put(ncid, var, 2);
  get(ncid, var, 2);
  get(ncid, var, 1);
  SAY(ncmpi_close(ncid));
}

int main(int argc, char** argv) {
  say_start(argc, argv);
  first = 12 * rank / ranks, count = 12 * (rank + 1) / ranks - first;
  store("file.nc");
  store("named.zarr");
  setenv("SHOAL_FORMAT", "zarr", 1);
  store("set.other");
  return say_end();
}
