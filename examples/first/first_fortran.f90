! Every rank owns some rows of a field and writes them, three records, to one NetCDF file.
program first
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: nx = 8, rows = 4
  type(shoal_decomposition) :: tiles
  type(shoal_dataset) :: file
  real, allocatable :: zeta(:, :)
  integer :: rank, ranks, step

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  ! This rank owns columns 1 to nx of rows 4*rank + 1 to 4*rank + 4, and has a row of halo on either side.
  tiles = shoal_block(MPI_COMM_WORLD, global=[nx, rows*ranks], first=[1, rows*rank + 1], &
                      last=[nx, rows*(rank + 1)], halo_low=[0, 1], halo_high=[0, 1])
  allocate (zeta(nx, 0:rows + 1))

  call file%create("first_fortran.nc", MPI_COMM_WORLD, format="netcdf4")
  call file%def_dim("x", nx)
  call file%def_dim("y", rows*ranks)
  call file%def_dim("time", SHOAL_UNLIMITED)
  call file%def_var("zeta", SHOAL_FLOAT, "x y time", tiles)
  call file%put_att("zeta", "units", "m")
  do step = 1, 3
    zeta = real(10*rank + step)
    call file%write("zeta", zeta, record=step)   ! only the owned cells go to the file
  end do
  call file%close()

  ! Read the last record: the halo is filled with the neighbours' cells.
  call file%open("first_fortran.nc", MPI_COMM_WORLD)
  call file%read("zeta", zeta, record=3, decomposition=tiles)
  call file%close()
  call tiles%free()
  if (rank > 0) then
    if (any(zeta(:, 0) /= real(10*(rank - 1) + 3))) error stop "the halo is not the neighbour's row"
  end if
  call MPI_Finalize()
end program first
