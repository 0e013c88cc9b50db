! A model that goes on from its restart file, on any number of ranks. Run it twice: on 4 ranks, then on 3.
program restart
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: nx = 12, ny = 10
  type(shoal_decomposition) :: rows
  type(shoal_dataset) :: file
  double precision, allocatable :: u(:, :)
  integer :: rank, ranks, first, last, stat, step, j

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  first = 1 + ny*rank/ranks
  last = ny*(rank + 1)/ranks
  rows = shoal_block(MPI_COMM_WORLD, global=[nx, ny], first=[1, first], last=[nx, last], &
                     halo_low=[0, 1], halo_high=[0, 1])
  allocate (u(nx, first - 1:last + 1))

  call file%open("restart.nc", MPI_COMM_WORLD, stat=stat)
  if (stat == SHOAL_OK) then
    call file%get_att(SHOAL_GLOBAL, "step", step)
    call file%read("u", u, decomposition=rows)   ! this run's tiles; the halo comes with them
    call file%close()
    do j = max(first - 1, 1), min(last + 1, ny)
      if (any(u(:, j) /= 100*step + j)) error stop "the restart file has other values"
    end do
  else if (stat == SHOAL_NOT_FOUND) then
    step = 0
  else
    error stop "restart.nc cannot be read"
  end if

  step = step + 1                                ! the model's time step
  do j = first, last
    u(:, j) = 100*step + j
  end do

  ! The old file stays until the new one is whole.
  call file%create("restart.nc", MPI_COMM_WORLD, format="netcdf4")
  call file%def_dim("x", nx)
  call file%def_dim("y", ny)
  call file%def_var("u", SHOAL_DOUBLE, "x y", rows)
  call file%put_att(SHOAL_GLOBAL, "step", step)
  call file%write("u", u)
  call file%close(durable=.true.)
  if (rank == 0) print '(a, i0, a, i0, a)', "step ", step, " on ", ranks, " ranks"
  call rows%free()
  call MPI_Finalize()
end program restart
