! Means over six steps, which the model takes itself, written by threads while it computes.
program means
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: nx = 8, my = 4, steps_of_mean = 6
  type(shoal_decomposition) :: tile
  type(shoal_dataset) :: file
  real :: temp(nx, my)
  double precision :: total(nx, my)
  integer :: rank, ranks, step, provided

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  tile = shoal_block(MPI_COMM_WORLD, global=[nx, my*ranks], first=[1, my*rank + 1], last=[nx, my*(rank + 1)])

  call file%create("means.nc", MPI_COMM_WORLD, format="netcdf4", settings="background=thread")
  call file%def_dim("x", nx)
  call file%def_dim("y", my*ranks)
  call file%def_dim("time", SHOAL_UNLIMITED)
  call file%def_var("temp", SHOAL_FLOAT, "x y time", tile)
  call file%put_att("temp", "cell_methods", "time: mean")
  total = 0
  do step = 1, 24
    temp = real(step)
    total = total + temp
    if (mod(step, steps_of_mean) == 0) then
      call file%write("temp", total/steps_of_mean, record=step/steps_of_mean)   ! double to float on the way
      total = 0
    end if
  end do
  call file%close()
  call tile%free()
  call MPI_Finalize()
end program means
