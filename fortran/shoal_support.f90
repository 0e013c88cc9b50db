! SPDX-License-Identifier: BSD-3-Clause
!
! Text to and from C, and what becomes of an error code. A module of its own, because gfortran gives
! the private procedures of a module no symbol that its submodules could link.
module shoal_support
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_int, c_null_char, c_ptr
  use shoal_c, only: c_strlen, f_abort, f_closed, f_message
  implicit none
  private
  public :: as_int, settle, settle_any, text_of, zero_ended

contains

  ! Hand an error to the caller, or stop. path, is_open: of the dataset of the call; one that is closed says so.
  subroutine settle(code, comm, stat, errmsg, path, is_open)
    integer(c_int), intent(in) :: code
    integer(c_int), intent(in) :: comm
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=*), intent(in), optional :: path
    logical, intent(in), optional :: is_open
    integer(c_int), parameter :: no_state = 15  ! SHOAL_STATE
    integer(c_int) :: same
    if (present(stat)) stat = code
    if (code == 0) return
    if (code == no_state .and. present(path) .and. present(is_open)) then
      if (.not. is_open) same = f_closed(zero_ended(path))
    end if
    if (present(errmsg)) errmsg = text_of(f_message())
    if (.not. present(stat)) call f_abort(comm, code, zero_ended(text_of(f_message())))
  end subroutine settle

  ! The same for procedures with type(*) dummies, whose errmsg is class(*): callers compiled by gfortran 12 pass the
  ! length of text given to a type(*) dummy, which the procedure does not expect, and takes for that of the next
  ! character dummy. class(*) brings its own length.
  subroutine settle_any(code, comm, stat, errmsg, path, is_open)
    integer(c_int), intent(in) :: code
    integer(c_int), intent(in) :: comm
    integer, intent(out), optional :: stat
    class(*), intent(inout), optional :: errmsg
    character(len=*), intent(in), optional :: path
    logical, intent(in), optional :: is_open
    integer(c_int), parameter :: invalid_argument = 1  ! SHOAL_INVALID_ARGUMENT
    if (.not. present(errmsg)) then
      call settle(code, comm, stat, path=path, is_open=is_open)
      return
    end if
    select type (errmsg)
    type is (character(len=*))
      call settle(code, comm, stat, errmsg, path, is_open)
    class default
      call f_abort(comm, invalid_argument, &
          zero_ended("errmsg= must be a variable of type character and default kind"))
    end select
  end subroutine settle_any

  ! A zero byte at the end is none too many; C refuses the text if there is one inside (detail::text of C++).
  function zero_ended(text) result(c_text)
    character(len=*), intent(in) :: text
    character(kind=c_char, len=:), allocatable :: c_text
    integer :: first
    c_text = trim(text) // c_null_char
    first = index(c_text, c_null_char)
    if (verify(c_text(first:), c_null_char // " ") > 0) c_text = achar(1, c_char) // c_null_char
  end function zero_ended

  integer(c_int) function as_int(flag)
    logical, intent(in), optional :: flag
    as_int = 0
    if (present(flag)) as_int = merge(1_c_int, 0_c_int, flag)
  end function as_int

  function text_of(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    if (.not. c_associated(pointer)) then
      text = ""
      return
    end if
    call c_f_pointer(pointer, letters, [c_strlen(pointer)])
    allocate (character(len=size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function text_of
end module shoal_support
