! Codes under the handlers that give them, in the call or, where a subroutine has none, in the next one; and that no
! rank waits when one alone is wrong.
program errors
  use pio
  use pio_test
  implicit none
  integer, parameter :: nx = 12, ny = 5, o = PIO_OFFSET_KIND
  integer :: f, h
  integer, parameter :: handlers(3) = [PIO_bcast_error, PIO_return_error, PIO_reduce_error]
  call begin()
  do f = 1, nformats
    do h = 1, size(handlers)
      call PIO_seterrorhandling(ios, handlers(h))
      call PIO_seterrorhandling(PIO_default, handlers(h))  ! of ids that do not exist
      call codes(f)
    end do
    call deferred(f)
    call one_rank(f)
    call other_kind(f)
  end do
  call handlers_of()
  call PIO_seterrorhandling(ios, PIO_internal_error)
  call finish()

contains

  subroutine codes(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file, none
    type(var_desc_t) :: v, w
    type(io_desc_t) :: iodesc, no_list
    integer :: x, y, t, number, ierr, dimids(1)
    integer(o) :: length
    real :: a(nx)
    character(len=20) :: name
    logical :: classic
    classic = formats(f) /= "netcdf4"
    call ok(PIO_createfile(ios, file, iotypes(f), file_name("errors", f), modes(f)), "createfile")
    call ok(PIO_def_dim(file, "x", nx, x), "x")
    call ok(PIO_def_dim(file, "y", ny, y), "y")
    call is(PIO_def_dim(file, "x", 3, number), -42, "dimension whose name is taken")
    call is(number, 0, "no dimension")
    call is(PIO_def_dim(file, "a/b", 3, number), -59, "a name that cannot be")
    call ok(PIO_def_var(file, "v", PIO_real, [x, y], v), "v")
    call is(PIO_def_var(file, "v", PIO_real, [x], w), -42, "variable whose name is taken")
    call is(PIO_def_var(file, "w", PIO_real, [x, 77], w), PIO_ebaddim, "no such dimension")
    call is(PIO_def_var(file, "w", 77, [x], w), -45, "no such type")
    call ok(PIO_def_dim(file, "t", PIO_unlimited, t), "t")
    call is(PIO_def_var(file, "w", PIO_real, [t, x], w), PIO_einval, "an unlimited dimension that is not the last one")
    if (classic) call is(PIO_def_dim(file, "u", PIO_unlimited, number), -54, "a second unlimited dimension")
    call is(PIO_inq_dimid(file, "none", number), PIO_ebaddim, "dimension by name")
    call is(PIO_inq_dimlen(file, 9, number), PIO_ebaddim, "dimension by id")
    number = 17
    call is(PIO_inq_varid(file, "none", number), PIO_enotvar, "variable by name")
    call is(number, 17, "id where there is no variable")
    call is(PIO_inq_varname(file, 9, name), PIO_enotvar, "variable by id")
    call is(PIO_inq_att(file, v, "none", len=length), PIO_enotatt, "attribute by name")
    call is(PIO_inq_attname(file, v, 5, name), PIO_enotatt, "attribute by number")
    call is(PIO_inq_vardimid(file, v, dimids), PIO_einval, "a list that is too short")
    call is(PIO_put_att(file, v, "_FillValue", 1.0d0), -45, "a fill value of another type than the variable")
    a = 1
    if (classic) then
      call is(PIO_put_var(file, v, [1, 1], [nx, 1], a), -39, "data in define mode")
      call is(PIO_redef(file), -39, "redef in define mode")
      call is(PIO_def_var_deflate(file, v, 0, 1, 1), -111, "compression of a classic file")
    end if
    call ok(PIO_enddef(file), "enddef")
    if (classic) then
      call is(PIO_enddef(file), -38, "enddef outside of define mode")
      call is(PIO_def_dim(file, "z", 3, number), -38, "definition outside of define mode")
    end if
    call is(PIO_put_var(file, v, [1, 1], [nx + 1, 1], a), -57, "beyond the end")
    call is(PIO_put_var(file, v, [1, ny + 1], [nx, 1], a), -40, "begins beyond the end")
    call is(PIO_put_var(file, v, [0, 1], [nx, 1], a), -40, "begins before the first")
    if (rank == 0) a(1) = 2
    call ok(PIO_put_var(file, v, [1, 1], [nx, 1], a), "put")
    call is(PIO_get_var(file, v, [1, 1], [nx, ny + 1], a), -57, "read beyond the end")
    call is(PIO_get_var(none, v, a), PIO_ebadid, "no such file")
    call is(PIO_get_var(file, w, a), PIO_enotvar, "no such variable")
    call PIO_initdecomp(ios, PIO_real, [nx, ny], dealt(nx * ny, 3), iodesc)
    call PIO_write_darray(file, v, no_list, a, ierr)
    call is(ierr, PIO_ebadid, "no such decomposition")
    call PIO_write_darray(file, v, iodesc, a(:0), ierr)
    call is(ierr, PIO_einval, "an array that is shorter than the list")
    call PIO_write_darray(file, v, iodesc, [1, 2, 3], ierr)
    call is(ierr, PIO_einval, "an array of another type")
    call PIO_freedecomp(ios, iodesc)
    ! What write_darray could not store is told by closefile again, and so by the call after it.
    call PIO_closefile(file)
    ierr = PIO_set_log_level(ios, -1)
    call check(ierr == PIO_noerr .or. ierr == PIO_einval, "set_log_level")

    call is(PIO_createfile(ios, file, iotypes(f), file_name("errors", f), ior(modes(f), PIO_noclobber)), -35, &
        "a file that exists")
    call is(PIO_createfile(ios, file, PIO_iotype_adios, "pio_none.nc"), PIO_ebadiotype, "iotype that is not offered")
    call is(PIO_createfile(ios, file, 77, "pio_none.nc"), PIO_ebadiotype, "no such iotype")
    call check(PIO_openfile(ios, file, iotypes(f), "pio_no_such_file.nc") /= PIO_noerr, "no such file to open")
    call ok(PIO_openfile(ios, file, iotypes(f), file_name("errors", f), PIO_nowrite), "openfile")
    call is(PIO_put_var(file, v, [1, 1], [nx, 1], a), -37, "write to a file that is open for reading")
    call is(PIO_redef(file), -37, "define in a file that is open for reading")
    call PIO_closefile(file)
  end subroutine codes

  ! Subroutines without a code: the next call of the file that has one gives it, once, and no call of another file.
  subroutine deferred(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file, other
    type(var_desc_t) :: v, none
    integer :: x
    call PIO_seterrorhandling(ios, PIO_return_error)
    call ok(PIO_createfile(ios, file, iotypes(f), file_name("deferred", f), modes(f)), "createfile")
    call ok(PIO_def_dim(file, "x", nx, x), "x")
    call ok(PIO_def_var(file, "v", PIO_real, [x], v), "v")
    call PIO_setframe(file, none, 1_o)
    call ok(PIO_createfile(ios, other, iotypes(f), file_name("another", f), modes(f)), "another file is made")
    call ok(PIO_def_dim(other, "x", nx, x), "and defined")
    call ok(PIO_enddef(other), "and defined to the end")
    call ok(PIO_set_log_level(ios, -1), "nor is it the iosystem's")
    call is(PIO_enddef(file), PIO_enotvar, "what setframe could not say")
    call ok(PIO_inq_varid(file, "v", v), "it is said once")
    ! Syncing and closing have no code either: then it is the iosystem's, and still no other file's.
    call PIO_setframe(file, none, 1_o)
    call PIO_syncfile(file)
    call PIO_closefile(file)
    call PIO_closefile(other)
    call ok(PIO_openfile(ios, other, iotypes(f), file_name("another", f), PIO_nowrite), "another file is opened")
    call ok(PIO_inq_dimid(other, "x", x), "and read")
    call is(PIO_set_log_level(ios, -1), PIO_enotvar, "what closefile could not say")
    call ok(PIO_set_log_level(ios, -1), "that is said once, too")
    call PIO_closefile(other)
  end subroutine deferred

  ! The last rank alone gives a wrong argument: all end, and it gets the code; where ranks agree, all get it.
  subroutine one_rank(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: iodesc, bad
    integer :: x, y, ierr
    integer, allocatable :: list(:)
    real, allocatable :: a(:)
    logical :: wrong
    call PIO_seterrorhandling(ios, PIO_return_error)
    wrong = rank == ranks - 1
    list = dealt(nx * ny, 3)
    allocate (a(size(list)))
    a = real(list)
    call PIO_initdecomp(ios, PIO_real, [nx, ny], list, iodesc)
    if (wrong) list(1) = nx * ny + 1
    call PIO_initdecomp(ios, PIO_real, [nx, ny], list, bad)
    call ok(PIO_createfile(ios, file, iotypes(f), file_name("one_rank", f), modes(f)), "createfile")
    call is(PIO_set_log_level(ios, -1), PIO_einval, "a list of one rank that leaves the shape is an error of all")
    call ok(PIO_def_dim(file, "x", nx, x), "x")
    call ok(PIO_def_dim(file, "y", ny, y), "y")
    call ok(PIO_def_var(file, "v", PIO_real, [x, y], v), "v")
    call ok(PIO_enddef(file), "enddef")
    call PIO_write_darray(file, v, iodesc, a, ierr)
    call ok(ierr, "write")
    if (wrong) then
      call PIO_read_darray(file, v, iodesc, a(:size(a)-1), ierr)
    else
      call PIO_read_darray(file, v, iodesc, a, ierr)
    end if
    if (wrong) call check(ierr /= PIO_noerr, "an array that is too short for one rank alone")
    a = 0
    call PIO_read_darray(file, v, iodesc, a, ierr)
    call ok(ierr, "read")
    call check(all(a == real(dealt(nx * ny, 3))), "what was written")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, iodesc)
  end subroutine one_rank

  ! A fill value comes with an array of its own kind: where that is not the decomposition's, it is not looked at.
  subroutine other_kind(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v, w
    type(io_desc_t) :: iodesc
    integer :: x, ierr, n
    real(8) :: a(1), fill
    n = ranks + 1
    a = rank + 1
    call PIO_seterrorhandling(ios, PIO_return_error)
    call PIO_initdecomp(ios, PIO_double, [n], [rank + 1], iodesc)
    call ok(PIO_createfile(ios, file, iotypes(f), file_name("other_kind", f), modes(f)), "createfile")
    call ok(PIO_def_dim(file, "x", n, x), "x")
    call ok(PIO_def_var(file, "v", PIO_double, [x], v), "v")
    call ok(PIO_def_var(file, "w", PIO_double, [x], w), "w")
    call ok(PIO_enddef(file), "enddef")
    call PIO_write_darray(file, v, iodesc, real(a, 4), ierr, fillval=-5.)
    call is(ierr, PIO_einval, "an array of another kind")
    call PIO_write_darray(file, v, iodesc, a, ierr, fillval=-7.d0)
    call ok(ierr, "write")
    call PIO_write_darray(file, w, iodesc, real(a, 4), ierr, fillval=-5.)
    call is(ierr, PIO_einval, "an array of another kind, later")
    call ok(PIO_get_att(file, v, "_FillValue", fill), "fill value")
    call check(fill == -7, "the fill value of the right kind")
    call is(PIO_get_att(file, w, "_FillValue", fill), PIO_enotatt, "no fill value of another kind")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, iodesc)
  end subroutine other_kind

  ! By an iosystem, a file, an id; the handler before comes back.
  subroutine handlers_of()
    type(file_desc_t) :: file
    integer :: before
    call PIO_seterrorhandling(ios, PIO_return_error)
    call ok(PIO_createfile(ios, file, PIO_iotype_netcdf, "pio_handlers.nc"), "createfile")
    call PIO_seterrorhandling(file, PIO_bcast_error, before)
    call is(before, PIO_return_error, "handler before, by file")
    call PIO_seterrorhandling(ios%iosysid, PIO_internal_error, oldmethod=before)
    call is(before, PIO_bcast_error, "handler before, by id")
    call PIO_seterrorhandling(ios, method=PIO_return_error, oldmethod=before)
    call is(before, PIO_internal_error, "handler before, by iosystem")
    call PIO_closefile(file)
  end subroutine handlers_of
end program errors
