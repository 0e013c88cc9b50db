! SPDX-License-Identifier: BSD-3-Clause
!
! What the namelist group &tsunami says. Every rank reads the file: it is small.
module options
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: settings, read_settings

  type :: settings
    character(len=256) :: bathymetry = "/usr/share/ferret-vis/data/etopo20.cdf"  ! of the Debian package ferret-datasets
    character(len=256) :: streams = "tsunami.toml"  ! what becomes of the fields
    character(len=256) :: restart_from = ""   ! a restart file to go on from
    double precision :: hours = 24.0          ! end of the run, after the earthquake
    double precision :: progress_hours = 1.0  ! between lines of progress; a whole number of steps
    double precision :: restart_hours = 12.0  ! between restart files
    double precision :: south = -65.0, north = 65.0  ! walls, degrees north
    double precision :: basin_degrees = 1.0   ! cell of the analytic basin
    double precision :: source_lon = 143.0, source_lat = 38.0  ! epicentre, degrees
    double precision :: source_metres = 6.0   ! highest uplift
  end type settings

contains

  function read_settings(path) result(chosen)
    character(len=*), intent(in) :: path
    type(settings) :: chosen
    character(len=256) :: bathymetry, streams, restart_from, message
    double precision :: hours, progress_hours, restart_hours, south, north, basin_degrees, source_lon, source_lat, source_metres
    integer :: unit, status
    namelist /tsunami/ bathymetry, streams, restart_from, hours, progress_hours, restart_hours, south, north, &
        basin_degrees, source_lon, source_lat, source_metres
    bathymetry = chosen%bathymetry
    streams = chosen%streams
    restart_from = chosen%restart_from
    hours = chosen%hours
    progress_hours = chosen%progress_hours
    restart_hours = chosen%restart_hours
    south = chosen%south
    north = chosen%north
    basin_degrees = chosen%basin_degrees
    source_lon = chosen%source_lon
    source_lat = chosen%source_lat
    source_metres = chosen%source_metres
    open (newunit=unit, file=path, action="read", status="old", iostat=status, iomsg=message)
    if (status == 0) read (unit, nml=tsunami, iostat=status, iomsg=message)
    if (status /= 0) then
      write (error_unit, '(4a)') "tsunami: cannot read the group &tsunami of ", path, ": ", trim(message)
      error stop 2
    end if
    close (unit)
    chosen = settings(bathymetry, streams, restart_from, hours, progress_hours, restart_hours, south, north, &
        basin_degrees, source_lon, source_lat, source_metres)
  end function read_settings
end module options
