! SPDX-License-Identifier: BSD-3-Clause
!
! The ranks as a grid of tiles, and the exchange of one row of halo cells between them.
! The sphere is periodic in x (longitude); south and north are walls.
module parallel
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  implicit none
  private
  public :: tiling, make_tiling, exchange

  type :: tiling
    type(MPI_Comm) :: comm
    integer :: rank = 0, ranks = 1
    integer :: nx = 0, ny = 0                  ! cells of the whole grid
    integer :: i1 = 1, i2 = 0, j1 = 1, j2 = 0  ! own cells, inclusive
    integer :: west = 0, east = 0, south = 0, north = 0  ! neighbours; MPI_PROC_NULL behind a wall
    double precision :: seconds = 0            ! spent in exchange
  end type tiling

contains

  ! Cut nx times ny cells over all ranks of comm, tiles as square as the number of ranks allows.
  function make_tiling(comm, nx, ny) result(tile)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: nx, ny
    type(tiling) :: tile
    integer :: parts(2), place(2)
    call MPI_Comm_size(comm, tile%ranks)
    parts = 0
    call MPI_Dims_create(tile%ranks, 2, parts)
    call MPI_Cart_create(comm, 2, parts, [.true., .false.], .false., tile%comm)
    call MPI_Comm_rank(tile%comm, tile%rank)
    call MPI_Cart_coords(tile%comm, tile%rank, 2, place)
    call MPI_Cart_shift(tile%comm, 0, 1, tile%west, tile%east)
    call MPI_Cart_shift(tile%comm, 1, 1, tile%south, tile%north)
    tile%nx = nx
    tile%ny = ny
    tile%i1 = nx * place(1) / parts(1) + 1
    tile%i2 = nx * (place(1) + 1) / parts(1)
    tile%j1 = ny * place(2) / parts(2) + 1
    tile%j2 = ny * (place(2) + 1) / parts(2)
  end function make_tiling

  ! Fill the halo of a, corners included: first west and east, then whole rows south and north.
  subroutine exchange(tile, a)
    type(tiling), intent(inout) :: tile
    real(real64), contiguous, intent(inout) :: a(tile%i1 - 1:, tile%j1 - 1:)
    real(real64) :: out(tile%j1:tile%j2), in(tile%j1:tile%j2)
    double precision :: begin
    integer :: rows, cells
    begin = MPI_Wtime()
    associate (i1 => tile%i1, i2 => tile%i2, j1 => tile%j1, j2 => tile%j2, double => MPI_DOUBLE_PRECISION, &
        any_status => MPI_STATUS_IGNORE)
      rows = j2 - j1 + 1
      cells = i2 - i1 + 3
      out = a(i1, j1:j2)
      call MPI_Sendrecv(out, rows, double, tile%west, 1, in, rows, double, tile%east, 1, tile%comm, any_status)
      a(i2 + 1, j1:j2) = in
      out = a(i2, j1:j2)
      call MPI_Sendrecv(out, rows, double, tile%east, 2, in, rows, double, tile%west, 2, tile%comm, any_status)
      a(i1 - 1, j1:j2) = in
      call MPI_Sendrecv(a(i1 - 1, j1), cells, double, tile%south, 3, a(i1 - 1, j2 + 1), cells, double, tile%north, 3, &
          tile%comm, any_status)
      call MPI_Sendrecv(a(i1 - 1, j2), cells, double, tile%north, 4, a(i1 - 1, j1 - 1), cells, double, tile%south, 4, &
          tile%comm, any_status)
    end associate
    tile%seconds = tile%seconds + (MPI_Wtime() - begin)
  end subroutine exchange
end module parallel
