! SPDX-License-Identifier: BSD-3-Clause
!
! What needs neither a dataset nor a decomposition; module shoal hands it on.
module shoal_library
  use, intrinsic :: iso_c_binding, only: c_int, c_loc, c_null_ptr
  use shoal_c
  use shoal_support, only: settle, settle_any, text_of, zero_ended
  implicit none
  private
  public :: shoal_namelist, shoal_wait, shoal_serve, shoal_serve_components, shoal_stop_serving, &
    shoal_write_reference, shoal_write_master, &
    shoal_recover
  public :: shoal_version, shoal_build_info, shoal_settings, shoal_setting_keys, shoal_error_name, shoal_error_message
  public :: shoal_error_rank, shoal_error_file, shoal_error_variable

contains

  ! Name the file that holds the namelist group &shoal; without a path: none. Counts for datasets opened later. Local.
  subroutine shoal_namelist(path, stat, errmsg)
    character(len=*), intent(in), optional :: path
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable, target :: name
    integer(c_int) :: code
    call f_clear()
    if (present(path)) then
      name = zero_ended(path)
      code = c_namelist(c_loc(name))
    else
      code = c_namelist(c_null_ptr)
    end if
    call settle(code, -1_c_int, stat, errmsg)
  end subroutine shoal_namelist

  ! Finish what close left to threads (setting background_close): all files that were closed, and whose ranks are all in
  ! comm, are whole; with MPI_COMM_WORLD that is every one. stat: the first failure, after all were tried, the same on
  ! all ranks. Collective over comm.
  subroutine shoal_wait(comm, stat, errmsg)
    type(*), dimension(..), intent(in) :: comm
    integer, intent(out), optional :: stat
    class(*), intent(inout), optional :: errmsg
    call settle_any(f_wait(comm), -1_c_int, stat, errmsg)
  end subroutine shoal_wait

  ! Let the last n ranks of each node of `all` compute nothing and store for the others (setting background=ranks).
  ! There it returns when these are done, with MPI_COMM_NULL in computing: go on to MPI_Finalize. On these it returns at
  ! once with their communicator. all, computing: integers (use mpi) or type(MPI_Comm) (use mpi_f08). Collective.
  subroutine shoal_serve(all, n, computing, stat, errmsg)
    type(*), dimension(..), intent(in) :: all
    integer, intent(in) :: n
    type(*), dimension(..), intent(inout) :: computing
    integer, intent(out), optional :: stat
    class(*), intent(inout), optional :: errmsg
    call settle_any(f_serve(all, int(n, c_int), computing), -1_c_int, stat, errmsg)
  end subroutine shoal_serve

  ! The same where each rank says what it does: it computes in a component (0, 1, ...), or it serves (SHOAL_SERVES). The
  ! servers of a node are dealt out to the components with ranks there, and each serves one of them. computing: the ranks
  ! of this rank's component, in the order of all. Each component lets its servers go by itself. Collective over all.
  subroutine shoal_serve_components(all, component, computing, stat, errmsg)
    type(*), dimension(..), intent(in) :: all
    integer, intent(in) :: component
    type(*), dimension(..), intent(inout) :: computing
    integer, intent(out), optional :: stat
    class(*), intent(inout), optional :: errmsg
    call settle_any(f_serve_components(all, int(component, c_int), computing), -1_c_int, stat, errmsg)
  end subroutine shoal_serve_components

  ! Let the ranks go that serve; what close left to them is finished first. MPI_Finalize does it, too. Collective over
  ! the computing ranks of a component.
  subroutine shoal_stop_serving(stat, errmsg)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call f_clear()
    call settle(c_stop_serving(), -1_c_int, stat, errmsg)
  end subroutine shoal_stop_serving

  ! A JSON file `to` that says where the chunks of a file or a set lie, so that readers of Zarr open it as one. path: of a
  ! file that is closed, or what names a set ("his.nc" for his.nc.0000, ...). By one rank. Local.
  subroutine shoal_write_reference(path, to, stat, errmsg)
    character(len=*), intent(in) :: path, to
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable, target :: from, target_path
    integer(c_int) :: code
    call f_clear()
    from = zero_ended(path)
    target_path = zero_ended(to)
    code = c_write_reference([c_loc(from)], 1_c_int, c_loc(target_path))
    call settle(code, -1_c_int, stat, errmsg)
  end subroutine shoal_write_reference

  ! A small netCDF-4 file `to` with virtual datasets over a set of netCDF-4 files. path as above. By one rank. Local.
  subroutine shoal_write_master(path, to, stat, errmsg)
    character(len=*), intent(in) :: path, to
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable, target :: from, target_path
    integer(c_int) :: code
    call f_clear()
    from = zero_ended(path)
    target_path = zero_ended(to)
    code = c_write_master([c_loc(from)], 1_c_int, c_loc(target_path))
    call settle(code, -1_c_int, stat, errmsg)
  end subroutine shoal_write_master

  ! Finish what a killed job left half done in the file; finished: whether there was anything. Opening it for writing does the
  ! same. By one rank, while nobody writes the file. Local.
  subroutine shoal_recover(path, finished, stat, errmsg)
    character(len=*), intent(in) :: path
    logical, intent(out), optional :: finished
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable, target :: file
    integer(c_int) :: code, was
    call f_clear()
    file = zero_ended(path)
    code = c_recover(c_loc(file), was)
    if (present(finished)) finished = was /= 0
    call settle(code, -1_c_int, stat, errmsg)
  end subroutine shoal_recover

  ! "0.1.0". Local.
  function shoal_version() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_version())
  end function shoal_version

  ! What the library was built with, one "key: value" a line. Local.
  function shoal_build_info() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_build_info())
  end function shoal_build_info

  ! Every setting that there is, one a line: name, "basic" or "expert", "new" (of files that are made) or "all", the
  ! default, the values that are allowed, and what it is about, with tabs between. Local.
  function shoal_setting_keys() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_setting_keys())
  end function shoal_setting_keys

  ! The settings that a new dataset would get, one a line. Local.
  function shoal_settings() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_settings(c_null_ptr))
  end function shoal_settings

  ! "SHOAL_RANGE" for 8. Local.
  function shoal_error_name(code) result(text)
    integer, intent(in) :: code
    character(len=:), allocatable :: text
    text = text_of(c_error_name(int(code, c_int)))
  end function shoal_error_name

  ! All of the message of the last failure on this rank. Local.
  function shoal_error_message() result(text)
    character(len=:), allocatable :: text
    text = text_of(f_message())
  end function shoal_error_message

  ! The rank that failed last, counted from 0 as MPI does; -1: none or not known. Local.
  integer function shoal_error_rank()
    shoal_error_rank = int(f_error_rank())
  end function shoal_error_rank

  ! The path of the file of the last failure, "": none or not known. Local.
  function shoal_error_file() result(text)
    character(len=:), allocatable :: text
    text = text_of(f_error_file())
  end function shoal_error_file

  ! The variable of the last failure, "": none or not known. Local.
  function shoal_error_variable() result(text)
    character(len=:), allocatable :: text
    text = text_of(f_error_variable())
  end function shoal_error_variable
end module shoal_library
