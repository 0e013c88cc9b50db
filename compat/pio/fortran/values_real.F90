! SPDX-License-Identifier: BSD-3-Clause
!
! Values of type PIO_real.
module shoal_pio_real
#define NUMBERS
#define VALUE real(c_float)
#include "values.inc"
end module shoal_pio_real
