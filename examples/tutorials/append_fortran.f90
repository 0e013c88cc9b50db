! Appends two days to a series; makes the file if there is none. Run it again, on any number of ranks.
program append
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: nx = 8, ny = 6
  type(shoal_decomposition) :: rows
  type(shoal_dataset) :: file
  type(shoal_dim_info) :: time
  real, allocatable :: temp(:, :)
  integer :: rank, ranks, first, last, stat, index, day, i

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  first = 1 + ny*rank/ranks
  last = ny*(rank + 1)/ranks
  rows = shoal_block(MPI_COMM_WORLD, global=[nx, ny], first=[1, first], last=[nx, last])
  allocate (temp(nx, first:last))

  call file%open("append.nc", MPI_COMM_WORLD, mode=SHOAL_WRITE, stat=stat)
  if (stat == SHOAL_NOT_FOUND) then   ! the same on all ranks
    call file%create("append.nc", MPI_COMM_WORLD, format="netcdf4")
    call file%def_dim("x", nx)
    call file%def_dim("y", ny)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("time", SHOAL_DOUBLE, "time")
    call file%put_att("time", "units", "days since 2000-01-01")
    call file%def_var("temp", SHOAL_FLOAT, "x y time", rows)
  else if (stat /= SHOAL_OK) then
    error stop "append.nc cannot be opened"
  end if

  call file%find_dim("time", index)
  do i = 1, 2
    call file%inq_dim(index, time)    ! time%length: records so far
    day = int(time%length) + 1
    temp = real(day)
    call file%put("time", real(day), record=day)
    call file%write("temp", temp, record=day, decomposition=rows)
    call file%sync()                  ! committed: a job that is killed now leaves this record
  end do
  call file%close()
  if (rank == 0) print '(a, i0, a)', "append.nc has ", day, " records"
  call rows%free()
  call MPI_Finalize()
end program append
