! A field with land: the mask is given once, and land goes to the file as the fill value.
program land
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: nx = 8, ny = 8
  type(shoal_decomposition) :: rows, water
  type(shoal_dataset) :: file
  real, allocatable :: temp(:, :)
  logical, allocatable :: is_water(:, :)
  integer :: rank, ranks, first, last

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  first = 1 + ny*rank/ranks
  last = ny*(rank + 1)/ranks
  rows = shoal_block(MPI_COMM_WORLD, global=[nx, ny], first=[1, first], last=[nx, last])
  allocate (temp(nx, first:last), is_water(nx, first:last))
  is_water = .true.
  is_water(1:3, :) = .false.                  ! land in the west
  water = rows%masked(is_water)

  temp = 15.0
  where (.not. is_water) temp = -huge(temp)   ! nobody looks at it
  call file%create("land.nc", MPI_COMM_WORLD, format="netcdf4")
  call file%def_dim("x", nx)
  call file%def_dim("y", ny)
  call file%def_var("temp", SHOAL_FLOAT, "x y", water)
  call file%def_fill("temp", 1.0e20)          ! without it: the default of the type
  call file%write("temp", temp)
  call file%close()

  temp = -1.0
  call file%open("land.nc", MPI_COMM_WORLD)
  call file%read("temp", temp, decomposition=water)
  if (any(temp(1:3, :) /= -1.0)) error stop "land was touched"     ! left as it was
  call file%read("temp", temp, decomposition=rows)
  if (any(temp(1:3, :) /= 1.0e20)) error stop "land is not the fill value"
  if (any(temp(4:, :) /= 15.0)) error stop "water is wrong"
  call file%close()
  call water%free()
  call rows%free()
  call MPI_Finalize()
end program land
