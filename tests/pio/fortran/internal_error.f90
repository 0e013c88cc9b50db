! The handler that there is at first: a message, and all ranks stop. Run by a shell that expects so.
program internal_error
  use pio
  use pio_test
  implicit none
  type(file_desc_t) :: file
  integer :: varid
  call begin()
  call ok(PIO_createfile(ios, file, PIO_iotype_netcdf, "pio_internal.nc"), "createfile")
  if (PIO_inq_varid(file, "no_such_variable", varid) /= 0) write (*, *) "not reached"
end program internal_error
