! SPDX-License-Identifier: BSD-3-Clause
!
! How the values of a variable are stored: definitions in the file's own terms.
submodule(shoal) storage
  implicit none
contains

  module procedure dataset_def_chunks
    integer(c_int) :: code
    code = f_def_chunks(self%handle, zero_ended(variable), chunks)
    call settle_any(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_def_chunks

  module procedure dataset_def_cut
    integer(c_int) :: code
    code = f_def_cut(self%handle, zero_ended(variable))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_def_cut

  module procedure dataset_def_compression
    integer(c_int) :: code
    code = f_def_compression(self%handle, zero_ended(variable), zero_ended(filters))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_def_compression

  module procedure dataset_def_quantize
    integer(c_int) :: code
    code = f_def_quantize(self%handle, zero_ended(variable), zero_ended(how))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_def_quantize

  module procedure dataset_def_pack
    integer(c_int) :: code
    code = f_def_pack(self%handle, zero_ended(variable), zero_ended(how))
    call settle(code, self%comm, stat, errmsg, self%path, c_associated(self%handle))
  end procedure dataset_def_pack

end submodule storage
