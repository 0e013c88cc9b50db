! Rows of a field, three records, to one file: as by nf90_put_var or nf90mpi_put_var_all.
program rows
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: nx = 8, my = 4
  type(shoal_decomposition) :: tile
  type(shoal_dataset) :: file
  real :: zeta(nx, my)
  integer :: rank, ranks, step

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  tile = shoal_block(MPI_COMM_WORLD, global=[nx, my*ranks], first=[1, my*rank + 1], last=[nx, my*(rank + 1)])

  call file%create("rows.nc", MPI_COMM_WORLD, format="netcdf4")
  call file%def_dim("x", nx)
  call file%def_dim("y", my*ranks)
  call file%def_dim("time", SHOAL_UNLIMITED)
  call file%def_var("zeta", SHOAL_FLOAT, "x y time", tile)
  call file%put_att("zeta", "units", "m")
  do step = 1, 3
    zeta = real(step)
    call file%write("zeta", zeta, record=step)
  end do
  call file%close()
  call tile%free()
  call MPI_Finalize()
end program rows
