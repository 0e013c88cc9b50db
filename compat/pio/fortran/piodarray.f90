! SPDX-License-Identifier: BSD-3-Clause
!
! Distributed arrays. No rank waits for another in pio_write_darray.
module piodarray
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use pio_support, only: piodie
  use shoal_pio_c, only: c_set_buffer_size_limit
  use shoal_pio_short, only: pio_read_darray, pio_write_darray
  use shoal_pio_int, only: pio_read_darray, pio_write_darray
  use shoal_pio_real, only: pio_read_darray, pio_write_darray
  use shoal_pio_double, only: pio_read_darray, pio_write_darray
  implicit none
  private
  public :: pio_read_darray, pio_write_darray, pio_set_buffer_size_limit

contains

  ! Kept, no more: what waits is in Shoal's stage (setting stage_bytes). prev_limit, SCORPIO's: the one before.
  subroutine pio_set_buffer_size_limit(limit, prev_limit)
    integer(c_int64_t), intent(in) :: limit
    integer(c_int64_t), intent(out), optional :: prev_limit
    integer(c_int64_t) :: before
    if (limit < 0) call piodie("piodarray", 0, "pio_set_buffer_size_limit: the limit is below 0:", int(limit))
    before = c_set_buffer_size_limit(limit)
    if (present(prev_limit)) prev_limit = before
  end subroutine pio_set_buffer_size_limit
end module piodarray
