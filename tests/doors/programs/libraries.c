/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which library answers the calls of this process: a line for each on standard error. For programs in C and
 * Fortran.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "lines.h"

void tell_libraries(void) {
  const char* symbols[] = {"nc_create_par", "nc_create_par_fortran", "ncmpi_create"};
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; ++i) {
    Dl_info found;
    void* address = dlsym(RTLD_DEFAULT, symbols[i]);
    if (address != NULL && dladdr(address, &found) != 0)
      fprintf(stderr, "library: %s is of %s\n", symbols[i], found.dli_fname);
  }
}
