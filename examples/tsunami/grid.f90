! SPDX-License-Identifier: BSD-3-Clause
!
! The grid: longitude, latitude and depth of the cells of this rank's tile, on an Arakawa C grid.
!
!   zeta(i,j)  in the middle of a cell            depth, lon, lat
!   u(i,j)     between cells i and i+1            lon_u          (as many as cells: x is periodic)
!   v(i,j)     between cells j and j+1            lat_v          (one fewer than cells: walls)
module grid_of_earth
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use options, only: settings
  use parallel, only: exchange, make_tiling, tiling
  use shoal
  implicit none
  private
  public :: grid, make_grid

  real(real64), parameter, public :: pi = acos(-1.0_real64)
  real(real64), parameter, public :: radians = pi / 180
  real(real64), parameter, public :: earth_radius = 6371000.0_real64  ! m
  real(real64), parameter, public :: gravity = 9.81_real64            ! m s-2
  real(real64), parameter :: shallowest = 20.0_real64                 ! m; shallower sea is made as deep as this

  type :: grid
    type(tiling) :: tile
    character(len=:), allocatable :: origin                ! where the depths come from, in words
    real(real64), allocatable :: lon(:), lat(:)            ! [nx], [ny] degrees, of the whole grid
    real(real64), allocatable :: lon_u(:), lat_v(:)        ! [nx], [ny-1]
    real(real64), allocatable :: depth(:, :)               ! with halo, m, 0 on land
    real(real64), allocatable :: depth_u(:, :), depth_v(:, :)  ! with halo, 0 where water cannot pass
    real(real64) :: deepest = 0                            ! m, of the whole grid
    real(real64) :: dlon = 0, dlat = 0                     ! degrees
    type(shoal_decomposition) :: cells, u_faces, v_faces   ! of zeta, u and v, without land
  end type grid

contains

  ! Collective.
  function make_grid(comm, chosen) result(earth)
    type(MPI_Comm), intent(in) :: comm
    type(settings), intent(in) :: chosen
    type(grid) :: earth
    logical :: there
    inquire (file=chosen%bathymetry, exist=there)
    if (there) then
      call read_bathymetry(comm, chosen, earth)
    else
      call analytic_basin(comm, chosen, earth)
    end if
    call finish_grid(earth)
  end function make_grid

  ! Read the rows between the walls of a global relief (metres above sea level), each rank its own tile.
  subroutine read_bathymetry(comm, chosen, earth)
    type(MPI_Comm), intent(in) :: comm
    type(settings), intent(in) :: chosen
    type(grid), intent(inout) :: earth
    type(shoal_dataset) :: file
    type(shoal_decomposition) :: part
    type(shoal_var_info) :: relief_info
    type(shoal_dim_info) :: x, y
    real(real64), allocatable :: lon(:), lat(:), relief(:, :)
    integer :: index, nx, below
    call file%open(trim(chosen%bathymetry), comm)
    call file%find_var("ROSE", index)
    call file%inq_var(index, relief_info)
    call file%inq_dim(relief_info%dims(1), x)
    call file%inq_dim(relief_info%dims(2), y)
    allocate (lon(x%length), lat(y%length))
    call file%get(x%name, lon)
    call file%get(y%name, lat)
    nx = int(x%length)
    if (lon(nx) - lon(1) > 360 - 0.5_real64 * (lon(2) - lon(1))) nx = nx - 1  ! the last column is the first one again
    below = count(lat < chosen%south)
    earth%origin = trim(chosen%bathymetry)
    earth%lon = lon(:nx)
    earth%lat = pack(lat, lat >= chosen%south .and. lat <= chosen%north)
    earth%tile = make_tiling(comm, nx, size(earth%lat))
    associate (t => earth%tile)
      ! Our tile in the rows and columns of the file.
      part = shoal_block(t%comm, [x%length, y%length], [t%i1, t%j1 + below], [t%i2, t%j2 + below])
      allocate (relief(t%i1:t%i2, t%j1:t%j2))
      call file%read("ROSE", relief, decomposition=part)
      allocate (earth%depth(t%i1 - 1:t%i2 + 1, t%j1 - 1:t%j2 + 1), source=0.0_real64)
      earth%depth(t%i1:t%i2, t%j1:t%j2) = merge(max(-relief, shallowest), 0.0_real64, relief < 0)
    end associate
    call file%close()
    call part%free()
  end subroutine read_bathymetry

  ! An ocean 4,000 m deep between two continents, where there is no file of depths.
  subroutine analytic_basin(comm, chosen, earth)
    type(MPI_Comm), intent(in) :: comm
    type(settings), intent(in) :: chosen
    type(grid), intent(inout) :: earth
    integer :: i, j, nx, ny
    nx = nint(360 / chosen%basin_degrees)
    ny = nint((chosen%north - chosen%south) / chosen%basin_degrees)
    earth%origin = "an analytic basin (there is no " // trim(chosen%bathymetry) // ")"
    earth%lon = [(20 + (i - 0.5_real64) * chosen%basin_degrees, i=1, nx)]
    earth%lat = [(chosen%south + (j - 0.5_real64) * chosen%basin_degrees, j=1, ny)]
    earth%tile = make_tiling(comm, nx, ny)
    associate (t => earth%tile)
      allocate (earth%depth(t%i1 - 1:t%i2 + 1, t%j1 - 1:t%j2 + 1), source=0.0_real64)
      do j = t%j1, t%j2
        do i = t%i1, t%i2
          ! Asia's coast leans with latitude, America's the other way.
          if (earth%lon(i) > 141 + 0.1_real64 * (earth%lat(j) - 38) .and. earth%lon(i) < 285 - 0.6_real64 * abs(earth%lat(j))) &
              earth%depth(i, j) = 4000 + 800 * cos(6 * radians * earth%lon(i)) * cos(4 * radians * earth%lat(j))
        end do
      end do
    end associate
  end subroutine analytic_basin

  ! All that follows from the depths.
  subroutine finish_grid(earth)
    type(grid), intent(inout) :: earth
    type(shoal_decomposition) :: whole
    integer :: i, j, last_v
    earth%dlon = earth%lon(2) - earth%lon(1)
    earth%dlat = earth%lat(2) - earth%lat(1)
    earth%lon_u = earth%lon + earth%dlon / 2
    earth%lat_v = earth%lat(:size(earth%lat) - 1) + earth%dlat / 2
    associate (t => earth%tile)
      call exchange(t, earth%depth)
      earth%deepest = maxval(earth%depth)
      call MPI_Allreduce(MPI_IN_PLACE, earth%deepest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, t%comm)
      allocate (earth%depth_u, earth%depth_v, mold=earth%depth)
      earth%depth_u = 0
      earth%depth_v = 0
      do j = t%j1 - 1, t%j2 + 1
        do i = t%i1 - 1, t%i2
          earth%depth_u(i, j) = between(earth%depth(i, j), earth%depth(i + 1, j))
        end do
      end do
      do j = t%j1 - 1, t%j2
        if (j < 1 .or. j >= t%ny) cycle
        do i = t%i1 - 1, t%i2 + 1
          earth%depth_v(i, j) = between(earth%depth(i, j), earth%depth(i, j + 1))
        end do
      end do
      last_v = min(t%j2, t%ny - 1)
      ! The model's arrays have one halo cell on every side; v has one row fewer than zeta.
      whole = shoal_block(t%comm, global=[t%nx, t%ny], first=[t%i1, t%j1], last=[t%i2, t%j2], &
          halo_low=[1, 1], halo_high=[1, 1])
      earth%cells = whole%masked(earth%depth)
      earth%u_faces = whole%masked(earth%depth_u)
      call whole%free()
      whole = shoal_block(t%comm, global=[t%nx, t%ny - 1], first=[t%i1, t%j1], last=[t%i2, last_v], &
          halo_low=[1, 1], halo_high=[1, 1 + t%j2 - last_v])
      earth%v_faces = whole%masked(earth%depth_v)
      call whole%free()
    end associate
  end subroutine finish_grid

  ! Depth of a face: the mean, or none if either side is land.
  pure real(real64) function between(here, there)
    real(real64), intent(in) :: here, there
    between = 0
    if (here > 0 .and. there > 0) between = (here + there) / 2
  end function between
end module grid_of_earth
