! As program.c, through the Fortran module. Stops with an error if a value is wrong.
program installed
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: cells = 10
  type(shoal_decomposition) :: row
  type(shoal_dataset) :: file
  real(real64) :: values(cells), back(cells)
  integer :: rank, ranks, first, i, wrong

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  first = rank*cells + 1
  values = [(real(first + i, real64), i=0, cells - 1)]

  row = shoal_block(MPI_COMM_WORLD, global=[cells*ranks], first=[first], last=[first + cells - 1])
  call file%create("installed_f.nc", MPI_COMM_WORLD, format="cdf2")
  call file%def_dim("x", cells*ranks)
  call file%def_var("row", SHOAL_DOUBLE, "x", row)
  call file%write("row", values)
  call file%close()

  back = 0
  call file%open("installed_f.nc", MPI_COMM_WORLD)
  call file%read("row", back, decomposition=row)
  call file%close()
  call row%free()

  wrong = count(back /= values)
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,i0,a)', "Fortran: ", wrong, " of ", cells*ranks, " values wrong"
  call MPI_Finalize()
  if (wrong /= 0) error stop 1
end program installed
