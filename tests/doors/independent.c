/* SPDX-License-Identifier: BSD-3-Clause
 * Variables as netCDF has them unless asked otherwise: each rank puts and gets alone. */
#include "say.h"

enum { k_rows = 24, k_columns = 500 };

static void rows(int of, size_t* start, size_t* count) {
  start[0] = (size_t)(k_rows * of / ranks);
  count[0] = (size_t)(k_rows * (of + 1) / ranks) - start[0];
  start[1] = 0;
  count[1] = k_columns;
}

/* The rows of this rank, row by row, as programs do that write what they have at hand. */
static void put_rows(int ncid, int var, double first) {
  size_t start[2], count[2];
  rows(rank, start, count);
  const size_t end = start[0] + count[0];
  count[0] = 1;
  for (; start[0] < end; ++start[0]) {
    double row[k_columns];
    for (int i = 0; i < k_columns; ++i)
      row[i] = first + (double)start[0] * 1000 + i;
    SAY(nc_put_vara_double(ncid, var, start, count, row));
  }
}

static void get_rows(int ncid, int var, int of) {
  size_t start[2], count[2];
  static float values[k_rows * k_columns];
  double some[3];
  rows(of, start, count);
  SAY(nc_get_vara_float(ncid, var, start, count, values));
  some[0] = values[0], some[1] = values[k_columns - 1], some[2] = values[count[0] * k_columns - 1];
  say_numbers("rows", 3, some);
}

int main(int argc, char** argv) {
  int ncid = -9, dims[3], field = -9, place = -9, step = -9;
  say_start(argc, argv);
  SAY(nc_create_par("independent.nc", NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  SAY(nc_def_dim(ncid, "y", k_rows, &dims[0]));
  SAY(nc_def_dim(ncid, "x", k_columns, &dims[1]));
  SAY(nc_def_dim(ncid, "t", NC_UNLIMITED, &dims[2]));
  SAY(nc_def_var(ncid, "field", NC_DOUBLE, 2, dims, &field));
  SAY(nc_def_var(ncid, "place", NC_INT, 1, dims, &place));
  SAY(nc_def_var(ncid, "step", NC_INT, 1, dims + 2, &step));
  put_rows(ncid, field, 0); /* ends the define mode */
  if (rank == 0)
    for (size_t i = 0; i < k_rows / 2; ++i)
      SAY(nc_put_var1_int(ncid, place, &i, &(const int){(int)i * 10}));
  SAY(nc_put_var1_int(ncid, step, &(const size_t){0}, &(const int){1})); /* alone it grows no file */
  get_rows(ncid, field, rank);
  SAY(nc_sync(ncid));
  MPI_Barrier(MPI_COMM_WORLD);
  get_rows(ncid, field, (rank + 1) % ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  put_rows(ncid, field, 7);
  get_rows(ncid, field, rank);
  SAY(nc_var_par_access(ncid, step, NC_COLLECTIVE));
  SAY(nc_put_var1_int(ncid, step, &(const size_t){1}, &(const int){5}));
  SAY(nc_close(ncid));
  return say_end();
}
