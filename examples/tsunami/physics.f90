! SPDX-License-Identifier: BSD-3-Clause
!
! Linear shallow-water equations on the sphere: a long wave of height zeta and depth-mean velocity (u, v).
!
!   d zeta / dt = - 1/(R cos lat) ( d(H u)/d lon + d(H v cos lat)/d lat )
!   d u / dt    =   f v - g/(R cos lat) d zeta/d lon
!   d v / dt    = - f u - g/R d zeta/d lat
!
! Forward-backward in time: velocities from the old height, the height from the new velocities; stable
! while c dt sqrt(1/dx^2 + 1/dy^2) <= 1. Each cell's arithmetic is the same on any number of ranks, to the bit.
module physics
  use, intrinsic :: iso_fortran_env, only: real64
  use grid_of_earth, only: earth_radius, gravity, grid, pi, radians
  use parallel, only: exchange
  implicit none
  private
  public :: ocean, calm_ocean, earthquake, longest_step, advance

  real(real64), parameter :: rotation = 7.2921e-5_real64       ! of the earth, s-1
  real(real64), parameter, public :: arrival_height = 0.01_real64  ! m; a wave of this height has arrived

  type :: ocean
    real(real64), allocatable :: zeta(:, :), u(:, :), v(:, :)  ! with halo; m, m s-1, m s-1
    real(real64), allocatable :: arrival(:, :)    ! seconds after the earthquake, negative: not yet
    integer :: steps = 0                          ! since the earthquake
    real(real64) :: dt = 0                        ! s
  end type ocean

contains

  ! Water at rest.
  function calm_ocean(earth, dt) result(sea)
    type(grid), intent(in) :: earth
    real(real64), intent(in) :: dt
    type(ocean) :: sea
    allocate (sea%zeta, sea%u, sea%v, sea%arrival, mold=earth%depth)
    sea%zeta = 0
    sea%u = 0
    sea%v = 0
    sea%arrival = -1
    sea%dt = dt
  end function calm_ocean

  ! The sea bed off Japan rises along the trench and sinks nearer to the coast; the water above follows.
  subroutine earthquake(earth, sea, lon, lat, metres)
    type(grid), intent(inout) :: earth
    type(ocean), intent(inout) :: sea
    real(real64), intent(in) :: lon, lat, metres
    real(real64), parameter :: strike = 200 * radians             ! clockwise from north
    real(real64), parameter :: half_length = 180e3_real64, half_width = 60e3_real64, apart = 120e3_real64  ! m
    real(real64) :: x, y, along, across, up, down
    integer :: i, j
    associate (t => earth%tile)
      do j = t%j1, t%j2
        do i = t%i1, t%i2
          if (earth%depth(i, j) <= 0) cycle
          x = earth_radius * cos(lat * radians) * (earth%lon(i) - lon) * radians
          y = earth_radius * (earth%lat(j) - lat) * radians
          along = x * sin(strike) + y * cos(strike)
          across = x * cos(strike) - y * sin(strike)  ! grows to the west, towards the coast
          across = -across
          up = exp(-(along / half_length)**2 - (across / half_width)**2)
          down = exp(-(along / half_length)**2 - ((across + apart) / half_width)**2)
          sea%zeta(i, j) = metres * (up - 0.3_real64 * down)
          if (abs(sea%zeta(i, j)) >= arrival_height) sea%arrival(i, j) = 0
        end do
      end do
      call exchange(t, sea%zeta)
    end associate
  end subroutine earthquake

  ! 80 % of the longest stable step, s.
  real(real64) function longest_step(earth)
    type(grid), intent(in) :: earth
    real(real64) :: dx, dy
    dy = earth_radius * earth%dlat * radians
    dx = earth_radius * earth%dlon * radians * cos(maxval(abs(earth%lat)) * radians)
    longest_step = 0.8_real64 / sqrt(gravity * earth%deepest * (1 / dx**2 + 1 / dy**2))
  end function longest_step

  ! One step of all fields.
  subroutine advance(earth, sea)
    type(grid), intent(inout) :: earth
    type(ocean), intent(inout) :: sea
    call advance_u(earth, sea)
    call advance_v(earth, sea)
    call exchange(earth%tile, sea%v)
    call advance_zeta(earth, sea)
    call exchange(earth%tile, sea%zeta)
  end subroutine advance

  ! Also west and north of the tile, where the other velocities need it: cheaper than a message.
  subroutine advance_u(earth, sea)
    type(grid), intent(in) :: earth
    type(ocean), intent(inout) :: sea
    real(real64) :: slope, turn, v_here
    integer :: i, j
    associate (t => earth%tile, u => sea%u, v => sea%v, zeta => sea%zeta)
      do j = t%j1, min(t%j2 + 1, t%ny)
        turn = sea%dt * 2 * rotation * sin(earth%lat(j) * radians)
        slope = sea%dt * gravity / (earth_radius * cos(earth%lat(j) * radians) * earth%dlon * radians)
        do i = t%i1 - 1, t%i2
          v_here = (v(i, j) + v(i + 1, j) + v(i, j - 1) + v(i + 1, j - 1)) / 4
          u(i, j) = merge(u(i, j) + turn * v_here - slope * (zeta(i + 1, j) - zeta(i, j)), 0.0_real64, earth%depth_u(i, j) > 0)
        end do
      end do
    end associate
  end subroutine advance_u

  subroutine advance_v(earth, sea)
    type(grid), intent(in) :: earth
    type(ocean), intent(inout) :: sea
    real(real64) :: slope, turn, u_here
    integer :: i, j
    associate (t => earth%tile, u => sea%u, v => sea%v, zeta => sea%zeta)
      slope = sea%dt * gravity / (earth_radius * earth%dlat * radians)
      do j = t%j1, min(t%j2, t%ny - 1)
        turn = sea%dt * 2 * rotation * sin(earth%lat_v(j) * radians)
        do i = t%i1, t%i2
          u_here = (u(i, j) + u(i - 1, j) + u(i, j + 1) + u(i - 1, j + 1)) / 4
          v(i, j) = merge(v(i, j) - turn * u_here - slope * (zeta(i, j + 1) - zeta(i, j)), 0.0_real64, earth%depth_v(i, j) > 0)
        end do
      end do
    end associate
  end subroutine advance_v

  ! The height, and when the first wave came.
  subroutine advance_zeta(earth, sea)
    type(grid), intent(in) :: earth
    type(ocean), intent(inout) :: sea
    real(real64) :: across, along, cos_south, cos_north, now
    integer :: i, j
    sea%steps = sea%steps + 1
    now = sea%steps * sea%dt
    associate (t => earth%tile, u => sea%u, v => sea%v, zeta => sea%zeta)
      do j = t%j1, t%j2
        across = sea%dt / (earth_radius * cos(earth%lat(j) * radians) * earth%dlon * radians)
        along = sea%dt / (earth_radius * cos(earth%lat(j) * radians) * earth%dlat * radians)
        cos_south = cos((earth%lat(j) - earth%dlat / 2) * radians)
        cos_north = cos((earth%lat(j) + earth%dlat / 2) * radians)
        do i = t%i1, t%i2
          zeta(i, j) = zeta(i, j) - across * (earth%depth_u(i, j) * u(i, j) - earth%depth_u(i - 1, j) * u(i - 1, j)) &
              - along * (earth%depth_v(i, j) * v(i, j) * cos_north - earth%depth_v(i, j - 1) * v(i, j - 1) * cos_south)
          sea%arrival(i, j) = merge(now, sea%arrival(i, j), sea%arrival(i, j) < 0 .and. abs(zeta(i, j)) >= arrival_height)
        end do
      end do
    end associate
  end subroutine advance_zeta
end module physics
