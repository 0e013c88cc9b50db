! SPDX-License-Identifier: BSD-3-Clause
!
! The files of the model, all written through Shoal by all ranks: history, averages, restart.
! Metadata follow the CF conventions, version 1.8. Land has the fill value.
module output
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use grid_of_earth, only: grid
  use options, only: settings
  use physics, only: arrival_height, ocean
  use shoal
  implicit none
  private
  public :: output_files, open_output, write_history, write_averages, write_restart, read_restart, close_output

  real(real32), parameter :: fill = 9.9692099683868690e36_real32  ! NetCDF's own for float
  character(len=*), parameter :: time_units = "seconds since 2011-03-11 05:46:24"

  type :: output_files
    type(shoal_dataset) :: history, averages
    integer :: history_records = 0, averages_records = 0
    double precision :: averaged_until = 0  ! s, end of the last mean
    double precision :: blocked = 0         ! s that this rank waited inside of Shoal, of files closed so far
  end type output_files

contains

  ! Collective.
  subroutine open_output(earth, chosen, sea, files)
    type(grid), intent(in) :: earth
    type(settings), intent(in) :: chosen
    type(ocean), intent(in) :: sea
    type(output_files), intent(out) :: files
    associate (his => files%history, avg => files%averages)
      call his%create(trim(chosen%folder) // "/tsunami_history.nc", earth%tile%comm, format=chosen%format)
      call define_grid(his, earth, "history")
      call field(his, "zeta", "lon lat time", earth%cells, "m", "sea_surface_height_above_mean_sea_level", "height of the wave")
      call field(his, "u", "lon_u lat time", earth%u_faces, "m s-1", "barotropic_eastward_sea_water_velocity", &
          "depth-mean velocity to the east")
      call field(his, "v", "lon lat_v time", earth%v_faces, "m s-1", "barotropic_northward_sea_water_velocity", &
          "depth-mean velocity to the north")
      call put_grid(his, earth)

      call avg%create(trim(chosen%folder) // "/tsunami_averages.nc", earth%tile%comm, format=chosen%format)
      call define_grid(avg, earth, "averages")
      call avg%def_dim("bounds", 2)
      call avg%def_var("time_bounds", SHOAL_DOUBLE, "bounds time")
      call avg%put_att("time", "bounds", "time_bounds")
      call field(avg, "zeta", "lon lat time", earth%cells, "m", "sea_surface_height_above_mean_sea_level", &
          "mean height of the wave", cell_methods="time: mean")
      call field(avg, "highest", "lon lat time", earth%cells, "m", "sea_surface_height_above_mean_sea_level", &
          "highest water so far", cell_methods="time: maximum (since the earthquake)")
      call field(avg, "arrival", "lon lat", earth%cells, "s", "", "time from the earthquake to the first wave")
      call avg%put_att("arrival", "comment", "the first time that the height differs by 0.01 m from the sea at rest")
      call put_grid(avg, earth)
    end associate
    files%averaged_until = sea%steps * sea%dt
  end subroutine open_output

  ! A record of the history: the state of now. Collective.
  subroutine write_history(earth, sea, files)
    type(grid), intent(in) :: earth
    type(ocean), intent(in) :: sea
    type(output_files), intent(inout) :: files
    files%history_records = files%history_records + 1
    associate (his => files%history, step => files%history_records)
      call his%put("time", sea%steps * sea%dt, record=step)
      call his%write("zeta", masked(sea%zeta, earth%depth), record=step)
      call his%write("u", masked(sea%u, earth%depth_u), record=step)
      call his%write("v", masked(sea%v, earth%depth_v), record=step)
      call his%sync()
    end associate
  end subroutine write_history

  ! A record of the averages: since the last one, or since the earthquake. Collective.
  subroutine write_averages(earth, sea, files)
    type(grid), intent(in) :: earth
    type(ocean), intent(inout) :: sea
    type(output_files), intent(inout) :: files
    real(real64) :: now
    if (sea%summed == 0) return
    now = sea%steps * sea%dt
    files%averages_records = files%averages_records + 1
    associate (avg => files%averages, step => files%averages_records)
      call avg%put("time", (now + files%averaged_until) / 2, record=step)
      call avg%put("time_bounds", [real(real64) :: files%averaged_until, now], record=step)
      call avg%write("zeta", masked(sea%sum_zeta / sea%summed, earth%depth), record=step)
      call avg%write("highest", masked(sea%highest, earth%depth), record=step)
      call avg%write("arrival", masked(sea%arrival, sea%arrival + 1))  ! fill where it is -1
      call avg%sync()
    end associate
    files%averaged_until = now
    sea%sum_zeta = 0
    sea%summed = 0
  end subroutine write_averages

  ! All that the model needs to go on, to the last bit. Classic, so that equal runs give equal bytes. Collective.
  subroutine write_restart(earth, chosen, sea, files)
    type(grid), intent(in) :: earth
    type(settings), intent(in) :: chosen
    type(ocean), intent(in) :: sea
    type(output_files), intent(inout) :: files
    type(shoal_dataset) :: rst
    character(len=40) :: name
    write (name, '(a,i4.4,a)') "/tsunami_restart_", nint(sea%steps * sea%dt / 3600), "h.nc"
    call rst%create(trim(chosen%folder) // trim(name), earth%tile%comm, format="cdf5")
    call define_grid(rst, earth, "restart")
    call rst%put_att(SHOAL_GLOBAL, "time_step", sea%dt)
    call rst%put_att(SHOAL_GLOBAL, "steps", sea%steps)
    call rst%put_att(SHOAL_GLOBAL, "steps_summed", sea%summed)
    call state(rst, "zeta", "lon lat", earth%cells, "m", "height of the wave")
    call state(rst, "u", "lon_u lat", earth%u_faces, "m s-1", "depth-mean velocity to the east")
    call state(rst, "v", "lon lat_v", earth%v_faces, "m s-1", "depth-mean velocity to the north")
    call state(rst, "sum_zeta", "lon lat", earth%cells, "m", "sum of zeta over the steps since the last mean")
    call state(rst, "highest", "lon lat", earth%cells, "m", "highest water so far")
    call state(rst, "arrival", "lon lat", earth%cells, "s", "time from the earthquake to the first wave, -1: not yet")
    call put_grid(rst, earth)
    ! The arrays go as they are, halo included: Shoal takes the cells that this rank owns.
    call rst%write("zeta", sea%zeta)
    call rst%write("u", sea%u)
    call rst%write("v", sea%v)
    call rst%write("sum_zeta", sea%sum_zeta)
    call rst%write("highest", sea%highest)
    call rst%write("arrival", sea%arrival)
    files%blocked = files%blocked + blocked_seconds(rst)
    call rst%close()
  end subroutine write_restart

  ! Go on from a restart file that any number of ranks wrote. Halos inside of the grid are read as well;
  ! those across the seam of the sphere are the model's to exchange. Collective.
  subroutine read_restart(earth, path, sea)
    type(grid), intent(in) :: earth
    character(len=*), intent(in) :: path
    type(ocean), intent(inout) :: sea
    type(shoal_dataset) :: rst
    call rst%open(path, earth%tile%comm)
    call rst%get_att(SHOAL_GLOBAL, "time_step", sea%dt)
    call rst%get_att(SHOAL_GLOBAL, "steps", sea%steps)
    call rst%get_att(SHOAL_GLOBAL, "steps_summed", sea%summed)
    call rst%read("zeta", sea%zeta, decomposition=earth%cells)
    call rst%read("u", sea%u, decomposition=earth%u_faces)
    call rst%read("v", sea%v, decomposition=earth%v_faces)
    call rst%read("sum_zeta", sea%sum_zeta, decomposition=earth%cells)
    call rst%read("highest", sea%highest, decomposition=earth%cells)
    call rst%read("arrival", sea%arrival, decomposition=earth%cells)
    call rst%close()
  end subroutine read_restart

  ! Collective.
  subroutine close_output(files)
    type(output_files), intent(inout) :: files
    files%blocked = files%blocked + blocked_seconds(files%history) + blocked_seconds(files%averages)
    call files%history%close()
    call files%averages%close()
  end subroutine close_output

  ! Dimensions, coordinates and what the file says of itself.
  subroutine define_grid(file, earth, what)
    type(shoal_dataset), intent(in) :: file
    type(grid), intent(in) :: earth
    character(len=*), intent(in) :: what
    call file%put_att(SHOAL_GLOBAL, "Conventions", "CF-1.8")
    call file%put_att(SHOAL_GLOBAL, "title", "Tsunami after the Tohoku earthquake of 2011, " // what)
    call file%put_att(SHOAL_GLOBAL, "institution", "The Shoal project")
    call file%put_att(SHOAL_GLOBAL, "source", "linear shallow-water model, example of Shoal " // shoal_version())
    call file%put_att(SHOAL_GLOBAL, "history", "written by examples/tsunami")
    call file%put_att(SHOAL_GLOBAL, "references", "Imamura, Yalciner and Ozyurt (2006), Tsunami modelling manual")
    call file%put_att(SHOAL_GLOBAL, "comment", "bathymetry: " // earth%origin)
    call file%def_dim("lon", size(earth%lon))
    call file%def_dim("lat", size(earth%lat))
    call file%def_dim("lon_u", size(earth%lon_u))
    call file%def_dim("lat_v", size(earth%lat_v))
    call file%def_dim("time", SHOAL_UNLIMITED)
    call coordinate(file, "lon", "degrees_east", "longitude", "longitude of the cells")
    call coordinate(file, "lat", "degrees_north", "latitude", "latitude of the cells")
    call coordinate(file, "lon_u", "degrees_east", "longitude", "longitude of the faces between east and west")
    call coordinate(file, "lat_v", "degrees_north", "latitude", "latitude of the faces between south and north")
    if (what /= "restart") then
      call coordinate(file, "time", time_units, "time", "time")
      call file%put_att("time", "calendar", "standard")
    end if
    call field(file, "depth", "lon lat", earth%cells, "m", "sea_floor_depth_below_geoid", "depth of the sea")
  end subroutine define_grid

  subroutine coordinate(file, name, units, standard_name, long_name)
    type(shoal_dataset), intent(in) :: file
    character(len=*), intent(in) :: name, units, standard_name, long_name
    call file%def_var(name, SHOAL_DOUBLE, name)
    call file%put_att(name, "units", units)
    call file%put_att(name, "standard_name", standard_name)
    call file%put_att(name, "long_name", long_name)
    if (standard_name == "longitude") call file%put_att(name, "axis", "X")
    if (standard_name == "latitude") call file%put_att(name, "axis", "Y")
    if (standard_name == "time") call file%put_att(name, "axis", "T")
  end subroutine coordinate

  subroutine field(file, name, dims, cells, units, standard_name, long_name, cell_methods)
    type(shoal_dataset), intent(in) :: file
    character(len=*), intent(in) :: name, dims, units, standard_name, long_name
    type(shoal_decomposition), intent(in) :: cells
    character(len=*), intent(in), optional :: cell_methods
    call file%def_var(name, SHOAL_FLOAT, dims, cells)
    call file%def_fill(name, fill)
    call file%put_att(name, "units", units)
    if (standard_name /= "") call file%put_att(name, "standard_name", standard_name)
    call file%put_att(name, "long_name", long_name)
    if (present(cell_methods)) call file%put_att(name, "cell_methods", cell_methods)
  end subroutine field

  ! As the model has it: double, land not masked.
  subroutine state(file, name, dims, cells, units, long_name)
    type(shoal_dataset), intent(in) :: file
    character(len=*), intent(in) :: name, dims, units, long_name
    type(shoal_decomposition), intent(in) :: cells
    call file%def_var(name, SHOAL_DOUBLE, dims, cells)
    call file%put_att(name, "units", units)
    call file%put_att(name, "long_name", long_name)
  end subroutine state

  subroutine put_grid(file, earth)
    type(shoal_dataset), intent(in) :: file
    type(grid), intent(in) :: earth
    call file%put("lon", earth%lon)
    call file%put("lat", earth%lat)
    call file%put("lon_u", earth%lon_u)
    call file%put("lat_v", earth%lat_v)
    call file%write("depth", masked(earth%depth, earth%depth))
  end subroutine put_grid

  ! The fill value where depth is not positive.
  pure function masked(values, depth)
    real(real64), intent(in) :: values(:, :), depth(:, :)
    real(real32) :: masked(size(values, 1), size(values, 2))
    masked = merge(real(values, real32), fill, depth > 0)
  end function masked

  ! What this rank waited for others or for the store, from the report's "blocked": {... "max": 0.1}.
  double precision function blocked_seconds(file)
    type(shoal_dataset), intent(in) :: file
    character(len=:), allocatable :: report
    integer :: at, status
    blocked_seconds = 0
    report = file%report()
    at = index(report, '"blocked"')
    if (at == 0) return
    report = report(at:)
    at = index(report, '"max":')
    if (at == 0) return
    report = report(at + 6:)
    read (report(:scan(report, ",}") - 1), *, iostat=status) blocked_seconds
    if (status /= 0) blocked_seconds = 0
  end function blocked_seconds
end module output
