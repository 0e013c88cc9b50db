! Output in the background: threads compress and store while the model computes.
program in_background
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: nx = 64, ny = 64, steps = 4
  type(shoal_decomposition) :: rows
  type(shoal_dataset) :: file
  real, allocatable :: temp(:, :)
  integer :: rank, ranks, first, last, provided, step

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)   ! there are threads; they make no MPI call
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  first = 1 + ny*rank/ranks
  last = ny*(rank + 1)/ranks
  rows = shoal_block(MPI_COMM_WORLD, global=[nx, ny], first=[1, first], last=[nx, last])
  allocate (temp(nx, first:last))

  call file%create("background.nc", MPI_COMM_WORLD, format="netcdf4", &
                   settings="background=thread, stage_bytes=64MiB")
  call file%def_dim("x", nx)
  call file%def_dim("y", ny)
  call file%def_dim("time", SHOAL_UNLIMITED)
  call file%def_var("temp", SHOAL_FLOAT, "x y time", rows)
  call file%def_compression("temp", "shuffle+deflate:1")
  call file%def_quantize("temp", "bitround:9")          ! lossy; leave it out to keep all bits
  do step = 1, steps
    temp = 15.0 + sin(real(step))                       ! the model computes
    call file%write("temp", temp, record=step)          ! over when the cells are in shared memory
  end do
  call file%close()                                     ! waits until all is stored
  call rows%free()
  call MPI_Finalize()
end program in_background
