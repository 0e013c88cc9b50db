! SPDX-License-Identifier: BSD-3-Clause
!
! Files and variables by their ids.
module shoal_pio_nf_id
#define OF_FILE
#define FILE_TYPE integer
#define FILE ncid
#define VARIABLE_TYPE integer
#define VARIABLE varid
#define VDESC varid
#include "nf.inc"
end module shoal_pio_nf_id
