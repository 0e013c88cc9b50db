! SPDX-License-Identifier: BSD-3-Clause
!
! Text.
module shoal_pio_text
#define VALUE character(len=*)
#include "values.inc"
end module shoal_pio_text
