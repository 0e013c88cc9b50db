/* SPDX-License-Identifier: BSD-3-Clause
 * Prints the table of PnetCDF's functions, class and name a line. */
#include <stdio.h>

#define MAKES(name, parameters, arguments) puts("makes " #name);
#define SERVED(name, parameters, arguments) puts("served " #name);
#define MOVES(name, parameters, arguments, call) puts("served " #name);
#define MANY(name, parameters, arguments, calls) puts("served " #name);
#define PUT_ATTRIBUTE(name, parameters, arguments, memory) puts("served " #name);
#define GET_ATTRIBUTE(name, parameters, arguments, memory) puts("served " #name);
#define TWO_FILES(name, parameters, arguments) puts("served " #name);
#define OF_ALL(name, parameters, arguments) puts("served " #name);
#define HANDED_BACK(name, parameters, arguments, together) puts("handed_back " #name);
#define PASSED_ON(name) puts("passed_on " #name);

int main(void) {
#include "pnetcdf/front/functions.def"
  return 0;
}
