/* SPDX-License-Identifier: BSD-3-Clause
 * A netCDF-C that cannot have the door as its format: this program has two of its symbols, and asks for the
 * table of functions.
 *   format_refused LIBRARY VERSION [OTHER_MPI]     VERSION: of its own tables; exit code 3: refused
 * It has a symbol of netCDF-Fortran, too, of which a line warns. */
#include <dlfcn.h>
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static NC_Dispatch own;
const NC_Dispatch* NC3_dispatch_table = &own;
const char* nc_inq_libvers(void) {
  return "0";
}

void nf_def_var_chunking_(void);
void nf_def_var_chunking_(void) {}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  own.dispatch_version = atoi(argv[2]);
  if (argc > 3 && dlopen(argv[3], RTLD_NOW | RTLD_LOCAL) == NULL) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void* found = library != NULL ? dlsym(library, "shoal_netcdf_format") : NULL;
  NC_Dispatch* (*format)(void) = NULL;
  if (found == NULL) return 2;
  memcpy(&format, &found, sizeof format);
  const NC_Dispatch* table = format();
  printf("%s\n", table != NULL ? "taken" : "refused");
  return table != NULL ? 0 : 3;
}
