! SPDX-License-Identifier: BSD-3-Clause
!
! Streams for Fortran: a model sends fields, a file in TOML says what becomes of them
! (docs/guide/streams_programs.md). Conventions are those of module shoal, which a program uses, too.
!
!   call streams%open("output.toml", MPI_COMM_WORLD, calendar="noleap", start="1850-01-01 00:00:00")
!   call streams%axis("lev", depths)
!   call streams%grid("ocean", "lon lat", tiles)
!   temp_field = streams%field("temp", SHOAL_FLOAT, "lon lat lev", grid="ocean")
!   do step = 1, steps
!     ... compute the step ...
!     call streams%advance(step * dt)        ! the clock: a step ends here
!     call streams%send(temp_field, temp)    ! what the fields are at its end
!   end do
!   call streams%close()
!
! Descriptions (axis, grid, coordinate, area, field, put_att) are Local, the same on all ranks, and come before the
! first advance. What is wrong with the arguments of send, and descriptions that differ between ranks, come out of the
! next call in which ranks meet (advance where a window ends, checkpoint, close), on all ranks alike; on a single
! rank at once.
module shoal_streaming
  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_null_char, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: real64
  use shoal, only: shoal_decomposition
  use shoal_attribute_values, only: put_list, put_scalar, to_streams
  use shoal_c, only: f_clear
  use shoal_streams_c
  use shoal_support, only: settle, settle_any, text_of, zero_ended
  implicit none
  private
  public :: shoal_streams

  ! For what a value that is sent holds: for the end of the step (a state), or for the whole step that ended (a flux,
  ! rain).
  integer, parameter, public :: SHOAL_AT_INSTANT = 0, SHOAL_FOR_STEP = 1

  ! The fields of a run, and the files that a configuration makes of them. Nothing happens when a variable goes out of
  ! scope: close is called by hand, or MPI_Finalize closes them, with a warning. An assignment makes a second name for the same streams.
  type :: shoal_streams
    private
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int) :: comm = -1
  contains
    procedure :: open => streams_open
    procedure :: axis => streams_axis
    procedure :: grid => streams_grid
    procedure :: coordinate => streams_coordinate
    procedure :: area => streams_area
    procedure :: field => streams_field
    procedure, private :: put_att_scalar, put_att_list
    generic :: put_att => put_att_scalar, put_att_list
    procedure :: wants => streams_wants
    procedure :: send => streams_send
    procedure :: advance => streams_advance
    procedure :: advance_to => streams_advance_to
    procedure :: checkpoint => streams_checkpoint
    procedure :: resume => streams_resume
    procedure :: report => streams_report
    procedure :: close => streams_close
    procedure :: abandon => streams_abandon
    procedure :: is_open => streams_is_open
  end type shoal_streams

contains

  ! Begin a run.
  !  configuration  path of a TOML file, or its text if there is a newline in it (new_line("a")); rank 0 reads it.
  !                 The environment's SHOAL_STREAMS, a path, replaces it
  !  calendar       standard (gregorian), proleptic_gregorian, julian, noleap (365_day), all_leap (366_day) or 360_day
  !  start          "YYYY-MM-DD hh:mm:ss", where seconds count from; the time may be left out: midnight
  !  now            time of this job, which goes on with the run: of the same form, or how long after the start
  !                 ("43200.5 s", "36 h"); left out: start
  ! Errors, on all ranks alike: SHOAL_NOT_FOUND no such file; SHOAL_SETTING the configuration, with file, line and key;
  ! SHOAL_INVALID_ARGUMENT a calendar or date; SHOAL_STATE these streams are open, and stay so. Collective.
  subroutine streams_open(self, configuration, comm, calendar, start, now, stat, errmsg)
    class(shoal_streams), intent(inout) :: self
    character(len=*), intent(in) :: configuration
    type(*), dimension(..), intent(in) :: comm
    character(len=*), intent(in) :: calendar, start
    character(len=*), intent(in), optional :: now
    integer, intent(out), optional :: stat
    class(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    code = f_streams_open(comm, zero_ended(configuration), zero_ended(calendar), zero_ended(start), &
        text_or_nothing(now), self%comm, self%handle)
    call settle_any(code, self%comm, stat, errmsg)
  end subroutine streams_open

  ! ---- Descriptions: Local; every rank makes the same ones in the same order ------------------------
  ! Names are unique among axes, coordinates, areas and fields, as they are names of variables. Arrays are copied.
  ! SHOAL_EXISTS: a name is taken; SHOAL_STATE: after the first advance; SHOAL_NOT_FOUND: names of dimensions and
  ! grids, with the nearest one.

  ! A dimension, and the variable of its coordinate.
  !  values  of rank 1, one value a cell
  !  bounds  (2, cells), both ends of each cell; they also give the thickness of cells for weighted means
  !  length  in place of values: so many cells, no variable
  ! Local.
  subroutine streams_axis(self, name, values, bounds, length, stat, errmsg)
    class(shoal_streams), intent(in) :: self
    character(len=*), intent(in) :: name
    type(*), dimension(..), intent(in), optional :: values, bounds, length
    integer, intent(out), optional :: stat
    class(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    code = f_streams_axis(self%handle, zero_ended(name), values, bounds, length)
    call settle_any(code, self%comm, stat, errmsg)
  end subroutine streams_axis

  ! A horizontal grid, or one of all dimensions.
  !  dims           the names of the decomposition's dimensions, fastest first, as in def_var of a dataset; they may be
  !                 axes, too, of the same length
  !  decomposition  block or map; its mask says which cells are not looked at. It may be freed afterwards
  ! Local.
  subroutine streams_grid(self, name, dims, decomposition, stat, errmsg)
    class(shoal_streams), intent(in) :: self
    character(len=*), intent(in) :: name, dims
    type(shoal_decomposition), intent(in) :: decomposition
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    code = f_streams_grid(self%handle, zero_ended(name), zero_ended(dims), decomposition%c_handle())
    call settle(code, self%comm, stat, errmsg)
  end subroutine streams_grid

  ! A coordinate that is cut as the grid is (of curvilinear grids), or another field that does not change; values as
  ! in write of a dataset. Fields of the grid name it in `coordinates`. Local.
  subroutine streams_coordinate(self, grid, name, values, stat, errmsg)
    class(shoal_streams), intent(in) :: self
    character(len=*), intent(in) :: grid, name
    type(*), dimension(..), intent(in) :: values
    integer, intent(out), optional :: stat
    class(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    code = f_streams_grid_values(self%handle, 0_c_int, zero_ended(grid), zero_ended(name), values)
    call settle_any(code, self%comm, stat, errmsg)
  end subroutine streams_coordinate

  ! The area of the grid's cells, all >= 0, for weighted means. Fields of the grid name it in `cell_measures`. Local.
  subroutine streams_area(self, grid, name, values, stat, errmsg)
    class(shoal_streams), intent(in) :: self
    character(len=*), intent(in) :: grid, name
    type(*), dimension(..), intent(in) :: values
    integer, intent(out), optional :: stat
    class(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    code = f_streams_grid_values(self%handle, 1_c_int, zero_ended(grid), zero_ended(name), values)
    call settle_any(code, self%comm, stat, errmsg)
  end subroutine streams_area

  ! A field that may be sent; its number, from 1 in the order of the calls, for wants and send (0 after an error).
  !  type   SHOAL_FLOAT, ...: of numbers; files have it so, unless the configuration says another one
  !  dims   fastest first; the first are those of the grid. "" is a scalar
  !  grid   left out: the same on every rank; rank 0's values count
  !  group  a name by which the configuration may choose many fields
  !  holds  SHOAL_AT_INSTANT (default) or SHOAL_FOR_STEP
  ! Local.
  function streams_field(self, name, type, dims, grid, group, holds, stat, errmsg) result(number)
    class(shoal_streams), intent(in) :: self
    character(len=*), intent(in) :: name, dims
    integer, intent(in) :: type
    character(len=*), intent(in), optional :: grid, group
    integer, intent(in), optional :: holds
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: number
    integer(c_int) :: code, how, out
    how = SHOAL_AT_INSTANT
    if (present(holds)) how = int(holds, c_int)
    code = f_streams_field(self%handle, zero_ended(name), int(type, c_int), zero_ended(dims), &
        text_or_nothing(grid), text_or_nothing(group), how, out)
    number = int(out)
    call settle(code, self%comm, stat, errmsg)
  end function streams_field

  ! Attribute of an axis, coordinate, area or field; of all files where `of` is SHOAL_GLOBAL. value: a number or a list
  ! of numbers, which keep their kind, text, or logical (bytes 0 and 1). A field's _FillValue or missing_value is the
  ! value of cells that do not count in any operation. Local.
  subroutine put_att_scalar(self, of, name, value, stat, errmsg)
    class(shoal_streams), intent(in) :: self
    character(len=*), intent(in) :: of, name
    class(*), intent(in) :: value
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    code = put_scalar(to_streams, self%handle, zero_ended(of), zero_ended(name), value)
    call settle(code, self%comm, stat, errmsg)
  end subroutine put_att_scalar
  subroutine put_att_list(self, of, name, value, stat, errmsg)
    class(shoal_streams), intent(in) :: self
    character(len=*), intent(in) :: of, name
    class(*), intent(in) :: value(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    code = put_list(to_streams, self%handle, zero_ended(of), zero_ended(name), value)
    call settle(code, self%comm, stat, errmsg)
  end subroutine put_att_list

  ! ---- The run --------------------------------------------------------------------------------------

  ! Does some file need the field in this step? If not, sending it does nothing. Where no step goes on (before the
  ! first advance, after a checkpoint) it is true: sending then is an error, which a model that asks first is to get,
  ! too. Local, < 100 ns.
  function streams_wants(self, field, stat, errmsg) result(wanted)
    class(shoal_streams), intent(in) :: self
    integer, intent(in) :: field
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    logical :: wanted
    integer(c_int) :: code, answer
    answer = 0
    code = c_streams_wants(self%handle, int(field - 1, c_int), answer)
    wanted = answer /= 0
    if (code == 0) then
      if (present(stat)) stat = 0
      return
    end if
    call f_clear()
    call settle(code, self%comm, stat, errmsg)
  end function streams_wants

  ! A field at the end of the step (SHOAL_FOR_STEP: during it). Extents are those of the field's dimensions, with the
  ! tile's own extents, with or without halo, in those of the grid; of a map, the length of the list stands for these.
  ! On a rank without cells it is not looked at. The array may be used again afterwards. SHOAL_STATE, which comes as
  ! other errors of send: no step goes on, as before the first advance; advance comes first. Local.
  subroutine streams_send(self, field, array, stat, errmsg)
    class(shoal_streams), intent(in) :: self
    integer, intent(in) :: field
    type(*), dimension(..), intent(in) :: array
    integer, intent(out), optional :: stat
    class(*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    code = f_streams_send(self%handle, int(field, c_int), array)
    call settle_any(code, self%comm, stat, errmsg)
  end subroutine streams_send

  ! The clock: a step begins that ends at this time, seconds since the start, rounded to microseconds; more than
  ! before. The step before is complete. Waits for other ranks where windows end. The first advance of a job that
  ! resumes nothing may be to `now` itself: what is sent then is the state at the start. Files have a record of it that
  ! hold nothing but instants of states, and have a window which ends there. Collective.
  subroutine streams_advance(self, seconds, stat, errmsg)
    class(shoal_streams), intent(in) :: self
    real(real64), intent(in) :: seconds
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    call f_clear()
    code = c_streams_advance(self%handle, seconds)
    call settle(code, self%comm, stat, errmsg)
  end subroutine streams_advance

  ! The same by date, of the form of `start`. Collective.
  subroutine streams_advance_to(self, date, stat, errmsg)
    class(shoal_streams), intent(in) :: self
    character(len=*), intent(in) :: date
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    call f_clear()
    code = c_streams_advance_to(self%handle, zero_ended(date))
    call settle(code, self%comm, stat, errmsg)
  end subroutine streams_advance_to

  ! Complete the step, and save the windows that are not finished in a NetCDF file, which is replaced if it exists.
  ! Files are stored and committed. The run may go on. Collective.
  subroutine streams_checkpoint(self, path, stat, errmsg)
    class(shoal_streams), intent(in) :: self
    character(len=*), intent(in) :: path
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    call f_clear()
    code = c_streams_checkpoint(self%handle, zero_ended(path))
    call settle(code, self%comm, stat, errmsg)
  end subroutine streams_checkpoint

  ! Take the windows of a checkpoint, of the same configuration and `now`, on any number of ranks. After the
  ! descriptions, before the first advance. Errors, on all ranks alike: SHOAL_NOT_FOUND no such file;
  ! SHOAL_INVALID_ARGUMENT it is of another time, calendar or start; SHOAL_FORMAT it is damaged, or none. Collective.
  subroutine streams_resume(self, path, stat, errmsg)
    class(shoal_streams), intent(in) :: self
    character(len=*), intent(in) :: path
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    call f_clear()
    code = c_streams_resume(self%handle, zero_ended(path))
    call settle(code, self%comm, stat, errmsg)
  end subroutine streams_resume

  ! What was described, which files, records and accumulators there are, as JSON; "" when they are closed. Local.
  function streams_report(self) result(text)
    class(shoal_streams), intent(in) :: self
    character(len=:), allocatable :: text
    text = text_of(c_streams_report(self%handle))
  end function streams_report

  ! Complete the step, close all files and free the handle, also on error. Windows that are not finished are dropped
  ! with a warning, or written as they are, as each file's `unfinished` says. Streams that nobody closed are closed by
  ! MPI_Finalize, with a warning. Collective.
  subroutine streams_close(self, stat, errmsg)
    class(shoal_streams), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    call f_clear()
    code = c_streams_close(self%handle)
    call settle(code, self%comm, stat, errmsg)
  end subroutine streams_close

  ! Drop the handle without waiting for other ranks: for the way out of an error. Local.
  subroutine streams_abandon(self)
    class(shoal_streams), intent(inout) :: self
    call f_clear()
    call c_streams_abandon(self%handle)
  end subroutine streams_abandon

  ! True between open and close. Local.
  function streams_is_open(self) result(open)
    class(shoal_streams), intent(in) :: self
    logical :: open
    open = c_associated(self%handle)
  end function streams_is_open

  function text_or_nothing(text) result(c_text)
    character(len=*), intent(in), optional :: text
    character(len=:), allocatable :: c_text
    c_text = c_null_char
    if (present(text)) c_text = zero_ended(text)
  end function text_or_nothing
end module shoal_streaming
