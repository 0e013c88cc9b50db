! Monthly means of a model that runs in jobs of twenty days. Run it twice: on 4 ranks, then on 3.
program monthly_means
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use shoal
  use shoal_streaming
  implicit none
  integer, parameter :: nx = 12, ny = 10, job_days = 20, steps_a_day = 4
  real(real64), parameter :: day_seconds = 86400d0
  character(*), parameter :: saved = "streams_saved.nc"
  type(shoal_decomposition) :: rows
  type(shoal_streams) :: streams
  type(shoal_dataset) :: file
  real, allocatable :: temp(:, :)
  real(real64) :: now
  character(20) :: since_start
  integer :: rank, ranks, first, last, stat, step, temp_field, i, unit

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  first = 1 + ny*rank/ranks
  last = ny*(rank + 1)/ranks
  rows = shoal_block(MPI_COMM_WORLD, global=[nx, ny], first=[1, first], last=[nx, last])
  allocate (temp(nx, first:last))

  ! What is written stands in a file that is not the model's: here it makes one for the tutorial.
  if (rank == 0) then
    open (newunit=unit, file="streams_output.toml", action="write")
    write (unit, '(a)') &
      '[[file]]', 'name = "means_%Y-%m.nc"', 'every = "1 month"', 'new_file = "1 month"', 'operation = "mean"', &
      'fields = [{ field = "temp", long_name = "temperature", units = "degC" }]', &
      '[[file]]', 'name = "point.nc"', 'every = "1 day"', 'operation = "maximum"', 'fields = ["temp"]', &
      'at = { lon = 3.2, lat = 7.9, name = "buoy" }'
    close (unit)
  end if

  ! Which job is this? The restart file of the model would say it; here the checkpoint of the streams does.
  now = 0
  call file%open(saved, MPI_COMM_WORLD, stat=stat)
  if (stat == SHOAL_OK) then
    now = job_days*day_seconds
    call file%close()
  else if (stat /= SHOAL_NOT_FOUND) then
    error stop "the checkpoint cannot be read"
  end if

  write (since_start, '(i0, a)') nint(now), " s"
  call streams%open("streams_output.toml", MPI_COMM_WORLD, calendar="noleap", start="2001-01-01", now=since_start)
  call streams%axis("lon", [(real(i), i=1, nx)])
  call streams%put_att("lon", "units", "degrees_east")
  call streams%axis("lat", [(real(i), i=1, ny)])
  call streams%put_att("lat", "units", "degrees_north")
  call streams%grid("sea", "lon lat", rows)
  temp_field = streams%field("temp", SHOAL_FLOAT, "lon lat", grid="sea")
  if (now > 0) call streams%resume(saved)

  do step = 1, job_days*steps_a_day
    now = now + day_seconds/steps_a_day
    temp = real(now/day_seconds)              ! the model's step: as many degrees as days
    call streams%advance(now)                 ! the clock first: the step ends here
    if (streams%wants(temp_field)) call streams%send(temp_field, temp)
  end do
  call streams%checkpoint(saved)              ! the half of a month that this job ends in
  call streams%close()

  if (rank == 0) print '(a, i0, a, i0, a)', "day ", nint(now/day_seconds), " on ", ranks, " ranks"
  if (now > job_days*day_seconds) then        ! January is whole: days 0 to 31, and their mean
    call file%open("means_2001-01.nc", MPI_COMM_WORLD)
    call file%read("temp", temp, record=1, decomposition=rows)
    call file%close()
    if (any(abs(temp - 15.625) > 1e-5)) error stop "a wrong mean"
  end if
  call rows%free()
  call MPI_Finalize()
end program monthly_means
