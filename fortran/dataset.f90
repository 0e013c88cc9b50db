! SPDX-License-Identifier: BSD-3-Clause
!
! Datasets: opened and closed, defined, written and read.
submodule(shoal) dataset
  implicit none
contains

  module procedure dataset_create
    character(len=:), allocatable :: all_settings
    integer(c_int) :: code
    all_settings = ""
    if (present(format)) all_settings = "format=" // trim(format)
    if (present(settings)) then
      if (len(all_settings) > 0 .and. len_trim(settings) > 0) all_settings = all_settings // ", "
      all_settings = all_settings // trim(settings)
    end if
    code = f_create(comm, zero_ended(path), zero_ended(all_settings), self%comm, self%handle)
    if (code == SHOAL_OK) self%path = trim(path)
    call settle_any(code, self%comm, stat, errmsg)
  end procedure dataset_create

  module procedure dataset_open
    character(len=:), allocatable :: all_settings
    integer(c_int) :: code, how
    how = SHOAL_READ
    if (present(mode)) how = mode
    all_settings = ""
    if (present(settings)) all_settings = settings
    code = f_open(comm, zero_ended(path), how, zero_ended(all_settings), self%comm, self%handle)
    if (code == SHOAL_OK) self%path = trim(path)
    call settle_any(code, self%comm, stat, errmsg)
  end procedure dataset_open

  module procedure dataset_close
    integer(c_int) :: code
    logical :: was_open
    call f_clear()
    was_open = c_associated(self%handle)
    code = c_close(self%handle, as_int(durable))
    call settle(code, self%comm, stat, errmsg, self%path, was_open)
  end procedure dataset_close

  module procedure dataset_sync
    integer(c_int) :: code
    call f_clear()
    code = c_sync(self%handle, as_int(durable))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_sync

  module procedure dataset_end_define
    integer(c_int) :: code
    call f_clear()
    code = c_end_define(self%handle)
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_end_define

  module procedure dataset_def_dim
    integer(c_int) :: code
    code = f_def_dim(self%handle, zero_ended(name), length)
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_def_dim

  module procedure def_var_text
    integer(c_int) :: code
    code = f_def_var(self%handle, zero_ended(name), int(type, c_int), zero_ended(dims), handle_of(decomposition))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure def_var_text

  module procedure def_var_names
    character(kind=c_char, len=:), allocatable, target :: names(:)
    type(c_ptr) :: slowest_first(size(dims))
    integer(c_int) :: code
    integer :: i
    call f_clear()
    allocate (character(kind=c_char, len=len(dims) + 1) :: names(size(dims)))
    do i = 1, size(dims)
      names(i) = zero_ended(dims(i))
      slowest_first(size(dims) + 1 - i) = c_loc(names(i))
    end do
    code = c_def_var_names(self%handle, zero_ended(name), int(type, c_int), size(dims, kind=c_int), slowest_first, &
        handle_of(decomposition))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure def_var_names

  module procedure def_var_dims
    integer(c_int) :: code
    code = f_def_var_dims(self%handle, zero_ended(name), int(type, c_int), size(dims, kind=c_int), int(dims, c_int), &
        handle_of(decomposition))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure def_var_dims

  module procedure dataset_begin_step
    integer(c_int64_t) :: index
    integer(c_int) :: code
    call f_clear()
    index = -1
    code = c_begin_step(self%handle, index)
    if (present(record)) record = index + 1
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_begin_step

  module procedure dataset_write
    integer(c_int) :: code
    code = f_move(verb_write, self%handle, zero_ended(variable), array, record, start, count, &
        decomposition=handle_of(decomposition))
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_write

  module procedure dataset_read
    integer(c_int) :: code
    code = f_move(verb_read, self%handle, zero_ended(variable), array, record, start, count, &
        decomposition=handle_of(decomposition))
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_read

  module procedure dataset_put
    integer(c_int) :: code
    code = f_move(verb_put, self%handle, zero_ended(variable), array, record, start, count, records, c_null_ptr)
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_put

  module procedure dataset_get
    integer(c_int) :: code
    code = f_move(verb_get, self%handle, zero_ended(variable), array, record, start, count, records, c_null_ptr)
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_get

  module procedure write_variable
    integer(c_int) :: code
    code = f_move_variable(verb_write, self%handle, int(variable, c_int), array, record, start, count, &
        decomposition=handle_of(decomposition))
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure write_variable

  module procedure read_variable
    integer(c_int) :: code
    code = f_move_variable(verb_read, self%handle, int(variable, c_int), array, record, start, count, &
        decomposition=handle_of(decomposition))
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure read_variable

  module procedure put_variable
    integer(c_int) :: code
    code = f_move_variable(verb_put, self%handle, int(variable, c_int), array, record, start, count, records, c_null_ptr)
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure put_variable

  module procedure get_variable
    integer(c_int) :: code
    code = f_move_variable(verb_get, self%handle, int(variable, c_int), array, record, start, count, records, c_null_ptr)
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure get_variable

  function handle_of(decomposition) result(handle)
    type(shoal_decomposition), intent(in), optional :: decomposition
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (present(decomposition)) handle = decomposition%handle
  end function handle_of

end submodule dataset
