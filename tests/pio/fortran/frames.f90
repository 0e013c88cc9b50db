! Frames: which record, or index of the last dimension, pio_write_darray and pio_read_darray mean.
program frames
  use pio
  use piolib_mod, only: PIO_advanceframe
  use pio_test
  implicit none
  integer, parameter :: nx = 7, ny = 6, o = PIO_OFFSET_KIND
  integer :: f, first(2), last(2), ierr
  type(io_desc_t) :: plane
  real(8), allocatable :: a(:), b(:)

  call begin()
  call tile(nx, ny, first, last)
  call PIO_initdecomp(ios, PIO_double, [nx, ny], list_of(nx, ny, 1, first, last), plane)
  a = real(list_of(nx, ny, 1, first, last), 8)
  allocate (b(size(a)))
  do f = 1, nformats
    call records(f)
    call fixed_dimension(f)
    call part_of_decomposition(f)
    call more_dimensions(f)
  end do
  call PIO_freedecomp(ios, plane)
  deallocate (a, b)
  call finish()

contains

  subroutine create(file, name, f)
    type(file_desc_t), intent(out) :: file
    character(len=*), intent(in) :: name
    integer, intent(in) :: f
    call ok(PIO_createfile(ios, file, iotypes(f), file_name(name, f), modes(f)), name // ": createfile")
  end subroutine create

  subroutine compare(file, v, record, factor, what)
    type(file_desc_t), intent(inout) :: file
    type(var_desc_t), intent(in) :: v
    integer, intent(in) :: record, factor
    character(len=*), intent(in) :: what
    call PIO_setframe(file, v, int(record, o))
    b = -1
    call PIO_read_darray(file, v, plane, b, ierr)
    call ok(ierr, what // ": read")
    call check(all(b == factor * a), what)
  end subroutine compare

  ! Out of order, two variables with frames of their own, a second descriptor of one variable, none at first.
  subroutine records(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: u, v, again
    integer :: x, y, t, length
    call create(file, "frames", f)
    call ok(PIO_def_dim(file, "x", nx, x), "x")
    call ok(PIO_def_dim(file, "y", ny, y), "y")
    call ok(PIO_def_dim(file, "time", PIO_unlimited, t), "time")
    call ok(PIO_def_var(file, "u", PIO_double, [x, y, t], u), "u")
    call ok(PIO_def_var(file, "v", PIO_real, [x, y, t], v), "v")
    call ok(PIO_enddef(file), "enddef")
    call PIO_seterrorhandling(file, PIO_return_error)
    call PIO_write_darray(file, u, plane, a, ierr)
    call is(ierr, PIO_einval, "write without a frame")
    call PIO_setframe(file, u, 3_o)
    call PIO_setframe(file, u, -1_o)
    call PIO_write_darray(file, u, plane, a, ierr)
    call is(ierr, PIO_einval, "write with the frame taken back")
    call PIO_seterrorhandling(file, PIO_internal_error)
    call PIO_setframe(file, u, 3_o)
    call PIO_setframe(file, v, 1_o)
    call PIO_write_darray(file, u, plane, 30 * a, ierr)
    call ok(ierr, "u, third")
    call PIO_write_darray(file, v, plane, 100 * a, ierr)
    call ok(ierr, "v, first")
    call ok(PIO_inq_varid(file, "u", again), "inq_varid")
    call PIO_setframe(file, again, 1_o)
    call PIO_write_darray(file, u, plane, 10 * a, ierr)
    call ok(ierr, "u, first, by another descriptor's frame")
    call PIO_advanceframe(file, u)
    call PIO_write_darray(file, again, plane, 20 * a, ierr)
    call ok(ierr, "u, second")
    call PIO_setframe(file, v, 3_o)
    call PIO_write_darray(file, v, plane, 300 * a, ierr)
    call PIO_setframe(file, v, 2_o)
    call PIO_write_darray(file, v, plane, 200 * a, ierr)
    ! Written once more.
    call PIO_setframe(file, u, 2_o)
    call PIO_write_darray(file, u, plane, 25 * a, ierr)
    call ok(ierr, "u, second again")
    call PIO_closefile(file)

    call ok(PIO_openfile(ios, file, iotypes(f), file_name("frames", f)), "openfile")
    call ok(PIO_inq_dimid(file, "time", t), "dimid")
    call ok(PIO_inq_dimlen(file, t, length), "dimlen")
    call is(length, 3, "records")
    call ok(PIO_inq_varid(file, "u", u), "inq_varid u")
    call ok(PIO_inq_varid(file, "v", v), "inq_varid v")
    call PIO_read_darray(file, u, plane, b, ierr)
    call ok(ierr, "read without a frame")
    call check(all(b == 10 * a), "without a frame it is the first")
    call compare(file, u, 3, 30, "u 3")
    call compare(file, u, 2, 25, "u 2")
    call compare(file, v, 1, 100, "v 1")
    call compare(file, v, 2, 200, "v 2")
    call compare(file, v, 3, 300, "v 3")
    call PIO_closefile(file)
  end subroutine records

  ! A frame is the index of the last dimension, also where that has a length; and there are records besides.
  subroutine fixed_dimension(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    integer :: x, y, s, k
    call create(file, "species", f)
    call ok(PIO_def_dim(file, "x", nx, x), "x")
    call ok(PIO_def_dim(file, "y", ny, y), "y")
    call ok(PIO_def_dim(file, "species", 3, s), "species")
    call ok(PIO_def_var(file, "v", PIO_double, [x, y, s], v), "v")
    call ok(PIO_enddef(file), "enddef")
    do k = 3, 1, -1
      call PIO_setframe(file, v, int(k, o))
      call PIO_write_darray(file, v, plane, k * a, ierr)
      call ok(ierr, "species")
    end do
    call PIO_closefile(file)
    call ok(PIO_openfile(ios, file, iotypes(f), file_name("species", f)), "openfile")
    call ok(PIO_inq_varid(file, "v", v), "inq_varid")
    do k = 1, 3
      call compare(file, v, k, k, "species " // achar(48 + k))
    end do
    call PIO_seterrorhandling(ios, PIO_bcast_error)
    call PIO_setframe(file, v, 4_o)
    call PIO_read_darray(file, v, plane, b, ierr)
    call check(ierr /= PIO_noerr, "there is no fourth")
    call PIO_seterrorhandling(ios, PIO_internal_error)
    call PIO_closefile(file)
  end subroutine fixed_dimension

  ! As many dimensions as the variable: the records are part of the decomposition, which begins at the frame.
  subroutine part_of_decomposition(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v, w
    type(io_desc_t) :: two, one
    integer :: x, y, t
    call PIO_initdecomp(ios, PIO_double, [nx, ny, 2], list_of(nx, ny, 2, first, last), two)
    call PIO_initdecomp(ios, PIO_double, [nx, ny, 1], list_of(nx, ny, 1, first, last), one)
    call create(file, "pairs", f)
    call ok(PIO_def_dim(file, "x", nx, x), "x")
    call ok(PIO_def_dim(file, "y", ny, y), "y")
    call ok(PIO_def_dim(file, "time", PIO_unlimited, t), "time")
    call ok(PIO_def_var(file, "v", PIO_double, [x, y, t], v), "v")
    call ok(PIO_def_var(file, "w", PIO_double, [x, y, t], w), "w")
    call ok(PIO_enddef(file), "enddef")
    call PIO_write_darray(file, v, two, [1 * a, 2 * a], ierr)
    call ok(ierr, "first two")
    call PIO_setframe(file, v, 3_o)
    call PIO_write_darray(file, v, two, [3 * a, 4 * a], ierr)
    call ok(ierr, "third and fourth")
    call PIO_setframe(file, w, 2_o)
    call PIO_write_darray(file, w, one, 22 * a, ierr)
    call ok(ierr, "a list with a last dimension of 1")
    call PIO_closefile(file)
    call ok(PIO_openfile(ios, file, iotypes(f), file_name("pairs", f)), "openfile")
    call ok(PIO_inq_varid(file, "v", v), "inq_varid")
    call ok(PIO_inq_varid(file, "w", w), "inq_varid")
    call compare(file, v, 1, 1, "pairs 1")
    call compare(file, v, 2, 2, "pairs 2")
    call compare(file, v, 3, 3, "pairs 3")
    call compare(file, v, 4, 4, "pairs 4")
    call compare(file, w, 2, 22, "one of one")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, two)
    call PIO_freedecomp(ios, one)
  end subroutine part_of_decomposition

  ! More dimensions in the list than in the variable: last ones of length 1 are dropped, others refused.
  subroutine more_dimensions(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: one, two
    integer :: x, y
    call PIO_initdecomp(ios, PIO_double, [nx, ny, 1], list_of(nx, ny, 1, first, last), one)
    call PIO_initdecomp(ios, PIO_double, [nx, ny, 2], list_of(nx, ny, 2, first, last), two)
    call create(file, "dropped", f)
    call ok(PIO_def_dim(file, "x", nx, x), "x")
    call ok(PIO_def_dim(file, "y", ny, y), "y")
    call ok(PIO_def_var(file, "v", PIO_double, [x, y], v), "v")
    call ok(PIO_enddef(file), "enddef")
    ! CMEPS sets a frame of -1 for files without time.
    call PIO_setframe(file, v, -1_o)
    call PIO_write_darray(file, v, one, 5 * a, ierr)
    call ok(ierr, "write with a dimension of 1 more")
    call PIO_seterrorhandling(ios, PIO_return_error)
    call PIO_write_darray(file, v, two, [a, a], ierr)
    call is(ierr, PIO_einval, "write with a dimension of 2 more")
    call PIO_seterrorhandling(ios, PIO_internal_error)
    b = 0
    call PIO_read_darray(file, v, plane, b, ierr)
    call ok(ierr, "read")
    call check(all(b == 5 * a), "dropped")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, one)
    call PIO_freedecomp(ios, two)
  end subroutine more_dimensions
end program frames
