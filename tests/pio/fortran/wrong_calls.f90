! Random sequences of calls in which some ranks give wrong arguments, or leave a call out: no rank waits longer than
! wait_seconds allows, and ranks that made the same call get the same code. Arguments: how many sequences (40); in one
! of how many a call is left out (20, 0: in none). TEST_SEED gives the same ones again.
program wrong_calls
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
  use pio
  use pio_test
  implicit none
  integer, parameter :: steps = 12, nx = 6, ncalls = 14, o = PIO_OFFSET_KIND
  integer, parameter :: right = 0, wrong = 1, left_out = 2
  integer :: sequences, one_in, i, ierr, differ, comm
  integer(kind=8) :: state
  integer :: seed
  real(kind=8) :: longest, limit
  character(len=32) :: text
  type(iosystem_desc_t), target :: own
  type(file_desc_t) :: file
  type(var_desc_t) :: v, list
  type(io_desc_t) :: iodesc
  integer :: dimid
  interface
    integer(c_int) function setenv(name, value, overwrite) bind(C)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int), value :: overwrite
    end function setenv
  end interface
  ierr = setenv("SHOAL_WAIT_SECONDS" // c_null_char, "1" // c_null_char, 0)
  call begin()
  call PIO_finalize(ios, ierr)
  sequences = 40
  one_in = 20
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) sequences
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, text)
    read (text, *) one_in
  end if
  call system_clock(seed)
  call get_environment_variable("TEST_SEED", text, status=ierr)
  if (ierr == 0) read (text, *) seed
  call MPI_Bcast(seed, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  limit = 20
  longest = 0
  differ = 0
  call PIO_seterrorhandling(PIO_default, PIO_return_error)
  do i = 1, sequences
    state = int(seed, 8) + 1000003_8 * i
    call sequence(i, one_in > 0 .and. mod(i, max(one_in, 1)) == 0)
  end do
  call check(differ == 0, "ranks that made the same call get the same code")
  call check(longest < limit, "no rank waits longer than the limit")
  if (rank == 0) write (*, "(3(i0,a),f6.2,a)") sequences, " sequences of ", steps, " steps: ", differ, &
      " codes differ; longest ", longest, " s"
  if (rank == 0 .and. failures > 0) write (*, "(a,i0)") "TEST_SEED=", seed
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (failures > 0) error stop 1

contains

  ! From 0 to limit - 1, the same on all ranks.
  integer function draw(limit)
    integer, intent(in) :: limit
    state = iand(state * 25214903917_8 + 11_8, 281474976710655_8)
    draw = int(mod(ishft(state, -17), int(limit, 8)))
  end function draw

  subroutine make_file(number)
    integer, intent(in) :: number
    integer :: t, f, code
    f = merge(3, 4, mod(number, 2) == 0)
    call ok(PIO_createfile(own, file, iotypes(f), file_name("wrong_calls", f), modes(f)), "createfile")
    code = PIO_def_dim(file, "t", PIO_unlimited, t)
    code = PIO_def_dim(file, "x", nx, dimid)
    code = PIO_def_var(file, "v", PIO_real, [dimid, t], v)
    code = PIO_def_var(file, "list", PIO_int, [dimid], list)
    call ok(code, "definitions")
  end subroutine make_file

  ! Wrong ids are those of none: -1, or 77.
  integer function make(which, bad, a, b) result(code)
    integer, intent(in) :: which, bad, a, b
    type(file_desc_t) :: at, other
    type(var_desc_t) :: field, numbers, made
    type(io_desc_t) :: cut
    character(len=8) :: name
    integer :: id, short(nx), map(nx)
    real :: x(nx)
    logical :: order
    write (name, "(a,i0)") "n", a
    at = file
    if (bad == 1) at%fh = 9999
    field = v
    numbers = list
    if (bad == 2) field%varid = 77
    if (bad == 2) numbers%varid = 77
    cut = iodesc
    if (bad == 3) cut%ioid = 9999
    x = real(rank)
    short = rank
    code = PIO_noerr
    select case (which)
    case (1)
      code = PIO_def_dim(at, merge("a/b     ", name, bad == 2), merge(-1, 3, bad == 3), id)
    case (2)
      code = PIO_def_var(at, name, merge(99, PIO_int, bad == 2), [merge(77, dimid, bad == 3)], made)
    case (3)
      code = PIO_put_att(at, field, name, merge(1.5, real(b), b == 0))
    case (4)
      if (b == 0) code = PIO_redef(at)
      if (b > 0) code = PIO_enddef(at)
    case (5)
      call PIO_syncfile(file)
      code = PIO_inq_varid(file, "v", id)
    case (6)
      if (bad == 3) then
        code = PIO_put_var(at, numbers, short(:2))
      else
        code = PIO_put_var(at, numbers, short)
      end if
    case (7)
      code = PIO_put_var(at, numbers, [merge(17, 1 + a, bad == 3)], [merge(99, 1, bad == 4)], short)
    case (8)
      if (bad == 3) then
        code = PIO_get_var(at, numbers, short(:2))
      else
        code = PIO_get_var(at, numbers, short)
      end if
    case (9)
      if (bad == 4) then
        call PIO_read_darray(at, field, cut, x(:0), code)
      else
        call PIO_setframe(file, v, int(a + 1, o))
        call PIO_read_darray(at, field, cut, x, code)
      end if
    case (10)
      call PIO_setframe(file, v, int(a + 1, o))
      call PIO_write_darray(file, field, cut, x, code)
    case (11)
      map = [(id, id=1, nx)]
      if (bad == 1) map(1) = 1000
      call PIO_initdecomp(own, merge(99, PIO_real, bad == 2), [nx + a], map, cut)
      code = PIO_inq_varid(file, "v", id)
      if (cut%ioid /= iodesc%ioid) call PIO_freedecomp(own, cut)
    case (12)
      code = PIO_openfile(own, other, merge(77, PIO_iotype_netcdf, bad == 1), merge("        ", name, bad == 2))
      if (code == PIO_noerr) call PIO_closefile(other)
    case (13)
      call pio_write_nc_dof(own, "pio_wrong_dof.nc", PIO_clobber, cut, code)
      if (b == 0 .and. code == PIO_noerr) then
        order = .false.
        call pio_read_nc_dof(own, "pio_wrong_dof.nc", cut, code, fortran_order=order)
        if (code == PIO_noerr) call PIO_freedecomp(own, cut)
      end if
    case default
      code = PIO_def_var_deflate(at, field, 0, 1, merge(17, 1, bad == 3))
    end select
  end function make

  subroutine sequence(number, leaves_out)
    integer, intent(in) :: number
    logical, intent(in) :: leaves_out
    integer :: s, which, a, b, chance, bad, alone, missing, mine(2, steps), how, code, before
    integer :: all(2, steps, 0:ranks-1), called(steps), r
    logical :: left, refused
    real(kind=8) :: start
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call PIO_init(rank, comm, 1, 0, 1, PIO_rearr_box, own)
    call PIO_seterrorhandling(own, PIO_return_error)
    call PIO_initdecomp(own, PIO_real, [nx], [(merge(s, 0, mod(s, ranks) == rank), s=1, nx)], iodesc)
    call make_file(number)
    missing = 0
    if (leaves_out) missing = 1 + draw(steps)
    left = .false.
    do s = 1, steps
      which = 1 + draw(ncalls)
      called(s) = which
      a = draw(3)
      b = draw(3)
      chance = draw(100)
      bad = 1 + draw(4)
      alone = draw(ranks)
      how = right
      if (s == missing .and. rank == alone) how = left_out
      if (s /= missing .and. chance < 35 .and. (rank == alone .or. (chance < 10 .and. rank == 0))) how = wrong
      code = 0
      start = MPI_Wtime()
      if (how /= left_out) code = make(which, merge(bad, 0, how == wrong), a, b)
      longest = max(longest, MPI_Wtime() - start)
      if (how == left_out) left = .true.
      ! What a write refuses it says on that rank alone.
      if (left .or. (how == wrong .and. which == 10)) how = left_out
      mine(:, s) = [how, code]
    end do
    start = MPI_Wtime()
    call PIO_finalize(own, ierr)
    longest = max(longest, MPI_Wtime() - start)
    call MPI_Allgather(mine, 2 * steps, MPI_INTEGER, all, 2 * steps, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    ! A write that one rank refuses the others hear of in the next sync, or in a write before it.
    refused = .false.
    do s = 1, steps
      before = -1
      if (called(s) == 10) refused = refused .or. any(all(2, s, :) /= 0)
      if (called(s) == 5) refused = .false.
      if (called(s) == 10 .and. refused) cycle
      do r = 0, ranks - 1
        if (all(1, s, r) == left_out) cycle
        if (before >= 0) then
          if (all(2, s, r) /= all(2, s, before)) then
            differ = differ + 1
            if (rank == 0) write (*, "(6(a,i0))") "sequence ", number, ", step ", s, ": code ", all(2, s, r), &
                " on rank ", r, ", ", all(2, s, before), " on rank ", before
          end if
        end if
        before = r
      end do
    end do
    if (.not. leaves_out) call MPI_Comm_free(comm, ierr)
  end subroutine sequence
end program wrong_calls
