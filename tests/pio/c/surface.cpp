// SPDX-License-Identifier: BSD-3-Clause
// The header in C++, and as programs for SCORPIO see it.
#define SHOAL_PIO_SCORPIO
#include "pio.h"
#include "pio_meta.h"

#include <cstring>

int main() {
  PIOc_set_iosystem_error_handling(PIO_DEFAULT, PIO_RETURN_ERROR, nullptr);
  char text[20];
  std::memset(text, 'x', sizeof text);
  const int code = PIOc_strerror(PIO_EINVAL, text, sizeof text);
  char name[8];
  return code == PIO_NOERR && std::memchr(text, '\0', sizeof text) != nullptr &&
                 PIOc_inq_filter_avail(-1, 1) != PIO_NOERR &&
                 PIOc_inq_varname(-1, 0, name, sizeof name) != PIO_NOERR
             ? 0
             : 1;
}
