! SPDX-License-Identifier: BSD-3-Clause
!
! Attributes and fill values; those that are put: attribute_values.f90, which says why values are polymorphic.
submodule(shoal) attributes
  use shoal_attribute_values, only: put_list, put_scalar, to_dataset
  implicit none
contains

  module procedure dataset_def_fill
    character(len=:), allocatable :: v
    integer(c_int) :: code
    v = zero_ended(variable)
    code = SHOAL_TYPE
    if (.not. present(value)) then
      code = f_def_fill(self%handle, v)
    else
      select type (value)
      type is (character(*)); code = f_def_fill(self%handle, v, value)
      type is (integer(int8)); code = f_def_fill(self%handle, v, value)
      type is (integer(int16)); code = f_def_fill(self%handle, v, value)
      type is (integer(int32)); code = f_def_fill(self%handle, v, value)
      type is (integer(int64)); code = f_def_fill(self%handle, v, value)
      type is (real(real32)); code = f_def_fill(self%handle, v, value)
      type is (real(real64)); code = f_def_fill(self%handle, v, value)
      class default; code = f_def_fill(self%handle, v, (0.0, 0.0))  ! refused there, with the message
      end select
    end if
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_def_fill

  module procedure dataset_inq_fill
    character(len=:), allocatable :: v
    complex :: refused
    integer(c_int) :: code, fills
    v = zero_ended(variable)
    fills = 0
    code = SHOAL_TYPE
    if (.not. present(value)) then
      code = f_inq_fill(self%handle, v, fills)
    else
      select type (value)
      type is (character(*)); code = f_inq_fill(self%handle, v, fills, value)
      type is (integer(int8)); code = f_inq_fill(self%handle, v, fills, value)
      type is (integer(int16)); code = f_inq_fill(self%handle, v, fills, value)
      type is (integer(int32)); code = f_inq_fill(self%handle, v, fills, value)
      type is (integer(int64)); code = f_inq_fill(self%handle, v, fills, value)
      type is (real(real32)); code = f_inq_fill(self%handle, v, fills, value)
      type is (real(real64)); code = f_inq_fill(self%handle, v, fills, value)
      class default; code = f_inq_fill(self%handle, v, fills, refused)
      end select
    end if
    fill = fills /= 0
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_inq_fill

  module procedure dataset_rename_dim
    integer(c_int) :: code
    call f_clear()
    code = c_rename_dim(self%handle, zero_ended(name), zero_ended(new_name))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_rename_dim

  module procedure dataset_rename_var
    integer(c_int) :: code
    call f_clear()
    code = c_rename_var(self%handle, zero_ended(name), zero_ended(new_name))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_rename_var

  module procedure dataset_rename_att
    integer(c_int) :: code
    code = f_rename_att(self%handle, zero_ended(variable), zero_ended(name), zero_ended(new_name))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_rename_att

  module procedure dataset_delete_att
    integer(c_int) :: code
    code = f_delete_att(self%handle, zero_ended(variable), zero_ended(name))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_delete_att

  module procedure put_att_scalar
    integer(c_int) :: code
    code = put_scalar(to_dataset, self%handle, zero_ended(variable), zero_ended(name), value)
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure put_att_scalar

  module procedure put_att_list
    integer(c_int) :: code
    code = put_list(to_dataset, self%handle, zero_ended(variable), zero_ended(name), value)
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure put_att_list

  module procedure get_att_scalar
    character(len=:), allocatable :: v, n
    complex :: refused
    integer(c_int) :: code
    v = zero_ended(variable)
    n = zero_ended(name)
    code = SHOAL_TYPE
    select type (value)
    type is (character(*)); code = f_get_att(self%handle, v, n, value)
    type is (integer(int8)); code = f_get_att(self%handle, v, n, value)
    type is (integer(int16)); code = f_get_att(self%handle, v, n, value)
    type is (integer(int32)); code = f_get_att(self%handle, v, n, value)
    type is (integer(int64)); code = f_get_att(self%handle, v, n, value)
    type is (real(real32)); code = f_get_att(self%handle, v, n, value)
    type is (real(real64)); code = f_get_att(self%handle, v, n, value)
    type is (logical); code = f_get_att(self%handle, v, n, value)
    class default; code = f_get_att(self%handle, v, n, refused)
    end select
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure get_att_scalar

  module procedure get_att_list
    character(len=:), allocatable :: v, n
    complex :: refused
    integer(c_int) :: code
    v = zero_ended(variable)
    n = zero_ended(name)
    code = SHOAL_TYPE
    select type (value)
    type is (character(*))
      block  ! as in put_list
        character(len=len(value)) :: texts(size(value))
        texts = value
        code = f_get_att(self%handle, v, n, texts)
        value = texts
      end block
    type is (integer(int8)); code = f_get_att(self%handle, v, n, value)
    type is (integer(int16)); code = f_get_att(self%handle, v, n, value)
    type is (integer(int32)); code = f_get_att(self%handle, v, n, value)
    type is (integer(int64)); code = f_get_att(self%handle, v, n, value)
    type is (real(real32)); code = f_get_att(self%handle, v, n, value)
    type is (real(real64)); code = f_get_att(self%handle, v, n, value)
    type is (logical); code = f_get_att(self%handle, v, n, value)
    class default; code = f_get_att(self%handle, v, n, refused)
    end select
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure get_att_list
end submodule attributes
