! SPDX-License-Identifier: BSD-3-Clause
!
! Iosystems, decompositions, files and frames.
module piolib_mod
  use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_int, c_int64_t, c_long, c_null_char
  use pio_kinds, only: pio_offset_kind
  use pio_types
  use pio_support, only: debug, debugasync, debugio, piodie
  use shoal_pio_c
  implicit none
  private
  public :: PIO_init, PIO_finalize, PIO_initdecomp, PIO_initdecomp_readonly, PIO_freedecomp, &
      PIO_get_local_array_size, PIO_openfile, PIO_createfile, PIO_closefile, PIO_syncfile, PIO_deletefile, &
      PIO_file_is_open, PIO_setframe, PIO_advanceframe, PIO_setdebuglevel, PIO_seterrorhandling, &
      PIO_getnumiotasks, PIO_get_numiotasks, PIO_set_hint, PIO_set_rearr_opts, PIO_set_blocksize, &
      PIO_iotype_available, PIO_iam_iotask, PIO_iotask_rank, PIO_iosystem_is_active, PIO_get_version, &
      PIO_get_version_major, PIO_get_version_minor, PIO_get_version_patch, PIO_get_version_string, &
      PIO_get_version_hash

  interface PIO_init
    module procedure :: init_intracomm, init_lists, init_comms, init_comms_of_components
  end interface PIO_init
  interface PIO_initdecomp
    module procedure :: initdecomp_i4, initdecomp_i8, initdecomp_box, initdecomp_blocks_i4, initdecomp_blocks_i8, &
        initdecomp_start_i4, initdecomp_start_i8, initdecomp_both_i4, initdecomp_both_i8
  end interface PIO_initdecomp
  interface PIO_initdecomp_readonly
    module procedure :: initdecomp_readonly_i4, initdecomp_readonly_i8
  end interface PIO_initdecomp_readonly
  interface PIO_freedecomp
    module procedure :: freedecomp_ios, freedecomp_file
  end interface PIO_freedecomp
  interface PIO_seterrorhandling
    module procedure :: seterrorhandling_file, seterrorhandling_ios, seterrorhandling_id
  end interface PIO_seterrorhandling
  interface PIO_getnumiotasks
    module procedure :: getnumiotasks
  end interface PIO_getnumiotasks
  interface PIO_get_numiotasks
    module procedure :: getnumiotasks
  end interface PIO_get_numiotasks

contains

  ! ---- Iosystems

  ! I/O ranks are mod(base + i*stride, ranks). comp_rank and num_aggregator are PIO's, of the time before 2:
  ! nobody looks at them. Collective over comp_comm.
  subroutine init_intracomm(comp_rank, comp_comm, num_iotasks, num_aggregator, stride, rearr, iosystem, base, &
      rearr_opts)
    integer, intent(in) :: comp_rank, comp_comm, num_iotasks, num_aggregator, stride, rearr
    type(iosystem_desc_t), intent(out) :: iosystem
    integer, intent(in), optional :: base
    type(pio_rearr_opt_t), intent(in), optional :: rearr_opts
    integer :: first, ierr
    first = 0
    if (present(base)) first = base
    ierr = c_init_intracomm(comp_comm, num_iotasks, stride, first, rearr, rearr_opts, iosystem%iosysid)
    if (ierr /= PIO_noerr) call die_of(ierr, "PIO_init")
    if (.false.) first = comp_rank + num_aggregator
  end subroutine init_intracomm

  ! Ranks io_proc_list of incomm wait until all components have called PIO_finalize; column i of comp_proc_list
  ! has the ranks of component i. Ranks count from 0. Collective over incomm.
  subroutine init_lists(iosystem, incomm, procs_per_component, comp_proc_list, io_proc_list, rearranger, &
      comp_comm, io_comm)
    type(iosystem_desc_t), intent(out) :: iosystem(:)
    integer, intent(in) :: incomm, procs_per_component(:), comp_proc_list(:, :), io_proc_list(:), rearranger
    integer, intent(out) :: comp_comm(:), io_comm
    integer :: ierr, largest
    ! C takes the lists with the length of the longest one.
    largest = maxval(procs_per_component)
    if (size(comp_proc_list, 1) < largest .or. size(comp_proc_list, 2) < size(procs_per_component)) &
      call piodie("piolib_mod", 0, "PIO_init: comp_proc_list is smaller than procs_per_component says")
    ierr = c_init_async(incomm, size(io_proc_list), io_proc_list, size(procs_per_component), procs_per_component, &
        comp_proc_list(:largest, :), io_comm, comp_comm, rearranger, iosystem%iosysid)
    if (ierr /= PIO_noerr) call die_of(ierr, "PIO_init")
  end subroutine init_lists

  ! The same with communicators that exist. Collective over world_comm.
  subroutine init_comms(iosystem, world_comm, comp_comms, io_comm, rearranger)
    type(iosystem_desc_t), intent(out) :: iosystem(:)
    integer, intent(in) :: world_comm, comp_comms(:), io_comm, rearranger
    integer :: ierr
    ierr = c_init_async_comms(world_comm, size(iosystem), comp_comms, io_comm, rearranger, iosystem%iosysid)
    if (ierr /= PIO_noerr) call die_of(ierr, "PIO_init")
  end subroutine init_comms

  ! SCORPIO's form of it.
  subroutine init_comms_of_components(ncomps, peer_comm, comp_comms, io_comm, iosys, rearr, ierr)
    integer, intent(in) :: ncomps, peer_comm, comp_comms(ncomps), io_comm
    type(iosystem_desc_t), intent(out) :: iosys(:)
    integer, intent(in), optional :: rearr
    integer, intent(out), optional :: ierr
    integer :: code, way
    way = PIO_rearr_box
    if (present(rearr)) way = rearr
    code = c_init_async_comms(peer_comm, ncomps, comp_comms, io_comm, way, iosys%iosysid)
    if (present(ierr)) then
      ierr = code
    else if (code /= PIO_noerr) then
      call die_of(code, "PIO_init")
    end if
  end subroutine init_comms_of_components

  ! There is no iosystem yet whose handler could act.
  subroutine die_of(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    character(kind=c_char) :: letters(PIO_max_name + 1)
    character(len=PIO_max_name) :: meaning
    letters = c_null_char
    if (c_strerror(code, letters) /= 0) letters(1) = c_null_char
    call from_c(letters, meaning)
    call piodie("piolib_mod", 0, what // ": " // trim(meaning) // ": code", code)
  end subroutine die_of

  ! Collective.
  subroutine PIO_finalize(iosystem, ierr)
    type(iosystem_desc_t), intent(inout) :: iosystem
    integer, intent(out) :: ierr
    ierr = PIO_noerr
    if (iosystem%iosysid == -1) return
    ierr = c_finalize(iosystem%iosysid)
    iosystem%iosysid = -1
  end subroutine PIO_finalize

  logical function PIO_iam_iotask(iosystem) result(task)
    type(iosystem_desc_t), intent(in) :: iosystem
    logical(c_bool) :: answer
    answer = .false.
    if (c_iam_iotask(iosystem%iosysid, answer) /= PIO_noerr) answer = .false.
    task = answer
  end function PIO_iam_iotask

  ! -1 on a rank that is no I/O rank.
  integer function PIO_iotask_rank(iosystem) result(rank)
    type(iosystem_desc_t), intent(in) :: iosystem
    rank = -1
    if (c_iotask_rank(iosystem%iosysid, rank) /= PIO_noerr) rank = -1
  end function PIO_iotask_rank

  subroutine PIO_iosystem_is_active(iosystem, active)
    type(iosystem_desc_t), intent(in) :: iosystem
    logical, intent(out) :: active
    logical(c_bool) :: answer
    answer = .false.
    if (c_iosystem_is_active(iosystem%iosysid, answer) /= PIO_noerr) answer = .false.
    active = answer
  end subroutine PIO_iosystem_is_active

  subroutine getnumiotasks(iosystem, numiotasks)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(out) :: numiotasks
    numiotasks = 0
    call keep_error(iosystem%iosysid, c_get_numiotasks(iosystem%iosysid, numiotasks))
  end subroutine getnumiotasks

  logical function PIO_iotype_available(iotype) result(available)
    integer, intent(in) :: iotype
    available = c_iotype_available(iotype) == 1
  end function PIO_iotype_available

  integer function PIO_set_rearr_opts(ios, comm_type, fcd, enable_hs_c2i, enable_isend_c2i, max_pend_req_c2i, &
      enable_hs_i2c, enable_isend_i2c, max_pend_req_i2c) result(ierr)
    type(iosystem_desc_t), intent(in) :: ios
    integer, intent(in) :: comm_type, fcd, max_pend_req_c2i, max_pend_req_i2c
    logical, intent(in) :: enable_hs_c2i, enable_isend_c2i, enable_hs_i2c, enable_isend_i2c
    ierr = c_set_rearr_opts(ios%iosysid, comm_type, fcd, logical(enable_hs_c2i, c_bool), &
        logical(enable_isend_c2i, c_bool), max_pend_req_c2i, logical(enable_hs_i2c, c_bool), &
        logical(enable_isend_i2c, c_bool), max_pend_req_i2c)
  end function PIO_set_rearr_opts

  subroutine PIO_set_hint(iosystem, hint, hintval)
    type(iosystem_desc_t), intent(in) :: iosystem
    character(len=*), intent(in) :: hint, hintval
    call keep_error(iosystem%iosysid, c_set_hint(iosystem%iosysid, to_c(hint), to_c(hintval)))
  end subroutine PIO_set_hint

  ! Kept, no more.
  subroutine PIO_set_blocksize(blocksize)
    integer, intent(in) :: blocksize
    integer :: ierr
    ierr = c_set_blocksize(blocksize)
  end subroutine PIO_set_blocksize

  ! 0 to 6: as pio_set_log_level with one less. 0 is what programs set that want nothing printed.
  ! ierr is SCORPIO's.
  subroutine PIO_setdebuglevel(level, ierr)
    integer, intent(in) :: level
    integer, intent(out), optional :: ierr
    integer :: code
    debug = level == 1 .or. level == 3 .or. level >= 5
    debugio = level == 2 .or. level == 3 .or. level >= 6
    debugasync = level >= 4
    code = c_set_log_level(level - 1)
    if (present(ierr)) ierr = code
  end subroutine PIO_setdebuglevel

  ! ---- Versions, as SCORPIO gives them: that of PIO whose interface this is; hash is Shoal's own. Local.

  integer function PIO_get_version(major, minor, patch, vstr) result(ierr)
    integer, intent(out), optional :: major, minor, patch
    character(len=*), intent(out), optional :: vstr
    integer(c_int) :: numbers(3)
    character(kind=c_char) :: letters(PIO_max_name + 1)
    numbers = 0
    letters = c_null_char
    ierr = c_get_version(numbers(1), numbers(2), numbers(3), letters, size(letters))
    if (present(major)) major = numbers(1)
    if (present(minor)) minor = numbers(2)
    if (present(patch)) patch = numbers(3)
    if (present(vstr)) call from_c(letters, vstr)
  end function PIO_get_version

  integer function PIO_get_version_major() result(number)
    integer :: ierr
    ierr = PIO_get_version(major=number)
  end function PIO_get_version_major

  integer function PIO_get_version_minor() result(number)
    integer :: ierr
    ierr = PIO_get_version(minor=number)
  end function PIO_get_version_minor

  integer function PIO_get_version_patch() result(number)
    integer :: ierr
    ierr = PIO_get_version(patch=number)
  end function PIO_get_version_patch

  integer function PIO_get_version_string(vstr) result(ierr)
    character(len=*), intent(out) :: vstr
    ierr = PIO_get_version(vstr=vstr)
  end function PIO_get_version_string

  integer function PIO_get_version_hash(vstr) result(ierr)
    character(len=*), intent(out) :: vstr
    character(kind=c_char) :: letters(PIO_max_name + 1)
    letters = c_null_char
    ierr = c_get_version_hash(letters, size(letters))
    call from_c(letters, vstr)
  end function PIO_get_version_hash

  ! ---- Error handlers: of the iosystem, also when a file is given; ierr is SCORPIO's. Local.

  subroutine seterrorhandling_file(file, method, oldmethod, ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: method
    integer, intent(out), optional :: oldmethod, ierr
    integer :: iosysid
    iosysid = -2  ! none; C says so
    if (associated(file%iosystem)) iosysid = file%iosystem%iosysid
    call seterrorhandling_id(iosysid, method, oldmethod, ierr)
  end subroutine seterrorhandling_file

  subroutine seterrorhandling_ios(iosystem, method, oldmethod, ierr)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: method
    integer, intent(out), optional :: oldmethod, ierr
    call seterrorhandling_id(iosystem%iosysid, method, oldmethod, ierr)
  end subroutine seterrorhandling_ios

  subroutine seterrorhandling_id(iosysid, method, oldmethod, ierr)
    integer, intent(in) :: iosysid, method
    integer, intent(out), optional :: oldmethod, ierr
    integer :: before
    before = c_set_error_handling(iosysid, method)
    if (present(oldmethod)) oldmethod = before
    ! What is no handler is a code.
    if (present(ierr)) ierr = merge(PIO_noerr, before, before <= PIO_internal_error .and. before >= PIO_reduce_error)
  end subroutine seterrorhandling_id

  ! ---- Decompositions. compdof: from 1, with the first of dims varying fastest; 0 or less is a hole.
  ! Collective.

  subroutine initdecomp_i4(iosystem, basepiotype, dims, compdof, iodesc, rearr, iostart, iocount)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype, dims(:)
    integer(c_int), intent(in) :: compdof(:)
    type(io_desc_t), intent(inout) :: iodesc
    integer, intent(in), optional :: rearr
    integer(pio_offset_kind), intent(in), optional :: iostart(:), iocount(:)
    integer :: ierr
    ierr = f_initdecomp(iosystem%iosysid, 0, basepiotype, dims, compdof, iodesc%ioid, rearr, iostart, iocount)
    call keep_error(iosystem%iosysid, ierr)
  end subroutine initdecomp_i4

  subroutine initdecomp_i8(iosystem, basepiotype, dims, compdof, iodesc, rearr, iostart, iocount)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype, dims(:)
    integer(pio_offset_kind), intent(in) :: compdof(:)
    type(io_desc_t), intent(inout) :: iodesc
    integer, intent(in), optional :: rearr
    integer(pio_offset_kind), intent(in), optional :: iostart(:), iocount(:)
    integer :: ierr
    ierr = f_initdecomp(iosystem%iosysid, 0, basepiotype, dims, compdof, iodesc%ioid, rearr, iostart, iocount)
    call keep_error(iosystem%iosysid, ierr)
  end subroutine initdecomp_i8

  ! For reading alone.
  subroutine initdecomp_readonly_i4(iosystem, basepiotype, dims, compdof, iodesc, rearr, iostart, iocount)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype, dims(:)
    integer(c_int), intent(in) :: compdof(:)
    type(io_desc_t), intent(inout) :: iodesc
    integer, intent(in), optional :: rearr
    integer(pio_offset_kind), intent(in), optional :: iostart(:), iocount(:)
    integer :: ierr
    ierr = f_initdecomp(iosystem%iosysid, 1, basepiotype, dims, compdof, iodesc%ioid, rearr, iostart, iocount)
    call keep_error(iosystem%iosysid, ierr)
  end subroutine initdecomp_readonly_i4

  subroutine initdecomp_readonly_i8(iosystem, basepiotype, dims, compdof, iodesc, rearr, iostart, iocount)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype, dims(:)
    integer(pio_offset_kind), intent(in) :: compdof(:)
    type(io_desc_t), intent(inout) :: iodesc
    integer, intent(in), optional :: rearr
    integer(pio_offset_kind), intent(in), optional :: iostart(:), iocount(:)
    integer :: ierr
    ierr = f_initdecomp(iosystem%iosysid, 1, basepiotype, dims, compdof, iodesc%ioid, rearr, iostart, iocount)
    call keep_error(iosystem%iosysid, ierr)
  end subroutine initdecomp_readonly_i8

  ! This rank has the box that begins at compstart (from 1).
  subroutine initdecomp_box(iosystem, basepiotype, dims, compstart, compcount, iodesc)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype, dims(:)
    integer(pio_offset_kind), intent(in) :: compstart(:), compcount(:)
    type(io_desc_t), intent(inout) :: iodesc
    integer :: ierr, n
    n = size(dims)
    if (size(compstart) < n .or. size(compcount) < n) &
      call piodie("piolib_mod", 0, "PIO_initdecomp: compstart and compcount need a number for each of dims")
    ierr = c_initdecomp_bc(iosystem%iosysid, basepiotype, n, dims(n:1:-1), int(compstart(n:1:-1) - 1, c_long), &
        int(compcount(n:1:-1), c_long), iodesc%ioid)
    call keep_error(iosystem%iosysid, ierr)
  end subroutine initdecomp_box

  ! Forms of the time before PIO 2, with the list of the I/O ranks beside that of the array: it has to be the
  ! same list. As in PIO 2, nobody looks at lenblocks, start and count.
  subroutine initdecomp_blocks_i4(iosystem, basepiotype, dims, lenblocks, compdof, iodofr, iodesc)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype, dims(:), lenblocks
    integer(c_int), intent(in) :: compdof(:), iodofr(:)
    type(io_desc_t), intent(inout) :: iodesc
    call initdecomp_blocks_i8(iosystem, basepiotype, dims, lenblocks, int(compdof, pio_offset_kind), &
        int(iodofr, pio_offset_kind), iodesc)
  end subroutine initdecomp_blocks_i4

  subroutine initdecomp_blocks_i8(iosystem, basepiotype, dims, lenblocks, compdof, iodofr, iodesc)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype, dims(:), lenblocks
    integer(pio_offset_kind), intent(in) :: compdof(:), iodofr(:)
    type(io_desc_t), intent(inout) :: iodesc
    call same_list(compdof, iodofr, lenblocks)
    call initdecomp_i8(iosystem, basepiotype, dims, compdof, iodesc)
  end subroutine initdecomp_blocks_i8

  subroutine initdecomp_start_i4(iosystem, basepiotype, dims, lenblocks, compdof, iodof, start, count, iodesc)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype, dims(:), lenblocks
    integer(c_int), intent(in) :: compdof(:), iodof(:)
    integer(pio_offset_kind), intent(in) :: start(:), count(:)
    type(io_desc_t), intent(inout) :: iodesc
    call initdecomp_start_i8(iosystem, basepiotype, dims, lenblocks, int(compdof, pio_offset_kind), &
        int(iodof, pio_offset_kind), start, count, iodesc)
  end subroutine initdecomp_start_i4

  subroutine initdecomp_start_i8(iosystem, basepiotype, dims, lenblocks, compdof, iodof, start, count, iodesc)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype, dims(:), lenblocks
    integer(pio_offset_kind), intent(in) :: compdof(:), iodof(:)
    integer(pio_offset_kind), intent(in) :: start(:), count(:)
    type(io_desc_t), intent(inout) :: iodesc
    call same_list(compdof, iodof, lenblocks)
    call initdecomp_i8(iosystem, basepiotype, dims, compdof, iodesc)
    if (.false.) iodesc%ioid = size(start) + size(count)
  end subroutine initdecomp_start_i8

  subroutine initdecomp_both_i4(iosystem, basepiotype, dims, lenblocks, compdof, iodofr, iodofw, start, count, &
      iodesc)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype, dims(:), lenblocks
    integer(c_int), intent(in) :: compdof(:), iodofr(:), iodofw(:)
    integer(pio_offset_kind), intent(in) :: start(:), count(:)
    type(io_desc_t), intent(inout) :: iodesc
    call initdecomp_both_i8(iosystem, basepiotype, dims, lenblocks, int(compdof, pio_offset_kind), &
        int(iodofr, pio_offset_kind), int(iodofw, pio_offset_kind), start, count, iodesc)
  end subroutine initdecomp_both_i4

  subroutine initdecomp_both_i8(iosystem, basepiotype, dims, lenblocks, compdof, iodofr, iodofw, start, count, &
      iodesc)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype, dims(:), lenblocks
    integer(pio_offset_kind), intent(in) :: compdof(:), iodofr(:), iodofw(:)
    integer(pio_offset_kind), intent(in) :: start(:), count(:)
    type(io_desc_t), intent(inout) :: iodesc
    call same_list(compdof, iodofr, lenblocks)
    call initdecomp_start_i8(iosystem, basepiotype, dims, lenblocks, compdof, iodofw, start, count, iodesc)
  end subroutine initdecomp_both_i8

  subroutine same_list(compdof, iodof, lenblocks)
    integer(pio_offset_kind), intent(in) :: compdof(:), iodof(:)
    integer, intent(in) :: lenblocks
    logical :: same
    same = size(compdof) == size(iodof)
    if (same) same = all(compdof == iodof)
    if (.not. same) call piodie("piolib_mod", 0, &
        "PIO_initdecomp: the lists of the array and of the I/O ranks differ; give compdof alone (lenblocks is", &
        lenblocks, ")")
  end subroutine same_list

  subroutine freedecomp_ios(ios, iodesc)
    type(iosystem_desc_t), intent(in) :: ios
    type(io_desc_t), intent(in) :: iodesc
    call keep_error(ios%iosysid, c_freedecomp(ios%iosysid, iodesc%ioid))
  end subroutine freedecomp_ios

  ! The file is synced before.
  subroutine freedecomp_file(file, iodesc)
    type(file_desc_t), intent(in) :: file
    type(io_desc_t), intent(in) :: iodesc
    call keep_error(file%fh, c_freedecomp(file%fh, iodesc%ioid))
  end subroutine freedecomp_file

  ! Length of this rank's list.
  integer function PIO_get_local_array_size(iodesc)
    type(io_desc_t), intent(in) :: iodesc
    PIO_get_local_array_size = c_get_local_array_size(iodesc%ioid)
  end function PIO_get_local_array_size

  ! ---- Files. Collective, but for PIO_file_is_open.

  integer function PIO_createfile(iosystem, file, iotype, fname, amode_in) result(ierr)
    type(iosystem_desc_t), intent(in), target :: iosystem
    type(file_desc_t), intent(out) :: file
    integer, intent(in) :: iotype
    character(len=*), intent(in) :: fname
    integer, intent(in), optional :: amode_in
    integer :: mode
    mode = PIO_clobber
    if (present(amode_in)) mode = amode_in
    ierr = c_createfile(iosystem%iosysid, file%fh, iotype, to_c(fname), mode)
    file%iosystem => iosystem
  end function PIO_createfile

  integer function PIO_openfile(iosystem, file, iotype, fname, mode) result(ierr)
    type(iosystem_desc_t), intent(in), target :: iosystem
    type(file_desc_t), intent(out) :: file
    integer, intent(in) :: iotype
    character(len=*), intent(in) :: fname
    integer, intent(in), optional :: mode
    integer :: how, found
    how = PIO_nowrite
    if (present(mode)) how = mode
    found = iotype
    ierr = c_openfile(iosystem%iosysid, file%fh, found, to_c(fname), how)
    file%iosystem => iosystem
  end function PIO_openfile

  ! What fails in these two is for the error handler. That of the second one is the iosystem's, as the file is gone.
  subroutine PIO_syncfile(file)
    type(file_desc_t), intent(in) :: file
    integer :: ierr
    ierr = c_sync(file%fh)
    call keep_error(file%fh, ierr)
  end subroutine PIO_syncfile

  subroutine PIO_closefile(file)
    type(file_desc_t), intent(inout) :: file
    integer :: iosysid
    iosysid = c_iosystem_of(file%fh)
    call keep_error(iosysid, c_closefile(file%fh))
    file%fh = -1
    nullify (file%iosystem)
  end subroutine PIO_closefile

  subroutine PIO_deletefile(ios, fname)
    type(iosystem_desc_t), intent(in) :: ios
    character(len=*), intent(in) :: fname
    call keep_error(ios%iosysid, c_deletefile(ios%iosysid, to_c(fname)))
  end subroutine PIO_deletefile

  logical function PIO_file_is_open(file)
    type(file_desc_t), intent(in) :: file
    PIO_file_is_open = .false.
    if (associated(file%iosystem)) PIO_file_is_open = c_file_is_open(file%fh) == 1
  end function PIO_file_is_open

  ! ---- Frames: which record, from 1, is written and read. Below 1: none. Local.

  subroutine PIO_setframe(file, vardesc, frame)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer(pio_offset_kind), intent(in) :: frame
    integer :: ierr
    if (frame > huge(ierr)) then
      ierr = c_refuse(file%fh, to_c("PIO_setframe"), PIO_einval, to_c("the frame is larger than 2147483647"))
    else
      ierr = c_setframe(file%fh, vardesc%varid - 1, int(max(frame, 0_pio_offset_kind)) - 1)
    end if
    call keep_error(file%fh, ierr)
  end subroutine PIO_setframe

  subroutine PIO_advanceframe(file, vardesc)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer :: ierr
    ierr = c_advanceframe(file%fh, vardesc%varid - 1)
    call keep_error(file%fh, ierr)
  end subroutine PIO_advanceframe
end module piolib_mod
