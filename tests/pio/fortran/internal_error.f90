! What stops all ranks with a message: a mistake under the handler that there is at first, or (argument init) I/O ranks
! that PIO_init cannot have. Run by a shell that expects so.
program internal_error
  use pio
  use pio_test
  implicit none
  type(file_desc_t) :: file
  type(iosystem_desc_t) :: too_many
  integer :: varid
  character(len=8) :: how
  call get_command_argument(1, how)
  call begin()
  if (how == "init") then
    call PIO_init(rank, MPI_COMM_WORLD, ranks, 0, 2, PIO_rearr_box, too_many)
  else
    call ok(PIO_createfile(ios, file, PIO_iotype_netcdf, "pio_internal.nc"), "createfile")
    if (PIO_inq_varid(file, "no_such_variable", varid) /= 0) write (*, *) "not reached"
  end if
  write (*, *) "not reached"
end program internal_error
