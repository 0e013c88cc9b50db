! SPDX-License-Identifier: BSD-3-Clause
!
! Decompositions that are lists of cells, and files of decompositions.
submodule(shoal) maps
  implicit none
contains

  module procedure shoal_map
    integer(c_int) :: code, uncut_dims
    uncut_dims = 0
    if (present(uncut)) uncut_dims = int(uncut, c_int)
    code = f_map(comm, global, cells, uncut_dims, decomposition%comm, decomposition%handle)
    call settle_any(code, decomposition%comm, stat, errmsg)
  end procedure shoal_map

  module procedure shoal_load
    integer(c_int) :: code
    character(kind=c_char, len=:), allocatable :: which
    which = c_null_char
    if (present(name)) which = zero_ended(name)
    code = f_load(comm, zero_ended(path), which, decomposition%comm, decomposition%handle)
    call settle_any(code, decomposition%comm, stat, errmsg)
  end procedure shoal_load

  module procedure decomposition_masked
    integer(c_int) :: code
    decomposition%comm = self%comm
    code = f_masked(self%comm, self%handle, mask, decomposition%handle)
    call settle_any(code, self%comm, stat, errmsg)
  end procedure decomposition_masked

  module procedure decomposition_unique
    integer(c_int) :: code
    decomposition%comm = self%comm
    code = f_unique(self%comm, self%handle, decomposition%handle)
    call settle(code, self%comm, stat, errmsg)
  end procedure decomposition_unique

  module procedure dataset_def_gathered
    integer(c_int) :: code
    code = f_def_gathered(self%handle, zero_ended(name), zero_ended(dims), decomposition%handle)
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_def_gathered

  module procedure decomposition_save
    integer(c_int) :: code
    code = f_save(self%comm, self%handle, zero_ended(path))
    call settle(code, self%comm, stat, errmsg)
  end procedure decomposition_save

  module procedure decomposition_inquire
    integer(c_int64_t) :: numbers(15, 5)
    integer(c_int) :: code, n
    n = 0
    numbers = 0
    code = f_decomposition(self%handle, n, numbers)
    call settle(code, self%comm, stat, errmsg)
    if (present(global)) global = numbers(:n, 1)
    if (present(first)) first = numbers(:n, 2)
    if (present(last)) last = numbers(:n, 3)
    if (present(halo_low)) halo_low = numbers(:n, 4)
    if (present(halo_high)) halo_high = numbers(:n, 5)
  end procedure decomposition_inquire

  module procedure decomposition_map_info
    type(c_map_info) :: raw
    integer(c_int) :: code
    call f_clear()
    raw%struct_size = c_sizeof(raw)
    code = c_decomposition_map_info(self%handle, raw)
    if (code == SHOAL_OK) then
      info%is_map = raw%is_map /= 0
      info%uncut = raw%uncut
      info%ncells = raw%ncells
      info%mapped = raw%mapped
      info%runs = raw%runs
      info%bytes = raw%bytes
      info%repeated = raw%repeated + 1  ! SHOAL_HOLE is -1 in C
      info%repeated_ranks = raw%repeated_ranks
      info%leaves_cells = raw%leaves_cells /= 0
    end if
    call settle(code, self%comm, stat, errmsg)
  end procedure decomposition_map_info

  module procedure decomposition_cells
    type(shoal_map_info) :: info
    integer(c_int) :: code
    integer :: found
    call self%map_info(info, stat=found)
    code = int(found, c_int)
    allocate (cells(info%ncells))
    if (code == SHOAL_OK) code = c_decomposition_cells(self%handle, cells)
    cells = cells + 1  ! a hole is -1 in C, 0 here
    call settle(code, self%comm, stat, errmsg)
  end procedure decomposition_cells
end submodule maps
