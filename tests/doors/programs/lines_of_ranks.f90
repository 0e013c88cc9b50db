! What the Fortran programs share: lines that rank 0 prints for all ranks, and checks that are counted. What a program
! prints is the same in each run, whoever comes first: two runs are compared line by line.
module lines_of_ranks
  use mpi
  use netcdf
  implicit none
  private
  public :: begin, finish, say, check, needs, text_of, part_of
  integer, parameter, public :: r8 = kind(1d0)
  integer, protected, public :: rank = 0, ranks = 1
  integer, parameter :: width = 400
  integer :: failures = 0

  interface
    subroutine tell_libraries() bind(c)
    end subroutine tell_libraries
  end interface

  interface text_of
    module procedure text_of_integers, text_of_integer, text_of_reals, text_of_logical
  end interface text_of

contains

  ! Starts MPI, and gives the first argument: the folder for files. Collective.
  subroutine begin(folder)
    character(len=:), allocatable, intent(out) :: folder
    character(len=4096) :: argument
    integer :: ierr
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call get_command_argument(1, argument)
    folder = trim(argument)
    if (rank == 0) call tell_libraries()
  end subroutine begin

  ! Ends MPI, and the program: with 0 if all checks of all ranks were good, otherwise with 1. Collective.
  subroutine finish()
    integer :: all_failures, ierr
    call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a,i0)', 'failed checks: ', all_failures
    call MPI_Finalize(ierr)
    if (all_failures /= 0) stop 1
  end subroutine finish

  ! One line "what: text", of what a rank says; where ranks differ "what: [0] text [1] text". Collective.
  subroutine say(what, text)
    character(len=*), intent(in) :: what, text
    character(len=width) :: mine, all_of(ranks)
    integer :: r, ierr
    mine = text
    call MPI_Gather(mine, width, MPI_CHARACTER, all_of, width, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    if (rank /= 0) return
    if (all(all_of == mine)) then
      print '(a)', what // ': ' // trim(mine)
    else
      print '(999a)', what // ':', (' [' // text_of(r - 1) // '] ' // trim(all_of(r)), r=1, ranks)
    end if
  end subroutine say

  ! Counts what is wrong, and tells it on standard error. Local.
  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    failures = failures + 1
    if (failures <= 20) write (0, '(a)') 'rank ' // text_of(rank) // ': wrong: ' // what
  end subroutine check

  ! Ends all ranks if a call that the program cannot go on without did not succeed. Local.
  subroutine needs(status, what)
    integer, intent(in) :: status
    character(len=*), intent(in) :: what
    integer :: ierr
    if (status == nf90_noerr) return
    write (0, '(a)') 'rank ' // text_of(rank) // ': ' // what // ': ' // trim(nf90_strerror(status))
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine needs

  ! First and last, from 1, of part `part` (from 0) of `parts` nearly equal ones of `cells`.
  subroutine part_of(cells, parts, part, first, last)
    integer, intent(in) :: cells, parts, part
    integer, intent(out) :: first, last
    first = cells * part / parts + 1
    last = cells * (part + 1) / parts
  end subroutine part_of

  function text_of_integers(values) result(text)
    integer, intent(in) :: values(:)
    character(len=:), allocatable :: text
    character(len=width) :: room
    write (room, '(*(i0,1x))') values
    text = trim(room)
  end function text_of_integers

  function text_of_integer(value) result(text)
    integer, intent(in) :: value
    character(len=:), allocatable :: text
    text = text_of_integers([value])
  end function text_of_integer

  function text_of_reals(values) result(text)
    real(r8), intent(in) :: values(:)
    character(len=:), allocatable :: text
    character(len=width) :: room
    write (room, '(*(g0,1x))') values
    text = trim(room)
  end function text_of_reals

  function text_of_logical(value) result(text)
    logical, intent(in) :: value
    character(len=:), allocatable :: text
    text = trim(merge('true ', 'false', value))
  end function text_of_logical

end module lines_of_ranks
