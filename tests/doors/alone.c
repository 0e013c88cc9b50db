/* SPDX-License-Identifier: BSD-3-Clause
 * With the door alone: one rank gives wrong arguments in collective calls, and nobody waits for it; classic
 * files through a netCDF that has no PnetCDF, with records that single ranks add. Prints what is wrong. */
#include "say.h"

static int wrong = 0;

static void expect(int code, int expected, const char* call) {
  if (code == expected) return;
  ++wrong;
  printf("rank %d: %s: %d in place of %d\n", rank, call, code, expected);
}
#define EXPECT(expected, call) expect((call), (expected), #call)

static void put_tiles(int ncid, int var) {
  const int bad = ranks - 1;
  const size_t start = (size_t)(12 * rank / ranks), count = (size_t)(12 * (rank + 1) / ranks) - start;
  const size_t beyond = 13, nothing = 0;
  double values[12], back[12];
  for (int i = 0; i < 12; ++i)
    values[i] = 100. * rank + i;
  EXPECT(rank == bad ? NC_EINVALCOORDS : NC_NOERR,
         nc_put_vara_double(ncid, var, rank == bad ? &beyond : &start, &count, values));
  EXPECT(rank == bad ? NC_ECHAR : NC_NOERR, rank == bad
                                                ? nc_put_vara_text(ncid, var, &start, &count, "")
                                                : nc_put_vara_double(ncid, var, &start, &count, values));
  EXPECT(rank == bad ? NC_ENOTVAR : NC_NOERR,
         nc_get_vara_double(ncid, rank == bad ? 77 : var, &start, &count, back));
  EXPECT(NC_NOERR, nc_put_vara_double(ncid, var, &start, rank == bad ? &nothing : &count, values));
  EXPECT(NC_NOERR, nc_put_vara_double(ncid, var, &start, &count, values));
  values[0] = 1e300;
  EXPECT(rank == bad ? NC_ERANGE : NC_NOERR,
         nc_put_vara_double(ncid, var, &start, rank == bad ? &count : &nothing, values));
  EXPECT(NC_NOERR, nc_get_vara_double(ncid, var, &start, &count, back));
  for (size_t i = rank == bad ? 1 : 0; i < count; ++i)
    expect(back[i] == 100. * rank + (double)i, 1, "a value");
}

/* The values of record r of "a". */
static void check_record(int ncid, int a, size_t r) {
  const size_t start[2] = {r, 0}, count[2] = {1, 4};
  float back[4] = {-9, -9, -9, -9};
  EXPECT(NC_NOERR, nc_get_vara_float(ncid, a, start, count, back));
  for (int i = 0; i < 4; ++i)
    expect((int)back[i], 10 * (int)r + i, "a value of a record");
}

static size_t records(int ncid) {
  size_t length = 0;
  EXPECT(NC_NOERR, nc_inq_dimlen(ncid, 0, &length));
  return length;
}

/* Each rank adds a record of its own; then rank 0 one that others come to know without a sync. */
static void add_records(const char* path, int mode) {
  int ncid = -9, dims[2], a = -9, b = -9, back = -9;
  const size_t start[2] = {(size_t)rank, 0}, count[2] = {1, 4}, last = (size_t)ranks;
  double values[4];
  for (int i = 0; i < 4; ++i)
    values[i] = 10. * rank + i;
  EXPECT(NC_NOERR, nc_create_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  EXPECT(NC_NOERR, nc_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
  EXPECT(NC_NOERR, nc_def_dim(ncid, "x", 4, &dims[1]));
  EXPECT(NC_NOERR, nc_def_var(ncid, "a", NC_SHORT, 2, dims, &a));
  EXPECT(NC_NOERR, nc_def_var(ncid, "b_of_records", NC_INT, 1, dims, &b));
  EXPECT(NC_NOERR, nc_enddef(ncid));
  EXPECT(NC_NOERR, nc_put_vara_double(ncid, a, start, count, values));
  expect(records(ncid) > (size_t)rank, 1, "the record is there for its rank");
  check_record(ncid, a, (size_t)rank);
  EXPECT(NC_EINVALCOORDS, nc_get_var1_int(ncid, b, &(const size_t){(size_t)ranks + 7}, &back));
  EXPECT(NC_NOERR, nc_sync(ncid));
  expect((int)records(ncid), ranks, "records of all");
  check_record(ncid, a, (size_t)((rank + 1) % ranks));
  EXPECT(NC_NOERR, nc_rename_var(ncid, b, "b"));
  expect((int)records(ncid), ranks, "records of a variable with a new name");
  if (rank == 0) EXPECT(NC_NOERR, nc_put_var1_int(ncid, b, &last, &(const int){-5}));
  EXPECT(NC_NOERR, nc_var_par_access(ncid, b, NC_COLLECTIVE));
  expect((int)records(ncid), ranks + 1, "records with the last");
  EXPECT(NC_NOERR, nc_get_var1_int(ncid, b, &last, &back));
  expect(back, -5, "rank 0's value");
  EXPECT(NC_NOERR, nc_var_par_access(ncid, b, NC_INDEPENDENT));
  if (rank == ranks - 1) EXPECT(NC_NOERR, nc_put_var1_int(ncid, b, &(const size_t){last + 1}, &back));
  EXPECT(NC_NOERR, nc_close(ncid));
  EXPECT(NC_NOERR, nc_open_par(path, NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  expect((int)records(ncid), ranks + 2, "records of the closed file");
  check_record(ncid, a, (size_t)rank);
  EXPECT(NC_NOERR, nc_get_var1_int(ncid, b, &(const size_t){last + 1}, &back));
  expect(back, -5, "the last rank's value");
  EXPECT(NC_NOERR, nc_close(ncid));
  EXPECT(NC_NOERR, nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  check_record(ncid, a, (size_t)rank);
  EXPECT(NC_NOERR, nc_close(ncid));
  EXPECT(NC_NOERR, nc_create_par(path, NC_64BIT_DATA, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  EXPECT(NC_EDIMSIZE, nc_def_dim(ncid, "x", (size_t)-1, &dims[0]));
  EXPECT(NC_NOERR, nc_close(ncid));
  EXPECT(NC_NOERR, nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid)); /* it is empty */
  EXPECT(NC_NOERR, nc_close(ncid));
}

int main(int argc, char** argv) {
  static const int modes[] = {NC_NETCDF4, NC_64BIT_DATA};
  say_start(argc, argv);
  for (int i = 0; i < 2; ++i) {
    char path[32];
    int ncid = -9, dim = -9, var = -9, format = -9;
    snprintf(path, sizeof path, "alone%d.nc", i);
    EXPECT(NC_NOERR, nc_create_par(path, modes[i], MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
    EXPECT(NC_NOERR, nc_def_dim(ncid, "x", 12, &dim));
    EXPECT(NC_NOERR, nc_def_var(ncid, "values", NC_FLOAT, 1, &dim, &var));
    EXPECT(NC_NOERR, nc_enddef(ncid));
    EXPECT(NC_NOERR, nc_var_par_access(ncid, var, NC_COLLECTIVE));
    EXPECT(NC_NOERR, nc_inq_format(ncid, &format));
    put_tiles(ncid, var);
    EXPECT(NC_NOERR, nc_close(ncid));
  }
  add_records("records5.nc", NC_64BIT_DATA);
  add_records("records1.nc", 0);
  say_end();
  return wrong != 0;
}
