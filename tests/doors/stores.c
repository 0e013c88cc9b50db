/* SPDX-License-Identifier: BSD-3-Clause
 * A file whose name ends with .zarr is a store of Zarr, whatever format the program asks for. Prints what is
 * wrong. */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <sys/stat.h>

static int wrong = 0;

static void expect(int code, const char* call) {
  if (code == NC_NOERR) return;
  ++wrong;
  printf("%s: %d, %s\n", call, code, nc_strerror(code));
}
#define EXPECT(call) expect((call), #call)

static void make(const char* path, const char* shard, int mode, int rank, int ranks) {
  enum { k_cells = 3 };
  int ncid = -1, var = -1, dims[2], format = 0;
  struct stat info;
  EXPECT(nc_create_par(path, NC_CLOBBER | mode, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
  EXPECT(nc_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
  EXPECT(nc_def_dim(ncid, "x", (size_t)(k_cells * ranks), &dims[1]));
  EXPECT(nc_def_var(ncid, "a", NC_FLOAT, 2, dims, &var));
  EXPECT(nc_enddef(ncid));
  EXPECT(nc_var_par_access(ncid, var, NC_COLLECTIVE));
  for (size_t record = 0; record < 2; ++record) {
    const size_t start[2] = {record, (size_t)(k_cells * rank)}, count[2] = {1, k_cells};
    float values[k_cells], back[k_cells] = {0};
    for (int i = 0; i < k_cells; ++i)
      values[i] = (float)(100 * (int)record + k_cells * rank + i);
    EXPECT(nc_put_vara_float(ncid, var, start, count, values));
    EXPECT(nc_get_vara_float(ncid, var, start, count, back));
    for (int i = 0; i < k_cells; ++i)
      wrong += back[i] != values[i];
  }
  EXPECT(nc_inq_format(ncid, &format));
  wrong += format != NC_FORMAT_NETCDF4;
  EXPECT(nc_close(ncid));
  if (stat(shard, &info) != 0 || !S_ISREG(info.st_mode)) {
    ++wrong;
    printf("there is no %s\n", shard);
  }
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  make("four.zarr", "four.zarr/a/c/1/0", NC_NETCDF4, rank, ranks);
  make("classic.zarr", "classic.zarr/a/c/1/0", NC_64BIT_DATA, rank, ranks);
  MPI_Finalize();
  return wrong != 0;
}
