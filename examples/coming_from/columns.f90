! A list of cells for each rank, as PIO's compdof.
program columns
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi
  use shoal
  implicit none
  integer, parameter :: nx = 8, ny = 6
  type(shoal_decomposition) :: iodesc
  type(shoal_dataset) :: file
  integer(int64), allocatable :: compdof(:)
  real, allocatable :: temp(:)
  integer :: rank, ranks, i, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  compdof = pack([(int(i, int64), i=1, nx*ny)], [(mod(i, ranks) == rank, i=1, nx*ny)])   ! from 1, 0: a hole
  allocate (temp(size(compdof)))
  temp = real(compdof)

  iodesc = shoal_map(MPI_COMM_WORLD, global=[nx, ny], cells=compdof)
  call file%create("columns_pio.nc", MPI_COMM_WORLD, format="cdf5")
  call file%def_dim("x", nx)
  call file%def_dim("y", ny)
  call file%def_dim("time", SHOAL_UNLIMITED)
  call file%def_var("temp", SHOAL_FLOAT, "x y time", iodesc)
  call file%write("temp", temp, record=1)
  call file%close()
  call iodesc%free()
  call MPI_Finalize(ierr)
end program columns
