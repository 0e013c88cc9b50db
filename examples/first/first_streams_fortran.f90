! A model sends a field after each step of six hours; the configuration asks for the means of days.
program first_streams
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use shoal
  use shoal_streaming
  implicit none
  integer, parameter :: nx = 8, rows = 4
  character, parameter :: nl = new_line("a")
  type(shoal_decomposition) :: tiles
  type(shoal_streams) :: streams
  type(shoal_dataset) :: file
  real, allocatable :: zeta(:, :)
  real(real64) :: bounds(2)
  integer :: rank, ranks, step, field

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  tiles = shoal_block(MPI_COMM_WORLD, global=[nx, rows*ranks], first=[1, rows*rank + 1], &
                      last=[nx, rows*(rank + 1)], halo_low=[0, 1], halo_high=[0, 1])
  allocate (zeta(nx, 0:rows + 1))

  call streams%open('[[file]]' // nl // 'name = "first_streams_fortran.nc"' // nl // 'every = "1 day"' // nl // &
                    'operation = "mean"' // nl // 'fields = ["zeta"]' // nl, &
                    MPI_COMM_WORLD, calendar="noleap", start="2001-01-01")
  call streams%grid("sea", "x y", tiles)
  field = streams%field("zeta", SHOAL_FLOAT, "x y", grid="sea")
  call streams%put_att("zeta", "units", "m")
  do step = 1, 8
    zeta = real(step)
    call streams%advance(21600d0*step)   ! the clock first: the step ends here
    call streams%send(field, zeta)       ! with its halo: only the owned cells count
  end do
  call streams%close()

  ! The second day has steps 5 to 8.
  call file%open("first_streams_fortran.nc", MPI_COMM_WORLD)
  call file%read("zeta", zeta, record=2, decomposition=tiles)
  call file%get("time_bounds", bounds, record=2)
  call file%close()
  call tiles%free()
  if (any(zeta(:, 1:rows) /= 6.5) .or. bounds(2) /= 2*bounds(1)) error stop "a wrong mean"
  call MPI_Finalize()
end program first_streams
