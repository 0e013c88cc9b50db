! An ocean model's files through PIO, in the manner of ROMS: arrays with halos, allocated as pointers and written as
! their inner sections; fields at cell centres and faces, each grid with its own lists, once for single and once for
! double precision; boundary values that all ranks hold; a history with frames that is defined further while it is
! written; a restart that other ranks read, cut in another way. Nothing here knows which library stands behind PIO.
! All that is read is compared with what was written; the exit code is not 0 if anything differs.
module grids
  use mpi
  use pio
  implicit none
  integer, parameter :: l = 41, m = 29, n = 6  ! cells in x and y between the boundaries, layers
  integer, parameter :: halo = 2
  integer, parameter :: rho = 1, u_faces = 2, v_faces = 3
  character(len=3), parameter :: grid_names(3) = ["rho", "u  ", "v  "]
  integer, parameter :: first_x(3) = [0, 1, 0], first_y(3) = [0, 0, 1]  ! indices of the whole grid in x and y
  integer, parameter :: last_x(3) = [l + 1, l + 1, l + 1], last_y(3) = [m + 1, m + 1, m + 1]

  ! The part of one rank, cut in npx times npy.
  type tiling
    integer :: comm, rank, ranks, npx, npy
    type(iosystem_desc_t) :: ios
    integer :: x0(3), x1(3), y0(3), y1(3)  ! first and last index that is written, for each grid
    type(io_desc_t) :: single_2d(3), double_2d(3), single_3d(3), double_3d(3), boundary
  end type tiling

contains

  subroutine cut_grid(t, comm, along_x)
    type(tiling), intent(inout), target :: t
    integer, intent(in) :: comm
    logical, intent(in) :: along_x
    integer :: g, ierr, i, j
    t%comm = comm
    call MPI_Comm_rank(comm, t%rank, ierr)
    call MPI_Comm_size(comm, t%ranks, ierr)
    t%npx = 1
    do while (mod(t%ranks, 2 * t%npx) == 0 .and. 2 * t%npx <= 2 + t%ranks / 4)
      t%npx = 2 * t%npx
    end do
    t%npy = t%ranks / t%npx
    if (.not. along_x) then
      i = t%npx
      t%npx = t%npy
      t%npy = i
    end if
    i = mod(t%rank, t%npx)
    j = t%rank / t%npx
    do g = 1, 3
      ! Inner cells are dealt out; who is at an edge has the boundary, too.
      t%x0(g) = 1 + l * i / t%npx
      t%x1(g) = l * (i + 1) / t%npx
      t%y0(g) = 1 + m * j / t%npy
      t%y1(g) = m * (j + 1) / t%npy
      if (i == 0) t%x0(g) = first_x(g)
      if (j == 0) t%y0(g) = first_y(g)
      if (i == t%npx - 1) t%x1(g) = last_x(g)
      if (j == t%npy - 1) t%y1(g) = last_y(g)
    end do
    call PIO_init(t%rank, comm, max(1, t%ranks / 2), 0, merge(2, 1, t%ranks > 1), PIO_rearr_box, t%ios, base=0)
    do g = 1, 3
      call make_list(t, g, 1, PIO_real, t%single_2d(g))
      call make_list(t, g, 1, PIO_double, t%double_2d(g))
      call make_list(t, g, n, PIO_real, t%single_3d(g))
      call make_list(t, g, n, PIO_double, t%double_3d(g))
    end do
    ! Western, eastern, southern and northern boundary: all ranks have all of them.
    call PIO_initdecomp(t%ios, PIO_double, [l + 2, 4], [(i, i=1, 4 * (l + 2))], t%boundary)
  end subroutine cut_grid

  subroutine make_list(t, g, levels, xtype, iodesc)
    type(tiling), intent(inout) :: t
    integer, intent(in) :: g, levels, xtype
    type(io_desc_t), intent(inout) :: iodesc
    integer(PIO_OFFSET_KIND), allocatable :: cells(:)
    integer :: nx, ny, i, j, k, c
    nx = last_x(g) - first_x(g) + 1
    ny = last_y(g) - first_y(g) + 1
    allocate (cells((t%x1(g) - t%x0(g) + 1) * (t%y1(g) - t%y0(g) + 1) * levels))
    c = 0
    do k = 1, levels
      do j = t%y0(g), t%y1(g)
        do i = t%x0(g), t%x1(g)
          c = c + 1
          cells(c) = 1 + (i - first_x(g)) + nx * ((j - first_y(g)) + int(ny, PIO_OFFSET_KIND) * (k - 1))
        end do
      end do
    end do
    if (levels == 1) then
      call PIO_initdecomp(t%ios, xtype, [nx, ny], cells, iodesc)
    else
      call PIO_initdecomp(t%ios, xtype, [nx, ny, levels], cells, iodesc)
    end if
  end subroutine make_list

  subroutine free_grid(t)
    type(tiling), intent(inout) :: t
    integer :: g, ierr
    do g = 1, 3
      call PIO_freedecomp(t%ios, t%single_2d(g))
      call PIO_freedecomp(t%ios, t%double_2d(g))
      call PIO_freedecomp(t%ios, t%single_3d(g))
      call PIO_freedecomp(t%ios, t%double_3d(g))
    end do
    call PIO_freedecomp(t%ios, t%boundary)
    call PIO_finalize(t%ios, ierr)
  end subroutine free_grid

  ! The model's field at a cell and time; a number that single precision holds.
  elemental real(8) function truth(g, i, j, k, time)
    integer, intent(in) :: g, i, j, k, time
    truth = real(g * 4 + time, 8) + real(i + 64 * (j + 64 * k), 8) / 32768
  end function truth

  real(8) function boundary_truth(i, side, time)
    integer, intent(in) :: i, side, time
    boundary_truth = 1000 * side + i + 0.25d0 * time
  end function boundary_truth
end module grids

module model_state
  use grids
  implicit none
  ! Time levels of the model are the last dimension of its arrays.
  type fields
    real(8), pointer :: zeta(:, :, :), u(:, :, :, :), v(:, :, :, :), temp(:, :, :, :), bry(:, :)
  end type fields

contains

  subroutine allocate_fields(t, f)
    type(tiling), intent(in) :: t
    type(fields), intent(out) :: f
    integer :: x0, x1, y0, y1
    x0 = minval(t%x0) - halo
    x1 = maxval(t%x1) + halo
    y0 = minval(t%y0) - halo
    y1 = maxval(t%y1) + halo
    allocate (f%zeta(x0:x1, y0:y1, 2), f%u(x0:x1, y0:y1, n, 2), f%v(x0:x1, y0:y1, n, 2), f%temp(x0:x1, y0:y1, n, 2), &
        f%bry(0:l+1, 4))
    f%zeta = -huge(1.0)
    f%u = -huge(1.0)
    f%v = -huge(1.0)
    f%temp = -huge(1.0)
    f%bry = -huge(1.0)
  end subroutine allocate_fields

  subroutine step(f, level, time)
    type(fields), intent(inout) :: f
    integer, intent(in) :: level, time
    integer :: i, j, k
    do j = lbound(f%zeta, 2) + halo, ubound(f%zeta, 2) - halo
      do i = lbound(f%zeta, 1) + halo, ubound(f%zeta, 1) - halo
        f%zeta(i, j, level) = truth(rho, i, j, 0, time)
        do k = 1, n
          f%u(i, j, k, level) = truth(u_faces, i, j, k, time)
          f%v(i, j, k, level) = truth(v_faces, i, j, k, time)
          f%temp(i, j, k, level) = truth(rho, i, j, k, time)
        end do
      end do
    end do
    do j = 1, 4
      do i = 0, l + 1
        f%bry(i, j) = boundary_truth(i, j, time)
      end do
    end do
  end subroutine step

  subroutine free_fields(f)
    type(fields), intent(inout) :: f
    deallocate (f%zeta, f%u, f%v, f%temp, f%bry)
  end subroutine free_fields
end module model_state

module files
  use model_state
  implicit none
  integer, parameter :: zeta = 1, u = 2, v = 3, temp = 4, bry = 5, stress = 6
  character(len=6), parameter :: names(6) = ["zeta  ", "u     ", "v     ", "temp  ", "bry   ", "stress"]
  integer, parameter :: grid_of(4) = [rho, u_faces, v_faces, rho]
  logical, parameter :: has_levels(4) = [.false., .true., .true., .true.]
  integer :: wrong = 0

  type model_file
    type(file_desc_t) :: file
    type(var_desc_t) :: vars(6), time, cycle
    integer :: record = 0
  end type model_file

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    wrong = wrong + 1
    write (*, "(2a)") "pio_ocean: wrong: ", what
  end subroutine check

  subroutine ok(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    call check(code == PIO_noerr, what)
  end subroutine ok

  subroutine create(t, f, name, iotype, xtype)
    type(tiling), intent(inout) :: t
    type(model_file), intent(out) :: f
    character(len=*), intent(in) :: name
    integer, intent(in) :: iotype, xtype
    integer :: x(3), y(3), s, b, edge, time, letters, g, i
    real(8), parameter :: no_value = 1.0d37
    call ok(PIO_createfile(t%ios, f%file, iotype, name, ior(PIO_clobber, PIO_64bit_data)), "create " // name)
    do g = 1, 3
      call ok(PIO_def_dim(f%file, "xi_" // trim(grid_names(g)), last_x(g) - first_x(g) + 1, x(g)), "xi")
      call ok(PIO_def_dim(f%file, "eta_" // trim(grid_names(g)), last_y(g) - first_y(g) + 1, y(g)), "eta")
    end do
    call ok(PIO_def_dim(f%file, "s_rho", n, s), "s_rho")
    call ok(PIO_def_dim(f%file, "boundary", 4, b), "boundary")
    call ok(PIO_def_dim(f%file, "IorJ", l + 2, edge), "IorJ")
    call ok(PIO_def_dim(f%file, "DateStr", 19, letters), "DateStr")
    call ok(PIO_def_dim(f%file, "ocean_time", PIO_unlimited, time), "ocean_time")
    call ok(PIO_put_att(f%file, PIO_global, "title", "an ocean at rest" // repeat(" ", 20)), "title")
    call ok(PIO_put_att(f%file, PIO_global, "tiling", trim(text_of(t%npx)) // "x" // text_of(t%npy)), "tiling")
    call ok(PIO_def_var(f%file, "ocean_time", PIO_double, [time], f%time), "time")
    call ok(PIO_put_att(f%file, f%time, "units", "seconds since 2000-01-01"), "units")
    call ok(PIO_def_var(f%file, "date", PIO_char, [letters, time], f%cycle), "date")
    do i = 1, 4
      g = grid_of(i)
      if (has_levels(i)) then
        call ok(PIO_def_var(f%file, trim(names(i)), xtype, [x(g), y(g), s, time], f%vars(i)), "def_var")
      else
        call ok(PIO_def_var(f%file, trim(names(i)), xtype, [x(g), y(g), time], f%vars(i)), "def_var")
      end if
      if (xtype == PIO_double) then
        call ok(PIO_put_att(f%file, f%vars(i), "_FillValue", no_value), "_FillValue")
      else
        call ok(PIO_put_att(f%file, f%vars(i), "_FillValue", real(no_value)), "_FillValue")
      end if
    end do
    call ok(PIO_def_var(f%file, "bry", PIO_double, [edge, b, time], f%vars(bry)), "bry")
    call ok(PIO_enddef(f%file), "enddef")
  end subroutine create

  character(len=8) function text_of(number)
    integer, intent(in) :: number
    write (text_of, "(i0)") number
  end function text_of

  ! One record of all fields, in the precision of the file.
  subroutine write_record(t, f, state, level, time, single)
    type(tiling), intent(inout) :: t
    type(model_file), intent(inout) :: f
    type(fields), intent(in) :: state
    integer, intent(in) :: level, time
    logical, intent(in) :: single
    integer :: status
    character(len=19) :: date
    f%record = f%record + 1
    write (date, "('2000-01-01 ',i2.2,':00:00')") time
    call ok(PIO_put_var(f%file, f%time, [f%record], [3600.0d0 * time]), "put time")
    call ok(PIO_put_var(f%file, f%cycle, [1, f%record], [19, 1], date), "put date")
    call write_2d(t, f, zeta, state%zeta(:, :, level), single)
    call write_3d(t, f, u, state%u(:, :, :, level), single)
    call write_3d(t, f, v, state%v(:, :, :, level), single)
    call write_3d(t, f, temp, state%temp(:, :, :, level), single)
    call PIO_setframe(f%file, f%vars(bry), int(f%record, PIO_OFFSET_KIND))
    call PIO_write_darray(f%file, f%vars(bry), t%boundary, state%bry, status)
    call ok(status, "write boundary")
  end subroutine write_record

  subroutine write_2d(t, f, id, a, single)
    type(tiling), intent(inout) :: t
    type(model_file), intent(inout) :: f
    integer, intent(in) :: id
    real(8), intent(in) :: a(minval(t%x0)-halo:, minval(t%y0)-halo:)
    logical, intent(in) :: single
    integer :: g, status
    real(8), parameter :: no_value = 1.0d37
    g = grid_of(id)
    call PIO_setframe(f%file, f%vars(id), int(f%record, PIO_OFFSET_KIND))
    if (single) then
      call PIO_write_darray(f%file, f%vars(id), t%single_2d(g), real(a(t%x0(g):t%x1(g), t%y0(g):t%y1(g))), status)
    else
      call PIO_write_darray(f%file, f%vars(id), t%double_2d(g), a(t%x0(g):t%x1(g), t%y0(g):t%y1(g)), status, no_value)
    end if
    call ok(status, "write " // names(id))
  end subroutine write_2d

  subroutine write_3d(t, f, id, a, single)
    type(tiling), intent(inout) :: t
    type(model_file), intent(inout) :: f
    integer, intent(in) :: id
    real(8), intent(in) :: a(minval(t%x0)-halo:, minval(t%y0)-halo:, :)
    logical, intent(in) :: single
    integer :: g, status
    g = grid_of(id)
    call PIO_setframe(f%file, f%vars(id), int(f%record, PIO_OFFSET_KIND))
    if (single) then
      call PIO_write_darray(f%file, f%vars(id), t%single_3d(g), real(a(t%x0(g):t%x1(g), t%y0(g):t%y1(g), :)), status)
    else
      call PIO_write_darray(f%file, f%vars(id), t%double_3d(g), a(t%x0(g):t%x1(g), t%y0(g):t%y1(g), :), status)
    end if
    call ok(status, "write " // names(id))
  end subroutine write_3d

  ! Between two records the model finds that it shall write one more field, which does not change with time.
  subroutine add_variable(t, f)
    type(tiling), intent(inout) :: t
    type(model_file), intent(inout) :: f
    integer :: dims(4), status, i, j
    real(4), allocatable :: a(:, :)
    call ok(PIO_redef(f%file), "redef")
    call ok(PIO_inquire_variable(f%file, f%vars(u), dimids=dims), "inquire u")
    call ok(PIO_def_var(f%file, "stress", PIO_real, dims([1, 2]), f%vars(stress)), "def_var stress")
    call ok(PIO_put_att(f%file, f%vars(stress), "units", "N m-2"), "units")
    call ok(PIO_put_att(f%file, PIO_global, "extended", f%record), "extended")
    call ok(PIO_enddef(f%file), "enddef again")
    allocate (a(t%x0(u_faces):t%x1(u_faces), t%y0(u_faces):t%y1(u_faces)))
    do j = t%y0(u_faces), t%y1(u_faces)
      do i = t%x0(u_faces), t%x1(u_faces)
        a(i, j) = real(truth(u_faces, i, j, 0, 0))
      end do
    end do
    call PIO_write_darray(f%file, f%vars(stress), t%single_2d(u_faces), a, status)
    call ok(status, "write stress")
  end subroutine add_variable

  ! Read a record and compare; `single`: what the arrays have in memory, whatever is in the file.
  subroutine compare(t, f, record, time, single, what)
    type(tiling), intent(inout) :: t
    type(model_file), intent(inout) :: f
    integer, intent(in) :: record, time
    logical, intent(in) :: single
    character(len=*), intent(in) :: what
    integer :: id, g, status, i, j, k, levels
    real(4), allocatable :: a4(:, :, :)
    real(8), pointer :: a8(:, :, :)
    real(8), allocatable :: wanted(:, :, :), boundary(:, :)
    real(8) :: seconds
    character(len=19) :: date
    do id = 1, 4
      g = grid_of(id)
      levels = merge(n, 1, has_levels(id))
      allocate (wanted(t%x0(g):t%x1(g), t%y0(g):t%y1(g), levels))
      do k = 1, levels
        do j = t%y0(g), t%y1(g)
          do i = t%x0(g), t%x1(g)
            wanted(i, j, k) = truth(g, i, j, merge(k, 0, has_levels(id)), time)
          end do
        end do
      end do
      call PIO_setframe(f%file, f%vars(id), int(record, PIO_OFFSET_KIND))
      if (single) then
        allocate (a4(t%x0(g):t%x1(g), t%y0(g):t%y1(g), levels))
        if (has_levels(id)) then
          call PIO_read_darray(f%file, f%vars(id), t%single_3d(g), a4, status)
        else
          call PIO_read_darray(f%file, f%vars(id), t%single_2d(g), a4(:, :, 1), status)
        end if
        call check(all(a4 == real(wanted)), what // " " // names(id))
        deallocate (a4)
      else
        ! Into the middle of an array with a halo.
        allocate (a8(t%x0(g)-halo:t%x1(g)+halo, t%y0(g)-halo:t%y1(g)+halo, levels))
        a8 = -1
        if (has_levels(id)) then
          call PIO_read_darray(f%file, f%vars(id), t%double_3d(g), a8(t%x0(g):t%x1(g), t%y0(g):t%y1(g), :), status)
        else
          call PIO_read_darray(f%file, f%vars(id), t%double_2d(g), a8(t%x0(g):t%x1(g), t%y0(g):t%y1(g), 1), status)
        end if
        call check(all(a8(t%x0(g):t%x1(g), t%y0(g):t%y1(g), :) == wanted), what // " " // names(id))
        call check(all(a8(t%x0(g)-halo:t%x0(g)-1, :, :) == -1), what // " halo of " // names(id))
        deallocate (a8)
      end if
      call ok(status, "read " // names(id))
      deallocate (wanted)
    end do
    allocate (boundary(0:l+1, 4))
    call PIO_setframe(f%file, f%vars(bry), int(record, PIO_OFFSET_KIND))
    call PIO_read_darray(f%file, f%vars(bry), t%boundary, boundary, status)
    call ok(status, "read boundary")
    do j = 1, 4
      call check(boundary(0, j) == boundary_truth(0, j, time) .and. boundary(l+1, j) == boundary_truth(l+1, j, time), &
          what // " boundary")
    end do
    call ok(PIO_get_var(f%file, f%time, [record], seconds), "get time")
    call check(seconds == 3600.0d0 * time, what // " time")
    call ok(PIO_get_var(f%file, f%cycle, [1, record], [19, 1], date), "get date")
    call check(date(12:13) == achar(48 + time / 10) // achar(48 + mod(time, 10)), what // " date " // date)
  end subroutine compare

  subroutine check_stress(t, f)
    type(tiling), intent(inout) :: t
    type(model_file), intent(inout) :: f
    integer :: status, i, j
    real(4), allocatable :: a(:, :)
    call ok(PIO_inq_varid(f%file, "stress", f%vars(stress)), "inq_varid stress")
    allocate (a(t%x0(u_faces):t%x1(u_faces), t%y0(u_faces):t%y1(u_faces)))
    call PIO_read_darray(f%file, f%vars(stress), t%single_2d(u_faces), a, status)
    call ok(status, "read stress")
    do j = t%y0(u_faces), t%y1(u_faces)
      do i = t%x0(u_faces), t%x1(u_faces)
        call check(a(i, j) == real(truth(u_faces, i, j, 0, 0)), "stress")
      end do
    end do
  end subroutine check_stress

  subroutine open_again(t, f, name, iotype)
    type(tiling), intent(inout) :: t
    type(model_file), intent(out) :: f
    character(len=*), intent(in) :: name
    integer, intent(in) :: iotype
    integer :: i, code
    call ok(PIO_openfile(t%ios, f%file, iotype, name, PIO_nowrite), "open " // name)
    do i = 1, 5
      call ok(PIO_inq_varid(f%file, trim(names(i)), f%vars(i)), "inq_varid")
    end do
    call ok(PIO_inq_varid(f%file, "ocean_time", f%time), "inq_varid time")
    call ok(PIO_inq_varid(f%file, "date", f%cycle), "inq_varid date")
    ! Is it there? As models ask.
    call PIO_seterrorhandling(t%ios, PIO_bcast_error)
    code = PIO_inq_varid(f%file, "no_such_field", f%vars(stress))
    call PIO_seterrorhandling(t%ios, PIO_internal_error)
    call check(code /= PIO_noerr, "a field that is not there")
  end subroutine open_again
end module files

program pio_ocean
  use files
  implicit none
  integer, parameter :: steps = 4
  type(tiling), target :: t, other
  type(fields) :: state
  type(model_file) :: history, restart
  integer :: ierr, time, level, rank, ranks, comm, total, length, extended
  character(len=40) :: title

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call cut_grid(t, MPI_COMM_WORLD, along_x=.true.)
  call allocate_fields(t, state)
  call create(t, history, "ocean_his.nc", PIO_iotype_pnetcdf, PIO_real)
  call create(t, restart, "ocean_rst.nc", PIO_iotype_netcdf4p, PIO_double)
  do time = 1, steps
    level = 1 + mod(time, 2)
    call step(state, level, time)
    call write_record(t, history, state, level, time, single=.true.)
    if (time == 2) call add_variable(t, history)
    call PIO_syncfile(history%file)
    if (time >= steps - 1) call write_record(t, restart, state, level, time, single=.false.)
  end do
  call PIO_closefile(history%file)
  call PIO_closefile(restart%file)

  call open_again(t, history, "ocean_his.nc", PIO_iotype_netcdf)
  do time = 1, steps
    call compare(t, history, time, time, single=.true., what="history")
  end do
  call compare(t, history, 2, 2, single=.false., what="history in double precision")
  call ok(PIO_get_att(history%file, PIO_global, "title", title), "get title")
  call check(title == "an ocean at rest", "title")
  call ok(PIO_get_att(history%file, PIO_global, "extended", extended), "get extended")
  call check(extended == 2, "extended")
  call check_stress(t, history)
  call ok(PIO_inq_dimlen(history%file, dimension_of(history%file, "ocean_time"), length), "records")
  call check(length == steps, "records")
  call PIO_closefile(history%file)
  call free_grid(t)
  call free_fields(state)

  ! The restart is read by all ranks but the first one, in another order, and cut the other way.
  call MPI_Comm_split(MPI_COMM_WORLD, merge(1, 0, rank == 0 .and. ranks > 1), -rank, comm, ierr)
  if (rank > 0 .or. ranks == 1) then
    call cut_grid(other, comm, along_x=.false.)
    call open_again(other, restart, "ocean_rst.nc", PIO_iotype_netcdf4p)
    call compare(other, restart, 1, steps - 1, single=.false., what="restart")
    call compare(other, restart, 2, steps, single=.false., what="restart, last record")
    call compare(other, restart, 2, steps, single=.true., what="restart in single precision")
    call PIO_closefile(restart%file)
    call free_grid(other)
  end if
  call MPI_Comm_free(comm, ierr)

  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. total == 0) write (*, "(a,i0,a)") "pio_ocean: ", steps, " records and a restart are as they were"
  call MPI_Finalize(ierr)
  if (total > 0) error stop 1

contains

  integer function dimension_of(file, name)
    type(file_desc_t), intent(in) :: file
    character(len=*), intent(in) :: name
    call ok(PIO_inq_dimid(file, name, dimension_of), "dimension " // name)
  end function dimension_of
end program pio_ocean
