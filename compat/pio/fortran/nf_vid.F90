! SPDX-License-Identifier: BSD-3-Clause
!
! Files by descriptors, variables by their ids.
module shoal_pio_nf_vid
#define FILE_TYPE type(file_desc_t)
#define FILE file
#define VARIABLE_TYPE integer
#define VARIABLE varid
#define VDESC varid
#include "nf.inc"
end module shoal_pio_nf_vid
