! SPDX-License-Identifier: BSD-3-Clause
!
! Values of type PIO_int.
module shoal_pio_int
#define NUMBERS
#define VALUE integer(c_int)
#include "values.inc"
end module shoal_pio_int
