! Rules of PIO that are easy to get wrong and have no test of their own: numbers of ids, define mode, fill mode, frames
! of dimensions with a length, cells that come twice, decompositions for reading alone, how iotype and mode give the
! format, what freeing does, I/O ranks.
program rules
  use pio
  use pio_test
  implicit none
  integer, parameter :: nx = 6, ny = 5, o = PIO_OFFSET_KIND
  integer, parameter :: classic_model = 256  ! netCDF's number, to be added to a mode
  integer :: f, ierr
  call begin()
  do f = 1, nformats
    call numbers(f)
    call define_mode(f)
    call fill_mode(f)
    call frame_of_fixed(f)
    call twice(f)
    call reading_alone(f)
    call freeing(f)
    call any_iotype(f)
  end do
  call formats_of()
  call io_ranks()
  call messages()
  call finish()

contains

  ! A file with the dimensions x, y and the variable v of both, in define mode.
  subroutine make(file, v, name, f, xtype)
    type(file_desc_t), intent(out) :: file
    type(var_desc_t), intent(inout) :: v
    character(len=*), intent(in) :: name
    integer, intent(in) :: f, xtype
    integer :: x, y
    call ok(PIO_createfile(ios, file, iotypes(f), file_name(name, f), modes(f)), name // ": createfile")
    call ok(PIO_def_dim(file, "x", nx, x), name // ": x")
    call ok(PIO_def_dim(file, "y", ny, y), name // ": y")
    call ok(PIO_def_var(file, "v", xtype, [x, y], v), name // ": v")
  end subroutine make

  ! A list of cells that are dealt out, without holes.
  function cells() result(list)
    integer, allocatable :: list(:)
    list = dealt(nx * ny, nx * ny)
  end function cells

  logical function classic(f)
    integer, intent(in) :: f
    classic = formats(f) /= "netcdf4"
  end function classic

  ! Ids of files begin at 128, those of decompositions at 512, those of iosystems at 65536 in steps of as much: one of
  ! another kind is never taken for another. Lists of dimensions and chunks turn round.
  subroutine numbers(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: iodesc
    integer :: number, storage
    integer(o) :: chunks(2)
    call PIO_initdecomp(ios, PIO_int, [nx, ny], cells(), iodesc)
    call make(file, v, "numbers", f, PIO_int)
    call check(file%fh >= 128 .and. file%fh < 512, "ids of files")
    call check(iodesc%ioid >= 512 .and. iodesc%ioid < 65536, "ids of decompositions")
    call check(ios%iosysid >= 65536 .and. mod(ios%iosysid, 65536) == 0, "ids of iosystems")
    call PIO_seterrorhandling(ios, PIO_return_error)
    call PIO_seterrorhandling(PIO_default, PIO_return_error)
    call is(PIO_inq_ndims(iodesc%ioid, number), PIO_ebadid, "a decomposition as a file")
    call is(PIO_inq_ndims(ios%iosysid, number), PIO_ebadid, "an iosystem as a file")
    call is(PIO_set_chunk_cache(file%fh, PIO_iotype_netcdf4p, 1_o, 1_o, 0.5), PIO_ebadid, "a file as an iosystem")
    if (.not. classic(f)) then
      ! Chunks of nx times 1: as many along y would be too many.
      call ok(PIO_def_var_chunking(file, v, PIO_chunked, [nx, 1]), "chunks")
      call is(PIO_def_var_chunking(file, v, PIO_chunked, [1, nx]), -127, "chunks larger than the dimension")
      call ok(PIO_inq_var_chunking(file, v, storage, chunks), "inq_var_chunking")
      call check(all(chunks == [nx, 1]), "chunks of nx times 1")
    end if
    call PIO_seterrorhandling(PIO_default, PIO_internal_error)
    call PIO_seterrorhandling(ios, PIO_internal_error)
    call ok(PIO_enddef(file), "enddef")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, iodesc)
  end subroutine numbers

  ! write_darray ends the define mode; netCDF-4 has it at any time.
  subroutine define_mode(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: iodesc
    integer :: late, x
    integer, allocatable :: a(:)
    call PIO_initdecomp(ios, PIO_int, [nx, ny], cells(), iodesc)
    call make(file, v, "mode", f, PIO_int)
    a = cells()
    call PIO_write_darray(file, v, iodesc, a, ierr)
    call ok(ierr, "write in define mode")
    call PIO_seterrorhandling(ios, PIO_return_error)
    call is(PIO_def_dim(file, "late", 3, late), merge(-38, PIO_noerr, classic(f)), "a dimension after the write")
    call PIO_seterrorhandling(ios, PIO_internal_error)
    call ok(PIO_redef(file), "redef")
    call ok(PIO_put_att(file, v, "units", "m"), "put_att")
    call PIO_write_darray(file, v, iodesc, 2 * a, ierr)
    call ok(ierr, "write once more in define mode")
    if (.not. classic(f)) then
      call ok(PIO_inq_dimid(file, "x", x), "x")
      call ok(PIO_def_var(file, "w", PIO_int, [x], v), "a variable without redef")
      call ok(PIO_put_var(file, v, [1, 2, 3, 4, 5, 6]), "and its values without enddef")
      call ok(PIO_inq_varid(file, "v", v), "v")
    end if
    a = 0
    call PIO_read_darray(file, v, iodesc, a, ierr)
    call ok(ierr, "read")
    call check(all(a == 2 * cells()), "what was written in define mode")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, iodesc)
  end subroutine define_mode

  ! Off in new files; what is never written has the fill value where it is on. With it, a call's fill value must be the
  ! variable's.
  subroutine fill_mode(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v, never
    type(io_desc_t) :: iodesc
    integer :: mode, no_fill, value, x
    integer :: found(nx)
    integer, allocatable :: a(:)
    call PIO_initdecomp(ios, PIO_int, [nx, ny], cells(), iodesc)
    call make(file, v, "fill", f, PIO_int)
    call ok(PIO_inq_var_fill(file, v, no_fill, value), "inq_var_fill")
    call is(no_fill, 1, "no fill in a new file")
    call ok(PIO_set_fill(file, PIO_fill, mode), "set_fill")
    call is(mode, PIO_nofill, "mode of a new file")
    call ok(PIO_inq_dimid(file, "x", x), "x")
    call ok(PIO_def_var(file, "never", PIO_int, [x], never), "never")
    call ok(PIO_enddef(file), "enddef")
    a = cells()
    call PIO_seterrorhandling(ios, PIO_return_error)
    call PIO_write_darray(file, v, iodesc, a, ierr, fillval=-7)
    call is(ierr, PIO_einval, "another fill value than the variable's")
    call PIO_seterrorhandling(ios, PIO_internal_error)
    call PIO_write_darray(file, v, iodesc, a, ierr, fillval=PIO_fill_int)
    call ok(ierr, "the variable's fill value")
    call PIO_closefile(file)
    call ok(PIO_openfile(ios, file, iotypes(f), file_name("fill", f)), "openfile")
    call ok(PIO_inq_varid(file, "never", never), "never")
    found = 1
    call ok(PIO_get_var(file, never, found), "get")
    call check(all(found == PIO_fill_int), "what was never written")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, iodesc)
  end subroutine fill_mode

  ! A dimension that has a length takes a frame, too: without one nothing is written, and the first one is read.
  subroutine frame_of_fixed(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: row
    integer, allocatable :: list(:), a(:)
    character(len=PIO_max_name) :: message
    list = dealt(nx, nx)
    a = list
    call PIO_initdecomp(ios, PIO_int, [nx], list, row)
    call make(file, v, "fixed", f, PIO_int)
    call ok(PIO_enddef(file), "enddef")
    call PIO_seterrorhandling(ios, PIO_return_error)
    call PIO_write_darray(file, v, row, a, ierr)
    call is(ierr, PIO_einval, "no frame")
    call ok(pio_strerror(ierr, message), "strerror")
    call check(index(message, "frame") > 0, "a message that says what is missing: " // trim(message))
    call PIO_setframe(file, v, int(ny + 1, o))
    call PIO_write_darray(file, v, row, a, ierr)
    call is(ierr, -40, "a frame beyond the dimension")
    call PIO_seterrorhandling(ios, PIO_internal_error)
    call PIO_setframe(file, v, 1_o)
    call PIO_write_darray(file, v, row, 3 * a, ierr)
    call ok(ierr, "first row")
    call PIO_setframe(file, v, -1_o)
    a = 0
    call PIO_read_darray(file, v, row, a, ierr)
    call ok(ierr, "read without a frame")
    call check(all(a == 3 * list), "without a frame it is the first")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, row)
  end subroutine frame_of_fixed

  ! A cell that comes twice in a list has the last value; one that all ranks have, the value of one of them: the lowest.
  subroutine twice(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: iodesc
    integer :: i, found(nx * ny)
    integer, allocatable :: list(:), a(:)
    list = [cells(), cells()]
    a = [0 * cells(), cells()]
    call PIO_initdecomp(ios, PIO_int, [nx, ny], list, iodesc)
    call make(file, v, "twice", f, PIO_int)
    call PIO_write_darray(file, v, iodesc, a, ierr)
    call ok(ierr, "write cells twice")
    call ok(PIO_get_var(file, v, found), "get")
    call check(all(found == [(i, i=1, nx * ny)]), "the last value counts")
    a = 0
    call PIO_read_darray(file, v, iodesc, a, ierr)
    call ok(ierr, "read cells twice")
    call check(all(a == list), "both have the value")
    call PIO_freedecomp(ios, iodesc)
    list = [(i, i=1, nx * ny)]
    call PIO_initdecomp(ios, PIO_int, [nx, ny], list, iodesc)
    call PIO_write_darray(file, v, iodesc, 100 * (rank + 1) + list, ierr)
    call ok(ierr, "write all cells on all ranks")
    call ok(PIO_get_var(file, v, found), "get")
    call check(all(found == 100 + list), "the lowest rank's value counts")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, iodesc)
  end subroutine twice

  subroutine reading_alone(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: reading, writing
    integer, allocatable :: a(:)
    a = cells()
    call PIO_initdecomp_readonly(ios, PIO_int, [nx, ny], a, reading)
    call PIO_initdecomp(ios, PIO_int, [nx, ny], a, writing)
    call make(file, v, "readonly", f, PIO_int)
    call PIO_write_darray(file, v, writing, a, ierr)
    call ok(ierr, "write")
    call PIO_seterrorhandling(ios, PIO_return_error)
    call PIO_write_darray(file, v, reading, -a, ierr)
    call is(ierr, PIO_einval, "write with a decomposition for reading alone")
    call PIO_seterrorhandling(ios, PIO_internal_error)
    a = 0
    call PIO_read_darray(file, v, reading, a, ierr)
    call ok(ierr, "read")
    call check(all(a == cells()), "what was read")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, reading)
    call PIO_freedecomp(ios, writing)
  end subroutine reading_alone

  ! Freeing by a file syncs it: the next call of the file gives what a put could not say. Freeing by the iosystem takes
  ! nothing from a file that is being written.
  subroutine freeing(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v, bytes
    type(io_desc_t) :: iodesc
    integer :: i, found(nx * ny), put
    integer, allocatable :: a(:)
    a = cells()
    call PIO_initdecomp(ios, PIO_int, [nx, ny], a, iodesc)
    call make(file, v, "freed", f, PIO_int)
    call ok(PIO_def_var(file, "bytes", PIO_byte, bytes), "bytes")
    call ok(PIO_enddef(file), "enddef")
    call PIO_write_darray(file, v, iodesc, a, ierr)
    call ok(ierr, "write")
    call PIO_freedecomp(ios, iodesc)
    call ok(PIO_get_var(file, v, found), "get")
    call check(all(found == [(i, i=1, nx * ny)]), "written with a decomposition that was freed")
    call PIO_initdecomp(ios, PIO_int, [nx, ny], a, iodesc)
    call PIO_seterrorhandling(ios, PIO_return_error)
    put = PIO_put_var(file, bytes, 1000)
    call check(put == PIO_noerr .or. put == -60, "put what does not fit")
    call PIO_freedecomp(file, iodesc)
    call is(PIO_inq_varid(file, "v", v), -60, "what freedecomp could not say")
    call ok(PIO_inq_varid(file, "v", v), "it is said once")
    call PIO_seterrorhandling(ios, PIO_internal_error)
    call PIO_closefile(file)
  end subroutine freeing

  ! openfile takes any format with any iotype.
  subroutine any_iotype(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    integer :: iotype, i, found(nx * ny)
    call make(file, v, "any", f, PIO_int)
    call ok(PIO_enddef(file), "enddef")
    call ok(PIO_put_var(file, v, [(i, i=1, nx * ny)]), "put")
    call PIO_closefile(file)
    do iotype = PIO_iotype_pnetcdf, PIO_iotype_netcdf4p
      call ok(PIO_openfile(ios, file, iotype, file_name("any", f)), "openfile with any iotype")
      call ok(PIO_inq_varid(file, "v", v), "inq_varid")
      found = 0
      call ok(PIO_get_var(file, v, found), "get")
      call check(all(found == [(i, i=1, nx * ny)]), "values with any iotype")
      call PIO_closefile(file)
    end do
  end subroutine any_iotype

  ! What iotype and mode make, as Shoal's own module sees it; and that nothing is compressed by itself.
  subroutine formats_of()
    integer, parameter :: n = 10
    integer, parameter :: by(n) = [PIO_iotype_pnetcdf, PIO_iotype_pnetcdf, PIO_iotype_pnetcdf, PIO_iotype_netcdf, &
        PIO_iotype_netcdf, PIO_iotype_netcdf, PIO_iotype_netcdf4c, PIO_iotype_netcdf4p, PIO_iotype_netcdf4c, &
        PIO_iotype_netcdf4p]
    integer, parameter :: mode(n) = [0, PIO_64bit_offset, PIO_64bit_data, 0, PIO_64bit_offset, PIO_64bit_data, 0, 0, &
        classic_model, classic_model]
    character(len=15), parameter :: wanted(n) = [character(len=15) :: "cdf1", "cdf2", "cdf5", "cdf1", "cdf2", "cdf5", &
        "netcdf4", "netcdf4", "netcdf4-classic", "netcdf4-classic"]
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    integer :: i, x, shuffle, deflate, level
    do i = 1, n
      call ok(PIO_createfile(ios, file, by(i), "pio_formats.nc", ior(PIO_clobber, mode(i))), "createfile")
      call ok(PIO_def_dim(file, "x", 100000, x), "x")
      call ok(PIO_def_var(file, "v", PIO_double, [x], v), "v")
      call ok(PIO_enddef(file), "enddef")
      if (wanted(i)(:3) == "net") then
        call ok(PIO_inq_var_deflate(file, v, shuffle, deflate, level), "inq_var_deflate")
        call check(shuffle == 0 .and. deflate == 0, "nothing is compressed by itself")
      end if
      call PIO_closefile(file)
      call check(format_of("pio_formats.nc") == wanted(i), "format " // trim(wanted(i)))
    end do
    call PIO_seterrorhandling(ios, PIO_return_error)
    call is(PIO_createfile(ios, file, PIO_iotype_netcdf, "pio_formats.nc", PIO_noclobber), -35, "a file that exists")
    call PIO_seterrorhandling(ios, PIO_internal_error)
  end subroutine formats_of

  function format_of(path)
    use shoal, only: shoal_dataset, shoal_file_info
    character(len=*), intent(in) :: path
    character(len=:), allocatable :: format_of
    type(shoal_dataset) :: file
    type(shoal_file_info) :: info
    call file%open(path, MPI_COMM_WORLD)
    call file%inq_file(info)
    format_of = info%format
    call file%close()
  end function format_of

  ! (base + i*stride) mod ranks.
  subroutine io_ranks()
    type(iosystem_desc_t) :: other
    integer :: stride, tasks, i, wanted, number
    stride = merge(2, 1, ranks >= 4)
    tasks = ranks / stride
    call PIO_init(rank, MPI_COMM_WORLD, tasks, 0, stride, PIO_rearr_subset, other, base=ranks - 1)
    wanted = -1
    do i = 0, tasks - 1
      if (mod(ranks - 1 + i * stride, ranks) == rank) wanted = i
    end do
    call is(PIO_iotask_rank(other), wanted, "number among the I/O ranks")
    call check(PIO_iam_iotask(other) .eqv. wanted >= 0, "is an I/O rank")
    call PIO_get_numiotasks(other, number)
    call is(number, tasks, "number of I/O ranks")
    call PIO_finalize(other, ierr)
    call ok(ierr, "finalize")
  end subroutine io_ranks

  ! Codes above 0 are the system's.
  subroutine messages()
    character(len=PIO_max_name) :: message
    call ok(pio_strerror(2, message), "strerror")
    call check(message == "No such file or directory", "message of the system: " // trim(message))
    call ok(pio_strerror(PIO_ebaddim, message), "strerror")
    call check(index(message, "dimension") > 0, "message of a code: " // trim(message))
  end subroutine messages
end program rules
