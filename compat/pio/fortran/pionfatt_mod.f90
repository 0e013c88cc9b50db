! SPDX-License-Identifier: BSD-3-Clause
!
! Attributes. Those that the iosystem's rank `base` gives go to the file.
module pionfatt_mod
  use pio_kinds, only: i2, i4, r4, r8, pio_offset_kind
  use pio_types
  use shoal_pio_short, only: put_att, get_att, inq_var_fill
  use shoal_pio_int, only: put_att, get_att, inq_var_fill
  use shoal_pio_real, only: put_att, get_att, inq_var_fill
  use shoal_pio_double, only: put_att, get_att, inq_var_fill
  use shoal_pio_text, only: put_att, get_att
  implicit none
  public
end module pionfatt_mod
