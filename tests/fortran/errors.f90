! What goes wrong comes back in stat= and errmsg=, on every rank, and the file stays usable.
program errors
  use, intrinsic :: iso_fortran_env, only: real128
  use mpi
  use shoal
  implicit none
  integer :: rank, ranks, failures = 0, ierr
  character(len=400) :: message

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call files_that_are_not_there()
  call blocks()
  call arguments()
  call one_rank_fails()
  call out_of_range()
  call finish()

contains

  ! The code is the expected one on this and all other ranks.
  subroutine expect(stat, wanted, what, word)
    integer, intent(in) :: stat, wanted
    character(len=*), intent(in) :: what
    character(len=*), intent(in), optional :: word
    integer :: low, high, ierr
    call check(stat == wanted, what // ": got " // shoal_error_name(stat) // ", wanted " // shoal_error_name(wanted) // ": " // &
        trim(message))
    call check(len_trim(message) > 0, what // ": there is a message")
    if (present(word)) call check(index(message, word) > 0, what // ": '" // word // "' is not in: " // trim(message))
    call MPI_Allreduce(stat, low, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, ierr)
    call MPI_Allreduce(stat, high, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
    call check(low == high, what // ": all ranks have the same code")
    message = ""
  end subroutine expect

  subroutine files_that_are_not_there()
    type(shoal_dataset) :: file
    character(len=10) :: short
    character(len=:), allocatable :: long
    integer :: stat
    call file%open("no_such_file.nc", MPI_COMM_WORLD, stat=stat, errmsg=message)
    call expect(stat, SHOAL_NOT_FOUND, "a missing file", "no_such_file.nc")
    call check(.not. file%is_open(), "nothing is open then")
    call check(shoal_error_file() == "no_such_file.nc", "the file of an error")
    call check(shoal_error_rank() == 0 .and. shoal_error_variable() == "", "the rank of an error, and no variable")
    call file%open("no_such_file.nc", MPI_COMM_WORLD, stat=stat, errmsg=short)
    long = shoal_error_message()
    call check(len(long) > 10 .and. short == long(:10), "a short errmsg= gets the beginning")
    call file%create("no_such_folder/file.nc", MPI_COMM_WORLD, stat=stat, errmsg=message)
    call expect(stat, SHOAL_NOT_FOUND, "a missing folder", "no_such_folder")
    call file%create("x.nc", MPI_COMM_WORLD, settings="formt=cdf5", stat=stat, errmsg=message)
    call expect(stat, SHOAL_SETTING, "an unknown setting", "format")
    call file%create("x.nc", MPI_COMM_WORLD, format="cdf9", stat=stat, errmsg=message)
    call expect(stat, SHOAL_SETTING, "an unknown format", "cdf9")
    call file%close(stat=stat, errmsg=message)
    call check(stat /= SHOAL_OK, "close of a dataset that is not open")
    message = "untouched"
    call shoal_namelist(stat=stat, errmsg=message)
    call check(stat == SHOAL_OK .and. message == "untouched", "errmsg= stays as it is without an error")
  end subroutine files_that_are_not_there

  subroutine blocks()
    type(shoal_decomposition) :: cells
    integer :: stat
    integer, parameter :: first(2) = [1, 1]
    cells = shoal_block(MPI_COMM_WORLD, [10, 10], [1, 1], [11, 10], stat=stat, errmsg=message)
    call expect(stat, SHOAL_INVALID_ARGUMENT, "a tile outside of the field")
    if (ranks > 1) then
      cells = shoal_block(MPI_COMM_WORLD, [10, 10], [1, 1], [10, 10], stat=stat, errmsg=message)
      call expect(stat, SHOAL_OVERLAP, "overlapping tiles")
    end if
    cells = shoal_block(MPI_COMM_WORLD, [10, 10], [1, 1, 1], [10, 10], stat=stat, errmsg=message)
    call expect(stat, SHOAL_INVALID_ARGUMENT, "lists of different sizes", "first=")
    ! Wrong on the last rank alone: the others hear why, too.
    cells = shoal_block(MPI_COMM_WORLD, [10, 10], first(:merge(1, 2, rank == ranks - 1)), [10, 0], stat=stat, errmsg=message)
    call expect(stat, SHOAL_INVALID_ARGUMENT, "a short list on one rank", "first= 1")
    cells = shoal_block(MPI_COMM_WORLD, [10.0], [1], [10], stat=stat, errmsg=message)
    call expect(stat, SHOAL_INVALID_ARGUMENT, "real numbers of cells", "integer")
  end subroutine blocks

  subroutine arguments()
    type(shoal_dataset) :: file
    type(shoal_decomposition) :: cells
    complex :: z(2)
    real(real128) :: q
    real :: r(2), back(2, ranks)
    integer :: stat, position
    z = 0
    q = 0
    r = real(rank + 1)
    cells = shoal_block(MPI_COMM_WORLD, [2, ranks], [1, rank + 1], [2, rank + 1])
    call file%create("arguments.nc", MPI_COMM_WORLD)
    call file%def_dim("x", 2)
    call file%def_dim("y", ranks)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_dim("x", 3, stat=stat, errmsg=message)
    call expect(stat, SHOAL_EXISTS, "a dimension twice", "x")
    call file%def_var("r", SHOAL_FLOAT, "x y", cells)
    call file%def_var("s", SHOAL_FLOAT, "x time")
    call file%def_var("bad", SHOAL_FLOAT, "x z", stat=stat, errmsg=message)
    call expect(stat, SHOAL_NOT_FOUND, "an unknown dimension", "z")
    call file%def_fill("r", "text", stat=stat, errmsg=message)
    call check(stat /= SHOAL_OK, "text as fill value of a number")
    message = ""
    call file%def_fill("r", 1d300, stat=stat, errmsg=message)
    call expect(stat, SHOAL_RANGE, "a fill value that is too large", "1e+300")
    call check(shoal_error_variable() == "r" .and. shoal_error_file() == "arguments.nc", "the variable of an error")
    call check(shoal_error_rank() == -1, "no rank of a local error")
    call file%def_fill("r", -7)
    call file%find_var("rr", position, stat=stat, errmsg=message)
    call expect(stat, SHOAL_NOT_FOUND, "an unknown variable", "rr")
    call check(position == 0, "has the index 0")
    call file%end_define()
    call file%get("s", z, record=1, stat=stat, errmsg=message)
    call check(stat /= SHOAL_OK .and. index(message, "complex") > 0, "complex is refused: " // trim(message))
    message = ""
    call file%get("s", q, record=1, stat=stat, errmsg=message)
    call check(stat /= SHOAL_OK .and. len_trim(message) > 0, "quadruple precision is refused")
    message = ""
    call file%get("s", r, record=0, stat=stat, errmsg=message)
    call expect(stat, SHOAL_INVALID_ARGUMENT, "record 0")
    call file%get("s", r, record=1.5, stat=stat, errmsg=message)
    call expect(stat, SHOAL_INVALID_ARGUMENT, "record 1.5")
    call file%get("s", r, record=1, start=[1], stat=stat, errmsg=message)
    call expect(stat, SHOAL_INVALID_ARGUMENT, "start without count")
    call file%get("s", r, record=1, start=[1, 1, 1], count=[2, 1, 1], stat=stat, errmsg=message)
    call expect(stat, SHOAL_INVALID_ARGUMENT, "a section of too many dimensions", "have 3 numbers")
    call file%get("s", r, record=7, stat=stat, errmsg=message)
    call check(stat /= SHOAL_OK, "a record that is not there")
    ! None of that harmed the file.
    r = real(rank + 1)
    call file%write("r", reshape(r, [2, 1]))
    call file%close()
    call file%open("arguments.nc", MPI_COMM_WORLD)
    call file%get("r", back)
    call check(all(back(1, :) == [(real(stat), stat=1, ranks)]), "the file is usable after errors")
    call file%close()
    call cells%free()
  end subroutine arguments

  ! The last rank alone gives nonsense: all ranks hear of it, nobody waits for ever.
  subroutine one_rank_fails()
    type(shoal_dataset) :: file
    type(shoal_decomposition) :: cells
    real :: good(3), bad(5), back(3)
    complex :: z(3)
    integer :: stat
    good = real(rank)
    bad = 0
    z = 0
    cells = shoal_block(MPI_COMM_WORLD, 3 * ranks, 3 * rank + 1, 3 * rank + 3)
    call file%create("one_rank_fails.nc", MPI_COMM_WORLD)
    call file%def_dim("x", 3 * ranks)
    call file%def_var("v", SHOAL_FLOAT, "x", cells)
    call file%write("v", good)
    call file%close()
    call file%open("one_rank_fails.nc", MPI_COMM_WORLD)
    message = ""
    if (rank == ranks - 1) then
      call file%read("v", bad, decomposition=cells, stat=stat, errmsg=message)
    else
      call file%read("v", back, decomposition=cells, stat=stat, errmsg=message)
    end if
    call expect(stat, SHOAL_INVALID_ARGUMENT, "one rank reads into an array of another shape", "v")
    if (rank == ranks - 1) then
      call file%read("v", z, decomposition=cells, stat=stat, errmsg=message)
    else
      call file%read("v", back, decomposition=cells, stat=stat, errmsg=message)
    end if
    call check(stat /= SHOAL_OK, "one rank reads into a complex")
    message = ""
    call file%read("v", back, decomposition=cells)
    call check(all(back == good), "the next read works")
    call file%close()
    call cells%free()
  end subroutine one_rank_fails

  ! Values that do not fit come out at close, on all ranks; the others are in the file.
  subroutine out_of_range()
    type(shoal_dataset) :: file
    type(shoal_decomposition) :: cells
    integer :: v(2), back(2)
    integer :: stat
    cells = shoal_block(MPI_COMM_WORLD, 2 * ranks, 2 * rank + 1, 2 * rank + 2)
    v = [rank, 5]
    if (rank == ranks - 1) v(2) = 70000
    call file%create("range.nc", MPI_COMM_WORLD)
    call file%def_dim("x", 2 * ranks)
    call file%def_var("small", SHOAL_SHORT, "x", cells)
    call file%write("small", v, stat=stat)
    message = ""
    call file%close(stat=stat, errmsg=message)
    call expect(stat, SHOAL_RANGE, "a number too large for the file", "small")
    call file%open("range.nc", MPI_COMM_WORLD)
    call file%read("small", back, decomposition=cells)
    call check(back(1) == rank, "the others were written")
    call file%close()
    call cells%free()
  end subroutine out_of_range

  include "check.inc"
end program errors
