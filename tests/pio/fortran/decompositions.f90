! Lists of cells: of both kinds of integers, boxes, holes, none at all, all cells on all ranks, cells that come twice,
! levels, sections; types in memory and in the file that differ; what is in cells and elements that nobody has.
program decompositions
  use pio
  use pio_test
  implicit none
  integer, parameter :: nx = 8, ny = 5, nz = 3, o = PIO_OFFSET_KIND
  integer :: f, first(2), last(2), ierr
  call begin()
  call tile(nx, ny, first, last)
  do f = 1, nformats
    call forms(f)
    call holes(f)
    call types(f)
    call boundary(f)
    call columns(f)
    call nothing(f)
  end do
  call lists_in_files()
  call finish()

contains

  subroutine create(file, v, name, f, xtype, dims)
    type(file_desc_t), intent(out) :: file
    type(var_desc_t), intent(inout) :: v
    character(len=*), intent(in) :: name
    integer, intent(in) :: f, xtype, dims(:)
    integer :: dimids(size(dims)), i
    call ok(PIO_createfile(ios, file, iotypes(f), file_name(name, f), modes(f)), name // ": createfile")
    do i = 1, size(dims)
      call ok(PIO_def_dim(file, "d" // achar(48 + i), dims(i), dimids(i)), name // ": def_dim")
    end do
    call ok(PIO_def_var(file, "v", xtype, dimids, v), name // ": def_var")
    call ok(PIO_enddef(file), name // ": enddef")
  end subroutine create

  ! The same decomposition in each way to say it.
  subroutine forms(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: d(8)
    integer(o), allocatable :: list(:), spread(:)
    integer, allocatable :: short(:)
    integer(o) :: start(3), count(3)
    real, allocatable :: a(:), b(:)
    integer :: i
    list = list_of(nx, ny, nz, first, last)
    short = int(list)
    allocate (spread(2 * size(list)))
    spread = -7
    spread(1::2) = list
    start = [int(first(1), o), int(first(2), o), 1_o]
    count = [int(last(1) - first(1) + 1, o), int(last(2) - first(2) + 1, o), int(nz, o)]
    call PIO_initdecomp(ios, PIO_real, [nx, ny, nz], list, d(1))
    call PIO_initdecomp(ios, PIO_real, [nx, ny, nz], short, d(2), rearr=PIO_rearr_box)
    call PIO_initdecomp(ios, PIO_real, dims=[nx, ny, nz], compdof=spread(1::2), iodesc=d(3), iostart=start, &
        iocount=count)
    call PIO_initdecomp(ios, PIO_real, [nx, ny, nz], compstart=start, compcount=count, iodesc=d(4))
    call PIO_initdecomp_readonly(ios, PIO_real, [nx, ny, nz], list, d(5))
    call PIO_initdecomp(ios, PIO_real, [nx, ny, nz], 1, short, short, d(6))
    call PIO_initdecomp(ios, PIO_real, [nx, ny, nz], 1, list, list, start, count, d(7))
    call PIO_initdecomp(ios, PIO_real, [nx, ny, nz], 1, short, short, short, start, count, d(8))
    a = real(list)
    allocate (b(size(a)))
    call create(file, v, "forms", f, PIO_real, [nx, ny, nz])
    do i = 1, 8
      if (i == 5) cycle
      call is(PIO_get_local_array_size(d(i)), size(a), "size of form " // achar(48 + i))
      call PIO_write_darray(file, v, d(i), i * a, ierr)
      call ok(ierr, "write form " // achar(48 + i))
      b = 0
      call PIO_read_darray(file, v, d(5), b, ierr)
      call ok(ierr, "read form " // achar(48 + i))
      call check(all(b == i * a), "form " // achar(48 + i))
    end do
    ! The list may be freed while the file is open.
    call PIO_write_darray(file, v, d(1), a, ierr)
    do i = 1, 8
      call PIO_freedecomp(ios, d(i))
    end do
    call PIO_closefile(file)
    call whole(f, "forms", [(real(i), i=1, nx * ny * nz)])
  end subroutine forms

  ! Against the array as it must be in the file.
  subroutine whole(f, name, wanted)
    integer, intent(in) :: f
    character(len=*), intent(in) :: name
    real, intent(in) :: wanted(:)
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    real :: found(size(wanted))
    call ok(PIO_openfile(ios, file, iotypes(f), file_name(name, f)), name // ": openfile")
    call ok(PIO_inq_varid(file, "v", v), name // ": inq_varid")
    found = -1
    call ok(PIO_get_var(file, v, found), name // ": get_var")
    call check(all(found == wanted), name // ": the whole field")
    call PIO_closefile(file)
  end subroutine whole

  ! Elements that are no cell: not looked at when writing, 0 after reading. Cells that nobody has: the write's fill value.
  ! Longer arrays than the list.
  subroutine holes(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: d
    integer, allocatable :: list(:)
    real, allocatable :: a(:)
    real :: wanted(nx * ny)
    integer :: i
    list = dealt(nx * ny, 2)
    where (mod(list, 4) == 0) list = -1 * list
    a = [real(list), 1.0e20, 1.0e20]
    where (a(:size(list)) <= 0) a(:size(list)) = 1.0e30
    call PIO_initdecomp(ios, PIO_real, [nx, ny], list, d)
    call create(file, v, "holes", f, PIO_real, [nx, ny])
    call PIO_write_darray(file, v, d, a, ierr, fillval=-1.0)
    call ok(ierr, "write with holes")
    a = 5
    call PIO_read_darray(file, v, d, a, ierr)
    call ok(ierr, "read with holes")
    call check(all(a(:size(list)) == merge(real(list), 0.0, list > 0)), "holes are 0")
    call check(all(a(size(list)+1:) == 0), "behind the list, too")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, d)
    wanted = [(real(i), i=1, nx * ny)]
    wanted(4::4) = -1
    call whole(f, "holes", wanted)
  end subroutine holes

  ! Type of the decomposition in memory, of the variable in the file.
  subroutine types(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: single, double, whole_numbers
    integer(o), allocatable :: list(:)
    real(8), allocatable :: a8(:)
    real(4), allocatable :: a4(:)
    integer, allocatable :: i4(:)
    list = list_of(nx, ny, 1, first, last)
    call PIO_initdecomp(ios, PIO_real, [nx, ny], list, single)
    call PIO_initdecomp(ios, PIO_double, [nx, ny], list, double)
    call PIO_initdecomp(ios, PIO_int, [nx, ny], list, whole_numbers)
    call create(file, v, "types", f, PIO_real, [nx, ny])
    a8 = real(list, 8)
    call PIO_write_darray(file, v, double, a8 / 2, ierr)
    call ok(ierr, "write doubles to a variable of single ones")
    a4 = 0 * real(list, 4)
    call PIO_read_darray(file, v, single, a4, ierr)
    call ok(ierr, "read singles")
    call check(all(a4 == real(list, 4) / 2), "singles")
    i4 = int(list)
    call PIO_write_darray(file, v, whole_numbers, i4, ierr)
    call ok(ierr, "write integers to a variable of reals")
    a8 = 0
    call PIO_read_darray(file, v, double, a8, ierr)
    call ok(ierr, "read doubles")
    call check(all(a8 == real(list, 8)), "doubles")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, single)
    call PIO_freedecomp(ios, double)
    call PIO_freedecomp(ios, whole_numbers)
  end subroutine types

  ! Lists of boundaries hold all cells on all ranks: they can be made and read; written, each cell has the value of
  ! one rank, here the same on all.
  subroutine boundary(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: d
    integer :: i
    real :: a(nx)
    call PIO_initdecomp(ios, PIO_real, [nx], [(i, i=1, nx)], d)
    call create(file, v, "boundary", f, PIO_real, [nx])
    a = [(real(i), i=1, nx)]
    call PIO_write_darray(file, v, d, a, ierr)
    call ok(ierr, "write all cells on all ranks")
    a = 0
    call PIO_read_darray(file, v, d, a, ierr)
    call ok(ierr, "read all cells on all ranks")
    call check(all(a == [(real(i), i=1, nx)]), "all cells on all ranks")
    call PIO_closefile(file)
    call PIO_freedecomp(ios, d)
  end subroutine boundary

  ! Columns with levels before and after them, written from the model's own order.
  subroutine columns(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: fastest, slowest
    integer, allocatable :: mine(:), list(:)
    real, allocatable :: a(:, :), b(:, :)
    integer :: i, k
    mine = dealt(nx * ny, 3)
    list = [((merge(nz * (mine(i) - 1) + k, 0, mine(i) > 0), k=1, nz), i=1, size(mine))]
    call PIO_initdecomp(ios, PIO_real, [nz, nx * ny], list, fastest)
    call create(file, v, "columns", f, PIO_real, [nz, nx * ny])
    allocate (a(nz, size(mine)), b(nz, size(mine)))
    a = reshape(real(list), shape(a))
    call PIO_write_darray(file, v, fastest, a, ierr)
    call ok(ierr, "write levels that vary fastest")
    call PIO_closefile(file)
    call whole(f, "columns", [(real(i), i=1, nx * ny * nz)])

    list = [((merge(mine(i) + nx * ny * (k - 1), 0, mine(i) > 0), i=1, size(mine)), k=1, nz)]
    call PIO_initdecomp(ios, PIO_real, [nx * ny, nz], list, slowest)
    call create(file, v, "levels", f, PIO_real, [nx * ny, nz])
    call PIO_write_darray(file, v, slowest, reshape(real(list), [size(mine), nz]), ierr)
    call ok(ierr, "write levels that vary slowest")
    b = -1
    call PIO_read_darray(file, v, slowest, b, ierr)
    call ok(ierr, "read levels")
    call check(all(reshape(b, [size(b)]) == real(list)), "levels")
    call PIO_closefile(file)
    call whole(f, "levels", [(real(i), i=1, nx * ny * nz)])
    call PIO_freedecomp(ios, fastest)
    call PIO_freedecomp(ios, slowest)
  end subroutine columns

  ! Ranks without cells, with an array of no elements; all cells are rank 0's.
  subroutine nothing(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: d
    integer(o), allocatable :: list(:)
    real, allocatable :: a(:, :)
    integer :: i
    allocate (list(0))
    if (rank == 0) list = [(int(i, o), i=1, nx * ny)]
    allocate (a(size(list), 1))
    a(:, 1) = real(list)
    call PIO_initdecomp(ios, PIO_real, [nx, ny], list, d)
    call create(file, v, "nothing", f, PIO_real, [nx, ny])
    call PIO_write_darray(file, v, d, a, ierr)
    call ok(ierr, "write nothing")
    a = -1
    call PIO_read_darray(file, v, d, a, ierr)
    call ok(ierr, "read nothing")
    call check(all(a(:, 1) == real(list)), "all of rank 0")
    call PIO_closefile(file)
    call whole(f, "nothing", [(real(i), i=1, nx * ny)])
    call PIO_freedecomp(ios, d)
  end subroutine nothing

  ! PIO's text form, and its NetCDF form.
  subroutine lists_in_files()
    type(io_desc_t) :: d, again
    integer(o), allocatable :: list(:)
    integer(o), pointer :: found(:)
    integer, pointer :: shape_of(:)
    integer :: ndims, ret
    character(len=PIO_max_name) :: title, history
    logical :: fortran_order
    list = list_of(nx, ny, 1, first, last)
    list = [list, 0_o]
    call pio_writedof("pio_list.txt", [nx, ny], list, MPI_COMM_WORLD)
    call pio_readdof("pio_list.txt", ndims, shape_of, found, MPI_COMM_WORLD)
    call is(ndims, 2, "dimensions of a list in a file")
    call check(all(shape_of == [nx, ny]), "shape of a list in a file")
    call is(size(found), size(list), "length of a list in a file")
    if (size(found) == size(list)) call check(all(found == list), "list in a file")
    deallocate (found, shape_of)
    call PIO_initdecomp(ios, PIO_double, [nx, ny], list, d)
    call pio_write_nc_dof(ios, "pio_list.nc", PIO_clobber, d, ret, title="a list", history="made by a test", &
        fortran_order=.true.)
    call ok(ret, "write_nc_dof")
    call pio_read_nc_dof(ios, "pio_list.nc", again, ret, title, history, fortran_order)
    call ok(ret, "read_nc_dof")
    call check(title == "a list" .and. history == "made by a test" .and. fortran_order, "what is said of a list")
    call is(PIO_get_local_array_size(again), size(list), "length of a decomposition from a file")
    call PIO_freedecomp(ios, d)
    call PIO_freedecomp(ios, again)
  end subroutine lists_in_files
end program decompositions
