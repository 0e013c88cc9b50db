! SPDX-License-Identifier: BSD-3-Clause
!
! What the run shows: one line that moves on a terminal, a line a record elsewhere; tables at the end.
module terminal
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: output_unit
  use mpi_f08
  use grid_of_earth, only: grid
  use physics, only: ocean
  implicit none
  private
  public :: show_start, show_progress, show_arrivals, show_times

  interface
    integer(c_int) function c_isatty(descriptor) bind(C, name="isatty")
      import :: c_int
      integer(c_int), value :: descriptor
    end function c_isatty
    ! Of this machine.
    integer(c_int) function cores_of_machine() bind(C, name="get_nprocs")
      import :: c_int
    end function cores_of_machine
  end interface

contains

  subroutine show_start(earth, sea, hours)
    type(grid), intent(in) :: earth
    type(ocean), intent(in) :: sea
    double precision, intent(in) :: hours
    if (earth%tile%rank /= 0) return
    print '(a)', "Tsunami on " // earth%origin
    print '(a,i0,a,i0,a,i0,a,f0.1,a)', "  ", size(earth%lon), " x ", size(earth%lat), " cells on ", earth%tile%ranks, &
        " ranks, ", sea%dt, " s a step"
    print '(a,f4.1,a,f4.1,a)', "  from hour ", sea%steps * sea%dt / 3600, " to hour ", hours, " after the earthquake"
    flush (output_unit)
  end subroutine show_start

  ! Collective: the highest wave is sought on all ranks.
  subroutine show_progress(earth, sea, hours, seconds)
    type(grid), intent(in) :: earth
    type(ocean), intent(in) :: sea
    double precision, intent(in) :: hours, seconds
    integer, parameter :: bar_width = 30
    double precision :: peak, now
    integer :: done
    associate (t => earth%tile)
      peak = maxval(sea%zeta(t%i1:t%i2, t%j1:t%j2))
      call MPI_Allreduce(MPI_IN_PLACE, peak, 1, MPI_DOUBLE_PRECISION, MPI_MAX, t%comm)
      if (t%rank /= 0) return
    end associate
    now = sea%steps * sea%dt / 3600
    done = min(bar_width, int(bar_width * now / hours))
    if (watched()) then
      write (*, '(a)', advance="no") achar(13) // "  [" // repeat("#", done) // repeat(".", bar_width - done) // "]"
      write (*, '(f6.1,a,f5.2,a,f6.1,a)', advance="no") now, " h   highest wave ", peak, " m  ", seconds, " s "
      if (now >= hours - 1d-6) write (*, *)
    else
      write (*, '(a,f6.1,a,f5.2,a,f6.1,a)') "  hour", now, "   highest wave ", peak, " m   after", seconds, " s"
    end if
    flush (output_unit)
  end subroutine show_progress

  ! Whether standard output is a terminal. Some launchers give every rank one of its own, so whoever
  ! starts the run elsewhere says so: TSUNAMI_PROGRESS=plain.
  logical function watched()
    character(len=8) :: wish
    call get_environment_variable("TSUNAMI_PROGRESS", wish)
    watched = c_isatty(1_c_int) == 1 .and. wish /= "plain"
  end function watched

  ! When the first wave came to places known from 2011. Collective.
  subroutine show_arrivals(earth, sea)
    type(grid), intent(in) :: earth
    type(ocean), intent(in) :: sea
    character(len=14), parameter :: places(6) = [character(len=14) :: &
        "Midway", "Honolulu", "Crescent City", "Papeete", "Valparaiso", "Wellington"]
    double precision, parameter :: lons(6) = [182.6d0, 202.1d0, 235.8d0, 210.4d0, 288.4d0, 174.8d0]
    double precision, parameter :: lats(6) = [28.2d0, 21.3d0, 41.7d0, -17.5d0, -33.0d0, -41.4d0]
    double precision, parameter :: near = 0.75d0  ! degrees
    double precision :: first(6)
    integer :: p, i, j
    first = huge(first)
    associate (t => earth%tile)
      do p = 1, size(places)
        do j = t%j1, t%j2
          if (abs(earth%lat(j) - lats(p)) > near) cycle
          do i = t%i1, t%i2
            if (abs(earth%lon(i) - lons(p)) > near .or. earth%depth(i, j) <= 0 .or. sea%arrival(i, j) < 0) cycle
            first(p) = min(first(p), sea%arrival(i, j))
          end do
        end do
      end do
      call MPI_Allreduce(MPI_IN_PLACE, first, size(first), MPI_DOUBLE_PRECISION, MPI_MIN, t%comm)
      if (t%rank /= 0) return
    end associate
    print '(a)', "First wave (1 cm), hours after the earthquake"
    do p = 1, size(places)
      if (first(p) < huge(first)) then
        print '(2a,f6.1)', "  ", places(p), first(p) / 3600
      else
        print '(3a)', "  ", places(p), "     -"
      end if
    end do
  end subroutine show_arrivals

  ! seconds: compute, halo exchange, output (with the waiting in it) of this rank. Collective.
  subroutine show_times(earth, seconds, total)
    type(grid), intent(in) :: earth
    double precision, intent(in) :: seconds(3), total
    character(len=26), parameter :: names(3) = [character(len=26) :: "compute", "halo exchange", "output"]
    double precision :: low(3), mean(3), high(3)
    type(MPI_Comm) :: node
    integer :: k, ranks_here, cores
    call MPI_Comm_split_type(earth%tile%comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node)
    call MPI_Comm_size(node, ranks_here)
    call MPI_Comm_free(node)
    cores = cores_of_machine()
    call MPI_Allreduce(seconds, low, 3, MPI_DOUBLE_PRECISION, MPI_MIN, earth%tile%comm)
    call MPI_Allreduce(seconds, mean, 3, MPI_DOUBLE_PRECISION, MPI_SUM, earth%tile%comm)
    call MPI_Allreduce(seconds, high, 3, MPI_DOUBLE_PRECISION, MPI_MAX, earth%tile%comm)
    if (earth%tile%rank /= 0) return
    mean = mean / earth%tile%ranks
    print '(a)', "Where the time went          mean s   least s    most s   share"
    do k = 1, 3
      print '(2a,3f10.2,f7.1,a)', "  ", names(k), mean(k), low(k), high(k), 100 * mean(k) / total, " %"
    end do
    print '(2a,f10.2)', "  ", "all                       ", total
    if (ranks_here > cores) print '(a,i0,a,i0,a)', "  ", ranks_here, " ranks share ", cores, &
        " cores: halo exchange is mostly waiting for a neighbour that has no core, not sending"
  end subroutine show_times
end module terminal
