! What each mistake answers: in Fortran's terms, the fastest dimension first, counted from 1, and the same on every rank.
program mistakes
  use mpi
  use shoal
  implicit none
  integer, parameter :: nx = 12, ny = 4, ns = 3
  integer :: rank, ranks, failures = 0, ierr
  integer :: first(3), last(3)
  type(shoal_decomposition) :: cells
  character(len=600) :: message

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  ! Ranks share the levels' rows evenly: (nx, ny * ranks, ns).
  first = [1, ny * rank + 1, 1]
  last = [nx, ny * (rank + 1), ns]
  cells = shoal_block(MPI_COMM_WORLD, [nx, ny * ranks, ns], first, last)
  call decompositions()
  call definitions()
  call fields()
  call replicated()
  call closed()
  call opened_twice()
  call namelists()
  call cells%free()
  call finish()

contains

  ! The message has all of the words, with blanks between the bars: "word|other word".
  subroutine says(what, stat, wanted, words)
    character(len=*), intent(in) :: what, words
    integer, intent(in) :: stat, wanted
    integer :: from, to
    call check(stat == wanted, what // ": got " // shoal_error_name(stat) // ": " // trim(message))
    from = 1
    do while (from <= len(words))
      to = index(words(from:), "|")
      to = merge(len(words), from + to - 2, to == 0)
      call check(index(message, words(from:to)) > 0, what // ": '" // words(from:to) // "' is not in: " // trim(message))
      from = to + 2
    end do
    message = ""
  end subroutine says

  subroutine decompositions()
    type(shoal_decomposition) :: other
    integer :: stat
    other = shoal_block(MPI_COMM_WORLD, [nx, ny], [1, 1], [nx + 1, ny], stat=stat, errmsg=message)
    call says("a tile that reaches outside", stat, SHOAL_INVALID_ARGUMENT, "tile (1:13, 1:4)|shape 12x4|first:last|fastest first")
    other = shoal_block(MPI_COMM_WORLD, [nx, 0], [1, 1], [nx, ny], stat=stat, errmsg=message)
    call says("a dimension without cells", stat, SHOAL_INVALID_ARGUMENT, "12x0|dimension 2 (counted from 1, fastest first)")
    if (ranks > 1) then
      other = shoal_block(MPI_COMM_WORLD, [nx, ny], [1, 2], [2, 4], stat=stat, errmsg=message)
      call says("tiles that overlap", stat, SHOAL_OVERLAP, "cells (1:2, 2:4)")
    end if
    other = shoal_map(MPI_COMM_WORLD, [nx, ny], [49], stat=stat, errmsg=message)
    call says("a cell outside of a map", stat, SHOAL_INVALID_ARGUMENT, "cells(1) is 49|1 to 48")
  end subroutine decompositions

  subroutine begin(file, name, format)
    type(shoal_dataset), intent(inout) :: file
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: format
    call file%create(name, MPI_COMM_WORLD, format)
    call file%def_dim("x", nx)
    call file%def_dim("y", ny * ranks)
    call file%def_dim("s", ns)
    call file%def_dim("time", SHOAL_UNLIMITED)
  end subroutine begin

  subroutine definitions()
    type(shoal_dataset) :: file
    type(shoal_decomposition) :: turned
    integer :: stat
    call begin(file, "mistakes_define.nc")
    call file%def_var("t", SHOAL_FLOAT, "time s y x", cells, stat=stat, errmsg=message)
    call says("dimensions in the order of C", stat, SHOAL_NOT_SUPPORTED, &
      "the last of its dimensions (time s y x)|in Fortran the fastest dimension comes first: write 'x y s time'")
    call file%def_var("t", SHOAL_FLOAT, "s y x", cells, stat=stat, errmsg=message)
    call says("the same without records", stat, SHOAL_INVALID_ARGUMENT, "fastest dimension comes first: write 'x y s'")
    turned = shoal_block(MPI_COMM_WORLD, [ns, ny * ranks, nx], [first(3), first(2), first(1)], [last(3), last(2), last(1)])
    call file%def_var("t", SHOAL_FLOAT, "x y s time", turned, stat=stat, errmsg=message)
    call says("a shape in the order of C", stat, SHOAL_INVALID_ARGUMENT, &
      "(x=12, y=|its shape is from back to front|fastest dimension")
    call file%def_var("t", SHOAL_FLOAT, "x s time", cells, stat=stat, errmsg=message)
    call says("a shape that fits in no order", stat, SHOAL_INVALID_ARGUMENT, "(x=12, s=3, time=unlimited)|the first 3 dimensions")
    call file%def_dim("bad", -2, stat=stat, errmsg=message)
    call says("a negative length", stat, SHOAL_INVALID_ARGUMENT, "or SHOAL_UNLIMITED")
    call turned%free()
    call file%close()
    call begin(file, "mistakes_define.nc", "netcdf4")
    call file%def_var("t", SHOAL_FLOAT, "time s y x", cells, stat=stat, errmsg=message)
    call says("dimensions in the order of C, netcdf4", stat, SHOAL_INVALID_ARGUMENT, "write 'x y s time'")
    call file%close()
  end subroutine definitions

  subroutine fields()
    type(shoal_dataset) :: file
    real :: t(nx, ny, ns), turned(ns, ny, nx), large(nx, ny, ns), all(nx, 1)
    integer :: stat
    t = 1
    call begin(file, "mistakes_fields.nc")
    call file%def_var("t", SHOAL_FLOAT, "x y s time", cells)
    call file%def_var("i", SHOAL_SHORT, "x y s", cells)
    call file%def_var("lon", SHOAL_FLOAT, "x y")
    call file%write("t", t, record=1)
    call file%write("t", t, record=2)
    large = 1
    if (rank == ranks - 1) large(3, 2, 1) = 1e6
    call file%write("i", large)
    call file%sync(stat=stat, errmsg=message)
    call says("a value too large", stat, SHOAL_RANGE, "at index [3, ")
    call says_of_rank_and_from_one(stat)
    call file%write("t", turned, record=3, stat=stat, errmsg=message)
    if (stat == SHOAL_OK) call file%sync(stat=stat, errmsg=message)
    call says("an array in the order of C", stat, SHOAL_INVALID_ARGUMENT, "extents 3x4x12; expected 12x4x3|fastest comes first")
    call file%write("t", t, stat=stat, errmsg=message)
    if (stat == SHOAL_OK) call file%sync(stat=stat, errmsg=message)
    call says("no record", stat, SHOAL_INVALID_ARGUMENT, "give record=, 1 for the first one")
    call file%write("lon", t(:, :, 1), stat=stat, errmsg=message)
    if (stat == SHOAL_OK) call file%sync(stat=stat, errmsg=message)
    call says("write of a replicated variable", stat, SHOAL_INVALID_ARGUMENT, "use put")
    call file%close()
    call file%open("mistakes_fields.nc", MPI_COMM_WORLD)
    call file%read("t", t, record=1, stat=stat, errmsg=message)
    call says("no decomposition", stat, SHOAL_INVALID_ARGUMENT, "use get")
    call file%read("t", t, record=9, decomposition=cells, stat=stat, errmsg=message)
    call says("a record that is not there", stat, SHOAL_NOT_FOUND, "there is no record 9|, 1 to ")
    call file%read("t", t, record=1, start=[2, 1, 1], count=[nx, ny * ranks, ns], decomposition=cells, stat=stat, errmsg=message)
    call says("a section that reaches outside", stat, SHOAL_INVALID_ARGUMENT, "starts at 2 and counts 12; its last cell is 13")
    call file%get("lon", all, start=[1, ny * ranks + 1], count=[nx, 1], stat=stat, errmsg=message)
    call says("a section behind the end", stat, SHOAL_INVALID_ARGUMENT, "'y'|starts at ")
    call file%read("i", t, record=1, decomposition=cells, stat=stat, errmsg=message)
    call says("a record of a variable without", stat, SHOAL_INVALID_ARGUMENT, "record= is 1; leave record= out")
    call file%def_dim("z", 3, stat=stat, errmsg=message)
    call says("a definition in a file that is read", stat, SHOAL_STATE, "mode=SHOAL_WRITE")
    call file%close()
  end subroutine fields

  ! That of the last rank, whose cells begin at 4 (ranks - 1) + 1.
  subroutine says_of_rank_and_from_one(stat)
    integer, intent(in) :: stat
    character(len=40) :: place
    write (place, '(a,i0,a)') "[3, ", ny * (ranks - 1) + 2, ", 1] (from 1)"
    call check(stat == SHOAL_RANGE .and. index(shoal_error_message(), trim(place)) > 0, &
      "a late error counts from 1: " // trim(place) // " is not in: " // shoal_error_message())
  end subroutine says_of_rank_and_from_one

  subroutine replicated()
    type(shoal_dataset) :: file
    real :: t(nx, ny, ns)
    integer :: stat
    t = 1
    call begin(file, "mistakes_put.nc")
    call file%def_var("t", SHOAL_FLOAT, "x y s", cells)
    call file%def_var("time", SHOAL_DOUBLE, "time")
    call file%put("time", 1d0, stat=stat, errmsg=message)
    if (stat == SHOAL_OK) call file%sync(stat=stat, errmsg=message)
    call says("put without record", stat, SHOAL_INVALID_ARGUMENT, "give record=")
    call file%put("t", t(:, :, 1), stat=stat, errmsg=message)
    if (stat == SHOAL_OK) call file%sync(stat=stat, errmsg=message)
    call says("put of a variable that is cut", stat, SHOAL_INVALID_ARGUMENT, "extents 12x4|with write")
    call file%close(stat=stat, errmsg=message)
    call check(stat == SHOAL_OK, "close after it: " // trim(message))
  end subroutine replicated

  subroutine closed()
    type(shoal_dataset) :: file, never
    real :: t(nx, ny, ns)
    integer :: stat
    t = 1
    call begin(file, "mistakes_closed.nc")
    call file%close()
    call file%sync(stat=stat, errmsg=message)
    call says("sync", stat, SHOAL_STATE, "the dataset 'mistakes_closed.nc' is closed")
    call file%write("t", t, stat=stat, errmsg=message)
    call says("write", stat, SHOAL_STATE, "the dataset 'mistakes_closed.nc' is closed")
    call file%def_dim("x", 3, stat=stat, errmsg=message)
    call says("def_dim", stat, SHOAL_STATE, "'mistakes_closed.nc' is closed")
    call file%put_att("t", "units", "m", stat=stat, errmsg=message)
    call says("put_att", stat, SHOAL_STATE, "'mistakes_closed.nc' is closed")
    call file%close(stat=stat, errmsg=message)
    call says("close", stat, SHOAL_STATE, "'mistakes_closed.nc' is closed")
    call never%sync(stat=stat, errmsg=message)
    call says("a dataset that was never open", stat, SHOAL_STATE, "never opened")
  end subroutine closed

  ! What is open stays so, on ranks where the variable is not open, too.
  subroutine opened_twice()
    type(shoal_dataset) :: file, other
    integer :: stat
    call begin(file, "mistakes_twice.nc")
    call file%create("mistakes_other.nc", MPI_COMM_WORLD, stat=stat, errmsg=message)
    call says("create of an open dataset", stat, SHOAL_STATE, "type(shoal_dataset) is open already|close it first")
    call file%open("mistakes_closed.nc", MPI_COMM_WORLD, stat=stat, errmsg=message)
    call says("open of an open dataset", stat, SHOAL_STATE, "type(shoal_dataset) is open already")
    if (rank == 0) then
      call file%open("mistakes_closed.nc", MPI_COMM_WORLD, stat=stat, errmsg=message)
    else
      call other%open("mistakes_closed.nc", MPI_COMM_WORLD, stat=stat, errmsg=message)
    end if
    call says("open of one that is open on one rank", stat, SHOAL_STATE, "is open already")
    call check(.not. other%is_open(), "others are not open then")
    call file%put_att(SHOAL_GLOBAL, "title", "the first one")
    call file%close()
    call file%open("mistakes_twice.nc", MPI_COMM_WORLD)
    call file%close()
  end subroutine opened_twice

  subroutine namelists()
    type(shoal_dataset) :: file
    integer :: stat, unit
    if (rank == 0) then
      open (newunit=unit, file="mistakes.nml", status="replace", action="write")
      write (unit, '(a)') "&model", "  steps = 3", "/"
      close (unit)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call shoal_namelist("mistakes.nml")
    call file%create("mistakes_namelist.nc", MPI_COMM_WORLD, stat=stat, errmsg=message)
    call check(stat == SHOAL_OK, "a namelist without the group sets nothing: " // trim(message))
    call file%close()
    call shoal_namelist()
  end subroutine namelists

  include "check.inc"
end program mistakes
