! SPDX-License-Identifier: BSD-3-Clause
!
! Values of type PIO_double.
module shoal_pio_double
#define NUMBERS
#define VALUE real(c_double)
#include "values.inc"
end module shoal_pio_double
