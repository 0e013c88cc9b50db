// SPDX-License-Identifier: BSD-3-Clause
// The program's own PnetCDF.
#include <string.h>

#include "pnetcdf/front/door.h"

static void set(void* member, const char* name) {
  void* found = door_library_symbol(name);
  memcpy(member, &found, sizeof found);
}

const struct door_program* door_own_program(void) {
  static struct door_functions library;
  static struct door_program program;
  if (program.library == NULL) {
#define FUNCTION(name, parameters, arguments) set(&library.name, #name);
#include "pnetcdf/front/functions.def"
    set(&program.default_format, "ncmpi_inq_default_format");
    program.library = &library;
  }
  return &program;
}
