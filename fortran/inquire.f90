! SPDX-License-Identifier: BSD-3-Clause
!
! What is in a file. Indices and orders are turned round here; the structs come from the C interface as they are.
submodule(shoal) inquire
  implicit none
contains

  module procedure dataset_inq_file
    type(c_file_info) :: raw
    integer(c_int) :: code
    call f_clear()
    raw%struct_size = c_sizeof(raw)
    code = c_inq_file(self%handle, raw)
    if (code == SHOAL_OK) then
      info%path = text_of(raw%path)
      info%format = text_of(raw%format)
      info%driver = text_of(raw%driver)
      info%writable = raw%writable /= 0
      info%dimensions = raw%dimensions
      info%variables = raw%variables
      info%attributes = raw%attributes
    end if
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_inq_file

  module procedure dataset_inq_dim
    type(c_dim_info) :: raw
    integer(c_int) :: code
    call f_clear()
    raw%struct_size = c_sizeof(raw)
    code = c_inq_dim(self%handle, int(index - 1, c_int), raw)
    if (code == SHOAL_OK) then
      info%name = text_of(raw%name)
      info%length = raw%length
      info%unlimited = raw%unlimited /= 0
    end if
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_inq_dim

  module procedure dataset_num_records
    character(len=:), allocatable, target :: name
    integer(c_int64_t) :: found
    integer(c_int) :: code
    call f_clear()
    found = 0
    name = zero_ended(SHOAL_GLOBAL)
    if (present(variable)) name = zero_ended(variable)
    code = c_num_records(self%handle, owner_pointer(name), found)
    records = found
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_num_records

  module procedure dataset_inq_var
    type(c_var_info) :: raw
    integer(c_int), pointer :: dims(:)
    integer(c_int64_t), pointer :: chunks(:)
    integer(c_int) :: code
    call f_clear()
    raw%struct_size = c_sizeof(raw)
    code = c_inq_var(self%handle, int(index - 1, c_int), raw)
    if (code == SHOAL_OK) then
      info%name = text_of(raw%name)
      info%storage = text_of(raw%storage)
      info%filters = text_of(raw%filters)
      info%type = raw%type
      info%ndims = raw%ndims
      info%attributes = raw%attributes
      info%has_record = raw%has_record /= 0
      info%logical = raw%logical /= 0
      info%packed = raw%packed /= 0
      allocate (info%dims(0), info%chunks(0))
      if (raw%ndims > 0 .and. c_associated(raw%dims)) then
        call c_f_pointer(raw%dims, dims, [raw%ndims])
        info%dims = dims(raw%ndims:1:-1) + 1
      end if
      if (raw%ndims > 0 .and. c_associated(raw%chunks)) then
        call c_f_pointer(raw%chunks, chunks, [raw%ndims])
        info%chunks = chunks(raw%ndims:1:-1)
      end if
    end if
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_inq_var

  module procedure dataset_inq_att
    character(len=:), allocatable, target :: owner
    type(c_att_info) :: raw
    integer(c_int) :: code
    call f_clear()
    owner = zero_ended(variable)
    raw%struct_size = c_sizeof(raw)
    code = c_inq_att(self%handle, owner_pointer(owner), int(index - 1, c_int), raw)
    if (code == SHOAL_OK) then
      info%name = text_of(raw%name)
      info%type = raw%type
      info%count = raw%count
    end if
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_inq_att

  module procedure dataset_find_dim
    integer(c_int) :: code, found
    call f_clear()
    found = -1
    code = c_find_dim(self%handle, zero_ended(name), found)
    index = merge(int(found) + 1, 0, code == SHOAL_OK)
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_find_dim

  module procedure dataset_find_var
    integer(c_int) :: code, found
    call f_clear()
    found = -1
    code = c_find_var(self%handle, zero_ended(name), found)
    index = merge(int(found) + 1, 0, code == SHOAL_OK)
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_find_var

  module procedure dataset_find_att
    character(len=:), allocatable, target :: owner
    integer(c_int) :: code, found
    call f_clear()
    found = -1
    owner = zero_ended(variable)
    code = c_find_att(self%handle, owner_pointer(owner), zero_ended(name), found)
    index = merge(int(found) + 1, 0, code == SHOAL_OK)
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_find_att

  module procedure dataset_settings
    text = text_of(c_settings(self%handle))
  end procedure dataset_settings

  module procedure dataset_report
    text = text_of(c_report(self%handle))
  end procedure dataset_report

  ! The C interface wants NULL where the file itself is meant.
  function owner_pointer(owner) result(pointer)
    character(kind=c_char, len=*), target, intent(in) :: owner
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    if (len(owner) > 1) pointer = c_loc(owner)
  end function owner_pointer
end submodule inquire
