! A file of another program with an unlimited dimension that is not a variable's last one: it opens, and what it has can
! be asked for; that variable alone is refused when it is used. Made of ../unlimited.cdl.
program unlimited
  use pio
  use pio_test
  implicit none
  type(file_desc_t) :: file
  type(var_desc_t) :: first, last, fixed
  type(io_desc_t) :: iodesc
  integer :: numbers(3), dimids(2), time, i, ierr
  integer, allocatable :: list(:), a(:)
  call begin()
  call ok(PIO_openfile(ios, file, PIO_iotype_netcdf4p, "unlimited.nc", PIO_write), "openfile")
  call ok(PIO_inq_varid(file, "first", first), "first")
  call ok(PIO_inq_varid(file, "last", last), "last")
  call ok(PIO_inq_varid(file, "fixed", fixed), "fixed")
  call ok(PIO_inq_vardimid(file, last, dimids), "vardimid")
  call ok(PIO_inq_unlimdim(file, time), "unlimdim")
  call check(dimids(1) == time .and. dimids(2) /= time, "dimensions")
  call ok(PIO_get_var(file, first, numbers), "get first")
  call check(all(numbers == [1, 2, 3]), "first")
  call ok(PIO_get_var(file, fixed, numbers), "get fixed")
  call check(all(numbers == [7, 8, 9]), "fixed")
  call PIO_seterrorhandling(ios, PIO_return_error)
  call is(PIO_get_var(file, last, numbers), PIO_einval, "get last")
  call is(PIO_put_var(file, last, numbers), PIO_einval, "put last")
  allocate (list(0))
  if (rank == 0) list = [(i, i=1, 3)]
  a = list
  call PIO_initdecomp(ios, PIO_int, [1, 3], list, iodesc)
  call PIO_write_darray(file, last, iodesc, a, ierr)
  call is(ierr, PIO_einval, "write last")
  call PIO_read_darray(file, last, iodesc, a, ierr)
  call is(ierr, PIO_einval, "read last")
  call PIO_seterrorhandling(ios, PIO_internal_error)
  call PIO_freedecomp(ios, iodesc)
  deallocate (list, a)
  call PIO_closefile(file)
  call finish()
end program unlimited
