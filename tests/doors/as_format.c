/* SPDX-License-Identifier: BSD-3-Clause
 * Loaded before a program: what it makes and opens with a communicator gets the mode of a user-defined
 * format, which is the door's. So programs that know of no format run on it, also with a netCDF-C that reads
 * no formats from .ncrc. FORMAT_LIBRARY is the format's library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "as_format: no %s: %s\n", name, dlerror());
    abort();
  }
  return found;
}

static void register_format(void) {
  NC_Dispatch* table = NULL;
  if (nc_inq_user_format(NC_UDF0, &table, NULL) == NC_NOERR && table != NULL) return;
  void* library = dlopen(FORMAT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "as_format: %s\n", dlerror());
  void* found = symbol(library, "shoal_netcdf_format");
  NC_Dispatch* (*format)(void) = NULL;
  memcpy(&format, &found, sizeof format);
  table = format();
  if (table == NULL || nc_def_user_format(NC_UDF0, table, NULL) != NC_NOERR) abort();
}

/* What Shoal asks of the library is not the program's. */
static int is_program(const void* caller) {
  Dl_info info;
  return dladdr(caller, &info) == 0 || strstr(info.dli_fname, "libshoal") == NULL;
}

typedef int maker(const char*, int, MPI_Comm, MPI_Info, int*);

static maker* next(const char* name) {
  void* found = symbol(RTLD_NEXT, name);
  maker* function = NULL;
  memcpy(&function, &found, sizeof function);
  return function;
}

/* AS_FORMAT=address: files are made by an address, and opened by their magic numbers, both of which .ncrc
 * gives to the format. */
static int by_address(void) {
  const char* as = getenv("AS_FORMAT");
  return as != NULL && strcmp(as, "address") == 0;
}

int nc_create_par(const char* path, int mode, MPI_Comm comm, MPI_Info info, int* ncidp) {
  maker* create = next("nc_create_par");
  char here[4096], address[8192];
  if (!is_program(__builtin_return_address(0))) return create(path, mode, comm, info, ncidp);
  if (!by_address()) {
    register_format();
    return create(path, mode | NC_UDF0, comm, info, ncidp);
  }
  if (*path == '/' || getcwd(here, sizeof here - 1) == NULL)
    here[0] = '\0';
  else
    strcat(here, "/");
  snprintf(address, sizeof address, "file://%s%s#mode=netcdf-4,udf0", here, path);
  return create((mode & NC_NETCDF4) != 0 ? address : path, mode, comm, info, ncidp);
}

int nc_open_par(const char* path, int mode, MPI_Comm comm, MPI_Info info, int* ncidp) {
  maker* open = next("nc_open_par");
  if (!is_program(__builtin_return_address(0)) || by_address()) return open(path, mode, comm, info, ncidp);
  register_format();
  return open(path, mode | NC_UDF0, comm, info, ncidp);
}
