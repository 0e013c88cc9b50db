! Data calls of variables that are given by their number: fields, replicated values, texts, and a wrong number.
program variable_numbers
  use mpi
  use shoal
  implicit none
  integer, parameter :: nx = 13
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call write_and_read()
  call wrong_number()
  call finish()

contains

  subroutine write_and_read()
    type(shoal_decomposition) :: cells
    type(shoal_dataset) :: file
    character(len=6) :: names(2), got(2)
    character(len=1) :: flags(3), flags_got(3)
    real, allocatable :: a(:), b(:)
    type(shoal_var_info) :: info
    integer :: first, last, i, step, temp, levels, label, flag, stat
    call cut(nx, ranks, rank, first, last)
    cells = shoal_block(MPI_COMM_WORLD, [nx], [first], [last])
    names = ["north ", "south "]
    flags = ["a", "b", "c"]
    call file%create("variable_numbers.nc", MPI_COMM_WORLD, format="netcdf4")
    call file%def_dim("x", nx)
    call file%def_dim("two", 2)
    call file%def_dim("three", 3)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("levels", SHOAL_INT, "two")
    call file%def_var("label", SHOAL_STRING, "two")
    call file%def_var("flag", SHOAL_CHAR, "three")
    call file%def_var("temp", SHOAL_FLOAT, ["x   ", "time"])
    call file%def_var("speed", SHOAL_FLOAT, [1, 4], decomposition=cells)
    call file%def_var("scalar", SHOAL_FLOAT, [character(len=4) ::])
    call file%def_var("wrong", SHOAL_FLOAT, [5], stat=stat)
    call check(stat == SHOAL_INVALID_ARGUMENT, "no dimension 5: " // shoal_error_message())
    call file%def_var("wrong", SHOAL_FLOAT, ["time", "none"], stat=stat)
    call check(stat == SHOAL_NOT_FOUND, "no dimension of the name: " // shoal_error_message())
    call file%find_var("levels", levels)
    call file%find_var("label", label)
    call file%find_var("flag", flag)
    call file%find_var("temp", temp)
    call check(levels == 1 .and. temp == 4, "numbers from 1, in the order of definition")
    call file%put_variable(levels, [10, 20])
    call file%put_variable(label, names)
    call file%put_variable(flag, flags)
    do step = 1, 2
      a = [(real(i + 100 * step), i = first, last)]
      call file%write_variable(temp, a, record=step, decomposition=cells)
    end do
    call file%close()

    call file%open("variable_numbers.nc", MPI_COMM_WORLD)
    call file%find_var("label", label)
    call file%find_var("flag", flag)
    call file%find_var("temp", temp)
    call file%inq_var(temp, info)
    call check(all(info%dims == [1, 4]), "dimensions by name")
    call file%inq_var(temp + 1, info)
    call check(info%name == "speed" .and. all(info%dims == [1, 4]), "dimensions by number")
    call file%get_variable(label, got)
    call check(all(got == names), "texts")
    call file%get_variable(flag, flags_got)
    call check(all(flags_got == flags), "characters")
    allocate (b(last - first + 1))
    do step = 1, 2
      call file%read_variable(temp, b, record=step, decomposition=cells)
      call check(all(b == [(real(i + 100 * step), i = first, last)]), "values")
    end do
    call file%close()
    call cells%free()
  end subroutine write_and_read

  subroutine wrong_number()
    type(shoal_dataset) :: file
    character(len=300) :: message
    integer :: i, stat, wrong(3), value(1)
    wrong = [0, 2, -7]
    call file%create("variable_numbers.nc", MPI_COMM_WORLD)
    call file%def_dim("one", 1)
    call file%def_var("v", SHOAL_INT, "one")
    call file%put_variable(1, [3])
    do i = 1, 3
      call file%get_variable(wrong(i), value, stat=stat, errmsg=message)
      call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "there is no variable") > 0, "a wrong number: " // &
                 trim(message))
    end do
    call file%get_variable(1, value)
    call check(value(1) == 3, "the dataset can be used on")
    call file%close()
  end subroutine wrong_number

  include "check.inc"

end program variable_numbers
