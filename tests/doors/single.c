/* SPDX-License-Identifier: BSD-3-Clause
 * A program over a netCDF without MPI, as Debian's netCDF-Fortran is: files in parallel come with the door
 * alone. Prints what is wrong. */
#include "say.h"

static int wrong = 0;

static void expect(int code, const char* call) {
  if (code == NC_NOERR) return;
  ++wrong;
  printf("rank %d: %s: %d, %s\n", rank, call, code, nc_strerror(code));
}
#define EXPECT(call) expect((call), #call)

int main(int argc, char** argv) {
  int ncid = -9, dim = -9, var = -9;
  say_start(argc, argv);
  const size_t start = (size_t)(10 * rank / ranks), count = (size_t)(10 * (rank + 1) / ranks) - start;
  float values[10], back[10] = {0};
  for (int i = 0; i < 10; ++i)
    values[i] = (float)((size_t)i + start);
  EXPECT(nc_create_par_fortran("single.nc", NC_NETCDF4, (int)MPI_Comm_c2f(MPI_COMM_WORLD),
                               (int)MPI_Info_c2f(MPI_INFO_NULL), &ncid));
  EXPECT(nc_def_dim(ncid, "x", 10, &dim));
  EXPECT(nc_def_var(ncid, "values", NC_FLOAT, 1, &dim, &var));
  EXPECT(nc_enddef(ncid));
  EXPECT(nc_var_par_access(ncid, var, NC_COLLECTIVE));
  EXPECT(nc_put_vara_float(ncid, var, &start, &count, values));
  EXPECT(nc_close(ncid));
  /* The library's own HDF5 reads it in the same process. */
  EXPECT(nc_open("single.nc", NC_NOWRITE, &ncid));
  EXPECT(nc_get_var_float(ncid, 0, back));
  for (int i = 0; i < 10; ++i)
    if (back[i] != (float)i) {
      ++wrong;
      printf("rank %d: cell %d is %g\n", rank, i, back[i]);
    }
  EXPECT(nc_close(ncid));
  say_end();
  return wrong != 0;
}
