! Records in any order, appended to an existing file, and sections of a record; read back on another cut.
program records
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi
  use shoal
  implicit none
  integer, parameter :: nx = 10, ny = 6, nz = 4
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call write_and_append("cdf2")
  call write_and_append("netcdf4")
  call append_steps("cdf5")
  call append_steps("netcdf4")
  call several_at_once("cdf5")
  call several_at_once("netcdf4")
  call finish()

contains

  elemental real function expected(i, j, k, step)
    integer, intent(in) :: i, j, k, step
    expected = real(i + 20 * j + 400 * k + 8000 * step)
  end function expected

  subroutine fill(a, first, step)
    integer, intent(in) :: first(2), step
    real, intent(out) :: a(:, :, :)
    integer :: i, j, k
    do k = 1, size(a, 3)
      do j = 1, size(a, 2)
        do i = 1, size(a, 1)
          a(i, j, k) = expected(i + first(1) - 1, j + first(2) - 1, k, step)
        end do
      end do
    end do
  end subroutine fill

  ! Several records in one call, text too.
  subroutine several_at_once(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    character(len=4) :: names(2)
    real :: a(nx, 2), inside(3, 1)
    real(kind(1d0)) :: steps(3)
    integer :: i, stat
    call file%create("several_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("x", nx)
    call file%def_dim("n", 4)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("time", SHOAL_DOUBLE, "time")
    call file%def_var("t", SHOAL_FLOAT, "x time")
    call file%def_var("name", SHOAL_CHAR, "n time")
    a = reshape([(real(i), i=1, 2 * nx)], [nx, 2])
    call file%put("t", a, record=2, records=2)
    call file%put("time", [1d0, 2d0, 3d0], record=1, records=3)
    call file%put("name", ["one ", "four"], record=1, records=2)
    call file%put("t", a, record=1, records=0, stat=stat)
    call check(stat == SHOAL_INVALID_ARGUMENT .or. ranks > 1, "no records")
    if (ranks > 1) call file%sync(stat=stat)
    call check(stat == SHOAL_INVALID_ARGUMENT, "no records, at sync")
    a = 0
    call file%get("t", a, record=2, records=2)
    call check(all(a == reshape([(real(i), i=1, 2 * nx)], [nx, 2])), "two records")
    call file%get("t", inside, record=3, start=[4], count=[3], records=1)
    call check(all(inside(:, 1) == [(real(nx + i), i=4, 6)]), "one of several, and a section")
    call file%get("time", steps, record=1, records=3)
    call check(all(steps == [1d0, 2d0, 3d0]), "numbers")
    call file%get("name", names, record=1, records=2)
    call check(names(1) == "one" .and. names(2) == "four", "text")
    call file%get("t", a, record=3, records=2, stat=stat)
    call check(stat == SHOAL_NOT_FOUND, "a record that is not there")
    call file%close()
  end subroutine several_at_once

  subroutine write_and_append(format)
    character(len=*), intent(in) :: format
    type(shoal_decomposition) :: cells
    type(shoal_dataset) :: file
    type(shoal_dim_info) :: info
    character(len=:), allocatable :: path
    real, allocatable :: a(:, :, :)
    integer :: first(2), last(2), position
    integer(int64) :: levels(3)
    path = "records_" // format // ".nc"
    call tiles(nx, ny, first, last)
    cells = shoal_block(MPI_COMM_WORLD, [nx, ny], first, last)
    allocate (a(last(1) - first(1) + 1, last(2) - first(2) + 1, nz))
    call file%create(path, MPI_COMM_WORLD, format=format)
    call file%def_dim("x", nx)
    call file%def_dim("y", ny)
    call file%def_dim("z", nz)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("time", SHOAL_DOUBLE, "time")
    call file%def_var("t", SHOAL_FLOAT, "x y z time", cells)
    call fill(a, first, 3)
    call file%write("t", a, record=3)
    call fill(a, first, 1)
    call file%write("t", a, record=1_int64)
    ! Record 2 level by level, in reverse.
    call fill(a, first, 2)
    call file%write("t", a(:, :, 3:4), record=2, start=[1, 1, 3], count=[nx, ny, 2])
    levels = [1, 1, 1]
    call file%write("t", a(:, :, 1:2), record=2, start=levels, count=[nx, ny, 2])
    call file%put("time", [0d0, 10d0, 20d0], record=SHOAL_ALL_RECORDS)
    call file%close()

    call file%open(path, MPI_COMM_WORLD, mode=SHOAL_WRITE)
    call fill(a, first, 4)
    call file%write("t", a, record=4, decomposition=cells)
    call file%put("time", 30d0, record=4)
    call file%close()

    call file%open(path, MPI_COMM_WORLD)
    call file%find_dim("time", position)
    call file%inq_dim(position, info)
    call check(info%unlimited .and. info%length == 4, format // ": four records")
    call another_cut(file, format)
    call file%close()
    call cells%free()
  end subroutine write_and_append

  ! Rows instead of tiles, in the reverse order of ranks.
  subroutine another_cut(file, format)
    type(shoal_dataset), intent(in) :: file
    character(len=*), intent(in) :: format
    type(shoal_decomposition) :: rows
    real, allocatable :: a(:, :, :), wanted(:, :, :)
    double precision :: time(4), one
    integer :: first, last, step
    call cut(ny, ranks, ranks - 1 - rank, first, last)
    rows = shoal_block(MPI_COMM_WORLD, [nx, ny], [1, first], [nx, last])
    allocate (a(nx, last - first + 1, nz), wanted(nx, last - first + 1, nz))
    do step = 4, 1, -1
      call file%read("t", a, record=step, decomposition=rows)
      call fill(wanted, [1, first], step)
      call check(all(a == wanted), format // ": a record on another cut")
    end do
    a = -1
    call file%read("t", a(:, :, 1:1), record=3, start=[1, 1, 3], count=[nx, ny, 1])
    call fill(wanted, [1, first], 3)
    call check(all(a(:, :, 1) == wanted(:, :, 3)) .and. all(a(:, :, 2:) == -1.0), format // ": one level")
    call file%get("time", time, record=SHOAL_ALL_RECORDS)
    call check(all(time == [0d0, 10d0, 20d0, 30d0]), format // ": the time of all records")
    call file%get("time", one, record=3)
    call check(one == 20d0, format // ": the time of one record")
    call rows%free()
  end subroutine another_cut

  ! One line a variable and step, in a new file and in one that exists.
  subroutine append_steps(format)
    character(len=*), intent(in) :: format
    type(shoal_decomposition) :: cells
    type(shoal_dataset) :: file
    character(len=:), allocatable :: path
    character(len=200) :: message
    real, allocatable :: a(:, :, :)
    integer :: first(2), last(2), step, run, n, stat
    integer(int64) :: record
    real(8) :: times(4)
    path = "steps_" // format // ".nc"
    call tiles(nx, ny, first, last)
    cells = shoal_block(MPI_COMM_WORLD, [nx, ny], first, last)
    allocate (a(last(1) - first(1) + 1, last(2) - first(2) + 1, nz))
    call file%create(path, MPI_COMM_WORLD, format=format)
    call file%def_dim("x", nx)
    call file%def_dim("y", ny)
    call file%def_dim("z", nz)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("time", SHOAL_DOUBLE, "time")
    call file%def_var("t", SHOAL_FLOAT, "x y z time", cells)
    call file%def_var("depth", SHOAL_FLOAT, "z")
    do run = 1, 2
      do step = 2 * run - 1, 2 * run
        call fill(a, first, step)
        call file%begin_step(record)
        call check(record == step, format // ": a step begins")
        call file%put("time", real(step, 8), record=SHOAL_NEXT)
        call file%write("t", a, record=SHOAL_NEXT, decomposition=cells)
        call check(file%num_records() == step, format // ": a record more")
      end do
      call file%close()
      call file%open(path, MPI_COMM_WORLD, mode=merge(SHOAL_APPEND, SHOAL_READ, run == 1))
    end do
    n = int(file%num_records())
    call check(n == 4, format // ": all steps")
    call file%begin_step(stat=stat)
    call check(stat == SHOAL_STATE, format // ": no step of a file that is read")
    call check(file%num_records("t") == 4 .and. file%num_records("depth") == 0, format // ": of variables")
    n = int(file%num_records("nil", stat=stat, errmsg=message))
    call check(stat == SHOAL_NOT_FOUND .and. n == 0, format // ": no such variable")
    call file%get("time", times, record=SHOAL_ALL_RECORDS)
    call check(all(times == [1d0, 2d0, 3d0, 4d0]), format // ": the times of the steps")
    call file%read("t", a, record=file%num_records(), decomposition=cells)
    call check(a(1, 1, 1) == expected(first(1), first(2), 1, 4), format // ": the last record")
    call file%get("time", times(1), record=SHOAL_NEXT, stat=stat)
    call check(stat == SHOAL_INVALID_ARGUMENT, format // ": no next one to read")
    call file%close()
    call cells%free()
  end subroutine append_steps

  include "check.inc"
end program records
