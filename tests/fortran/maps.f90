! Decompositions that are lists of cells: indices from 1, 0 for a hole, first dimensions that are not cut; saved and loaded.
program maps
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64
  use mpi
  use shoal
  implicit none
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call lists()
  call whole_dimensions()
  call fields()
  call written_twice()
  call made_unique()
  call saved_and_loaded()
  call pio_text()
  call refused()
  call finish()

contains

  ! Every ranks-th cell of n, backwards, with a hole in front.
  function scattered(n) result(cells)
    integer, intent(in) :: n
    integer(int64), allocatable :: cells(:)
    integer :: i
    cells = [0_int64, [(int(i, int64), i=n - rank, 1, -ranks)]]
  end function scattered

  subroutine lists()
    type(shoal_decomposition) :: map
    type(shoal_map_info) :: info
    integer(int64), allocatable :: cells(:), found(:), global(:), first(:), last(:)
    cells = scattered(60)
    map = shoal_map(MPI_COMM_WORLD, [5, 12], cells)
    call map%map_info(info)
    call check(info%is_map .and. info%uncut == 0, "it is a map")
    call check(info%ncells == size(cells) .and. info%mapped == size(cells) - 1, "how many cells")
    call check(info%runs > 0 .and. info%bytes > 0, "runs and bytes")
    call map%cells(found)
    call check(all(found == cells), "the list of 64-bit integers")
    call map%inquire(global=global, first=first, last=last)
    call check(all(global == [5, 12]) .and. all(first == 1) .and. all(last == [5, 12]), "a map's shape")
    call map%free()

    map = shoal_map(MPI_COMM_WORLD, [5, 12], int(cells, int32))
    call map%cells(found)
    call check(all(found == cells), "a list of 32-bit integers")
    call map%free()
    map = shoal_map(MPI_COMM_WORLD, [5, 12], int(cells(size(cells):1:-1), int8))
    call map%cells(found)
    call check(all(found == cells(size(cells):1:-1)), "a list of bytes")
    call map%free()
    map = shoal_map(MPI_COMM_WORLD, [5, 12], cells(2::2))
    call map%cells(found)
    call check(all(found == cells(2::2)), "every second element of a list")
    call map%free()

    ! Only rank 0 has cells.
    map = shoal_map(MPI_COMM_WORLD, 60, merge_list(rank == 0, cells))
    call map%cells(found)
    call check(size(found) == merge(size(cells), 0, rank == 0), "empty lists")
    call map%free()

    map = shoal_block(MPI_COMM_WORLD, [3, ranks], [2, rank + 1], [3, rank + 1])
    call map%map_info(info)
    call map%cells(found)
    call check(.not. info%is_map .and. info%ncells == 2, "a block is no map")
    call check(all(found == [3 * rank + 2, 3 * rank + 3]), "the cells of a block")
    call map%free()
  end subroutine lists

  function merge_list(keep, cells) result(list)
    logical, intent(in) :: keep
    integer(int64), intent(in) :: cells(:)
    integer(int64), allocatable :: list(:)
    allocate (list(0))
    if (keep) list = cells
  end function merge_list

  ! Levels first in memory: a list of columns.
  subroutine whole_dimensions()
    type(shoal_decomposition) :: map
    type(shoal_map_info) :: info
    integer(int64), allocatable :: global(:)
    map = shoal_map(MPI_COMM_WORLD, [7, 20, 2], scattered(40), uncut=1)
    call map%map_info(info)
    call map%inquire(global=global)
    call check(info%uncut == 1 .and. all(global == [7, 20, 2]), "the first dimension is not cut")
    call map%free()
  end subroutine whole_dimensions

  ! Fields of any kind, with levels on either side of the columns, written by one map and read by another.
  subroutine fields()
    integer, parameter :: ncol = 61, nlev = 3
    type(shoal_decomposition) :: columns, first_levels, even
    type(shoal_dataset) :: file
    integer(int64), allocatable :: cells(:), part(:)
    real(8), allocatable :: wide(:, :), read_back(:, :)
    real(4), allocatable :: inner(:, :), inner_back(:, :)
    integer, allocatable :: flat(:), flat_back(:)
    integer :: i, k, first, last
    real(8) :: all_cells(ncol, nlev)
    cells = scattered(ncol - 1)  ! nobody has the last one
    columns = shoal_map(MPI_COMM_WORLD, [ncol], cells)
    first_levels = shoal_map(MPI_COMM_WORLD, [nlev, ncol], cells, uncut=1)
    call cut(ncol, ranks, rank, first, last)
    part = [(int(i, int64), i=last, first, -1)]
    even = shoal_map(MPI_COMM_WORLD, [ncol], part)

    ! wide: every second row of a larger array; the row of the hole must not reach the file.
    allocate (wide(2 * size(cells), nlev), inner(nlev, size(cells)), flat(size(cells)))
    wide = -99
    inner = -99
    flat = -99
    do i = 2, size(cells)
      flat(i) = int(cells(i))
      do k = 1, nlev
        wide(2 * i - 1, k) = real(cells(i), 8) + 100 * k
        inner(k, i) = real(cells(i), 4) + 0.5 * k
      end do
    end do
    call file%create("maps_fields.nc", MPI_COMM_WORLD)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_dim("lev", nlev)
    call file%def_dim("ncol", ncol)
    call file%def_var("t", SHOAL_DOUBLE, "ncol lev time", columns)
    call file%def_var("q", SHOAL_FLOAT, "lev ncol time", first_levels)
    call file%def_var("id", SHOAL_INT, "ncol", columns)
    call file%def_fill("t", -1.0d0)
    call file%def_fill("id", -7)
    do k = 2, 1, -1
      call file%write("t", wide(1::2, :), record=k)
      call file%write("q", inner, record=k)
    end do
    call file%write("id", flat)
    call file%close()

    call file%open("maps_fields.nc", MPI_COMM_WORLD)
    allocate (read_back(size(part), nlev), inner_back(nlev, size(cells)), flat_back(size(cells)))
    call file%read("t", read_back, record=2, decomposition=even)
    do k = 1, nlev
      call check(all(read_back(:, k) == merge(-1.0d0, real(part, 8) + 100 * k, part == ncol)), "levels behind, another map")
    end do
    inner_back = -99  ! where the hole is, the array stays as it was
    call file%read("q", inner_back, record=1, decomposition=first_levels)
    call check(all(inner_back == inner), "levels in front")
    flat_back = -99
    call file%read("id", flat_back, decomposition=columns)
    call check(all(flat_back == flat), "no levels")
    call file%get("t", all_cells, record=1)
    call check(all(all_cells(ncol, :) == -1), "the cell that nobody has is filled")
    call check(all_cells(7, 2) == 207, "a cell of the whole field")
    call file%close()
    call columns%free()
    call first_levels%free()
    call even%free()
    call delete("maps_fields.nc")
  end subroutine fields

  ! A cell that comes twice is read, but not written.
  subroutine written_twice()
    type(shoal_decomposition) :: once, twice
    type(shoal_dataset) :: file
    integer :: list(2), stat
    character(len=400) :: message
    character(len=40) :: both
    once = shoal_map(MPI_COMM_WORLD, [ranks], [rank + 1])
    twice = shoal_map(MPI_COMM_WORLD, [ranks], [rank + 1, 1])
    message = ""
    call file%create("maps_twice.nc", MPI_COMM_WORLD)
    call file%def_dim("n", ranks)
    call file%def_var("v", SHOAL_INT, "n", once)
    call file%write("v", [10 * (rank + 1)])
    call file%read("v", list, decomposition=twice)
    call check(all(list == [10 * (rank + 1), 10]), "a cell that comes twice is read")
    call file%write("v", list, decomposition=twice, stat=stat, errmsg=message)
    if (stat == SHOAL_OK) call file%sync(stat=stat, errmsg=message)
    call check(stat == SHOAL_OVERLAP, "a cell that comes twice is not written")
    call check(index(message, "rank 0 owns") > 0 .and. index(message, "twice") > 0 .and. &
      index(message, "index 1 (from 1") > 0 .and. &
      index(message, "holes (0)") > 0, "who has it twice: " // trim(message))
    call file%close(stat=stat)
    call twice%free()

    ! The last rank has what rank 0 has, behind a hole.
    if (ranks > 1) then
      list = [0, merge(1, rank + 1, rank == ranks - 1)]
      twice = shoal_map(MPI_COMM_WORLD, [ranks], list)
      call file%create("maps_twice.nc", MPI_COMM_WORLD)
      call file%def_dim("n", ranks)
      call file%def_var("v", SHOAL_INT, "n", twice)
      call file%write("v", list, stat=stat, errmsg=message)
      if (stat == SHOAL_OK) call file%sync(stat=stat, errmsg=message)
      write (both, '(a,i0,a)') "ranks 0 and ", ranks - 1, " both own"
      call check(stat == SHOAL_OVERLAP .and. index(message, trim(both)) > 0 .and. &
        index(message, "local cells 2 and 2") > 0, "who both have it: " // trim(message))
      call file%close(stat=stat)
      call twice%free()
    end if
    call once%free()
    call delete("maps_twice.nc")
  end subroutine written_twice

  ! All ranks have all cells, and rank 0 its first one twice.
  subroutine made_unique()
    type(shoal_decomposition) :: map, once
    type(shoal_map_info) :: info
    integer(int64), allocatable :: cells(:), found(:)
    integer :: i, stat
    cells = [(int(i, int64), i=1, 7)]
    if (rank == 0) cells = [cells, 1_int64]
    map = shoal_map(MPI_COMM_WORLD, 8, cells)
    call map%map_info(info)
    call check(info%repeated == 1 .and. all(info%repeated_ranks >= 0), "a cell comes twice")
    once = map%unique()
    call once%cells(found)
    if (rank == 0) then
      call check(all(found == [0, 2, 3, 4, 5, 6, 7, 1]), "the last place stays")
    else
      call check(size(found) == 7 .and. all(found == 0), "the lowest rank keeps the cells")
    end if
    call once%map_info(info)
    call check(info%repeated == 0, "each cell once")
    call once%free()
    call map%free()
    once = map%unique(stat=stat)
    call check(stat == SHOAL_INVALID_ARGUMENT, "unique of nothing")
  end subroutine made_unique

  subroutine saved_and_loaded()
    type(shoal_decomposition) :: map, loaded
    type(shoal_map_info) :: info
    integer(int64), allocatable :: cells(:), found(:), global(:)
    cells = scattered(60)
    map = shoal_map(MPI_COMM_WORLD, [4, 5, 12], cells, uncut=1)
    call map%save("maps_saved.nc")
    loaded = shoal_load(MPI_COMM_WORLD, "maps_saved.nc")
    call loaded%cells(found)
    call loaded%map_info(info)
    call loaded%inquire(global=global)
    call check(all(found == cells) .and. info%uncut == 1 .and. all(global == [4, 5, 12]), "saved and loaded")
    call loaded%free()
    call map%free()
    call delete("maps_saved.nc")
  end subroutine saved_and_loaded

  ! As a Fortran program's PIO writes it: the first dimension is the fastest one.
  subroutine pio_text()
    type(shoal_decomposition) :: map
    integer(int64), allocatable :: found(:), global(:)
    integer :: unit
    if (rank == 0) then
      open (newunit=unit, file="maps_pio.txt", status="replace")
      write (unit, '(a)') "version 2001 npes 1 ndims 2 ", "2 3 ", "0 4", "5 0 1 6 ", "", "Obtained 10 stack frames."
      close (unit)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    map = shoal_load(MPI_COMM_WORLD, "maps_pio.txt")
    call map%inquire(global=global)
    call map%cells(found)
    call check(all(global == [2, 3]), "PIO: the shape")
    if (ranks == 1) call check(all(found == [5, 0, 1, 6]), "PIO: the cells")
    call map%free()
    map = shoal_load(MPI_COMM_WORLD, "maps_pio.txt", name="c")
    call map%inquire(global=global)
    call check(all(global == [3, 2]), "PIO: the shape in C order")
    call map%free()
    call delete("maps_pio.txt")
  end subroutine pio_text

  ! Wrong on one rank: all get the code.
  subroutine refused()
    type(shoal_decomposition) :: map
    character(len=200) :: message
    integer :: stat
    logical :: bad
    bad = rank == ranks - 1
    map = shoal_map(MPI_COMM_WORLD, [5, 12], [merge(61, rank + 1, bad)], stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. &
      says(message, "cells(1) is 61; 1 to 60 are allowed, and 0 for a hole"), "a cell outside: " // trim(message))
    map = shoal_map(MPI_COMM_WORLD, [5, 12], merge([0, -1], [0, rank + 1], bad), stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. says(message, "cells(2) is -1; 1 to 60"), &
      "a negative cell: " // trim(message))
    map = shoal_map(MPI_COMM_WORLD, [7, 5, 12], [merge(61, rank + 1, bad)], uncut=1, stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. says(message, "cells(1) is 61; 1 to 60"), &
      "an uncut dimension: " // trim(message))
    map = shoal_map(MPI_COMM_WORLD, [merge(0, 5, bad), 12], [-huge(1_int64) - 1], stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. len_trim(message) > 0, "no shape: " // trim(message))
    map = shoal_map(MPI_COMM_WORLD, [5, 12], [1], uncut=2, stat=stat)
    call check(stat == SHOAL_INVALID_ARGUMENT, "all dimensions uncut")
    map = shoal_map(MPI_COMM_WORLD, [5, 12], [1.5], stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "cells") > 0, "real numbers: " // trim(message))
    map = shoal_map(MPI_COMM_WORLD, [5, 12], reshape([1, 2], [1, 2]), stat=stat)
    call check(stat == SHOAL_INVALID_ARGUMENT, "a list of rank 2")
    map = shoal_load(MPI_COMM_WORLD, "maps_there_is_none.nc", stat=stat)
    call check(stat == SHOAL_NOT_FOUND, "no file")
    call map%save("maps_none.nc", stat=stat)
    call check(stat == SHOAL_INVALID_ARGUMENT, "no decomposition to save")
  end subroutine refused

  ! Is it of the last rank, and does it say so?
  logical function says(message, text)
    character(len=*), intent(in) :: message, text
    character(len=20) :: who
    write (who, '(a,i0,a)') "rank ", ranks - 1, ":"
    says = index(message, trim(who)) > 0 .and. index(message, text) > 0
  end function says

  subroutine delete(path)
    character(len=*), intent(in) :: path
    integer :: unit
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank /= 0) return
    open (newunit=unit, file=path, status="old")
    close (unit, status="delete")
  end subroutine delete

  include "check.inc"
end program maps
