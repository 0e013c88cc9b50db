! SPDX-License-Identifier: BSD-3-Clause
!
! Values of type PIO_short.
module shoal_pio_short
#define NUMBERS
#define VALUE integer(c_short)
#include "values.inc"
end module shoal_pio_short
