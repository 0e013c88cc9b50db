! SPDX-License-Identifier: BSD-3-Clause
!
! A tsunami on the real Pacific: the showcase of Shoal for modellers.
!   tsunami [namelist file]      default: tsunami.nml, with groups &tsunami and &shoal
! Reads the bathymetry, and writes history, averages and restarts, in parallel through Shoal.
program tsunami
  use mpi_f08
  use grid_of_earth, only: grid, make_grid
  use options, only: read_settings, settings
  use output, only: close_output, open_output, output_files, read_restart, write_averages, write_history, write_restart
  use parallel, only: exchange
  use physics, only: advance, calm_ocean, earthquake, longest_step, ocean
  use shoal, only: shoal_namelist
  use terminal, only: show_arrivals, show_progress, show_start, show_times
  implicit none
  type(settings) :: chosen
  type(grid) :: earth
  type(ocean) :: sea
  type(output_files) :: files
  character(len=256) :: namelist_path
  double precision :: begin, before, output_seconds, total
  integer :: output_steps, restart_steps, last_step

  call MPI_Init()
  begin = MPI_Wtime()
  namelist_path = "tsunami.nml"
  if (command_argument_count() > 0) call get_command_argument(1, namelist_path)
  chosen = read_settings(trim(namelist_path))
  call shoal_namelist(trim(namelist_path))
  earth = make_grid(MPI_COMM_WORLD, chosen)

  ! The step divides the time between records, so that records fall on full steps.
  output_steps = ceiling(chosen%output_hours * 3600 / longest_step(earth))
  sea = calm_ocean(earth, chosen%output_hours * 3600 / output_steps)
  if (chosen%restart_from == "") then
    call earthquake(earth, sea, chosen%source_lon, chosen%source_lat, chosen%source_metres)
  else
    call read_restart(earth, trim(chosen%restart_from), sea)
    call exchange(earth%tile, sea%zeta)
    call exchange(earth%tile, sea%u)
    call exchange(earth%tile, sea%v)
  end if
  restart_steps = nint(chosen%restart_hours / chosen%output_hours) * output_steps
  last_step = nint(chosen%hours * 3600 / sea%dt)
  call show_start(earth, sea, chosen%hours)

  output_seconds = 0
  earth%tile%seconds = 0
  before = MPI_Wtime()
  call open_output(earth, chosen, sea, files)
  if (sea%steps == 0) call write_history(earth, sea, files)
  call count_output()
  do while (sea%steps < last_step)
    call advance(earth, sea)
    if (mod(sea%steps, output_steps) == 0) then
      call show_progress(earth, sea, chosen%hours, MPI_Wtime() - begin)
      before = MPI_Wtime()
      call write_history(earth, sea, files)
      call write_averages(earth, sea, files)
      if (mod(sea%steps, restart_steps) == 0 .or. sea%steps == last_step) call write_restart(earth, chosen, sea, files)
      call count_output()
    end if
  end do
  before = MPI_Wtime()
  call close_output(files)
  call count_output()
  total = MPI_Wtime() - begin

  call show_arrivals(earth, sea)
  call show_times(earth, [total - earth%tile%seconds - output_seconds, earth%tile%seconds, output_seconds, files%blocked], total)
  call MPI_Finalize()

contains

  subroutine count_output()
    output_seconds = output_seconds + (MPI_Wtime() - before)
  end subroutine count_output
end program tsunami
