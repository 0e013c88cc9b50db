/* SPDX-License-Identifier: BSD-3-Clause
 * A file whose name ends with .zarr is a store of Zarr, whatever format the program asks for, and any where
 * SHOAL_FORMAT says so. Prints what is wrong. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int wrong = 0;

static void expect(int code, const char* call) {
  if (code == NC_NOERR) return;
  ++wrong;
  printf("%s: %d, %s\n", call, code, nc_strerror(code));
}
#define EXPECT(call) expect((call), #call)

enum { k_cells = 3 };

static float value(size_t record, int cell) {
  return (float)(100 * (int)record + cell);
}

static void check(int ncid, int var, size_t record, int rank) {
  const size_t start[2] = {record, (size_t)(k_cells * rank)}, count[2] = {1, k_cells};
  float back[k_cells] = {0};
  EXPECT(nc_get_vara_float(ncid, var, start, count, back));
  for (int i = 0; i < k_cells; ++i)
    wrong += back[i] != value(record, k_cells * rank + i);
}

static void put(int ncid, int var, size_t record, int rank) {
  const size_t start[2] = {record, (size_t)(k_cells * rank)}, count[2] = {1, k_cells};
  float values[k_cells];
  for (int i = 0; i < k_cells; ++i)
    values[i] = value(record, k_cells * rank + i);
  EXPECT(nc_put_vara_float(ncid, var, start, count, values));
  check(ncid, var, record, rank);
}

static void expect_format(int ncid) {
  int format = 0;
  EXPECT(nc_inq_format(ncid, &format));
  wrong += format != NC_FORMAT_NETCDF4;
}

/* Opened again: what is there, then records behind it; then to read. */
static void append(const char* path, int rank) {
  int ncid = -1, var = -1, time = -1, natts = -1;
  size_t length = 0;
  char units[8] = "";
  EXPECT(nc_open_par(path, NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  EXPECT(nc_inq_varid(ncid, "a", &var));
  EXPECT(nc_inq_dimid(ncid, "time", &time));
  EXPECT(nc_inq_dimlen(ncid, time, &length));
  EXPECT(nc_inq_varnatts(ncid, var, &natts));
  EXPECT(nc_get_att_text(ncid, var, "units", units));
  wrong += length != 2 || natts != 1 || units[0] != 'm';
  expect_format(ncid);
  EXPECT(nc_var_par_access(ncid, var, NC_COLLECTIVE));
  put(ncid, var, 2, rank);
  EXPECT(nc_close(ncid));
  EXPECT(nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  for (size_t record = 0; record < 3; ++record)
    check(ncid, var, record, rank);
  EXPECT(nc_close(ncid));
}

static void make(const char* path, const char* shard, int mode, int rank, int ranks) {
  int ncid = -1, var = -1, group = -1, dims[2];
  struct stat info;
  EXPECT(nc_create_par(path, NC_CLOBBER | mode, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  EXPECT(nc_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
  EXPECT(nc_def_dim(ncid, "x", (size_t)(k_cells * ranks), &dims[1]));
  EXPECT(nc_def_var(ncid, "a", NC_FLOAT, 2, dims, &var));
  EXPECT(nc_put_att_text(ncid, var, "units", 1, "m"));
  /* netCDF has no stores to which it could go: an error, and the file goes on. */
  wrong += nc_def_grp(ncid, "inner", &group) != NC_ENOTBUILT;
  EXPECT(nc_enddef(ncid));
  EXPECT(nc_var_par_access(ncid, var, NC_COLLECTIVE));
  for (size_t record = 0; record < 2; ++record)
    put(ncid, var, record, rank);
  expect_format(ncid);
  EXPECT(nc_close(ncid));
  if (stat(shard, &info) != 0 || !S_ISREG(info.st_mode)) {
    ++wrong;
    printf("there is no %s\n", shard);
  }
  append(path, rank);
}

/* What was never defined leaves nothing behind. */
static void leave(const char* path) {
  int ncid = -1;
  struct stat info;
  EXPECT(nc_create_par(path, NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  EXPECT(nc_abort(ncid));
  MPI_Barrier(MPI_COMM_WORLD);
  wrong += stat(path, &info) == 0;
}

/* A store that was to be replaced is as it was. */
static void keep(const char* path, int rank) {
  int ncid = -1, var = -1;
  EXPECT(nc_create_par(path, NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  EXPECT(nc_abort(ncid));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  EXPECT(nc_inq_varid(ncid, "a", &var));
  check(ncid, var, 2, rank);
  EXPECT(nc_close(ncid));
}

/* What Zarr does not allow is an error at the end of the definitions, and of all calls behind it. */
static void refuse(const char* path) {
  int ncid = -1, dim = -1, var = -1;
  EXPECT(nc_create_par(path, NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  EXPECT(nc_def_dim(ncid, "x", 4, &dim));
  EXPECT(nc_def_var(ncid, "__reserved", NC_FLOAT, 1, &dim, &var));
  const int code = nc_enddef(ncid);
  wrong += code == NC_NOERR || nc_put_att_text(ncid, var, "units", 1, "m") != code || nc_close(ncid) != code;
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  make("four.zarr", "four.zarr/a/c/1/0", NC_NETCDF4, rank, ranks);
  make("classic.zarr", "classic.zarr/a/c/1/0", NC_64BIT_DATA, rank, ranks);
  leave("left.zarr");
  keep("four.zarr", rank);
  refuse("refused.zarr");
  setenv("SHOAL_FORMAT", "zarr", 1);
  make("set.nc", "set.nc/a/c/1/0", NC_NETCDF4, rank, ranks);
  MPI_Finalize();
  return wrong != 0;
}
