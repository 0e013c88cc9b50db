! SPDX-License-Identifier: BSD-3-Clause
! A program that knows PIO alone.
program program_pio
  use mpi
  use pio
  implicit none
  type(iosystem_desc_t), target :: iosys
  type(file_desc_t) :: file
  type(var_desc_t) :: var
  type(io_desc_t) :: iodesc
  integer :: rank, ranks, ierr, dimid
  integer(pio_offset_kind) :: cell(1)
  real(8) :: value(1), found(1)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  cell = rank + 1
  value = 10d0 * rank
  found = -1
  call pio_init(rank, MPI_COMM_WORLD, 1, 0, 1, pio_rearr_box, iosys)
  call pio_initdecomp(iosys, pio_double, [ranks], cell, iodesc)
  ierr = pio_createfile(iosys, file, pio_iotype_pnetcdf, 'program_pio_f.nc', pio_clobber)
  ierr = pio_def_dim(file, 'x', ranks, dimid)
  ierr = pio_def_var(file, 'a', pio_double, [dimid], var)
  ierr = pio_enddef(file)
  call pio_write_darray(file, var, iodesc, value, ierr)
  call pio_closefile(file)
  ierr = pio_openfile(iosys, file, pio_iotype_pnetcdf, 'program_pio_f.nc', pio_nowrite)
  ierr = pio_inq_varid(file, 'a', var)
  call pio_read_darray(file, var, iodesc, found, ierr)
  call pio_closefile(file)
  call pio_freedecomp(iosys, iodesc)
  call pio_finalize(iosys, ierr)
  if (any(found /= value)) error stop 'what was read is wrong'
  if (rank == 0) print '(a)', 'PIO in Fortran: right'
  call MPI_Finalize(ierr)
end program program_pio
