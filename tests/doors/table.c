/* SPDX-License-Identifier: BSD-3-Clause
 * Prints the table of functions, class and name a line. */
#include <stdio.h>

#define MAKES(name, parameters, arguments) puts("makes " #name);
#define SERVED(name, parameters, arguments) puts("served " #name);
#define TWO_FILES(name, parameters, arguments) puts("served " #name);
#define HANDED_BACK(name, parameters, arguments) puts("handed_back " #name);
#define PASSED_ON(name) puts("passed_on " #name);

int main(void) {
#include "front/functions.def"
  return 0;
}
