! Descriptors as ocean models keep them: a matrix of iosystems of which a section is made, files and variables in
! structures, decompositions behind pointers that are set before each write. One component computes, the last rank is for
! I/O, and its communicators replace the model's own; with one rank the same model does its I/O itself.
module model_state
  use pio
  implicit none
  type :: variable_t
    type(var_desc_t) :: vd
    integer :: dkind = 0
  end type variable_t
  type :: output_t
    type(file_desc_t) :: file
    type(variable_t), pointer :: var(:) => null()
    integer :: record = 0
  end type output_t
  type(iosystem_desc_t), allocatable, target :: systems(:, :)
  type(io_desc_t), allocatable, target :: real_tiles(:), double_tiles(:)
  type(output_t), allocatable :: history(:)
  integer :: model_comm, model_rank, model_size
end module model_state

program descriptors
  use mpi
  use pio
  use pio_test, only: check, failures, is, ok, rank, ranks
  use model_state
  implicit none
  integer, parameter :: nx = 12, ny = 6, grids = 2, component = 1
  integer :: ierr, total
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  allocate (systems(1, grids), real_tiles(grids), double_tiles(grids), history(grids))
  call start_io()
  if (model_comm /= MPI_COMM_NULL) call run()
  call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (total > 0) error stop 1

contains

  ! The communicators that PIO gives are the model's from here on.
  subroutine start_io()
    integer, allocatable :: comps(:, :), io(:), members(:, :)
    integer :: i, active_rank
    logical :: active
    if (ranks == 1) then
      model_comm = MPI_COMM_WORLD
      call PIO_init(0, model_comm, 1, 0, 1, PIO_rearr_box, systems(component, 1), base=0)
    else
      allocate (comps(1, grids), io(grids), members(ranks - 1, 1))
      comps = MPI_COMM_NULL
      io = MPI_COMM_NULL
      members(:, 1) = [(i, i=0, ranks - 2)]
      call PIO_init(systems(component:, 1), MPI_COMM_WORLD, [ranks - 1], members, [ranks - 1], PIO_rearr_subset, &
          comps(component:, 1), io(1))
      model_comm = comps(component, 1)
      call check((io(1) /= MPI_COMM_NULL) .eqv. (rank == ranks - 1), "communicator for I/O")
      call check((model_comm == MPI_COMM_NULL) .eqv. (rank == ranks - 1), "communicator of the model")
    end if
    if (model_comm == MPI_COMM_NULL) return
    call MPI_Comm_rank(model_comm, model_rank, ierr)
    call MPI_Comm_size(model_comm, model_size, ierr)
    call is(model_size, max(1, ranks - 1), "ranks of the model")
    call is(model_rank, rank, "rank in the model")
    call PIO_iosystem_is_active(systems(component, 1), active)
    call check(active, "active")
    active_rank = PIO_iotask_rank(systems(component, 1))
    call check(PIO_iam_iotask(systems(component, 1)) .eqv. active_rank >= 0, "I/O ranks")
    call ok(PIO_set_rearr_opts(systems(component, 1), PIO_rearr_comm_p2p, PIO_rearr_comm_fc_2d_enable, .true., .false., &
        64, .true., .false., 64), "set_rearr_opts")
  end subroutine start_io

  subroutine run()
    type(io_desc_t), pointer :: tiles
    real(8) :: field(0:nx + 1, -1:ny + 2), found(nx, ny)
    real(4) :: narrow(nx, ny)
    integer :: first, last, step, i, j
    integer, allocatable :: list(:)
    call cut_rows(first, last)
    list = [((i + nx * (j - 1), i=1, nx), j=first, last)]
    call PIO_initdecomp(systems(component, 1), PIO_double, [nx, ny], list, double_tiles(1))
    call PIO_initdecomp(systems(component, 1), PIO_real, [nx, ny], list, real_tiles(1))
    call is(PIO_get_local_array_size(double_tiles(1)), size(list), "length of a list")
    call define(history(1))
    do step = 1, 3
      history(1)%record = history(1)%record + 1
      do j = lbound(field, 2), ubound(field, 2)
        field(:, j) = [(1000._8 * step + 10 * i + j, i=lbound(field, 1), ubound(field, 1))]
      end do
      tiles => double_tiles(1)
      call write_field(history(1), 1, tiles, field(1:nx, first:last))
      narrow = real(field(1:nx, 1:ny), 4)
      tiles => real_tiles(1)
      call PIO_setframe(history(1)%file, history(1)%var(2)%vd, int(step, PIO_OFFSET_KIND))
      call PIO_write_darray(history(1)%file, history(1)%var(2)%vd, tiles, narrow(:, first:last), ierr)
      call ok(ierr, "write real")
      call ok(PIO_put_var(history(1)%file, history(1)%var(3)%vd, [step], 3600._8 * step), "put time")
      call PIO_syncfile(history(1)%file)
    end do
    call PIO_closefile(history(1)%file)
    call check(.not. associated(history(1)%file%iosystem), "iosystem of a closed file")

    ! A restart: another structure, the variable found by name, each record read into a section.
    call ok(PIO_openfile(systems(component, 1), history(2)%file, PIO_iotype_netcdf4p, "pio_descriptors.nc"), "openfile")
    allocate (history(2)%var(1))
    call ok(PIO_inq_varid(history(2)%file, "field", history(2)%var(1)%vd), "inq_varid")
    tiles => double_tiles(1)
    do step = 3, 1, -1
      found = -1
      call PIO_setframe(history(2)%file, history(2)%var(1)%vd, int(step, PIO_OFFSET_KIND))
      call PIO_read_darray(history(2)%file, history(2)%var(1)%vd, tiles, found(:, first:last), ierr)
      call ok(ierr, "read")
      do j = first, last
        call check(all(found(:, j) == [(1000._8 * step + 10 * i + j, i=1, nx)]), "values of a record")
      end do
    end do
    call PIO_closefile(history(2)%file)
    call PIO_freedecomp(systems(component, 1), real_tiles(1))
    call PIO_freedecomp(systems(component, 1), double_tiles(1))
    call PIO_finalize(systems(component, 1), ierr)
    call ok(ierr, "finalize")
  end subroutine run

  subroutine cut_rows(first, last)
    integer, intent(out) :: first, last
    first = ny * model_rank / model_size + 1
    last = ny * (model_rank + 1) / model_size
  end subroutine cut_rows

  subroutine define(out)
    type(output_t), intent(inout) :: out
    integer :: dims(3)
    call ok(PIO_createfile(systems(component, 1), out%file, PIO_iotype_netcdf4p, "pio_descriptors.nc", PIO_clobber), &
        "createfile")
    call check(associated(out%file%iosystem, systems(component, 1)), "iosystem of a file")
    allocate (out%var(3))
    call ok(PIO_def_dim(out%file, "x", nx, dims(1)), "x")
    call ok(PIO_def_dim(out%file, "y", ny, dims(2)), "y")
    call ok(PIO_def_dim(out%file, "time", PIO_unlimited, dims(3)), "time")
    call ok(PIO_def_var(out%file, "field", PIO_double, dims, out%var(1)%vd), "field")
    call ok(PIO_def_var(out%file, "narrow", PIO_real, dims, out%var(2)%vd), "narrow")
    call ok(PIO_def_var(out%file, "time", PIO_double, dims(3:), out%var(3)%vd), "time")
    out%var(1)%dkind = PIO_double
    call ok(PIO_enddef(out%file), "enddef")
  end subroutine define

  ! As a routine of a model that all fields go through.
  subroutine write_field(out, number, tiles, values)
    type(output_t), intent(inout) :: out
    integer, intent(in) :: number
    type(io_desc_t), intent(inout) :: tiles
    real(8), intent(in) :: values(:, :)
    real(8), pointer :: scaled(:, :)
    integer :: status
    allocate (scaled(size(values, 1), size(values, 2)))
    scaled = values
    call PIO_setframe(out%file, out%var(number)%vd, int(out%record, PIO_OFFSET_KIND))
    call PIO_write_darray(out%file, out%var(number)%vd, tiles, scaled(1:nx, :), status)
    call ok(status, "write double")
    deallocate (scaled)
  end subroutine write_field
end program descriptors
