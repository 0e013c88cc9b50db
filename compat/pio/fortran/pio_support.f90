! SPDX-License-Identifier: BSD-3-Clause
!
! Ends of programs, and lists of cells in files.
module pio_support
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_int, c_int64_t, c_null_char, &
      c_null_ptr, c_ptr
  use pio_types, only: io_desc_t, iosystem_desc_t, PIO_max_name
  use shoal_pio_c
  implicit none
  private
  public :: piodie, CheckMPIreturn, replace_c_null, pio_readdof, pio_writedof, pio_write_nc_dof, pio_read_nc_dof
  ! What PIO_setdebuglevel has set.
  logical, public, save :: Debug = .false., DebugIO = .false., DebugAsync = .false.

contains

  ! Print the message on standard error and stop all ranks.
  subroutine piodie(file, line, msg, ival1, msg2, ival2, msg3, ival3, mpirank)
    character(len=*), intent(in) :: file
    integer, intent(in) :: line
    character(len=*), intent(in), optional :: msg, msg2, msg3
    integer, intent(in), optional :: ival1, ival2, ival3, mpirank
    character(len=:), allocatable :: text
    text = trim(file) // ":" // number(line) // ":"
    if (present(msg)) text = text // " " // trim(msg)
    if (present(ival1)) text = text // " " // number(ival1)
    if (present(msg2)) text = text // " " // trim(msg2)
    if (present(ival2)) text = text // " " // number(ival2)
    if (present(msg3)) text = text // " " // trim(msg3)
    if (present(ival3)) text = text // " " // number(ival3)
    if (present(mpirank)) text = text // " (on rank " // number(mpirank) // ")"
    call f_die(to_c(text))
  contains
    function number(n)
      integer, intent(in) :: n
      character(len=:), allocatable :: number
      character(len=12) :: digits
      write (digits, "(i0)") n
      number = trim(digits)
    end function number
  end subroutine piodie

  ! Say what a code of MPI means, and stop if the place in the source is given.
  subroutine CheckMPIreturn(locmesg, errcode, file, line)
    character(len=*), intent(in) :: locmesg
    integer, intent(in) :: errcode
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    character(kind=c_char) :: letters(PIO_max_name + 1)
    character(len=PIO_max_name) :: meaning
    if (errcode == 0) return
    letters = c_null_char
    call f_mpi_message(errcode, letters)
    call from_c(letters, meaning)
    write (*, "(3a)") trim(adjustl(locmesg)), " ", trim(meaning)
    if (present(file) .and. present(line)) call piodie(file, line, locmesg, errcode, meaning)
  end subroutine CheckMPIreturn

  ! The first zero byte and all after it become blanks.
  subroutine replace_c_null(istr, ilen)
    character(len=*), intent(inout) :: istr
    integer(c_int64_t), intent(in), optional :: ilen
    integer :: last, first
    last = len(istr)
    if (present(ilen)) last = int(min(ilen, int(last, c_int64_t)))
    first = index(istr(:last), c_null_char)
    if (first > 0) istr(first:last) = " "
  end subroutine replace_c_null

  ! PIO's text form of a list: gdims as they are given, dof from 1, 0 for holes. Collective over comm.
  subroutine pio_writedof(file, gdims, dof, comm)
    character(len=*), intent(in) :: file
    integer, intent(in) :: gdims(:)
    integer(c_int64_t), intent(in) :: dof(:)
    integer, intent(in) :: comm
    integer :: ierr
    ierr = c_writemap(to_c(file), size(gdims), gdims, size(dof, kind=c_int64_t), dof, comm)
    if (ierr /= 0) call piodie("pio_writedof", 0, "cannot write '" // trim(file) // "': code", ierr)
  end subroutine pio_writedof

  ! Allocates dof and gdims. On as many ranks as the list was written by. Collective over comm.
  subroutine pio_readdof(file, ndims, gdims, dof, comm)
    character(len=*), intent(in) :: file
    integer, intent(out) :: ndims
    integer, pointer :: gdims(:)
    integer(c_int64_t), pointer :: dof(:)
    integer, intent(in) :: comm
    type(c_ptr) :: c_gdims, c_map
    integer(c_int), pointer :: shape(:)
    integer(c_int64_t), pointer :: list(:)
    integer(c_int64_t) :: length
    integer :: ierr
    c_gdims = c_null_ptr
    c_map = c_null_ptr
    length = 0
    ndims = 0
    ierr = c_readmap(to_c(file), ndims, c_gdims, length, c_map, comm)
    if (ierr /= 0) call piodie("pio_readdof", 0, "cannot read '" // trim(file) // "': code", ierr)
    ! Copies, so that the program can deallocate them.
    allocate (gdims(ndims), dof(length))
    if (c_associated(c_gdims)) then
      call c_f_pointer(c_gdims, shape, [ndims])
      gdims = shape
    end if
    if (c_associated(c_map)) then
      call c_f_pointer(c_map, list, [length])
      dof = list
    end if
    call c_free(c_gdims)
    call c_free(c_map)
  end subroutine pio_readdof

  ! PIO's NetCDF form of a decomposition. Collective.
  subroutine pio_write_nc_dof(ios, filename, cmode, iodesc, ret, title, history, fortran_order)
    type(iosystem_desc_t), intent(in) :: ios
    character(len=*), intent(in) :: filename
    integer, intent(in) :: cmode
    type(io_desc_t), intent(in) :: iodesc
    integer, intent(out) :: ret
    character(len=*), intent(in), optional :: title, history
    logical, intent(in), optional :: fortran_order
    character(len=:), allocatable :: given_title, given_history
    integer :: order
    given_title = ""
    given_history = ""
    order = 0
    if (present(title)) given_title = title
    if (present(history)) given_history = history
    if (present(fortran_order)) order = merge(1, 0, fortran_order)
    ret = c_write_nc_decomp(ios%iosysid, to_c(filename), cmode, iodesc%ioid, to_c(given_title), &
        to_c(given_history), order)
  end subroutine pio_write_nc_dof

  subroutine pio_read_nc_dof(ios, filename, iodesc, ret, title, history, fortran_order)
    type(iosystem_desc_t), intent(in) :: ios
    character(len=*), intent(in) :: filename
    type(io_desc_t), intent(inout) :: iodesc
    integer, intent(out) :: ret
    character(len=*), intent(inout), optional :: title, history
    logical, intent(inout), optional :: fortran_order
    character(kind=c_char) :: letters(PIO_max_name + 1, 2)
    integer :: order
    letters = c_null_char
    order = 0
    ret = f_read_nc_decomp(ios%iosysid, to_c(filename), iodesc%ioid, letters(:, 1), letters(:, 2), order)
    if (ret /= 0) return
    if (present(title)) call from_c(letters(:, 1), title)
    if (present(history)) call from_c(letters(:, 2), history)
    if (present(fortran_order)) fortran_order = order /= 0
  end subroutine pio_read_nc_dof
end module pio_support
