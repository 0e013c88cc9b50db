! Text of any length and rank, strings, and logicals of every kind.
program text_logical
  use, intrinsic :: iso_fortran_env, only: int8, int64
  use mpi
  use shoal
  implicit none
  integer, parameter :: n = 5
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call texts("cdf1")
  call texts("netcdf4")
  call strings("netcdf4")
  call logicals("cdf5")
  call logicals("netcdf4")
  call finish()

contains

  subroutine texts(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    character(len=12) :: station(3), copy(3), title, back
    character(len=12) :: grid(2, 3), grid_back(2, 3)
    character(len=:), allocatable :: text
    character(len=1) :: flag
    station = [character(len=12) :: "Miyako", "Honolulu", "Valparaiso"]
    grid = reshape([station, station(3:1:-1)], [2, 3])
    title = "from Japan"
    call file%create("text_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("letters", 12)
    call file%def_dim("station", 3)
    call file%def_dim("two", 2)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("title", SHOAL_CHAR, "letters")
    call file%def_var("name", SHOAL_CHAR, "letters station")
    call file%def_var("grid", SHOAL_CHAR, "letters two station")
    call file%def_var("flag", SHOAL_CHAR, "")
    call file%def_var("note", SHOAL_CHAR, "letters time")
    call file%put("title", title)
    call file%put("name", station)
    call file%put("grid", grid)
    call file%put_text("flag", "x")
    call file%put_text("note", "begin", record=1)
    call file%put_text("note", trim(title) // " 2", record=2)
    call file%close()
    call file%open("text_" // format // ".nc", MPI_COMM_WORLD)
    call file%get("title", back)
    call check(back == title, format // ": a scalar text")
    call file%get("name", copy(3:1:-1))
    call check(all(copy == station(3:1:-1)), format // ": a list of texts, read in reverse")
    call file%get("grid", grid_back)
    call check(all(grid_back == grid), format // ": texts of rank 2")
    call file%get("flag", flag)
    call check(flag == "x", format // ": one character")
    call file%get_text("title", text)
    call check(text == "from Japan" .and. len(text) == 10, format // ": get_text cuts the blanks")
    call file%get_text("note", text, record=1_int64)
    call check(text == "begin", format // ": text of a record")
    call file%get_text("note", text, record=2)
    call check(text == "from Japan 2", format // ": text of the next record")
    call file%get("name", copy(1:2), start=[1, 2], count=[12, 2])
    call check(all(copy(1:2) == station(2:3)), format // ": a section of texts")
    call file%close()
  end subroutine texts

  subroutine strings(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    character(len=20) :: city(4), back(4)
    character(len=2) :: short(4)
    character(len=:), allocatable :: text
    integer :: stat
    character(len=0) :: nothing(4)
    city = [character(len=20) :: "Sendai", "", "Hilo", "Iquique"]
    call file%create("strings_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("city", 4)
    call file%def_var("city", SHOAL_STRING, "city")
    call file%def_var("one", SHOAL_STRING, "")
    call file%put("city", city)
    call file%put_text("one", "a string of its own length")
    call file%close()
    call file%open("strings_" // format // ".nc", MPI_COMM_WORLD)
    call file%get("city", back)
    call check(all(back == city), format // ": strings")
    call file%get("city", short, stat=stat)
    call check(stat == SHOAL_RANGE, format // ": strings that do not fit are an error")
    call check(index(shoal_error_message(), "city") > 0, format // ": which names the variable")
    call file%get_text("one", text)
    call check(text == "a string of its own length", format // ": one string")
    call file%get("city", nothing, stat=stat)
    call check(stat == SHOAL_RANGE, format // ": strings do not fit into texts of length 0")
    call file%close()
    call file%open("strings_" // format // ".nc", MPI_COMM_WORLD, SHOAL_WRITE)
    call file%put("city", nothing)
    call file%get("city", back)
    call check(all(back == ""), format // ": texts of length 0 are empty strings")
    call file%get("city", nothing)
    call file%close()
  end subroutine strings

  subroutine logicals(format)
    character(len=*), intent(in) :: format
    type(shoal_decomposition) :: cells
    type(shoal_dataset) :: file
    integer :: first, last, i
    logical(1), allocatable :: l1(:)
    logical(2), allocatable :: l2(:)
    logical(4), allocatable :: l4(:), m4(:)
    logical(8), allocatable :: l8(:)
    integer(int8), allocatable :: number(:)
    logical :: scalar
    call cut(n * ranks, ranks, rank, first, last)
    cells = shoal_block(MPI_COMM_WORLD, n * ranks, first, last)
    l4 = [(mod(i, 3) == 0, i=first, last)]
    l1 = logical(l4, 1)
    l2 = logical(l4, 2)
    l8 = logical(l4, 8)
    allocate (m4(size(l4)), number(size(l4)))
    call file%create("logical_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("x", n * ranks)
    call file%def_var("l1", SHOAL_LOGICAL, "x", cells)
    call file%def_var("l2", SHOAL_LOGICAL, "x", cells)
    call file%def_var("l4", SHOAL_LOGICAL, "x", cells)
    call file%def_var("l8", SHOAL_LOGICAL, "x", cells)
    call file%def_var("spherical", SHOAL_LOGICAL, "")
    call file%write("l1", l1)
    call file%write("l2", l2)
    call file%write("l4", l4)
    call file%write("l8", l8)
    call file%put("spherical", .true.)
    call file%close()
    call file%open("logical_" // format // ".nc", MPI_COMM_WORLD)
    call file%read("l1", m4, decomposition=cells)
    call check(all(m4 .eqv. l4), format // ": logical(1) read as logical(4)")
    call file%read("l2", m4, decomposition=cells)
    call check(all(m4 .eqv. l4), format // ": logical(2)")
    l8 = .not. l8
    call file%read("l4", l8, decomposition=cells)
    call check(all(logical(l8) .eqv. l4), format // ": logical(4) read as logical(8)")
    call file%read("l8", m4, decomposition=cells)
    call check(all(m4 .eqv. l4), format // ": logical(8)")
    call file%read("l8", number, decomposition=cells)
    call check(all(number == merge(1, 0, l4)), format // ": numbers 0 and 1 in the file")
    scalar = .false.
    call file%get("spherical", scalar)
    call check(scalar, format // ": a scalar")
    call file%close()
    call cells%free()
  end subroutine logicals

  include "check.inc"
end program text_logical
