// SPDX-License-Identifier: BSD-3-Clause
// The program's own netCDF-C.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "door.h"

// A function that every netCDF-C has and the front has not.
static const char* const k_every_library = "nc_inq_libvers";

struct paths {
  int n;
  char path[8][1024];
};

static int note_netcdf(struct dl_phdr_info* info, size_t size, void* noted) {
  (void)size;
  struct paths* paths = noted;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* base = slash != NULL ? slash + 1 : info->dlpi_name;
  if (strncmp(base, "libnetcdf", 9) == 0 && strlen(info->dlpi_name) < sizeof paths->path[0])
    strcpy(paths->path[paths->n++], info->dlpi_name);
  return paths->n == 8;
}

// A netCDF-C that was loaded for one library alone; NULL: none.
static void* loaded_for_others(void) {
  struct paths paths = {0};
  dl_iterate_phdr(note_netcdf, &paths);
  for (int i = 0; i < paths.n; ++i) {
    void* library = dlopen(paths.path[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL && dlsym(library, k_every_library) != NULL) return library;
    if (library != NULL) dlclose(library);
  }
  return NULL;
}

void* door_library_symbol(const char* name) {
  static int asked = 0;
  static void* other = NULL;
  if (!asked) {
    if (dlsym(RTLD_NEXT, k_every_library) == NULL) other = loaded_for_others();
    asked = 1;
  }
  return other != NULL ? dlsym(other, name) : dlsym(RTLD_NEXT, name);
}

// ISO C has no pointers to functions in a void *; POSIX has.
static void set(void* member, const char* name) {
  void* found = door_library_symbol(name);
  memcpy(member, &found, sizeof found);
}

const struct door_program* door_own_program(void) {
  static struct door_functions library;
  static struct door_program program;
  if (program.library == NULL) {
#define FUNCTION(name, parameters, arguments) set(&library.name, #name);
#include "functions.def"
    set(&program.open_one, "nc_open");
    set(&program.set_default_format, "nc_set_default_format");
    set(&program.has_filter, "H5Zfilter_avail");
    program.allocate = malloc;
    program.release = free;
    program.library = &library;
  }
  return &program;
}

const struct door_functions* door_library(void) {
  return door_own_program()->library;
}
