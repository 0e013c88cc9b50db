! SPDX-License-Identifier: BSD-3-Clause
!
! The interface of PIO 2 in Fortran, on top of Shoal: what a program uses. docs/guide/pio.md says how programs
! are built with it, and what differs.
module pio
  use pio_kinds, only: pio_offset_kind
  use pio_types
  use piolib_mod
  use pio_nf
  use piodarray, only: pio_read_darray, pio_write_darray, pio_set_buffer_size_limit
  use pionfatt_mod, only: pio_put_att => put_att, pio_get_att => get_att, pio_inq_var_fill => inq_var_fill
  use pionfput_mod, only: pio_put_var => put_var
  use pionfget_mod, only: pio_get_var => get_var
  use pio_support, only: pio_writedof, pio_readdof, pio_write_nc_dof, pio_read_nc_dof
  use, intrinsic :: iso_c_binding
  implicit none
  public
end module pio
