// SPDX-License-Identifier: BSD-3-Clause
// The program's own netCDF-C.
#include <stdlib.h>
#include <string.h>

#include "door.h"

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
