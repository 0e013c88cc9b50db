! Attributes of every kind, scalars and lists, of the file and of variables.
program attributes
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use mpi
  use shoal
  implicit none
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call round_trip("cdf5")
  call round_trip("netcdf4")
  call string_lists("netcdf4")
  call renamed("cdf5")
  call renamed("netcdf4")
  call finish()

contains

  ! Other names in a file with data, attributes that go, and fill values in effect.
  subroutine renamed(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    character(len=:), allocatable :: path
    character(len=10) :: text
    integer :: position, stat, number
    logical :: fill
    real(real64) :: value
    path = "renamed_" // format // ".nc"
    call file%create(path, MPI_COMM_WORLD, format=format)
    call file%def_dim("a", 3)
    call file%def_var("v", SHOAL_SHORT, "a")
    call file%def_fill("v", 7)
    call file%put_att("v", "units", "m")
    call file%put_att("v", "comment", "none")
    call file%put_att(SHOAL_GLOBAL, "title", "a run")
    call file%put("v", [1, 2, 3])
    call file%close()
    call file%open(path, MPI_COMM_WORLD, mode=SHOAL_WRITE)
    call file%rename_dim("a", "cells")
    call file%rename_var("v", "values_of_cells")
    call file%rename_att("values_of_cells", "units", "unit")
    call file%delete_att("values_of_cells", "comment")
    call file%rename_att(SHOAL_GLOBAL, "title", "name")
    call file%rename_var("v", "w", stat=stat)
    call check(stat == SHOAL_NOT_FOUND, "the old name")
    call file%inq_fill("values_of_cells", fill, value)
    call check(fill .and. value == 7, "the fill value")
    call file%inq_fill("values_of_cells", fill)
    call file%inq_fill("values_of_cells", fill, number)
    call check(fill .and. number == 7, "the fill value as an integer")
    call file%inq_fill("values_of_cells", fill, text, stat=stat)
    call check(stat /= SHOAL_OK, "text is no number")
    call file%close()
    call file%open(path, MPI_COMM_WORLD)
    call file%find_dim("cells", position)
    call check(position == 1, "the dimension")
    call file%get_att("values_of_cells", "unit", text)
    call check(text == "m", "the attribute")
    call file%find_att("values_of_cells", "comment", position, stat=stat)
    call check(stat == SHOAL_NOT_FOUND, "the attribute that went")
    call file%get_att(SHOAL_GLOBAL, "name", text)
    call check(text == "a run", "the attribute of the file")
    call file%close()
  end subroutine renamed

  subroutine round_trip(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    type(shoal_att_info) :: info
    character(len=7) :: station = "Sendai"
    character(len=40) :: text
    character(len=3) :: short
    integer(int8) :: i1
    integer(int16) :: i2(3)
    integer(int32) :: i4
    integer(int64) :: i8(2)
    real(real32) :: r4
    real(real64) :: r8(4)
    logical :: yes
    integer :: stat, position
    call file%create("attributes_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_var("v", SHOAL_FLOAT, "")
    call file%put_att(SHOAL_GLOBAL, "title", "a literal")
    call file%put_att("v", "long_name", station(1:4) // "/" // trim(station))
    call file%put_att("v", "i1", -3_int8)
    call file%put_att("v", "i2", [1_int16, 2_int16, 3_int16])
    call file%put_att("v", "i4", 100000)
    call file%put_att("v", "i8", [5000000000_int64, -1_int64])
    call file%put_att("v", "r4", 0.1)
    r8 = [1d0, 2d0, 3d0, 4d0] / 3
    call file%put_att("v", "r8", r8(4:1:-1))
    call file%put_att("v", "yes", .true.)
    call file%put_att("v", "complex", (1.0, 2.0), stat=stat, errmsg=text)
    call check(stat == SHOAL_TYPE .and. len_trim(text) > 0, "complex attributes are refused")
    call file%put("v", 1.0)
    call file%close()

    call file%open("attributes_" // format // ".nc", MPI_COMM_WORLD)
    call file%get_att(SHOAL_GLOBAL, "title", text)
    call check(text == "a literal", format // ": text of the file")
    call file%get_att("v", "long_name", text)
    call check(text == "Send/Sendai", format // ": text of a variable, '" // trim(text) // "'")
    call file%find_att("v", "i2", position)
    call file%inq_att("v", position, info)
    call check(info%name == "i2" .and. info%type == SHOAL_SHORT .and. info%count == 3, format // ": inq_att")
    call file%get_att("v", "i1", i1)
    call file%get_att("v", "i2", i2)
    call file%get_att("v", "i4", i4)
    call file%get_att("v", "i8", i8)
    call file%get_att("v", "r4", r4)
    call check(i1 == -3 .and. all(i2 == [1, 2, 3]) .and. i4 == 100000, format // ": integers")
    call check(all(i8 == [5000000000_int64, -1_int64]), format // ": integer(8)")
    call check(r4 == 0.1, format // ": real(4)")
    r8 = 0
    call file%get_att("v", "r8", r8(4:1:-1))
    call check(all(r8 == [1d0, 2d0, 3d0, 4d0] / 3), format // ": real(8), reversed both ways")
    yes = .false.
    call file%get_att("v", "yes", yes)
    call check(yes, format // ": logical")
    call file%get_att("v", "i2", r8(1:3))
    call check(all(r8(1:3) == [1d0, 2d0, 3d0]), format // ": integers read as real")
    call file%get_att(SHOAL_GLOBAL, "title", short, stat=stat)
    call check(stat == SHOAL_RANGE, format // ": text that does not fit")
    call file%get_att("v", "i2", i8, stat=stat)
    call check(stat == SHOAL_INVALID_ARGUMENT, format // ": a list of another size")
    call file%get_att("v", "i3", i4, stat=stat)
    call check(stat == SHOAL_NOT_FOUND, format // ": no such attribute")
    call file%close()
  end subroutine round_trip

  subroutine string_lists(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    character(len=8) :: names(3), back(3)
    names = [character(len=8) :: "sea", "land", "ice"]
    call file%create("string_attributes.nc", MPI_COMM_WORLD, format=format)
    call file%put_att(SHOAL_GLOBAL, "names", names)
    call file%close()
    call file%open("string_attributes.nc", MPI_COMM_WORLD)
    call file%get_att(SHOAL_GLOBAL, "names", back)
    call check(all(back == names), format // ": a list of strings")
    call file%close()
  end subroutine string_lists

  include "check.inc"
end program attributes
