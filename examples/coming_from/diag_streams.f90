! What diag_manager does: a field is registered once and sent each step, and a table says what is written.
program diag_streams
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use shoal
  use shoal_streaming
  implicit none
  integer, parameter :: nx = 8, my = 4
  real(real64), parameter :: dt = 3600
  character, parameter :: nl = new_line("a")
  type(shoal_decomposition) :: compute
  type(shoal_streams) :: diag
  type(shoal_dataset) :: file
  real, allocatable :: temp(:, :)
  integer :: rank, ranks, step, id_temp

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  compute = shoal_block(MPI_COMM_WORLD, global=[nx, my*ranks], first=[1, my*rank + 1], last=[nx, my*(rank + 1)], &
                        halo_low=[1, 1], halo_high=[1, 1])
  allocate (temp(0:nx + 1, 0:my + 1))   ! the data domain

  ! Here as text; a model names its file, in the place of diag_table: call diag%open("output.toml", ...)
  call diag%open('[[file]]' // nl // 'name = "ocean_day.nc"' // nl // 'every = "1 day"' // nl // &
                 'operation = "mean"' // nl // 'fms_attributes = true' // nl // 'fields = ["temp"]' // nl, &
                 MPI_COMM_WORLD, calendar="noleap", start="2001-01-01")
  call diag%grid("ocean", "xt yt", compute)
  id_temp = diag%field("temp", SHOAL_FLOAT, "xt yt", grid="ocean")
  call diag%put_att("temp", "units", "degC")
  do step = 1, 48
    temp = real(step)
    call diag%advance(step*dt)              ! before the sends of the step
    call diag%send(id_temp, temp)
  end do
  call diag%close()

  call file%open("ocean_day.nc", MPI_COMM_WORLD)
  call file%read("temp", temp, record=2, decomposition=compute)
  call file%close()
  if (any(temp(1:nx, 1:my) /= 36.5)) error stop "a wrong mean"
  call compute%free()
  call MPI_Finalize()
end program diag_streams
