! An iosystem whose first I/O rank is not rank 0: its values of attributes and of variables that are not cut go to the
! file, whatever the others give; and all ranks get the same.
program base
  use pio
  use pio_test
  implicit none
  integer, parameter :: first_io = 1, nx = 9
  integer :: f, first
  call begin(first_io)
  first = mod(first_io, ranks)
  do f = 1, nformats
    call whose_values(f)
  end do
  call finish()

contains

  subroutine whose_values(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v, s, field
    type(io_desc_t) :: iodesc
    integer :: x, i, ierr, number, numbers(2), all_of(nx)
    integer, allocatable :: list(:), a(:)
    character(len=20) :: history
    call check((PIO_iotask_rank(ios) == 0) .eqv. (rank == first), "first I/O rank")
    call ok(PIO_createfile(ios, file, iotypes(f), file_name("base", f), modes(f)), "createfile")
    call ok(PIO_def_dim(file, "x", nx, x), "x")
    call ok(PIO_def_var(file, "v", PIO_int, [x], v), "v")
    call ok(PIO_def_var(file, "s", PIO_int, s), "s")
    call ok(PIO_def_var(file, "field", PIO_int, [x], field), "field")
    ! Of another value and length on each rank.
    call ok(PIO_put_att(file, PIO_global, "history", repeat("h", rank + 3)), "history")
    call ok(PIO_put_att(file, v, "rank", [rank, rank]), "rank")
    call ok(PIO_enddef(file), "enddef")
    call ok(PIO_put_var(file, v, [(100 * rank + i, i=1, nx)]), "put v")
    call ok(PIO_put_var(file, s, rank), "put s")
    list = dealt(nx, 2)
    call PIO_initdecomp(ios, PIO_int, [nx], list, iodesc)
    a = list
    call PIO_write_darray(file, field, iodesc, a, ierr)
    call ok(ierr, "write")
    call PIO_closefile(file)

    call ok(PIO_openfile(ios, file, iotypes(f), file_name("base", f)), "openfile")
    call ok(PIO_get_att(file, PIO_global, "history", history), "get history")
    call check(history == repeat("h", first + 3), "history of the first I/O rank: " // trim(history))
    call ok(PIO_inq_varid(file, "v", v), "v")
    call ok(PIO_get_att(file, v, "rank", numbers), "get rank")
    call check(all(numbers == first), "attribute of the first I/O rank")
    call ok(PIO_get_var(file, v, all_of), "get v")
    call check(all(all_of == [(100 * first + i, i=1, nx)]), "values of the first I/O rank")
    call ok(PIO_inq_varid(file, "s", s), "s")
    call ok(PIO_get_var(file, s, number), "get s")
    call is(number, first, "value of the first I/O rank")
    call ok(PIO_inq_varid(file, "field", field), "field")
    call ok(PIO_get_var(file, field, all_of), "get field")
    call check(all(all_of == [(i, i=1, nx)]), "field of all ranks")
    a = -1
    call PIO_read_darray(file, field, iodesc, a, ierr)
    call ok(ierr, "read")
    call check(all(a == list), "field")
    call PIO_freedecomp(file, iodesc)
    call PIO_closefile(file)
  end subroutine whose_values
end program base
