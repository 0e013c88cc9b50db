! Streams from Fortran: records, order of dimensions, attributes, restarts, and what each mistake answers.
program streams_test
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use shoal
  use shoal_streaming
  implicit none
  integer, parameter :: nx = 5, ny = 3, nz = 2
  character, parameter :: nl = new_line("a")
  integer :: rank, ranks, failures = 0, ierr
  integer :: first(2), last(2)
  type(shoal_decomposition) :: cells
  integer :: found  ! the first error of a run
  character(len=600) :: message

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  first = [1, ny * rank + 1]
  last = [nx, ny * (rank + 1)]
  cells = shoal_block(MPI_COMM_WORLD, [nx, ny * ranks], first, last, halo_low=[1, 0], halo_high=[0, 1])
  call means()
  call restart()
  call start()
  call wrong_openings()
  call wrong_descriptions()
  call wrong_sends()
  call wrong_order()
  call closed()
  call cells%free()
  call finish()

contains

  function daily(path, fields) result(text)
    character(len=*), intent(in) :: path, fields
    character(len=:), allocatable :: text
    text = '[[file]]' // nl // 'name = "' // path // '"' // nl // 'every = "1 day"' // nl // &
        'operation = "mean"' // nl // 'fields = [' // fields // ']' // nl
  end function daily

  ! The message has all of the words, with bars between.
  subroutine says(what, stat, wanted, words)
    character(len=*), intent(in) :: what, words
    integer, intent(in) :: stat, wanted
    integer :: from, to
    call check(stat == wanted, what // ": got " // shoal_error_name(stat) // ": " // trim(message))
    from = 1
    do while (from <= len(words))
      to = index(words(from:), "|")
      to = merge(len(words), from + to - 2, to == 0)
      call check(index(message, words(from:to)) > 0, what // ": '" // words(from:to) // "' is not in: " // trim(message))
      from = to + 2
    end do
    message = ""
  end subroutine says

  subroutine begin(streams, path, temp, total, now)
    type(shoal_streams), intent(inout) :: streams
    character(len=*), intent(in) :: path
    integer, intent(out) :: temp, total
    character(len=*), intent(in), optional :: now
    call streams%open(daily(path, '"temp", "total"'), MPI_COMM_WORLD, "360_day", "2001-01-01", now)
    call streams%axis("lev", [5.0, 20.0], bounds=reshape([0.0, 10.0, 10.0, 30.0], [2, nz]))
    call streams%axis("y", length=int(ny * ranks, int64))
    call streams%grid("sea", "x y", cells)
    temp = streams%field("temp", SHOAL_DOUBLE, "x y lev", grid="sea", group="ocean")
    total = streams%field("total", SHOAL_FLOAT, "", holds=SHOAL_FOR_STEP)
    call streams%put_att("temp", "units", "K")
    call streams%put_att("temp", "missing_value", -9d0)
    call streams%put_att("lev", "levels", [1, 2])
    call streams%put_att(SHOAL_GLOBAL, "title", "of the Fortran " // "test")
  end subroutine begin

  ! A value for each cell of the whole field, so that no two dimensions can be mixed up.
  elemental real(real64) function value(i, j, k)
    integer, intent(in) :: i, j, k
    value = i + 100 * j + 100000 * k
  end function value

  subroutine send(streams, temp, total, step)
    type(shoal_streams), intent(in) :: streams
    integer, intent(in) :: temp, total, step
    real(real64) :: t(0:nx, ny + 1, nz)
    integer :: i, j, k
    t = -1d30  ! the halo is not looked at
    do k = 1, nz
      do j = 1, ny
        do i = 1, nx
          t(i, j, k) = value(i, first(2) + j - 1, k) * step
        end do
      end do
    end do
    if (rank == 0) t(1, 1, 1) = -9  ! missing
    call streams%send(temp, t)
    call streams%send(total, real(step))
  end subroutine send

  subroutine means()
    type(shoal_streams) :: streams
    type(shoal_dataset) :: file
    real(real64) :: t(nx, ny, nz), bounds(2), ends(2, nz)
    real :: all
    character(len=40) :: text
    integer :: temp, total, step, i, j, k, levels(2)
    call begin(streams, "streams_mean.nc", temp, total)
    call check(temp == 1 .and. total == 2, "fields are numbered from 1")
    call check(streams%wants(temp), "before the first step, so that who asks first and sends is told")
    do step = 1, 7
      call streams%advance(21600d0 * step)
      call check(streams%wants(temp), "a field of the configuration is wanted")
      call check(.not. streams%wants(0), "a field that there is not is not wanted")
      call send(streams, temp, total, step)
    end do
    call streams%advance_to("2001-01-03")
    call send(streams, temp, total, 8)
    call check(index(streams%report(), '"temp"') > 0, "the report has the field")
    call streams%close()
    call check(.not. streams%is_open(), "closed")

    call file%open("streams_mean.nc", MPI_COMM_WORLD)
    call check(file%num_records() == 2, "two records")
    call file%read("temp", t, record=2, decomposition=cells)
    call file%get("total", all, record=2)
    call file%get("time_bounds", bounds, record=2)
    call file%get("lev_bounds", ends)
    call file%get_att("temp", "units", text)
    call check(text == "K", "units: " // trim(text))
    call file%get_att(SHOAL_GLOBAL, "title", text)
    call check(text == "of the Fortran test", "title: " // trim(text))
    call file%get_att("lev", "levels", levels)
    call check(all == 6.5 .and. levels(2) == 2, "the mean of the scalar, and the list")
    call check(bounds(1) > 0 .and. bounds(2) == 2 * bounds(1), "time bounds of the second day")
    call check(all_equal(ends, [0d0, 10d0, 10d0, 30d0]), "bounds of levels")
    call file%close()
    do k = 1, nz
      do j = 1, ny
        do i = 1, nx
          if (rank == 0 .and. i * j * k == 1) then
            call check(t(i, j, k) == -9, "a cell that is always missing")
          else
            call check(abs(t(i, j, k) - 6.5 * value(i, first(2) + j - 1, k)) < 1d-6, "the mean of each cell")
          end if
        end do
      end do
    end do
  end subroutine means

  logical function all_equal(found, wanted)
    real(real64), intent(in) :: found(2, nz), wanted(2 * nz)
    all_equal = all(reshape(found, [2 * nz]) == wanted)
  end function all_equal

  subroutine restart()
    type(shoal_streams) :: streams, later
    type(shoal_dataset) :: file
    real :: total_mean
    integer :: temp, total, step, stat
    call begin(streams, "streams_restart.nc", temp, total)
    do step = 1, 2
      call streams%advance(21600d0 * step)
      call send(streams, temp, total, step)
    end do
    call streams%checkpoint("streams_saved.nc")
    call streams%abandon()
    call check(.not. streams%is_open(), "abandoned")
    call begin(later, "streams_restart.nc", temp, total, now="43200.0 s")
    call later%resume("streams_saved.nc")
    do step = 3, 4
      call later%advance(21600d0 * step)
      call send(later, temp, total, step)
    end do
    call later%close()
    call file%open("streams_restart.nc", MPI_COMM_WORLD)
    call file%get("total", total_mean, record=1)
    call check(total_mean == 2.5, "the mean over both jobs")
    call file%close()
    call begin(streams, "streams_restart.nc", temp, total, now="2001-01-02")
    call streams%resume("no_such.nc", stat=stat, errmsg=message)
    call says("a checkpoint that is not there", stat, SHOAL_NOT_FOUND, "no_such.nc")
    call streams%abandon()
  end subroutine restart

  ! What is sent after an advance to the start is a record of instants.
  subroutine start()
    type(shoal_streams) :: streams
    type(shoal_dataset) :: file
    real(real64) :: times(2)
    real :: totals(2)
    integer :: step, total
    call streams%open('[[file]]' // nl // 'name = "streams_start.nc"' // nl // 'every = "12 h"' // nl // &
        'operation = "instant"' // nl // 'fields = ["total"]' // nl, MPI_COMM_WORLD, "360_day", "2001-01-01")
    total = streams%field("total", SHOAL_FLOAT, "")
    do step = 0, 2
      call streams%advance(21600d0 * step)
      call streams%send(total, real(step))
    end do
    call streams%close()
    call file%open("streams_start.nc", MPI_COMM_WORLD)
    call file%get("total", totals, record=SHOAL_ALL_RECORDS)
    call file%get("time", times, record=SHOAL_ALL_RECORDS)
    call check(all(totals == [0.0, 2.0]) .and. all(times == [0d0, 43200d0]), "the state at the start is a record")
    call file%close()
  end subroutine start

  subroutine wrong_openings()
    type(shoal_streams) :: streams
    integer :: stat
    call streams%open("no_such.toml", MPI_COMM_WORLD, "noleap", "2001-01-01", stat=stat, errmsg=message)
    call says("no such file", stat, SHOAL_NOT_FOUND, "no_such.toml")
    call streams%open("[[fil]]" // nl, MPI_COMM_WORLD, "noleap", "2001-01-01", stat=stat, errmsg=message)
    call says("an unknown key", stat, SHOAL_SETTING, "line 1|fil")
    call streams%open(daily("x.nc", '"t"'), MPI_COMM_WORLD, "lunar", "2001-01-01", stat=stat, errmsg=message)
    call says("a calendar", stat, SHOAL_INVALID_ARGUMENT, "lunar")
    call streams%open(daily("x.nc", '"t"'), MPI_COMM_WORLD, "noleap", "2001-02-29", stat=stat, errmsg=message)
    call says("a date", stat, SHOAL_INVALID_ARGUMENT, "2001-02-29")
    call streams%open(daily("x.nc", '"t"'), 1.5, "noleap", "2001-01-01", stat=stat, errmsg=message)
    call says("a communicator", stat, SHOAL_INVALID_ARGUMENT, "comm must be a communicator")
    call check(.not. streams%is_open(), "not open after errors")
    call streams%open(daily("streams_twice.nc", '"t"'), MPI_COMM_WORLD, "noleap", "2001-01-01")
    call streams%open(daily("x.nc", '"t"'), MPI_COMM_WORLD, "noleap", "2001-01-01", stat=stat, errmsg=message)
    call says("open of open streams", stat, SHOAL_STATE, "type(shoal_streams) is open already")
    call check(streams%is_open(), "the first ones stay open")
    call streams%abandon()
  end subroutine wrong_openings

  subroutine wrong_descriptions()
    type(shoal_streams) :: streams
    integer :: stat, number
    call streams%open(daily("streams_wrong.nc", '"tmp"'), MPI_COMM_WORLD, "noleap", "2001-01-01")
    call streams%grid("sea", "x y", cells)
    number = streams%field("temp", SHOAL_FLOAT, "x y", grid="sea")
    call streams%advance(1d0, stat=stat, errmsg=message)
    call says("an unknown field of the configuration", stat, SHOAL_NOT_FOUND, "'tmp'|did you mean 'temp'")
    call streams%abandon()

    call streams%open(daily("streams_wrong.nc", '"temp"'), MPI_COMM_WORLD, "noleap", "2001-01-01")
    call streams%axis("lev", [1.0, 2.0])
    call streams%axis("lev", [1.0, 2.0], stat=stat, errmsg=message)
    call says("a name that is taken", stat, SHOAL_EXISTS, "'lev'")
    call streams%axis("z", stat=stat, errmsg=message)
    call says("an axis of nothing", stat, SHOAL_INVALID_ARGUMENT, "values or length=")
    call streams%axis("z", [1.0, 2.0], length=2, stat=stat, errmsg=message)
    call says("an axis of both", stat, SHOAL_INVALID_ARGUMENT, "values or length=")
    call streams%axis("z", [(1.0, 2.0)], stat=stat, errmsg=message)
    call says("an axis of complex numbers", stat, SHOAL_TYPE, "z: elements of 8 bytes")
    call streams%grid("sea", "x y z", cells, stat=stat, errmsg=message)
    call says("names of more dimensions", stat, SHOAL_INVALID_ARGUMENT, "sea|3 names of dimensions (""x y z"")")
    call streams%grid("sea", "x y", cells)
    number = streams%field("temp", SHOAL_FLOAT, "lev x y", grid="sea", stat=stat, errmsg=message)
    call says("dimensions in the order of C", stat, SHOAL_INVALID_ARGUMENT, &
        "field 'temp' (""lev x y""): the first 2 dimensions are not those of grid 'sea', ""x y""")
    call check(number == 0, "no number")
    number = streams%field("temp", SHOAL_FLOAT, "x y nowhere", grid="sea", stat=stat, errmsg=message)
    call says("a dimension that there is not", stat, SHOAL_NOT_FOUND, "'nowhere' is no axis; there are: lev, x, y")
    number = streams%field("temp", SHOAL_FLOAT, "x y", grid="see", stat=stat, errmsg=message)
    call says("a grid that there is not", stat, SHOAL_NOT_FOUND, "'see'|did you mean 'sea'")
    call streams%put_att("temp", "units", "K", stat=stat, errmsg=message)
    call says("an attribute of nothing", stat, SHOAL_NOT_FOUND, "'temp'")
    call streams%put_att("lev", "valid", (1.0, 2.0), stat=stat, errmsg=message)
    call says("a complex attribute", stat, SHOAL_TYPE, "valid")
    call streams%abandon()
  end subroutine wrong_descriptions

  ! On a single rank the call itself fails, on several the next one in which they meet.
  subroutine wrong_sends()
    call run_with("twice")
    call says("sent twice", found, SHOAL_STATE, "'temp'|sent already")
    call run_with("shape")
    call says("another shape", found, SHOAL_INVALID_ARGUMENT, "'temp'|4x3x2")
    call run_with("complex")
    call says("complex numbers", found, SHOAL_TYPE, "elements of 8 bytes")
    call run_with("number")
    call says("field 7", found, SHOAL_INVALID_ARGUMENT, "there is no field 7; the model described 2, counted from 1")
  end subroutine wrong_sends

  ! The mistake is that of the last rank in the second step.
  subroutine run_with(mistake)
    character(len=*), intent(in) :: mistake
    type(shoal_streams) :: streams
    real(real64) :: t(nx, ny, nz), other(nx - 1, ny, nz)
    complex :: wrong(nx, ny, nz)
    integer :: temp, total, step
    call begin(streams, "streams_" // mistake // ".nc", temp, total)
    found = SHOAL_OK
    t = 1
    other = 1
    wrong = 1
    do step = 1, 4
      call streams%advance(21600d0 * step)
      if (step == 2 .and. rank == ranks - 1) then
        select case (mistake)
        case ("twice"); call keep_send(streams, temp, t)
        case ("shape"); call keep_send(streams, temp, other)
        case ("complex"); call keep_send(streams, temp, wrong)
        case default; call keep_send(streams, 7, t)
        end select
      end if
      call keep_send(streams, temp, t)
      call streams%send(total, 1.0)
    end do
    call check((found == SHOAL_OK) .eqv. (ranks > 1), mistake // ": at once, and on a single rank alone")
    if (found == SHOAL_OK) then
      call streams%close(stat=found, errmsg=message)
    else
      call streams%close(stat=ierr)
    end if
  end subroutine run_with

  ! A send before the first advance; and what the first advance finds, in the order of Fortran's dimensions.
  subroutine wrong_order()
    type(shoal_streams) :: streams
    real(real64) :: t(nx, ny, nz)
    integer :: temp, total, stat
    t = 1
    call begin(streams, "streams_early.nc", temp, total)
    found = SHOAL_OK
    call keep_send(streams, temp, t)
    call check((found == SHOAL_OK) .eqv. (ranks > 1), "a send before the first advance: at once on a single rank")
    if (found == SHOAL_OK) call streams%advance(21600d0, stat=found, errmsg=message)
    call says("before the first advance", found, SHOAL_STATE, &
        "field 'temp' was sent before the first step; advance first")
    call streams%abandon()
    call streams%open(daily("streams_reduce.nc", '"temp"') // 'reduce = { dims = ["z"] }' // nl, MPI_COMM_WORLD, &
        "360_day", "2001-01-01")
    call streams%axis("lev", [5.0, 20.0])
    call streams%grid("sea", "x y", cells)
    temp = streams%field("temp", SHOAL_DOUBLE, "x y lev", grid="sea")
    call streams%advance(21600d0, stat=stat, errmsg=message)
    call says("dimensions of a field", stat, SHOAL_SETTING, &
        "line 6: reduce.dims: field 'temp' (""x y lev"") has none of the dimensions z")
    call streams%abandon()
  end subroutine wrong_order

  subroutine keep_send(streams, field, array)
    type(shoal_streams), intent(in) :: streams
    integer, intent(in) :: field
    type(*), dimension(..), intent(in) :: array
    character(len=600) :: why
    integer :: stat
    call streams%send(field, array, stat=stat, errmsg=why)
    if (stat == SHOAL_OK .or. found /= SHOAL_OK) return
    found = stat
    message = why
  end subroutine keep_send

  subroutine closed()
    type(shoal_streams) :: streams
    integer :: stat, number
    real(real64) :: t(nx, ny, nz)
    t = 0
    number = streams%field("temp", SHOAL_FLOAT, "x y", stat=stat, errmsg=message)
    call says("field", stat, SHOAL_STATE, "closed, or never opened")
    call streams%send(1, t, stat=stat, errmsg=message)
    call says("send", stat, SHOAL_STATE, "closed, or never opened")
    call streams%advance(1d0, stat=stat, errmsg=message)
    call says("advance", stat, SHOAL_STATE, "closed, or never opened")
    call streams%put_att("temp", "units", "K", stat=stat, errmsg=message)
    call says("put_att", stat, SHOAL_STATE, "closed, or never opened")
    call streams%close(stat=stat, errmsg=message)
    call says("close", stat, SHOAL_STATE, "closed, or never opened")
    call check(.not. streams%wants(1, stat=stat), "nothing is wanted")
    call check(stat /= SHOAL_OK, "wants says so")
    call check(streams%report() == "", "no report")
  end subroutine closed

  include "check.inc"
end program streams_test
