// SPDX-License-Identifier: BSD-3-Clause
// The program's own PnetCDF.

#include "pnetcdf/front/door.h"

const struct door_program* door_own_program(void) {
  static struct door_functions library;
  static struct door_program program;
  if (program.library == NULL) {
#define FUNCTION(name, parameters, arguments) door_find(&library.name, #name);
#include "pnetcdf/front/functions.def"
    door_find(&program.default_format, "ncmpi_inq_default_format");
    program.library = &library;
  }
  return &program;
}
