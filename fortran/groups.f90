! SPDX-License-Identifier: BSD-3-Clause
!
! Groups of names; groups.inc has what they are.
submodule(shoal) groups
  use, intrinsic :: iso_c_binding, only: c_size_t
  implicit none

  type, bind(C) :: c_group_info
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: name
    integer(c_int) :: attributes
  end type c_group_info

  interface
    integer(c_int) function c_def_group(dataset, name) bind(C, name="shoal_def_group")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: name(*)
    end function c_def_group
    integer(c_int) function c_rename_group(dataset, name, new_name) bind(C, name="shoal_rename_group")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: name(*), new_name(*)
    end function c_rename_group
    integer(c_int) function c_num_groups(dataset, out) bind(C, name="shoal_num_groups")
      import :: c_int, c_ptr
      type(c_ptr), value :: dataset
      integer(c_int), intent(out) :: out
    end function c_num_groups
    integer(c_int) function c_inq_group(dataset, index, out) bind(C, name="shoal_inq_group")
      import :: c_int, c_ptr, c_group_info
      type(c_ptr), value :: dataset
      integer(c_int), value :: index
      type(c_group_info), intent(inout) :: out
    end function c_inq_group
    integer(c_int) function c_find_group(dataset, name, out) bind(C, name="shoal_find_group")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(inout) :: out
    end function c_find_group
  end interface

contains

  module procedure dataset_def_group
    integer(c_int) :: code
    call f_clear()
    code = c_def_group(self%handle, zero_ended(name))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_def_group

  module procedure dataset_rename_group
    integer(c_int) :: code
    call f_clear()
    code = c_rename_group(self%handle, zero_ended(name), zero_ended(new_name))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_rename_group

  module procedure dataset_num_groups
    integer(c_int) :: code, found
    call f_clear()
    found = 0
    code = c_num_groups(self%handle, found)
    groups = int(found)
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_num_groups

  module procedure dataset_inq_group
    type(c_group_info) :: raw
    integer(c_int) :: code
    call f_clear()
    raw%struct_size = c_sizeof(raw)
    code = c_inq_group(self%handle, int(index - 1, c_int), raw)
    if (code == SHOAL_OK) then
      info%name = text_of(raw%name)
      info%attributes = raw%attributes
    end if
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_inq_group

  module procedure dataset_find_group
    integer(c_int) :: code, found
    call f_clear()
    found = -1
    code = c_find_group(self%handle, zero_ended(name), found)
    index = merge(int(found) + 1, 0, code == SHOAL_OK)
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_find_group

end submodule groups
