! SPDX-License-Identifier: BSD-3-Clause
!
! Files and variables by descriptors.
module shoal_pio_nf_desc
#define OF_FILE
#define FILE_TYPE type(file_desc_t)
#define FILE file
#define VARIABLE_TYPE type(var_desc_t)
#define VARIABLE vardesc
#define VDESC vdesc
#include "nf.inc"
end module shoal_pio_nf_desc
