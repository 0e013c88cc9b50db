! A file for each I/O domain, as FMS's io_layout makes them (two or more ranks); read back as one.
program io_domains
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: nx = 8, my = 4
  type(shoal_decomposition) :: compute
  type(shoal_dataset) :: file
  real, allocatable :: temp(:, :)
  integer :: rank, ranks

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  compute = shoal_block(MPI_COMM_WORLD, global=[nx, my*ranks], first=[1, my*rank + 1], last=[nx, my*(rank + 1)], &
                        halo_low=[1, 1], halo_high=[1, 1])
  allocate (temp(0:nx + 1, 0:my + 1))   ! the data domain
  temp = real(rank)

  call file%create("ocean.nc", MPI_COMM_WORLD, format="netcdf4", settings="io_layout=1x2")   ! ocean.nc.0000, ...
  call file%def_dim("xt", nx)
  call file%def_dim("yt", my*ranks)
  call file%def_dim("time", SHOAL_UNLIMITED)
  call file%def_var("temp", SHOAL_FLOAT, "xt yt time", compute)
  call file%write("temp", temp, record=1)
  call file%close()

  call file%open("ocean.nc", MPI_COMM_WORLD)
  call file%read("temp", temp, record=1, decomposition=compute)
  call file%close()
  if (any(temp(1:nx, 1:my) /= real(rank))) error stop "other values came back"
  call compute%free()
  call MPI_Finalize()
end program io_domains
