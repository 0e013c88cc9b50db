! SPDX-License-Identifier: BSD-3-Clause
!
! get_var: values that are not cut, the same on all ranks.
module pionfget_mod
  use shoal_pio_short, only: get_var
  use shoal_pio_int, only: get_var
  use shoal_pio_real, only: get_var
  use shoal_pio_double, only: get_var
  use shoal_pio_text, only: get_var
  implicit none
  private
  public :: get_var
end module pionfget_mod
