! Arrays with halo, staggered grids with shapes of their own, levels that are not cut, ranks that own nothing.
program halos
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi
  use shoal
  implicit none
  integer, parameter :: nx = 11, ny = 9, nz = 3
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call with_halo("cdf5")
  call with_halo("netcdf4")
  call with_an_idle_rank("netcdf4")
  call finish()

contains

  double precision function expected(i, j, k)
    integer, intent(in) :: i, j, k
    expected = i + 100d0 * j + 10000d0 * k
  end function expected

  subroutine with_halo(format)
    character(len=*), intent(in) :: format
    type(shoal_decomposition) :: rho, u
    type(shoal_dataset) :: file
    integer :: first(2), last(2), last_u(2), i, j, k, low(2), high(2)
    integer(int64), allocatable :: g(:), f(:), l(:), hl(:), hh(:)
    double precision, allocatable :: t(:, :, :), v(:, :), back(:, :, :)

    call tiles(nx, ny, first, last)
    last_u = last
    if (last(1) == nx) last_u(1) = nx - 1
    low = [2, 1]
    high = [1, 3]
    rho = shoal_block(MPI_COMM_WORLD, global=[nx, ny], first=first, last=last, halo_low=low, halo_high=high)
    u = shoal_block(MPI_COMM_WORLD, global=[nx - 1, ny], first=first, last=last_u, halo_low=[1, 1], halo_high=[1, 1])
    call rho%inquire(g, f, l, hl, hh)
    call check(all(g == [nx, ny]) .and. all(f == first) .and. all(l == last), "inquire gives the tile")
    call check(all(hl == low) .and. all(hh == high), "inquire gives the halo")

    allocate (t(first(1) - 2:last(1) + 1, first(2) - 1:last(2) + 3, nz), source=-77d0)
    allocate (v(first(1) - 1:last_u(1) + 1, first(2) - 1:last(2) + 1), source=-77d0)
    do k = 1, nz
      do j = first(2), last(2)
        do i = first(1), last(1)
          t(i, j, k) = expected(i, j, k)
          if (i <= last_u(1)) v(i, j) = expected(i, j, 9)
        end do
      end do
    end do
    call file%create("halos_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("x", nx)
    call file%def_dim("x_u", nx - 1)
    call file%def_dim("y", ny)
    call file%def_dim("z", nz)
    ! The cut dimensions are the first ones of the decomposition: levels come after them in Fortran order.
    call file%def_var("t", SHOAL_DOUBLE, "x y z", rho)
    call file%def_var("u", SHOAL_DOUBLE, "x_u y", u)
    call file%write("t", t)
    call file%write("u", v)
    call file%close()

    call file%open("halos_" // format // ".nc", MPI_COMM_WORLD)
    allocate (back, mold=t)
    back = -1
    call file%read("t", back, decomposition=rho)
    do k = 1, nz
      do j = lbound(t, 2), ubound(t, 2)
        do i = lbound(t, 1), ubound(t, 1)
          if (i >= 1 .and. i <= nx .and. j >= 1 .and. j <= ny) then
            call check(back(i, j, k) == expected(i, j, k), format // ": halo cells inside of the field are filled")
          else
            call check(back(i, j, k) == -1, format // ": halo cells outside are left alone")
          end if
        end do
      end do
    end do
    v = -1
    call file%read("u", v(first(1):last_u(1), first(2):last(2)), decomposition=u)
    do j = first(2), last(2)
      do i = first(1), last_u(1)
        call check(v(i, j) == expected(i, j, 9), format // ": staggered, read without halo")
      end do
    end do
    call file%close()
    call rho%free()
    call u%free()
  end subroutine with_halo

  subroutine with_an_idle_rank(format)
    character(len=*), intent(in) :: format
    type(shoal_decomposition) :: rows
    type(shoal_dataset) :: file
    real, allocatable :: a(:, :), all_of_it(:, :)
    integer :: first, last
    ! The last row belongs to nobody (land), and with more than one rank the last rank owns nothing.
    call cut(ny - 1, max(1, ranks - 1), rank, first, last)
    if (ranks > 1 .and. rank == ranks - 1) last = first - 1
    rows = shoal_block(MPI_COMM_WORLD, [nx, ny], [1, first], [nx, last])
    allocate (a(nx, last - first + 1), source=real(rank + 1))
    call file%create("idle_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("x", nx)
    call file%def_dim("y", ny)
    call file%def_var("a", SHOAL_FLOAT, "x y", rows)
    call file%def_fill("a", -5d0)
    call file%write("a", a)
    call file%close()
    call file%open("idle_" // format // ".nc", MPI_COMM_WORLD)
    allocate (all_of_it(nx, ny), source=0.0)
    call file%get("a", all_of_it)
    call check(all(all_of_it(:, ny) == -5.0), format // ": cells that nobody owns have the fill value")
    if (last >= first) call check(all(all_of_it(:, first:last) == real(rank + 1)), format // ": the others do not")
    call file%close()
    call rows%free()
  end subroutine with_an_idle_rank

  include "check.inc"
end program halos
