! Means over six hours of a field that the model sends each hour; what is written stands in the configuration.
program means
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use shoal
  use shoal_streaming
  implicit none
  integer, parameter :: nx = 8, my = 4
  real(real64), parameter :: timestep = 3600
  character, parameter :: nl = new_line("a")
  type(shoal_decomposition) :: tile
  type(shoal_streams) :: streams
  type(shoal_dataset) :: file
  real :: temp(nx, my)
  integer :: rank, ranks, step, temp_field

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  tile = shoal_block(MPI_COMM_WORLD, global=[nx, my*ranks], first=[1, my*rank + 1], last=[nx, my*(rank + 1)])

  ! Here as text; a model names its file: call streams%open("output.toml", ...)
  call streams%open('[[file]]' // nl // 'name = "means.nc"' // nl // 'every = "6 h"' // nl // &
                    'operation = "mean"' // nl // 'fields = ["temp"]' // nl, &
                    MPI_COMM_WORLD, calendar="noleap", start="2001-01-01")
  call streams%grid("grid", "x y", tile)
  temp_field = streams%field("temp", SHOAL_FLOAT, "x y", grid="grid")
  do step = 1, 24
    temp = real(step)
    call streams%advance(step*timestep)      ! before the sends of the step
    call streams%send(temp_field, temp)
  end do
  call streams%close()

  call file%open("means.nc", MPI_COMM_WORLD)
  call file%read("temp", temp, record=4, decomposition=tile)
  call file%close()
  if (any(temp /= 21.5)) error stop "a wrong mean"
  call tile%free()
  call MPI_Finalize()
end program means
