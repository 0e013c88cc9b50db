! The ocean and its ice in one file: a group each, on a grid that both see.
program groups
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: nx = 12, ny = 10, nz = 5
  type(shoal_decomposition) :: rows
  type(shoal_dataset) :: file
  type(shoal_group_info) :: group
  real, allocatable :: temp(:, :, :), conc(:, :), read(:, :, :)
  integer :: rank, ranks, first, last, day, i, how_many

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  first = 1 + ny*rank/ranks
  last = ny*(rank + 1)/ranks
  rows = shoal_block(MPI_COMM_WORLD, global=[nx, ny], first=[1, first], last=[nx, last])
  allocate (temp(nx, first:last, nz), conc(nx, first:last), read(nx, first:last, nz))

  call file%create("groups.nc", MPI_COMM_WORLD, format="netcdf4")
  call file%def_dim("x", nx)                    ! of the file: all groups see them
  call file%def_dim("y", ny)
  call file%def_dim("time", SHOAL_UNLIMITED)
  call file%def_dim("ocean/depth", nz)          ! the first name in it makes the group ocean
  call file%def_var("ocean/temp", SHOAL_FLOAT, "x y depth time", rows)
  call file%def_var("ocean/ice/conc", SHOAL_FLOAT, "x y time", rows)
  call file%put_att("ocean", "title", "water")  ! of the group
  call file%put_att("ocean/temp", "units", "degC")
  do day = 1, 2
    temp = real(day)
    conc = 0.5
    call file%write("ocean/temp", temp, record=day)
    call file%write("ocean/ice/conc", conc, record=day)
  end do
  call file%close()

  call file%open("groups.nc", MPI_COMM_WORLD)
  call file%num_groups(how_many)
  do i = 1, how_many
    call file%inq_group(i, group)
    if (rank == 0) print '(a, a, i0, a)', group%name, ": ", group%attributes, " attributes"
  end do
  call file%read("ocean/temp", read, record=2, decomposition=rows)
  call file%close()
  if (any(read /= 2)) error stop "other values were read than written"
  call rows%free()
  call MPI_Finalize()
end program groups
