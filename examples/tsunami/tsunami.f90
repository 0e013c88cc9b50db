! SPDX-License-Identifier: BSD-3-Clause
!
! A tsunami on the real Pacific: the showcase of Shoal for modellers.
!   tsunami [namelist file]      default: tsunami.nml, with groups &tsunami and &shoal
! Reads the bathymetry, sends its fields to the streams of tsunami.toml, and writes restarts, through Shoal.
program tsunami
  use mpi_f08
  use grid_of_earth, only: grid, make_grid
  use options, only: read_settings, settings
  use output, only: close_output, open_output, output_streams, read_restart, send_fields, write_restart
  use parallel, only: exchange
  use physics, only: advance, calm_ocean, earthquake, longest_step, ocean
  use shoal, only: shoal_namelist
  use terminal, only: show_arrivals, show_progress, show_start, show_times
  implicit none
  type(settings) :: chosen
  type(grid) :: earth
  type(ocean) :: sea
  type(output_streams) :: out
  character(len=256) :: namelist_path
  double precision :: begin, before, output_seconds, total
  integer :: progress_steps, restart_steps, last_step

  call MPI_Init()
  begin = MPI_Wtime()
  namelist_path = "tsunami.nml"
  if (command_argument_count() > 0) call get_command_argument(1, namelist_path)
  chosen = read_settings(trim(namelist_path))
  call shoal_namelist(trim(namelist_path))
  earth = make_grid(MPI_COMM_WORLD, chosen)

  ! The step divides the time between lines of progress, so that hours are full steps.
  progress_steps = ceiling(chosen%progress_hours * 3600 / longest_step(earth))
  sea = calm_ocean(earth, chosen%progress_hours * 3600 / progress_steps)
  if (chosen%restart_from == "") then
    call earthquake(earth, sea, chosen%source_lon, chosen%source_lat, chosen%source_metres)
  else
    call read_restart(earth, trim(chosen%restart_from), sea)
    call exchange(earth%tile, sea%zeta)
    call exchange(earth%tile, sea%u)
    call exchange(earth%tile, sea%v)
  end if
  restart_steps = nint(chosen%restart_hours / chosen%progress_hours) * progress_steps
  last_step = nint(chosen%hours * 3600 / sea%dt)
  call show_start(earth, sea, chosen%hours)

  output_seconds = 0
  earth%tile%seconds = 0
  before = MPI_Wtime()
  call open_output(earth, chosen, sea, out)
  if (sea%steps == 0) call send_fields(sea, out)
  call count_output()
  do while (sea%steps < last_step)
    call advance(earth, sea)
    before = MPI_Wtime()
    call send_fields(sea, out)
    if (mod(sea%steps, restart_steps) == 0 .or. sea%steps == last_step) call write_restart(earth, sea, out)
    call count_output()
    if (mod(sea%steps, progress_steps) == 0) call show_progress(earth, sea, chosen%hours, MPI_Wtime() - begin)
  end do
  before = MPI_Wtime()
  call close_output(out)
  call count_output()
  total = MPI_Wtime() - begin

  call show_arrivals(earth, sea)
  call show_times(earth, [total - earth%tile%seconds - output_seconds, earth%tile%seconds, output_seconds], total)
  call MPI_Finalize()

contains

  subroutine count_output()
    output_seconds = output_seconds + (MPI_Wtime() - before)
  end subroutine count_output
end program tsunami
