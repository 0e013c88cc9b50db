! SPDX-License-Identifier: BSD-3-Clause
!
! Files and variables in each way that programs name them, as C knows them.
module shoal_pio_nf_names
  use, intrinsic :: iso_c_binding, only: c_int
  use pio_types, only: file_desc_t, var_desc_t
  implicit none
  private
  public :: id_of, number_of, set_variable

  ! C's id of a file.
  interface id_of
    module procedure :: id_of_id, id_of_file
  end interface id_of
  ! C's number of a variable, from 0; -1: the file itself.
  interface number_of
    module procedure :: number_of_id, number_of_desc
  end interface number_of
  ! Let it be that of the file with C's number.
  interface set_variable
    module procedure :: set_variable_id, set_variable_desc
  end interface set_variable

contains

  pure integer(c_int) function id_of_id(ncid)
    integer, intent(in) :: ncid
    id_of_id = ncid
  end function id_of_id

  pure integer(c_int) function id_of_file(file)
    type(file_desc_t), intent(in) :: file
    id_of_file = file%fh
  end function id_of_file

  pure integer(c_int) function number_of_id(varid)
    integer, intent(in) :: varid
    number_of_id = varid - 1
  end function number_of_id

  pure integer(c_int) function number_of_desc(vardesc)
    type(var_desc_t), intent(in) :: vardesc
    number_of_desc = vardesc%varid - 1
  end function number_of_desc

  pure subroutine set_variable_id(varid, ncid, number)
    integer, intent(inout) :: varid
    integer(c_int), intent(in) :: ncid, number
    varid = number + 1
    if (.false.) varid = ncid
  end subroutine set_variable_id

  pure subroutine set_variable_desc(vardesc, ncid, number)
    type(var_desc_t), intent(inout) :: vardesc
    integer(c_int), intent(in) :: ncid, number
    vardesc%varid = number + 1
    vardesc%ncid = ncid
  end subroutine set_variable_desc
end module shoal_pio_nf_names
