! Decompositions that come with the write (def_cut), cells that nobody owns filled then (fill=written), and attributes
! of which rank 0's count (attributes=rank0).
program cut_later
  use mpi
  use shoal
  implicit none
  integer, parameter :: nx = 11, ny = 7
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call write_and_read("cdf2")
  call write_and_read("netcdf4")
  call finish()

contains

  elemental real function expected(i, j, step)
    integer, intent(in) :: i, j, step
    expected = real(i + 20 * j + 400 * step)
    if (j == ny) expected = -1.0  ! nobody owns the last row
  end function expected

  subroutine write_and_read(format)
    character(len=*), intent(in) :: format
    type(shoal_decomposition) :: cells
    type(shoal_dataset) :: file
    type(shoal_var_info) :: info
    character(len=400) :: message
    character(len=5) :: clock
    real, allocatable :: a(:, :)
    real :: all(nx, ny)
    integer :: first(2), last(2), i, j, step, stat
    call tiles(nx, ny - 1, first, last)
    cells = shoal_block(MPI_COMM_WORLD, [nx, ny], first, last)
    call file%create("cut_later.nc", MPI_COMM_WORLD, format=format, &
                     settings="fill=written, attributes=rank0, quantize=bitround:20")
    call file%def_dim("x", nx)
    call file%def_dim("y", ny)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("t", SHOAL_FLOAT, "x y time")
    call file%def_var("times", SHOAL_DOUBLE, "time")
    call file%put_att("t", "_FillValue", -1.0)
    call file%def_cut("t")
    call file%def_cut("times", stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT, format // ": nothing but records cannot be cut")
    write (clock, "(a, i0)") "rank", rank
    call file%put_att(SHOAL_GLOBAL, "clock", clock)
    call file%end_define()
    call file%def_cut("t", stat=stat, errmsg=message)
    call check(stat == SHOAL_STATE .and. index(message, "t") > 0, format // ": too late for def_cut")
    do step = 1, 2
      a = reshape([((expected(i, j, step), i = first(1), last(1)), j = first(2), last(2))], &
                  last - first + 1)
      call file%write("t", a, record=step, decomposition=cells)
      call file%write("t", a, record=step)  ! with the same one
    end do
    call file%close()

    call file%open("cut_later.nc", MPI_COMM_WORLD)
    clock = ""
    call file%get_att(SHOAL_GLOBAL, "clock", clock)
    call check(clock == "rank0", format // ": rank 0's attribute, not " // clock)
    call file%find_att("t", "quantization_nsb", i, stat=stat, errmsg=message)
    call check(stat == SHOAL_OK, format // ": quantized, as variables with a decomposition")
    call file%find_var("t", i)
    call file%inq_var(i, info)
    do step = 1, 2
      call file%get("t", all, record=step)
      call check(all(1, ny) == -1.0, format // ": the fill value")
      call check(count(all /= reshape([((expected(i, j, step), i = 1, nx), j = 1, ny)], [nx, ny])) == 0, format // ": values")
    end do
    call file%close()
    call cells%free()
  end subroutine write_and_read

  include "check.inc"

end program cut_later
