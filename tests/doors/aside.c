/* SPDX-License-Identifier: BSD-3-Clause
 * A process with another MPI in it, whose library is the argument: the door stands aside, and what there is
 * of netCDF answers: nothing here, whose code is that of a netCDF without parallel access. */
#include <dlfcn.h>
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int ncid = -9;
  if (argc < 2 || dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) == NULL) {
    printf("%s cannot be loaded: %s\n", argc < 2 ? "(none)" : argv[1], dlerror());
    return 1;
  }
  for (int i = 0; i < 2; ++i) {
    const int code = nc_create_par("aside.nc", NC_NETCDF4, (MPI_Comm)0, (MPI_Info)0, &ncid);
    if (code != NC_ENOPAR) {
      printf("code %d in place of %d\n", code, NC_ENOPAR);
      return 1;
    }
  }
  return nc_enddef(0x70000000) == NC_ENOTBUILT ? 0 : 1;
}
