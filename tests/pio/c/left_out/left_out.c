/* SPDX-License-Identifier: BSD-3-Clause
 * Must not compile: the compiler says what is left out. */
#include "pio.h"

int main(void) {
  int iosys = 0;
  int value = 0;
  return nc_def_iosystem(MPI_COMM_WORLD, 1, 1, 0, 1, &iosys) + nc_put_vard_int(1, 1, 1, 0, &value);
}
