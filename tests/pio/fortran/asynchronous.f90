! The asynchronous forms of PIO_init: an I/O rank that serves one component, or waits until two have finished, which
! write and read their files meanwhile. By lists of ranks, and by communicators in both orders of arguments. On one rank there is
! nothing to divide.
program asynchronous
  use mpi
  use pio
  use pio_test, only: check, failures, ok, rank, ranks
  implicit none
  integer, parameter :: nx = 24
  integer :: ierr, total, way, provided
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  if (ranks > 1) then
    do way = 1, 3
      call components(way)
    end do
  end if
  call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (total > 0) error stop 1

contains

  ! The last rank waits, the others are one component, or two.
  subroutine components(way)
    integer, intent(in) :: way
    type(iosystem_desc_t), allocatable, target :: systems(:)
    integer, allocatable :: members(:), list(:, :), comms(:)
    integer :: n, c, r, mine, io_comm, comm, everyone
    n = min(2, ranks - 1)
    allocate (systems(n), members(n), comms(n), list(ranks, n))
    list = -1
    members = 0
    mine = 0
    do r = 0, ranks - 2
      c = 1 + mod(r, n)
      members(c) = members(c) + 1
      list(members(c), c) = r
      if (r == rank) mine = c
    end do
    if (way == 1) then
      call PIO_init(systems, MPI_COMM_WORLD, members, list, [ranks - 1], PIO_rearr_box, comms, io_comm)
    else
      call MPI_Comm_split(MPI_COMM_WORLD, mine, rank, comm, ierr)
      comms = MPI_COMM_NULL
      io_comm = MPI_COMM_NULL
      if (mine == 0) io_comm = comm
      if (mine > 0) comms(mine) = comm
      if (way == 2) then
        call PIO_init(systems, MPI_COMM_WORLD, comms, io_comm, PIO_rearr_box)
      else
        call PIO_init(n, MPI_COMM_WORLD, comms, io_comm, systems, rearr=PIO_rearr_box, ierr=ierr)
        call ok(ierr, "init")
      end if
    end if
    call check((io_comm /= MPI_COMM_NULL) .eqv. (mine == 0), "communicator of the I/O ranks")
    do c = 1, n
      call check((comms(c) /= MPI_COMM_NULL) .eqv. (c == mine), "communicator of a component")
    end do
    if (mine > 0) then
      call write_and_read(systems(mine), comms(mine), mine)
      call PIO_finalize(systems(mine), ierr)
      call ok(ierr, "finalize")
    end if
    call MPI_Comm_dup(MPI_COMM_WORLD, everyone, ierr)  ! all come back
    call MPI_Comm_free(everyone, ierr)
  end subroutine components

  subroutine write_and_read(system, comm, component)
    type(iosystem_desc_t), intent(inout) :: system
    integer, intent(in) :: comm, component
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: iodesc
    integer :: me, others, i, x
    integer, allocatable :: list(:), a(:)
    character(len=:), allocatable :: name
    call MPI_Comm_rank(comm, me, ierr)
    call MPI_Comm_size(comm, others, ierr)
    list = [(i, i=1 + me, nx, others)]
    a = 10 * component * list
    name = "pio_component_" // achar(48 + component) // ".nc"
    call PIO_initdecomp(system, PIO_int, [nx], list, iodesc)
    call ok(PIO_createfile(system, file, PIO_iotype_pnetcdf, name), "createfile")
    call ok(PIO_def_dim(file, "x", nx, x), "def_dim")
    call ok(PIO_def_var(file, "v", PIO_int, [x], v), "def_var")
    call ok(PIO_enddef(file), "enddef")
    call PIO_write_darray(file, v, iodesc, a, ierr)
    call ok(ierr, "write")
    call PIO_closefile(file)
    call ok(PIO_openfile(system, file, PIO_iotype_pnetcdf, name), "openfile")
    call ok(PIO_inq_varid(file, "v", v), "inq_varid")
    a = 0
    call PIO_read_darray(file, v, iodesc, a, ierr)
    call ok(ierr, "read")
    call check(all(a == 10 * component * list), "values of a component")
    call PIO_freedecomp(file, iodesc)
    call PIO_closefile(file)
  end subroutine write_and_read
end program asynchronous
