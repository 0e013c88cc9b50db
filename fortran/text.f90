! SPDX-License-Identifier: BSD-3-Clause
!
! One text at a time. The text is copied to a variable whose length the descriptor of gfortran 12 carries.
submodule(shoal) text_values
  implicit none
contains

  module procedure dataset_put_text
    character(len=:), allocatable :: padded
    integer(c_int) :: code
    ! A text that is too long keeps its length: the library refuses it, on all ranks and with the name.
    allocate (character(len=max(string_length(self, variable, len(text)), len_trim(text))) :: padded)
    padded(:) = text  ! (:) keeps the length
    code = f_move(verb_put, self%handle, zero_ended(variable), padded, record, decomposition=c_null_ptr)
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_put_text

  module procedure dataset_get_text
    integer, parameter :: string_capacity = 65536  ! longest text of a STRING variable
    character(len=:), allocatable :: padded
    integer(c_int) :: code
    integer :: used
    allocate (character(len=string_length(self, variable, string_capacity)) :: padded)
    padded(:) = " "
    code = f_move(verb_get, self%handle, zero_ended(variable), padded, record, decomposition=c_null_ptr)
    used = index(padded, c_null_char) - 1
    if (used < 0) used = len(padded)
    text = trim(padded(:used))
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_get_text

  ! Characters of one text in a variable: its fastest dimension; otherwise for STRING and unknown variables.
  integer function string_length(self, variable, otherwise)
    class(shoal_dataset), intent(in) :: self
    character(len=*), intent(in) :: variable
    integer, intent(in) :: otherwise
    type(shoal_var_info) :: info
    type(shoal_dim_info) :: letters
    integer :: position, stat
    string_length = otherwise
    call self%find_var(variable, position, stat=stat)
    if (stat /= SHOAL_OK) return
    call self%inq_var(position, info, stat=stat)
    if (stat /= SHOAL_OK .or. info%type /= SHOAL_CHAR) return
    string_length = 1
    if (info%ndims == merge(1, 0, info%has_record)) return
    call self%inq_dim(info%dims(1), letters, stat=stat)
    if (stat == SHOAL_OK) string_length = int(letters%length)
  end function string_length
end submodule text_values
