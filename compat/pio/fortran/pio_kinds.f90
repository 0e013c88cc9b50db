! SPDX-License-Identifier: BSD-3-Clause
!
! Kinds of numbers, by the names that programs over PIO use.
module pio_kinds
  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int, c_int64_t, c_short
  implicit none
  private
  integer, parameter, public :: i2 = c_short, i4 = c_int, i8 = c_int64_t, r4 = c_float, r8 = c_double
  integer, parameter, public :: int_kind = kind(1), log_kind = kind(.true.), char_len = 360
  integer, parameter, public :: PIO_OFFSET_KIND = c_int64_t  ! lengths, frames, lists of cells
end module pio_kinds
