! Ranks that serve, and a model on the others; with the communicator of `use mpi_f08`, and as an integer.
program served
  use mpi_f08
  use shoal
  implicit none
  integer :: rank, ranks, failures = 0, provided, plain

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call refusals()
  call with_f08(min(1, ranks - 1))
  call components()
  plain = -7
  call shoal_serve(MPI_COMM_WORLD%mpi_val, 0, plain)
  call check(plain /= MPI_COMM_NULL%mpi_val .and. plain /= -7, "nobody serves")
  call finish()

contains

  subroutine refusals()
    type(MPI_Comm) :: comm
    character(len=300) :: message
    integer :: stat
    real :: nothing
    message = ""
    call shoal_serve(MPI_COMM_WORLD, ranks, comm, stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "compute") > 0, "all ranks cannot serve")
    call check(comm == MPI_COMM_NULL, "and nobody gets a communicator")
    call shoal_serve(MPI_COMM_WORLD, 1, nothing, stat=stat, errmsg=message)
    call check(stat /= 0, "a real takes no communicator")
  end subroutine refusals

  subroutine with_f08(n)
    integer, intent(in) :: n
    type(MPI_Comm) :: comm
    call shoal_serve(MPI_COMM_WORLD, n, comm)
    call check((comm == MPI_COMM_NULL) .eqv. rank >= ranks - n, "who serves")
    if (comm == MPI_COMM_NULL) return
    if (n > 0) call model(comm)
    call shoal_stop_serving()
    call MPI_Comm_free(comm)
  end subroutine with_f08

  ! The first rank serves the others, which are one component.
  subroutine components()
    type(MPI_Comm) :: comm
    character(len=300) :: message
    integer :: stat
    message = ""
    call shoal_serve_components(MPI_COMM_WORLD, 0, comm, stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "that serve") > 0, "a component needs a server")
    call check(comm == MPI_COMM_NULL, "and nobody gets a communicator of a component")
    if (ranks < 2) return
    call shoal_serve_components(MPI_COMM_WORLD, merge(SHOAL_SERVES, 4, rank == 0), comm)
    call check((comm == MPI_COMM_NULL) .eqv. rank == 0, "who serves the component")
    if (rank == 0) return
    call model(comm)
    call shoal_stop_serving()
    call MPI_Comm_free(comm)
  end subroutine components

  subroutine model(comm)
    type(MPI_Comm), intent(in) :: comm
    type(shoal_decomposition) :: cells
    type(shoal_dataset) :: file
    integer :: me, n, back(3), i, record
    call MPI_Comm_rank(comm, me)
    call MPI_Comm_size(comm, n)
    cells = shoal_block(comm, 3 * n, first=3 * me + 1, last=3 * me + 3)
    call file%create("served.nc", comm, settings="background=ranks, format=netcdf4")
    call file%def_dim("x", 3 * n)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("v", SHOAL_INT, "x time", cells)
    do record = 1, 4
      call file%write("v", [(100 * record + 3 * me + i, i=1, 3)], record=record)
    end do
    call file%close()
    call file%open("served.nc", comm)
    do record = 1, 4
      call file%read("v", back, record=record, decomposition=cells)
      call check(all(back == [(100 * record + 3 * me + i, i=1, 3)]), "a record")
    end do
    call file%close()
    call cells%free()
  end subroutine model

  include "check_f08.inc"
end program served
