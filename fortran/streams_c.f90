! SPDX-License-Identifier: BSD-3-Clause
!
! The C side of streams as Fortran sees it: calls.h, and those functions of streams.h that need no translation.
module shoal_streams_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_ptr
  implicit none
  private
  public :: f_streams_open, f_streams_axis, f_streams_grid, f_streams_grid_values, f_streams_field, f_streams_send
  public :: c_streams_wants, c_streams_advance, c_streams_advance_to, c_streams_checkpoint, c_streams_resume
  public :: c_streams_report, c_streams_close, c_streams_abandon

  interface
    integer(c_int) function f_streams_open(comm, configuration, calendar, start, now, comm_out, out) &
        bind(C, name="shoal_f_streams_open")
      import :: c_char, c_int, c_ptr
      type(*), dimension(..), intent(in) :: comm
      character(kind=c_char), intent(in) :: configuration(*), calendar(*), start(*), now(*)
      integer(c_int), intent(inout) :: comm_out
      type(c_ptr), intent(inout) :: out
    end function f_streams_open
    integer(c_int) function f_streams_axis(streams, name, values, bounds, length) bind(C, name="shoal_f_streams_axis")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: streams
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(in), optional :: values, bounds, length
    end function f_streams_axis
    integer(c_int) function f_streams_grid(streams, name, dims, decomposition) bind(C, name="shoal_f_streams_grid")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: streams, decomposition
      character(kind=c_char), intent(in) :: name(*), dims(*)
    end function f_streams_grid
    integer(c_int) function f_streams_grid_values(streams, is_area, grid, name, values) &
        bind(C, name="shoal_f_streams_grid_values")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: streams
      integer(c_int), value :: is_area
      character(kind=c_char), intent(in) :: grid(*), name(*)
      type(*), dimension(..), intent(in) :: values
    end function f_streams_grid_values
    integer(c_int) function f_streams_field(streams, name, type, dims, grid, group, holds, out) &
        bind(C, name="shoal_f_streams_field")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: streams
      character(kind=c_char), intent(in) :: name(*), dims(*), grid(*), group(*)
      integer(c_int), value :: type, holds
      integer(c_int), intent(out) :: out
    end function f_streams_field
    integer(c_int) function f_streams_send(streams, field, array) bind(C, name="shoal_f_streams_send")
      import :: c_int, c_ptr
      type(c_ptr), value :: streams
      integer(c_int), value :: field
      type(*), dimension(..), intent(in) :: array
    end function f_streams_send
    integer(c_int) function c_streams_wants(streams, field, wanted) bind(C, name="shoal_streams_wants")
      import :: c_int, c_ptr
      type(c_ptr), value :: streams
      integer(c_int), value :: field  ! from 0
      integer(c_int), intent(inout) :: wanted
    end function c_streams_wants
    integer(c_int) function c_streams_advance(streams, seconds) bind(C, name="shoal_streams_advance")
      import :: c_double, c_int, c_ptr
      type(c_ptr), value :: streams
      real(c_double), value :: seconds
    end function c_streams_advance
    integer(c_int) function c_streams_advance_to(streams, date) bind(C, name="shoal_streams_advance_to")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: streams
      character(kind=c_char), intent(in) :: date(*)
    end function c_streams_advance_to
    integer(c_int) function c_streams_checkpoint(streams, path) bind(C, name="shoal_streams_checkpoint")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: streams
      character(kind=c_char), intent(in) :: path(*)
    end function c_streams_checkpoint
    integer(c_int) function c_streams_resume(streams, path) bind(C, name="shoal_streams_resume")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: streams
      character(kind=c_char), intent(in) :: path(*)
    end function c_streams_resume
    type(c_ptr) function c_streams_report(streams) bind(C, name="shoal_streams_report")
      import :: c_ptr
      type(c_ptr), value :: streams
    end function c_streams_report
    integer(c_int) function c_streams_close(streams) bind(C, name="shoal_streams_close")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: streams
    end function c_streams_close
    subroutine c_streams_abandon(streams) bind(C, name="shoal_streams_abandon")
      import :: c_ptr
      type(c_ptr), intent(inout) :: streams
    end subroutine c_streams_abandon
  end interface
end module shoal_streams_c
