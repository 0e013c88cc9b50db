/* SPDX-License-Identifier: BSD-3-Clause
 * With the door alone: one rank gives wrong arguments in collective calls, and nobody waits for it; CDF-5
 * through a netCDF that has no PnetCDF. Prints what is wrong. */
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
  say_end();
  return wrong != 0;
}
