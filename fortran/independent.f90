! SPDX-License-Identifier: BSD-3-Clause
!
! What a rank does alone, without the others, and boxes of all ranks.
submodule(shoal) independent
  implicit none
contains

  module procedure dataset_def_independent
    integer(c_int) :: code
    code = f_def_independent(self%handle, zero_ended(variable))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_def_independent

  module procedure dataset_write_independent
    integer(c_int) :: code
    code = f_move_independent(verb_write, self%handle, zero_ended(variable), array, start, count, stride)
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_write_independent

  module procedure dataset_read_independent
    integer(c_int) :: code
    code = f_move_independent(verb_read, self%handle, zero_ended(variable), array, start, count, stride)
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_read_independent

  module procedure dataset_write_boxes
    integer(c_int) :: code
    code = f_move_boxes(verb_write_boxes, self%handle, zero_ended(variable), array, start, count, stride)
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_write_boxes

  module procedure dataset_read_boxes
    integer(c_int) :: code
    code = f_move_boxes(verb_read_boxes, self%handle, zero_ended(variable), array, start, count, stride)
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_read_boxes

end submodule independent
