! What the tests of this folder share: MPI, an iosystem of all ranks, the formats, cut fields.
module pio_test
  use mpi
  use pio
  use pio_types
  implicit none
  public
  integer, parameter :: nformats = 4
  character(len=7), parameter :: formats(nformats) = ["cdf1   ", "cdf2   ", "cdf5   ", "netcdf4"]
  integer, parameter :: iotypes(nformats) = [PIO_iotype_pnetcdf, PIO_iotype_netcdf, PIO_iotype_pnetcdf, &
      PIO_iotype_netcdf4p]
  integer, parameter :: modes(nformats) = [PIO_clobber, PIO_64bit_offset, PIO_64bit_data, PIO_clobber]
  integer :: rank = 0, ranks = 1, failures = 0
  type(iosystem_desc_t), target :: ios

contains

  ! base: of the iosystem; beyond the last rank it is taken modulo their number.
  subroutine begin(base)
    integer, intent(in), optional :: base
    integer :: ierr, first
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    first = 0
    if (present(base)) first = mod(base, ranks)
    call PIO_init(rank, MPI_COMM_WORLD, max(1, ranks / 2), 0, merge(2, 1, ranks > 1), PIO_rearr_box, ios, base=first)
  end subroutine begin

  ! Every rank fails if one does.
  subroutine finish()
    integer :: total, ierr
    call PIO_finalize(ios, ierr)
    call check(ierr == PIO_noerr, "finalize")
    call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Finalize(ierr)
    if (total > 0) error stop 1
  end subroutine finish

  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    failures = failures + 1
    write (*, '(a,i0,2a)') "rank ", rank, ": FAILED: ", what
  end subroutine check

  subroutine ok(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    call is(code, PIO_noerr, what)
  end subroutine ok

  subroutine is(found, wanted, what)
    integer, intent(in) :: found, wanted
    character(len=*), intent(in) :: what
    if (found == wanted) return
    failures = failures + 1
    write (*, '(a,i0,3a,2(i0,a))') "rank ", rank, ": FAILED: ", what, ": ", found, " in place of ", wanted, "."
  end subroutine is

  ! The bounds of part `part` (from 0) of `parts` in 1 to n.
  subroutine cut(n, parts, part, first, last)
    integer, intent(in) :: n, parts, part
    integer, intent(out) :: first, last
    first = (n * part) / parts + 1
    last = (n * (part + 1)) / parts
  end subroutine cut

  ! This rank's tile of nx times ny, for any number of ranks.
  subroutine tile(nx, ny, first, last)
    integer, intent(in) :: nx, ny
    integer, intent(out) :: first(2), last(2)
    integer :: px
    px = merge(2, 1, mod(ranks, 2) == 0)
    call cut(nx, px, mod(rank, px), first(1), last(1))
    call cut(ny, ranks / px, rank / px, first(2), last(2))
  end subroutine tile

  ! The list of a tile of nx times ny times nz, level after level.
  function list_of(nx, ny, nz, first, last) result(list)
    integer, intent(in) :: nx, ny, nz, first(2), last(2)
    integer(PIO_OFFSET_KIND), allocatable :: list(:)
    integer :: i, j, k
    list = [(((int(i + nx * (j - 1 + ny * (k - 1)), PIO_OFFSET_KIND), i=first(1), last(1)), j=first(2), last(2)), &
        k=1, nz)]
  end function list_of

  ! Cells that are dealt out to ranks in turn, with a hole after each `holes` of them.
  function dealt(cells, holes) result(list)
    integer, intent(in) :: cells, holes
    integer, allocatable :: list(:)
    integer :: c
    allocate (list(0))
    do c = 1 + rank, cells, ranks
      list = [list, c]
      if (mod(size(list), holes + 1) == holes) list = [list, 0]
    end do
  end function dealt

  function file_name(what, f)
    character(len=*), intent(in) :: what
    integer, intent(in) :: f
    character(len=:), allocatable :: file_name
    file_name = "pio_" // what // "_" // trim(formats(f)) // ".nc"
  end function file_name
end module pio_test
