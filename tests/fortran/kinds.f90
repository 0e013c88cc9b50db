! Every kind of number, and every rank from 0 to 7, goes to the file and comes back.
program kinds
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use mpi
  use shoal
  implicit none
  integer, parameter :: nx = 9, ny = 7
  character(len=*), parameter :: formats(2) = [character(len=8) :: "cdf5", "netcdf4"]
  integer :: rank, ranks, failures = 0, ierr, f

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  do f = 1, size(formats)
    call distributed(trim(formats(f)))
    call ranks_zero_to_seven(trim(formats(f)))
  end do
  call finish()

contains

  subroutine distributed(format)
    character(len=*), intent(in) :: format
    type(shoal_decomposition) :: cells
    type(shoal_dataset) :: file
    integer :: first(2), last(2), i, j
    integer(int8), allocatable :: a1(:, :), b1(:, :)
    integer(int16), allocatable :: a2(:, :), b2(:, :)
    integer(int32), allocatable :: a4(:, :), b4(:, :)
    integer(int64), allocatable :: a8(:, :), b8(:, :)
    real(real32), allocatable :: r4(:, :), s4(:, :)
    real(real64), allocatable :: r8(:, :), s8(:, :), converted(:, :)

    call tiles(nx, ny, first, last)
    allocate (a4(first(1):last(1), first(2):last(2)))
    do j = first(2), last(2)
      do i = first(1), last(1)
        a4(i, j) = i - 10 * j
      end do
    end do
    a1 = int(a4, int8)
    a2 = int(a4, int16) * 100_int16
    a8 = int(a4, int64) * 10000000000_int64
    r4 = real(a4, real32) / 3
    r8 = real(a4, real64) / 3
    ! Global shape and bounds in kinds that differ.
    cells = shoal_block(MPI_COMM_WORLD, global=[nx, ny], first=int(first, int64), last=int(last, int16))
    call file%create("kinds_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("x", nx)
    call file%def_dim("y", int(ny, int64))
    call file%def_var("i1", SHOAL_BYTE, "x y", cells)
    call file%def_var("i2", SHOAL_SHORT, "x y", cells)
    call file%def_var("i4", SHOAL_INT, "x y", cells)
    call file%def_var("i8", SHOAL_INT64, "x y", cells)
    call file%def_var("r4", SHOAL_FLOAT, "x y", cells)
    call file%def_var("r8", SHOAL_DOUBLE, "x y", cells)
    call file%def_var("int_as_double", SHOAL_DOUBLE, "x y", cells)
    call file%write("i1", a1)
    call file%write("i2", a2)
    call file%write("i4", a4)
    call file%write("i8", a8)
    call file%write("r4", r4)
    call file%write("r8", r8)
    call file%write("int_as_double", a2)
    call file%close()
    call check(.not. file%is_open(), "a closed dataset is closed")

    call file%open("kinds_" // format // ".nc", MPI_COMM_WORLD)
    allocate (b1, mold=a1)
    allocate (b2, mold=a2)
    allocate (b4, mold=a4)
    allocate (b8, mold=a8)
    allocate (s4, mold=r4)
    allocate (s8, mold=r8)
    allocate (converted, mold=r8)
    call file%read("i1", b1, decomposition=cells)
    call file%read("i2", b2, decomposition=cells)
    call file%read("i4", b4, decomposition=cells)
    call file%read("i8", b8, decomposition=cells)
    call file%read("r4", s4, decomposition=cells)
    call file%read("r8", s8, decomposition=cells)
    call file%read("int_as_double", converted, decomposition=cells)
    call check(all(a1 == b1), format // ": integer(1)")
    call check(all(a2 == b2), format // ": integer(2)")
    call check(all(a4 == b4), format // ": integer(4)")
    call check(all(a8 == b8), format // ": integer(8)")
    call check(all(r4 == s4), format // ": real(4)")
    call check(all(r8 == s8), format // ": real(8)")
    call check(all(converted == real(a2, real64)), format // ": converted by the library")
    call file%read("i4", s8, decomposition=cells)
    call check(all(s8 == real(a4, real64)), format // ": integers read as real")
    call file%close()
    call cells%free()
  end subroutine distributed

  subroutine ranks_zero_to_seven(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    integer :: i
    integer :: v0, w0
    integer :: v1(2), v2(2, 3), v3(2, 3, 2), v4(2, 3, 2, 1), v5(2, 3, 2, 1, 2), v6(2, 3, 2, 1, 2, 3), v7(2, 3, 2, 1, 2, 3, 2)
    integer :: w1(2), w2(2, 3), w3(2, 3, 2), w4(2, 3, 2, 1), w5(2, 3, 2, 1, 2), w6(2, 3, 2, 1, 2, 3), w7(2, 3, 2, 1, 2, 3, 2)
    v0 = 42
    v7 = reshape([(i, i=1, size(v7))], shape(v7))
    v6 = v7(:, :, :, :, :, :, 2)
    v5 = v6(:, :, :, :, :, 2)
    v4 = v5(:, :, :, :, 2)
    v3 = v4(:, :, :, 1)
    v2 = v3(:, :, 2)
    v1 = v2(:, 2)
    call file%create("ranks_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("a", 2)
    call file%def_dim("b", 3)
    call file%def_dim("c", 2)
    call file%def_dim("d", 1)
    call file%def_dim("e", 2)
    call file%def_dim("f", 3)
    call file%def_dim("g", 2)
    call file%def_var("v0", SHOAL_INT, "")
    call file%def_var("v1", SHOAL_INT, "a")
    call file%def_var("v2", SHOAL_INT, "a b")
    call file%def_var("v3", SHOAL_INT, "a b c")
    call file%def_var("v4", SHOAL_INT, "a b c d")
    call file%def_var("v5", SHOAL_INT, "a b c d e")
    call file%def_var("v6", SHOAL_INT, "a b c d e f")
    call file%def_var("v7", SHOAL_INT, "a b c d e f g")
    call file%put("v0", v0)
    call file%put("v1", v1)
    call file%put("v2", v2)
    call file%put("v3", v3)
    call file%put("v4", v4)
    call file%put("v5", v5)
    call file%put("v6", v6)
    call file%put("v7", v7)
    call file%close()
    call file%open("ranks_" // format // ".nc", MPI_COMM_WORLD)
    call file%get("v0", w0)
    call file%get("v1", w1)
    call file%get("v2", w2)
    call file%get("v3", w3)
    call file%get("v4", w4)
    call file%get("v5", w5)
    call file%get("v6", w6)
    call file%get("v7", w7)
    call check(w0 == v0, format // ": a scalar")
    call check(all(w1 == v1), format // ": rank 1")
    call check(all(w2 == v2), format // ": rank 2")
    call check(all(w3 == v3), format // ": rank 3")
    call check(all(w4 == v4), format // ": rank 4")
    call check(all(w5 == v5), format // ": rank 5")
    call check(all(w6 == v6), format // ": rank 6")
    call check(all(w7 == v7), format // ": rank 7")
    call file%close()
  end subroutine ranks_zero_to_seven

  include "check.inc"
end program kinds
