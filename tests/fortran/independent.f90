! Data calls of a rank alone: columns, strides, records, and what they refuse; the others wait in MPI meanwhile.
program independent
  use mpi
  use shoal
  implicit none
  integer, parameter :: nx = 6, ny = 5
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call move("cdf5")
  call move("netcdf4")
  call move_together("cdf5")
  call move_together("netcdf4")
  call finish()

contains

  subroutine move(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    real(8) :: row(nx), all_of(nx, ny, 2), column(ny)
    integer(2) :: small(ny, 2)
    integer :: i, j, stat
    character(len=200) :: message
    character(len=nx) :: letters
    letters = "abcdef"
    call file%create("independent.nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("x", nx)
    call file%def_dim("y", ny)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("v", SHOAL_FLOAT, "x y time")
    call file%def_var("t", SHOAL_DOUBLE, "time")
    call file%def_var("name", SHOAL_CHAR, "x")
    call file%def_independent("name")
    row = 1
    call file%write_independent("v", row, stat=stat)
    call check(stat == SHOAL_STATE, "definitions are open: " // shoal_error_message())
    call file%put("t", [1d0, 2d0], record=1, records=2)
    call file%sync()
    if (rank == ranks - 1) then
      do j = 1, ny
        row = [(real(10 * i + j, 8), i = 1, nx)]
        call file%write_independent("v", row, start=[1, j, 2], count=[nx, 1, 1])
      end do
      small = reshape([(int(i, 2), i = 1, 2 * ny)], [ny, 2])
      call file%write_independent("v", small(ny:1:-1, :), start=[2, 1, 1], count=[1, ny, 2])
      call file%write_independent("v", [7, 8], start=[1, 1, 1], count=[2, 1, 1], stride=[5, 1, 1])
      call file%write_independent("name", letters)
      call file%read_independent("v", column, start=[2, 1, 2], count=[1, ny, 1])
      call check(all(column == [(real(2 * ny + 1 - j, 8), j = 1, ny)]), "what this rank wrote")
      call file%write_independent("v", row, start=[1, 1, 3], count=[nx, 1, 1], stat=stat, errmsg=message)
      call check(stat == SHOAL_STATE .and. index(message, "'time'") > 0, "a new record: " // trim(message))
      call file%write_independent("v", row, start=[1, 1], stat=stat)
      call check(stat == SHOAL_INVALID_ARGUMENT, "two numbers: " // shoal_error_message())
      call file%write_independent("v", row, start=[1, 1, 1], count=[nx, 2, 1], stat=stat)
      call check(stat == SHOAL_INVALID_ARGUMENT, "another shape: " // shoal_error_message())
      call file%write_independent("v", row, start=[2, 1, 1], stat=stat, errmsg=message)
      call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "ends at 7") > 0, "too far: " // trim(message))
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call file%close()

    call file%open("independent.nc", MPI_COMM_WORLD)
    call file%read_independent("v", all_of)
    call check(all(all_of(1, 2:, 2) == [(real(10 + j, 8), j = 2, ny)]), "rows")
    call check(all(all_of(2, :, 1) == [(real(ny + 1 - j, 8), j = 1, ny)]), "columns")
    call check(all(all_of(2, :, 2) == [(real(2 * ny + 1 - j, 8), j = 1, ny)]), "columns of the other record")
    call check(all(all_of([1, 6], 1, 1) == [7, 8]), "a stride")
    call check(all_of(4, 3, 1) > 9e36, "the fill value")
    call file%close()
  end subroutine move

  ! Each rank writes a row of its own, and all of them the same time; a read of rows of other ranks.
  subroutine move_together(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    real(8) :: row(nx), back(nx, 2)
    integer :: record, next, stat
    call file%create("boxes.nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("x", nx)
    call file%def_dim("row", ranks)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("v", SHOAL_DOUBLE, "x row time")
    call file%def_var("t", SHOAL_DOUBLE, "time")
    do record = 1, 2
      row = 10 * record + rank
      call file%write_boxes("v", row, start=[1, rank + 1, record], count=[nx, 1, 1])
      call file%write_boxes("t", real(record, 8), start=[record], count=[1])
    end do
    call file%sync()
    next = mod(rank + 1, ranks)
    call file%read_boxes("v", back, start=[1, next + 1, 1], count=[nx, 1, 2])
    call check(all(back(:, 1) == 10 + next) .and. all(back(:, 2) == 20 + next), "boxes of others")
    call file%read_boxes("t", back(1:2, 1), start=[1], count=[2])
    call check(all(back(1:2, 1) == [1, 2]), "a box that all ranks have")
    if (rank == ranks - 1) then
      call file%write_boxes("nothing", row, stat=stat)
    else
      call file%write_boxes("t", -1.0_8, start=[1], count=[1], stat=stat)
    end if
    if (ranks > 1) call file%sync(stat=stat)
    call check(stat == SHOAL_NOT_FOUND, "all ranks learn of a name that one has wrong")
    call file%close()
  end subroutine move_together

  include "check.inc"
end program independent
