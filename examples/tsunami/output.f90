! SPDX-License-Identifier: BSD-3-Clause
!
! What the model tells Shoal: its grids and fields, of which tsunami.toml makes files; and its restart files, which all
! ranks write. Metadata follow the CF conventions, version 1.8. Land has the fill value.
module output
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use grid_of_earth, only: grid
  use options, only: settings
  use physics, only: ocean
  use shoal
  use shoal_streaming
  implicit none
  private
  public :: output_streams, open_output, send_fields, write_restart, read_restart, close_output

  type :: output_streams
    type(shoal_streams) :: streams
    integer :: zeta, u, v, arrival  ! numbers of the fields
  end type output_streams

contains

  ! Of a run that goes on from a restart, with the windows that were not finished then. Collective.
  subroutine open_output(earth, chosen, sea, out)
    type(grid), intent(in) :: earth
    type(settings), intent(in) :: chosen
    type(ocean), intent(in) :: sea
    type(output_streams), intent(out) :: out
    character(len=22) :: now  ! since the start
    write (now, '(f20.6,a)') sea%steps * sea%dt, " s"
    associate (streams => out%streams)
      call streams%open(trim(chosen%streams), earth%tile%comm, calendar="standard", start="2011-03-11 05:46:24", now=now)
      call streams%put_att(SHOAL_GLOBAL, "title", "Tsunami after the Tohoku earthquake of 2011")
      call streams%put_att(SHOAL_GLOBAL, "institution", "The Shoal project")
      call streams%put_att(SHOAL_GLOBAL, "source", "linear shallow-water model, example of Shoal " // shoal_version())
      call streams%put_att(SHOAL_GLOBAL, "references", "Imamura, Yalciner and Ozyurt (2006), Tsunami modelling manual")
      call streams%put_att(SHOAL_GLOBAL, "comment", "bathymetry: " // earth%origin)
      call axis("lon", earth%lon, "degrees_east", "longitude", "X")
      call axis("lat", earth%lat, "degrees_north", "latitude", "Y")
      call axis("lon_u", earth%lon_u, "degrees_east", "longitude", "X")
      call axis("lat_v", earth%lat_v, "degrees_north", "latitude", "Y")
      call streams%grid("cells", "lon lat", earth%cells)
      call streams%grid("u_faces", "lon_u lat", earth%u_faces)
      call streams%grid("v_faces", "lon lat_v", earth%v_faces)
      call streams%coordinate("cells", "depth", real(earth%depth, real32))
      call describe("depth", "m", "depth of the sea, 0 on land", "sea_floor_depth_below_geoid")
      out%zeta = streams%field("zeta", SHOAL_FLOAT, "lon lat", grid="cells")
      call describe("zeta", "m", "height of the wave", "sea_surface_height_above_mean_sea_level")
      out%u = streams%field("u", SHOAL_FLOAT, "lon_u lat", grid="u_faces")
      call describe("u", "m s-1", "depth-mean velocity to the east", "barotropic_eastward_sea_water_velocity")
      out%v = streams%field("v", SHOAL_FLOAT, "lon lat_v", grid="v_faces")
      call describe("v", "m s-1", "depth-mean velocity to the north", "barotropic_northward_sea_water_velocity")
      out%arrival = streams%field("arrival", SHOAL_FLOAT, "lon lat", grid="cells")
      call describe("arrival", "s", "time from the earthquake to the first wave")
      call streams%put_att("arrival", "missing_value", -1.0)
      call streams%put_att("arrival", "comment", "the first time that the height differs by 0.01 m from the sea at rest")
      if (chosen%restart_from /= "") call streams%resume(windows_of(trim(chosen%restart_from)))
    end associate
  contains
    subroutine axis(name, values, units, standard_name, letter)
      character(len=*), intent(in) :: name, units, standard_name, letter
      real(real64), intent(in) :: values(:)
      call out%streams%axis(name, values)
      call out%streams%put_att(name, "units", units)
      call out%streams%put_att(name, "standard_name", standard_name)
      call out%streams%put_att(name, "axis", letter)
    end subroutine axis
    subroutine describe(name, units, long_name, standard_name)
      character(len=*), intent(in) :: name, units, long_name
      character(len=*), intent(in), optional :: standard_name
      call out%streams%put_att(name, "units", units)
      call out%streams%put_att(name, "long_name", long_name)
      if (present(standard_name)) call out%streams%put_att(name, "standard_name", standard_name)
    end subroutine describe
  end subroutine open_output

  ! The state at the end of a step, or before the first one; what no file asks for costs nothing. The arrays go as they
  ! are, halo included: Shoal takes the cells that this rank owns. Collective.
  subroutine send_fields(sea, out)
    type(ocean), intent(in) :: sea
    type(output_streams), intent(in) :: out
    call out%streams%advance(sea%steps * sea%dt)
    call out%streams%send(out%zeta, sea%zeta)
    call out%streams%send(out%u, sea%u)
    call out%streams%send(out%v, sea%v)
    call out%streams%send(out%arrival, sea%arrival)
  end subroutine send_fields

  ! All that the model needs to go on, to the last bit, and beside it the windows that files still wait for. Classic,
  ! so that equal runs give equal bytes. Collective.
  subroutine write_restart(earth, sea, out)
    type(grid), intent(in) :: earth
    type(ocean), intent(in) :: sea
    type(output_streams), intent(in) :: out
    type(shoal_dataset) :: rst
    character(len=24) :: path
    write (path, '(a,i4.4,a)') "tsunami_restart_", nint(sea%steps * sea%dt / 3600), "h.nc"
    call rst%create(path, earth%tile%comm, format="cdf5")
    call rst%put_att(SHOAL_GLOBAL, "time_step", sea%dt)
    call rst%put_att(SHOAL_GLOBAL, "steps", sea%steps)
    call rst%def_dim("lon", size(earth%lon))
    call rst%def_dim("lat", size(earth%lat))
    call rst%def_dim("lon_u", size(earth%lon_u))
    call rst%def_dim("lat_v", size(earth%lat_v))
    call rst%def_var("zeta", SHOAL_DOUBLE, "lon lat", earth%cells)
    call rst%def_var("u", SHOAL_DOUBLE, "lon_u lat", earth%u_faces)
    call rst%def_var("v", SHOAL_DOUBLE, "lon lat_v", earth%v_faces)
    call rst%def_var("arrival", SHOAL_DOUBLE, "lon lat", earth%cells)
    call rst%write("zeta", sea%zeta)
    call rst%write("u", sea%u)
    call rst%write("v", sea%v)
    call rst%write("arrival", sea%arrival)
    call rst%close()
    call out%streams%checkpoint(windows_of(path))
  end subroutine write_restart

  ! Go on from a restart file that any number of ranks wrote. Halos inside of the grid are read as well;
  ! those across the seam of the sphere are the model's to exchange. Land stays as it is. Collective.
  subroutine read_restart(earth, path, sea)
    type(grid), intent(in) :: earth
    character(len=*), intent(in) :: path
    type(ocean), intent(inout) :: sea
    type(shoal_dataset) :: rst
    call rst%open(path, earth%tile%comm)
    call rst%get_att(SHOAL_GLOBAL, "time_step", sea%dt)
    call rst%get_att(SHOAL_GLOBAL, "steps", sea%steps)
    call rst%read("zeta", sea%zeta, decomposition=earth%cells)
    call rst%read("u", sea%u, decomposition=earth%u_faces)
    call rst%read("v", sea%v, decomposition=earth%v_faces)
    call rst%read("arrival", sea%arrival, decomposition=earth%cells)
    call rst%close()
  end subroutine read_restart

  ! Collective.
  subroutine close_output(out)
    type(output_streams), intent(inout) :: out
    call out%streams%close()
  end subroutine close_output

  ! The file beside a restart file, with the windows of streams.
  pure function windows_of(restart) result(path)
    character(len=*), intent(in) :: restart
    character(len=:), allocatable :: path
    path = restart(:index(restart, ".nc", back=.true.) - 1) // "_windows.nc"
  end function windows_of
end module output
