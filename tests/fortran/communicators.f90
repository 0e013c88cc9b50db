! The communicator of `use mpi_f08`, and one that is not the world.
program communicators
  use mpi_f08
  use shoal
  implicit none
  integer :: rank, ranks, failures = 0

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call write_and_read(MPI_COMM_WORLD, "f08.nc")
  call halves()
  call own_files()
  call not_a_communicator()
  call finish()

contains

  subroutine write_and_read(comm, path)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(shoal_decomposition) :: cells
    type(shoal_dataset) :: file
    integer :: me, n, back(3), i
    call MPI_Comm_rank(comm, me)
    call MPI_Comm_size(comm, n)
    cells = shoal_block(comm, 3 * n, first=3 * me + 1, last=3 * me + 3)
    call file%create(path, comm, format="cdf1")
    call file%def_dim("x", 3 * n)
    call file%def_var("v", SHOAL_INT, "x", cells)
    call file%write("v", [(3 * me + i, i=1, 3)])
    call file%close()
    call file%open(path, comm)
    call file%read("v", back, decomposition=cells)
    call check(all(back == [(3 * me + i, i=1, 3)]), path)
    call file%close()
    call cells%free()
  end subroutine write_and_read

  ! Even and odd ranks at the same time, each in a file of their own.
  subroutine halves()
    type(MPI_Comm) :: half
    character(len=20) :: path
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half)
    write (path, '(a,i0,a)') "half_", mod(rank, 2), ".nc"
    call write_and_read(half, trim(path))
    call MPI_Comm_free(half)
  end subroutine halves

  subroutine own_files()
    character(len=20) :: path
    write (path, '(a,i0,a)') "self_", rank, ".nc"
    call write_and_read(MPI_COMM_SELF, trim(path))
  end subroutine own_files

  subroutine not_a_communicator()
    type(shoal_dataset) :: file
    character(len=200) :: message
    integer :: stat
    message = ""
    call file%create("never.nc", 1.0, stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "communicator") > 0, "a real is no communicator")
    call check(.not. file%is_open(), "and opens nothing")
    call shoal_wait(MPI_COMM_WORLD)
    call shoal_wait(1.0, stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "communicator") > 0, "nor can it be waited for")
  end subroutine not_a_communicator

  include "check_f08.inc"
end program communicators
