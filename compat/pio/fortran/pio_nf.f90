! SPDX-License-Identifier: BSD-3-Clause
!
! What is in a file: dimensions, variables, attributes. Files are named by a descriptor or by its id (ncid), variables
! by a descriptor or by their id: the calls for each way to name them are made of nf.inc, those of neither are here. All
! functions return a code; which are collective says nf.inc.
module pio_nf
  use, intrinsic :: iso_c_binding, only: c_char, c_int64_t, c_null_char
  use pio_types
  use shoal_pio_c
  use shoal_pio_nf_id
  use shoal_pio_nf_vid
  use shoal_pio_nf_desc
  implicit none
  private

  public :: pio_redef, pio_enddef, pio_inquire, pio_inq_ndims, pio_inq_nvars, pio_inq_natts, pio_inq_unlimdim, &
      pio_def_dim, pio_inq_dimid, pio_inq_dimname, pio_inq_dimlen, pio_inquire_dimension, pio_def_var, &
      pio_inq_varid, pio_inq_varname, pio_inq_vartype, pio_inq_varndims, pio_inq_vardimid, &
      pio_inq_varnatts, pio_inquire_variable, pio_inq_att, pio_inq_attlen, pio_inq_atttype, &
      pio_inq_attid, pio_inq_attname, pio_def_var_deflate, pio_inq_var_deflate, &
      pio_def_var_chunking, pio_inq_var_chunking, pio_def_var_quantize, pio_inq_var_quantize, &
      pio_def_var_zstandard, pio_def_var_bzip2, pio_def_var_szip, pio_inq_filter_avail, &
      pio_inq_var_filter_ids, pio_inq_var_filter_info, &
      pio_set_var_chunk_cache, pio_get_var_chunk_cache, pio_set_fill, pio_set_log_level, &
      pio_copy_att, pio_set_chunk_cache, pio_get_chunk_cache, pio_strerror

  interface pio_set_log_level
    module procedure :: set_log_level_here, set_log_level_global
  end interface pio_set_log_level

contains

  integer function pio_copy_att(infile, invarid, name, outfile, outvarid) result(ierr)
    type(file_desc_t), intent(in) :: infile, outfile
    integer, intent(in) :: invarid, outvarid
    character(len=*), intent(in) :: name
    ierr = c_copy_att(infile%fh, invarid - 1, to_c(name), outfile%fh, outvarid - 1)
  end function pio_copy_att

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
end module pio_nf
