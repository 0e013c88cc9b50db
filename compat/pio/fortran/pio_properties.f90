! SPDX-License-Identifier: BSD-3-Clause
!
! The part of module pio_nf about compression, chunks and caches of netCDF-4 variables, fill mode and messages.
module shoal_pio_properties
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_null_char
  use pio_types
  use shoal_pio_c
  implicit none
  private
  public :: pio_def_var_deflate, pio_inq_var_deflate, pio_def_var_chunking, pio_inq_var_chunking, &
      pio_def_var_quantize, pio_inq_var_quantize, pio_set_var_chunk_cache, pio_get_var_chunk_cache, &
      pio_set_fill, pio_set_log_level, pio_set_chunk_cache, pio_get_chunk_cache, pio_strerror

  interface pio_def_var_deflate
    module procedure :: def_var_deflate_vid, def_var_deflate_desc
  end interface pio_def_var_deflate
  interface pio_inq_var_deflate
    module procedure :: inq_var_deflate_id, inq_var_deflate_vid, inq_var_deflate_desc
  end interface pio_inq_var_deflate
  interface pio_def_var_chunking
    module procedure :: def_var_chunking_vid, def_var_chunking_desc, def_var_chunking_vid_long, &
        def_var_chunking_desc_long
  end interface pio_def_var_chunking
  interface pio_inq_var_chunking
    module procedure :: inq_var_chunking_id, inq_var_chunking_vid, inq_var_chunking_desc
  end interface pio_inq_var_chunking
  interface pio_def_var_quantize
    module procedure :: def_var_quantize_vid, def_var_quantize_desc
  end interface pio_def_var_quantize
  interface pio_inq_var_quantize
    module procedure :: inq_var_quantize_vid, inq_var_quantize_desc
  end interface pio_inq_var_quantize
  interface pio_set_var_chunk_cache
    module procedure :: set_var_chunk_cache_vid, set_var_chunk_cache_desc
  end interface pio_set_var_chunk_cache
  interface pio_get_var_chunk_cache
    module procedure :: get_var_chunk_cache_vid, get_var_chunk_cache_desc
  end interface pio_get_var_chunk_cache
  interface pio_set_fill
    module procedure :: set_fill_id, set_fill_desc
  end interface pio_set_fill
  interface pio_set_log_level
    module procedure :: set_log_level_here, set_log_level_global
  end interface pio_set_log_level

contains

  ! ---- Compression, chunks and caches of netCDF-4 variables

  integer function def_var_deflate_vid(file, varid, shuffle, deflate, deflate_level) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer, intent(in) :: shuffle, deflate, deflate_level
    ierr = c_def_var_deflate(file%fh, varid - 1, shuffle, deflate, deflate_level)
  end function def_var_deflate_vid

  integer function def_var_deflate_desc(file, vardesc, shuffle, deflate, deflate_level) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer, intent(in) :: shuffle, deflate, deflate_level
    ierr = def_var_deflate_vid(file, vardesc%varid, shuffle, deflate, deflate_level)
  end function def_var_deflate_desc

  integer function inq_var_deflate_id(ncid, varid, shuffle, deflate, deflate_level) result(ierr)
    integer, intent(in) :: ncid, varid
    integer, intent(out) :: shuffle, deflate, deflate_level
    shuffle = 0
    deflate = 0
    deflate_level = 0
    ierr = c_inq_var_deflate(ncid, varid - 1, shuffle, deflate, deflate_level)
  end function inq_var_deflate_id

  integer function inq_var_deflate_vid(file, varid, shuffle, deflate, deflate_level) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer, intent(out) :: shuffle, deflate, deflate_level
    ierr = inq_var_deflate_id(file%fh, varid, shuffle, deflate, deflate_level)
  end function inq_var_deflate_vid

  integer function inq_var_deflate_desc(file, vardesc, shuffle, deflate, deflate_level) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer, intent(out) :: shuffle, deflate, deflate_level
    ierr = inq_var_deflate_id(file%fh, vardesc%varid, shuffle, deflate, deflate_level)
  end function inq_var_deflate_desc

  integer function def_var_chunking_vid_long(file, varid, storage, chunksizes) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid, storage
    integer(c_int64_t), intent(in) :: chunksizes(:)
    integer(c_int64_t) :: list(PIO_max_var_dims)
    integer :: ndims, n
    ndims = 0
    ierr = c_inq_varndims(file%fh, varid - 1, ndims)
    if (ierr /= PIO_noerr) return
    n = size(chunksizes)
    if (storage == PIO_chunked .and. n < ndims) then
      ierr = c_refuse(file%fh, to_c("PIO_def_var_chunking"), PIO_einval, &
          to_c("chunksizes is shorter than the variable has dimensions"))
      return
    end if
    list = 0
    n = min(n, ndims)
    list(:n) = chunksizes(n:1:-1)
    ierr = c_def_var_chunking(file%fh, varid - 1, storage, list)
  end function def_var_chunking_vid_long

  integer function def_var_chunking_vid(file, varid, storage, chunksizes) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid, storage, chunksizes(:)
    ierr = def_var_chunking_vid_long(file, varid, storage, int(chunksizes, c_int64_t))
  end function def_var_chunking_vid

  integer function def_var_chunking_desc(file, vardesc, storage, chunksizes) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer, intent(in) :: storage, chunksizes(:)
    ierr = def_var_chunking_vid_long(file, vardesc%varid, storage, int(chunksizes, c_int64_t))
  end function def_var_chunking_desc

  integer function def_var_chunking_desc_long(file, vardesc, storage, chunksizes) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer, intent(in) :: storage
    integer(c_int64_t), intent(in) :: chunksizes(:)
    ierr = def_var_chunking_vid_long(file, vardesc%varid, storage, chunksizes)
  end function def_var_chunking_desc_long

  integer function inq_var_chunking_id(ncid, varid, storage, chunksizes) result(ierr)
    integer, intent(in) :: ncid, varid
    integer, intent(out) :: storage
    integer(c_int64_t), intent(inout) :: chunksizes(*)
    integer(c_int64_t) :: list(PIO_max_var_dims)
    integer :: ndims, i
    storage = PIO_contiguous
    ndims = 0
    ierr = c_inq_varndims(ncid, varid - 1, ndims)
    if (ierr /= PIO_noerr) return
    list = 0
    ierr = c_inq_var_chunking(ncid, varid - 1, storage, list)
    if (ierr /= PIO_noerr) return
    do i = 1, ndims
      chunksizes(i) = list(ndims - i + 1)
    end do
  end function inq_var_chunking_id

  integer function inq_var_chunking_vid(file, varid, storage, chunksizes) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer, intent(out) :: storage
    integer(c_int64_t), intent(inout) :: chunksizes(*)
    ierr = inq_var_chunking_id(file%fh, varid, storage, chunksizes)
  end function inq_var_chunking_vid

  integer function inq_var_chunking_desc(file, vardesc, storage, chunksizes) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer, intent(out) :: storage
    integer(c_int64_t), intent(inout) :: chunksizes(*)
    ierr = inq_var_chunking_id(file%fh, vardesc%varid, storage, chunksizes)
  end function inq_var_chunking_desc

  integer function def_var_quantize_vid(file, varid, quantize_mode, nsd) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer, intent(in) :: quantize_mode, nsd
    ierr = c_def_var_quantize(file%fh, varid - 1, quantize_mode, nsd)
  end function def_var_quantize_vid

  integer function def_var_quantize_desc(file, vardesc, quantize_mode, nsd) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer, intent(in) :: quantize_mode, nsd
    ierr = def_var_quantize_vid(file, vardesc%varid, quantize_mode, nsd)
  end function def_var_quantize_desc

  integer function inq_var_quantize_vid(file, varid, quantize_mode, nsd) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer, intent(out) :: quantize_mode, nsd
    quantize_mode = PIO_noquantize
    nsd = 0
    ierr = c_inq_var_quantize(file%fh, varid - 1, quantize_mode, nsd)
  end function inq_var_quantize_vid

  integer function inq_var_quantize_desc(file, vardesc, quantize_mode, nsd) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer, intent(out) :: quantize_mode, nsd
    ierr = inq_var_quantize_vid(file, vardesc%varid, quantize_mode, nsd)
  end function inq_var_quantize_desc

  integer function set_var_chunk_cache_vid(file, varid, chunk_cache_size, chunk_cache_nelems, &
      chunk_cache_preemption) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer(c_int64_t), intent(in) :: chunk_cache_size, chunk_cache_nelems
    real, intent(in) :: chunk_cache_preemption
    ierr = c_set_var_chunk_cache(file%fh, varid - 1, chunk_cache_size, chunk_cache_nelems, chunk_cache_preemption)
  end function set_var_chunk_cache_vid

  integer function set_var_chunk_cache_desc(file, vardesc, chunk_cache_size, chunk_cache_nelems, &
      chunk_cache_preemption) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer(c_int64_t), intent(in) :: chunk_cache_size, chunk_cache_nelems
    real, intent(in) :: chunk_cache_preemption
    ierr = set_var_chunk_cache_vid(file, vardesc%varid, chunk_cache_size, chunk_cache_nelems, chunk_cache_preemption)
  end function set_var_chunk_cache_desc

  integer function get_var_chunk_cache_vid(file, varid, chunk_cache_size, chunk_cache_nelems, &
      chunk_cache_preemption) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer(c_int64_t), intent(out) :: chunk_cache_size, chunk_cache_nelems
    real, intent(out) :: chunk_cache_preemption
    chunk_cache_size = 0
    chunk_cache_nelems = 0
    chunk_cache_preemption = 0
    ierr = c_get_var_chunk_cache(file%fh, varid - 1, chunk_cache_size, chunk_cache_nelems, chunk_cache_preemption)
  end function get_var_chunk_cache_vid

  integer function get_var_chunk_cache_desc(file, vardesc, chunk_cache_size, chunk_cache_nelems, &
      chunk_cache_preemption) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer(c_int64_t), intent(out) :: chunk_cache_size, chunk_cache_nelems
    real, intent(out) :: chunk_cache_preemption
    ierr = get_var_chunk_cache_vid(file, vardesc%varid, chunk_cache_size, chunk_cache_nelems, chunk_cache_preemption)
  end function get_var_chunk_cache_desc

  integer function pio_set_chunk_cache(iosysid, iotype, chunk_cache_size, chunk_cache_nelems, &
      chunk_cache_preemption) result(ierr)
    integer, intent(in) :: iosysid, iotype
    integer(c_int64_t), intent(in) :: chunk_cache_size, chunk_cache_nelems
    real, intent(in) :: chunk_cache_preemption
    ierr = c_set_chunk_cache(iosysid, iotype, chunk_cache_size, chunk_cache_nelems, chunk_cache_preemption)
  end function pio_set_chunk_cache

  integer function pio_get_chunk_cache(iosysid, iotype, chunk_cache_size, chunk_cache_nelems, &
      chunk_cache_preemption) result(ierr)
    integer, intent(in) :: iosysid, iotype
    integer(c_int64_t), intent(out) :: chunk_cache_size, chunk_cache_nelems
    real, intent(out) :: chunk_cache_preemption
    chunk_cache_size = 0
    chunk_cache_nelems = 0
    chunk_cache_preemption = 0
    ierr = c_get_chunk_cache(iosysid, iotype, chunk_cache_size, chunk_cache_nelems, chunk_cache_preemption)
  end function pio_get_chunk_cache

  ! ---- Fill mode, messages

  integer function set_fill_id(ncid, fillmode, old_mode) result(ierr)
    integer, intent(in) :: ncid, fillmode
    integer, intent(out), optional :: old_mode
    integer(c_int) :: before
    before = PIO_nofill
    ierr = c_set_fill(ncid, fillmode, before)
    if (present(old_mode)) old_mode = before
  end function set_fill_id

  integer function set_fill_desc(file, fillmode, old_mode) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: fillmode
    integer, intent(out), optional :: old_mode
    ierr = set_fill_id(file%fh, fillmode, old_mode)
  end function set_fill_desc

  integer function set_log_level_here(log_level) result(ierr)
    integer, intent(in) :: log_level
    ierr = c_set_log_level(log_level)
  end function set_log_level_here

  integer function set_log_level_global(iosys, log_level) result(ierr)
    type(iosystem_desc_t), intent(in) :: iosys
    integer, intent(in) :: log_level
    ierr = c_set_global_log_level(iosys%iosysid, log_level)
  end function set_log_level_global

  integer function pio_strerror(errcode, errmsg) result(ierr)
    integer, intent(in) :: errcode
    character(len=*), intent(out) :: errmsg
    character(kind=c_char) :: letters(PIO_max_name + 1)
    letters = c_null_char
    ierr = c_strerror(errcode, letters)
    call from_c(letters, errmsg)
  end function pio_strerror
end module shoal_pio_properties
