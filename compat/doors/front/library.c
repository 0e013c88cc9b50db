// SPDX-License-Identifier: BSD-3-Clause
// The program's own netCDF-C.
#include <stdlib.h>

#include "door.h"

const struct door_program* door_own_program(void) {
  static struct door_functions library;
  static struct door_program program;
  if (program.library == NULL) {
#define FUNCTION(name, parameters, arguments) door_find(&library.name, #name);
#include "functions.def"
    door_find(&program.open_one, "nc_open");
    door_find(&program.set_default_format, "nc_set_default_format");
    door_find(&program.has_filter, "H5Zfilter_avail");
    program.allocate = malloc;
    program.release = free;
    program.library = &library;
  }
  return &program;
}

const struct door_functions* door_library(void) {
  return door_own_program()->library;
}
