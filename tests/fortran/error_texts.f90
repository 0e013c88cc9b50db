! errmsg= beside text of any length: it gets its own length, and memory behind it stays. gfortran 12 passes the length
! of text given to a type(*) dummy, too, which took the place of that of errmsg.
program error_texts
  use mpi
  use shoal
  use shoal_streaming
  implicit none
  type :: box
    character(len=20) :: errmsg = "before"
    character(len=300) :: guard = repeat("G", 300)
  end type box
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call beside_texts(0)
  call beside_texts(1)
  call beside_texts(200)
  call finish()

contains

  subroutine beside_texts(length)
    integer, intent(in) :: length
    character(len=length) :: texts(4)
    character(len=:), allocatable :: text
    type(shoal_dataset) :: file
    type(shoal_decomposition) :: cells, other
    type(shoal_streams) :: streams
    type(box) :: b
    integer :: stat, first, last
    texts = repeat("a", length)
    call cut(8 * ranks, ranks, rank, first, last)
    cells = shoal_block(MPI_COMM_WORLD, 8 * ranks, first, last)
    call file%create("error_texts.nc", MPI_COMM_WORLD, format="netcdf4")
    call file%def_dim("x", 4)
    call file%def_dim("y", texts, stat=stat, errmsg=b%errmsg)
    call whole("def_dim", stat, b)
    call file%def_var("s", SHOAL_STRING, "x")
    call file%def_chunks("s", texts, stat=stat, errmsg=b%errmsg)
    call whole("def_chunks", stat, b)
    call file%put("s", texts)
    call file%put("nosuch", texts, stat=stat, errmsg=b%errmsg)
    call whole("put", stat, b, at_once=.false.)
    call file%put("s", texts, record=texts, start=texts, count=texts, records=texts, stat=stat, errmsg=b%errmsg)
    call whole("put of a record", stat, b, at_once=.false.)
    call file%put_text("s", "text", record=texts, stat=stat, errmsg=b%errmsg)
    call whole("put_text", stat, b)
    call file%get("nosuch", texts, stat=stat, errmsg=b%errmsg)
    call whole("get", stat, b)
    call file%get_text("s", text, record=texts, stat=stat, errmsg=b%errmsg)
    call whole("get_text", stat, b)
    call file%read("nosuch", texts, decomposition=cells, stat=stat, errmsg=b%errmsg)
    call whole("read", stat, b)
    call file%write("nosuch", texts, decomposition=cells, stat=stat, errmsg=b%errmsg)
    call whole("write", stat, b, at_once=.false.)
    call file%abandon()
    other = shoal_block(MPI_COMM_WORLD, 8, texts, texts, texts, texts, stat=stat, errmsg=b%errmsg)
    call whole("shoal_block", stat, b)
    other = shoal_map(MPI_COMM_WORLD, 8, texts, stat=stat, errmsg=b%errmsg)
    call whole("shoal_map", stat, b)
    other = cells%masked(texts, stat=stat, errmsg=b%errmsg)
    call whole("masked", stat, b)
    call file%open("error_texts.nc", texts, stat=stat, errmsg=b%errmsg)
    call whole("open", stat, b)
    call shoal_wait(texts, stat=stat, errmsg=b%errmsg)
    call whole("shoal_wait", stat, b)
    call streams%open("no_such_file.toml", MPI_COMM_WORLD, "noleap", "2001-01-01", stat=stat, errmsg=b%errmsg)
    call whole("open of streams", stat, b)
    call streams%axis("lev", texts, texts, stat=stat, errmsg=b%errmsg)
    call whole("axis", stat, b)
    call streams%coordinate("sea", "lat", texts, stat=stat, errmsg=b%errmsg)
    call whole("coordinate", stat, b)
    call streams%area("sea", "area", texts, stat=stat, errmsg=b%errmsg)
    call whole("area", stat, b)
    call streams%send(1, texts, stat=stat, errmsg=b%errmsg)
    call whole("send", stat, b)
    call cells%free()
  end subroutine beside_texts

  ! The beginning of the message is in errmsg, and nothing behind it has changed. at_once .false.: on several ranks it may
  ! fail at sync only, and says nothing before.
  subroutine whole(what, stat, b, at_once)
    character(len=*), intent(in) :: what
    integer, intent(in) :: stat
    type(box), intent(inout) :: b
    logical, intent(in), optional :: at_once
    character(len=20) :: wanted
    wanted = shoal_error_message()
    if (present(at_once) .and. stat == SHOAL_OK) wanted = "before"
    if (.not. present(at_once)) call check(stat /= SHOAL_OK, what // ": fails")
    call check(b%errmsg == wanted, what // ": errmsg is '" // b%errmsg // "' and not '" // wanted // "'")
    call check(b%guard == repeat("G", 300), what // ": memory behind errmsg has changed")
    b = box()
  end subroutine whole

  include "check.inc"
end program error_texts
