! SPDX-License-Identifier: BSD-3-Clause
!
! put_var: values that are not cut. Those of the iosystem's rank `base` go to the file.
module pionfput_mod
  use shoal_pio_short, only: put_var
  use shoal_pio_int, only: put_var
  use shoal_pio_real, only: put_var
  use shoal_pio_double, only: put_var
  use shoal_pio_text, only: put_var
  implicit none
  private
  public :: put_var
end module pionfput_mod
