! Sections, reversed sections, components of derived types, pointers, assumed-size arrays and arrays
! of no size are written and read in place.
program strides
  use mpi
  use shoal
  implicit none
  type :: cell
    real :: depth
    integer :: flag
    double precision :: area
  end type cell
  integer, parameter :: nx = 8, ny = 12
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call sections("cdf2")
  call sections("netcdf4")
  call finish()

contains

  real function expected(i, j)
    integer, intent(in) :: i, j
    expected = real(i) + 100 * real(j)
  end function expected

  subroutine sections(format)
    character(len=*), intent(in) :: format
    type(shoal_decomposition) :: cells, one_rank
    type(shoal_dataset) :: file
    type(cell), allocatable :: ocean(:, :)
    real, allocatable, target :: wide(:, :), plain(:, :)
    real, pointer :: pointed(:, :)
    integer :: first(2), last(2), i, j, stat, owned(2)
    character(len=200) :: message

    call tiles(nx, ny, first, last)
    allocate (plain(first(1):last(1), first(2):last(2)))
    do j = first(2), last(2)
      do i = first(1), last(1)
        plain(i, j) = expected(i, j)
      end do
    end do
    associate (mx => last(1) - first(1) + 1, my => last(2) - first(2) + 1)
      cells = shoal_block(MPI_COMM_WORLD, [nx, ny], first, last)
      ! Rank 0 owns all, the others nothing: their arrays have no size.
      owned = merge([nx, ny], [0, 0], rank == 0)
      one_rank = shoal_block(MPI_COMM_WORLD, [nx, ny], [1, 1], owned)
      call file%create("strides_" // format // ".nc", MPI_COMM_WORLD, format=format)
      call file%def_dim("x", nx)
      call file%def_dim("y", ny)
      call file%def_var("every_second", SHOAL_FLOAT, "x y", cells)
      call file%def_var("reversed", SHOAL_FLOAT, "x y", cells)
      call file%def_var("component", SHOAL_FLOAT, "x y", cells)
      call file%def_var("pointer", SHOAL_FLOAT, "x y", cells)
      call file%def_var("assumed_size", SHOAL_FLOAT, "x y", cells)
      call file%def_var("expression", SHOAL_FLOAT, "x y", cells)
      call file%def_var("one_rank", SHOAL_FLOAT, "x y", one_rank)

      allocate (wide(2 * mx + 3, 3 * my + 5))
      wide = -1
      wide(3:2 * mx + 1:2, 5:3 * my + 2:3) = plain
      call file%write("every_second", wide(3:2 * mx + 1:2, 5:3 * my + 2:3))
      wide(1:mx, 1:my) = plain(last(1):first(1):-1, last(2):first(2):-1)
      call file%write("reversed", wide(mx:1:-1, my:1:-1))
      allocate (ocean(mx, my))
      ocean%depth = plain
      ocean%flag = -7
      ocean%area = 0
      call file%write("component", ocean%depth)
      pointed => wide(mx:1:-1, my:1:-1)
      call file%write("pointer", pointed)
      call assumed_size(file, plain, mx, my, stat, message)
      call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "assumed-size") > 0, format // ": assumed-size is refused")
      call file%write("expression", 2 * plain)
    end associate
    if (rank == 0) then
      if (allocated(wide)) deallocate (wide)
      allocate (wide(nx, ny))
      wide = reshape([((expected(i, j), i=1, nx), j=1, ny)], [nx, ny])
    else
      deallocate (wide)
      allocate (wide(0, 0))
    end if
    call file%write("one_rank", wide)
    call file%close()

    call file%open("strides_" // format // ".nc", MPI_COMM_WORLD)
    call compare(file, cells, "every_second", plain)
    call compare(file, cells, "reversed", plain)
    call compare(file, cells, "component", plain)
    call compare(file, cells, "pointer", plain)
    call compare(file, cells, "assumed_size", plain)
    call compare(file, cells, "expression", 2 * plain)
    call compare(file, cells, "one_rank", plain)
    deallocate (wide)
    allocate (wide(3 * size(plain, 1), 2 * size(plain, 2)))
    wide = -5
    call file%read("component", wide(size(wide, 1) - 1:1:-3, 2::2), decomposition=cells)
    call check(all(wide(size(wide, 1) - 1:1:-3, 2::2) == plain), format // ": read into a reversed section")
    call check(count(wide == -5) == size(wide) - size(plain), format // ": nothing else was touched")
    call file%close()
    call cells%free()
    call one_rank%free()
  end subroutine sections

  subroutine compare(file, cells, name, expected_values)
    type(shoal_dataset), intent(in) :: file
    type(shoal_decomposition), intent(in) :: cells
    character(len=*), intent(in) :: name
    real, intent(in) :: expected_values(:, :)
    real :: back(size(expected_values, 1), size(expected_values, 2))
    back = -9
    call file%read(name, back, decomposition=cells)
    call check(all(back == expected_values), name)
  end subroutine compare

  subroutine assumed_size(file, a, mx, my, stat, message)
    type(shoal_dataset), intent(inout) :: file
    integer, intent(in) :: mx, my
    real, intent(in) :: a(mx, *)
    integer, intent(out) :: stat
    character(len=*), intent(inout) :: message
    type(shoal_dataset) :: closed
    ! On a dataset that is not open nothing can come of it but the message.
    call closed%write("assumed_size", a, stat=stat, errmsg=message)
    call file%write("assumed_size", a(:, 1:my))
  end subroutine assumed_size

  include "check.inc"
end program strides
