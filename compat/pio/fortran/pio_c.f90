! SPDX-License-Identifier: BSD-3-Clause
!
! pio.h in Fortran, as far as the modules call it, and the functions of values.c (shoal_pio_f_...), which take
! arrays by their descriptors. Text goes zero-terminated.
module shoal_pio_c
  use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_float, c_int, c_int64_t, c_long, c_null_char, c_ptr, &
      c_size_t
  use pio_types, only: PIO_max_name, pio_rearr_opt_t
  implicit none
  public

  interface
    ! ---- Iosystems
    integer(c_int) function c_init_intracomm(comm, num_iotasks, stride, base, rearr, rearr_opts, iosysid) &
        bind(C, name="PIOc_Init_Intracomm_from_F90")
      import :: c_int, pio_rearr_opt_t
      integer(c_int), value :: comm, num_iotasks, stride, base, rearr
      type(pio_rearr_opt_t), intent(in), optional :: rearr_opts
      integer(c_int), intent(inout) :: iosysid
    end function c_init_intracomm
    integer(c_int) function c_init_async(world, num_io, io_list, components, num_comp, comp_list, io_comm, &
        comp_comm, rearr, iosysid) bind(C, name="PIOc_init_async_from_F90")
      import :: c_int
      integer(c_int), value :: world, num_io, components, rearr
      integer(c_int), intent(in) :: io_list(*), num_comp(*), comp_list(*)
      integer(c_int), intent(inout) :: io_comm, comp_comm(*), iosysid(*)
    end function c_init_async
    integer(c_int) function c_init_async_comms(world, components, comp_comm, io_comm, rearr, iosysid) &
        bind(C, name="PIOc_init_async_comms_from_F90")
      import :: c_int
      integer(c_int), value :: world, components, io_comm, rearr
      integer(c_int), intent(in) :: comp_comm(*)
      integer(c_int), intent(inout) :: iosysid(*)
    end function c_init_async_comms
    integer(c_int) function c_finalize(iosysid) bind(C, name="PIOc_finalize")
      import :: c_int
      integer(c_int), value :: iosysid
    end function c_finalize
    integer(c_int) function c_iam_iotask(iosysid, answer) bind(C, name="PIOc_iam_iotask")
      import :: c_bool, c_int
      integer(c_int), value :: iosysid
      logical(c_bool), intent(inout) :: answer
    end function c_iam_iotask
    integer(c_int) function c_iotask_rank(iosysid, rank) bind(C, name="PIOc_iotask_rank")
      import :: c_int
      integer(c_int), value :: iosysid
      integer(c_int), intent(inout) :: rank
    end function c_iotask_rank
    integer(c_int) function c_iosystem_is_active(iosysid, answer) bind(C, name="PIOc_iosystem_is_active")
      import :: c_bool, c_int
      integer(c_int), value :: iosysid
      logical(c_bool), intent(inout) :: answer
    end function c_iosystem_is_active
    integer(c_int) function c_get_numiotasks(iosysid, number) bind(C, name="PIOc_get_numiotasks")
      import :: c_int
      integer(c_int), value :: iosysid
      integer(c_int), intent(inout) :: number
    end function c_get_numiotasks
    integer(c_int) function c_iotype_available(iotype) bind(C, name="PIOc_iotype_available")
      import :: c_int
      integer(c_int), value :: iotype
    end function c_iotype_available
    integer(c_int) function c_set_rearr_opts(iosysid, comm_type, fcd, hs_c2i, isend_c2i, pending_c2i, hs_i2c, &
        isend_i2c, pending_i2c) bind(C, name="PIOc_set_rearr_opts")
      import :: c_bool, c_int
      integer(c_int), value :: iosysid, comm_type, fcd, pending_c2i, pending_i2c
      logical(c_bool), value :: hs_c2i, isend_c2i, hs_i2c, isend_i2c
    end function c_set_rearr_opts
    integer(c_int) function c_set_hint(iosysid, hint, hintval) bind(C, name="PIOc_set_hint")
      import :: c_char, c_int
      integer(c_int), value :: iosysid
      character(kind=c_char), intent(in) :: hint(*), hintval(*)
    end function c_set_hint
    integer(c_int) function c_set_chunk_cache(iosysid, iotype, bytes, nelems, preemption) &
        bind(C, name="PIOc_set_chunk_cache")
      import :: c_float, c_int, c_int64_t
      integer(c_int), value :: iosysid, iotype
      integer(c_int64_t), value :: bytes, nelems
      real(c_float), value :: preemption
    end function c_set_chunk_cache
    integer(c_int) function c_get_chunk_cache(iosysid, iotype, bytes, nelems, preemption) &
        bind(C, name="PIOc_get_chunk_cache")
      import :: c_float, c_int, c_int64_t
      integer(c_int), value :: iosysid, iotype
      integer(c_int64_t), intent(inout) :: bytes, nelems
      real(c_float), intent(inout) :: preemption
    end function c_get_chunk_cache
    integer(c_int) function c_set_blocksize(blocksize) bind(C, name="PIOc_set_blocksize")
      import :: c_int
      integer(c_int), value :: blocksize
    end function c_set_blocksize
    integer(c_int64_t) function c_set_buffer_size_limit(limit) bind(C, name="PIOc_set_buffer_size_limit")
      import :: c_int64_t
      integer(c_int64_t), value :: limit
    end function c_set_buffer_size_limit
    integer(c_int) function c_get_version(major, minor, patch, text, length) bind(C, name="PIOc_get_version")
      import :: c_char, c_int
      integer(c_int), intent(inout) :: major, minor, patch
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int), value :: length
    end function c_get_version
    integer(c_int) function c_get_version_hash(text, length) bind(C, name="PIOc_get_version_hash")
      import :: c_char, c_int
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int), value :: length
    end function c_get_version_hash

    ! ---- Errors
    integer(c_int) function c_strerror(code, text) bind(C, name="PIOc_strerror")
      import :: c_char, c_int
      integer(c_int), value :: code
      character(kind=c_char), intent(inout) :: text(*)
    end function c_strerror
    integer(c_int) function c_set_log_level(level) bind(C, name="PIOc_set_log_level")
      import :: c_int
      integer(c_int), value :: level
    end function c_set_log_level
    integer(c_int) function c_set_global_log_level(iosysid, level) bind(C, name="PIOc_set_global_log_level")
      import :: c_int
      integer(c_int), value :: iosysid, level
    end function c_set_global_log_level
    integer(c_int) function c_set_error_handling(iosysid, method) bind(C, name="PIOc_Set_IOSystem_Error_Handling")
      import :: c_int
      integer(c_int), value :: iosysid, method
    end function c_set_error_handling
    ! id: of a file or an iosystem, whose handler acts.
    integer(c_int) function c_refuse(id, call, code, message) bind(C, name="shoal_pio_refuse")
      import :: c_char, c_int
      integer(c_int), value :: id, code
      character(kind=c_char), intent(in) :: call(*), message(*)
    end function c_refuse
    ! In place of a collective call, as it is matched, that other ranks make.
    integer(c_int) function c_refuse_match(id, matched, call, code, message) bind(C, name="shoal_pio_refuse_match")
      import :: c_char, c_int
      integer(c_int), value :: id, code
      character(kind=c_char), intent(in) :: matched(*), call(*), message(*)
    end function c_refuse_match
    subroutine c_defer_error(iosysid, code) bind(C, name="shoal_pio_defer_error")
      import :: c_int
      integer(c_int), value :: iosysid, code
    end subroutine c_defer_error
    integer(c_int) function c_iosystem_of(ncid) bind(C, name="shoal_pio_iosystem_of")
      import :: c_int
      integer(c_int), value :: ncid
    end function c_iosystem_of
    subroutine f_die(message) bind(C, name="shoal_pio_f_die")
      import :: c_char
      character(kind=c_char), intent(in) :: message(*)
    end subroutine f_die
    subroutine f_mpi_message(code, text) bind(C, name="shoal_pio_f_mpi_message")
      import :: c_char, c_int
      integer(c_int), value :: code
      character(kind=c_char), intent(inout) :: text(*)
    end subroutine f_mpi_message

    ! ---- Decompositions
    integer(c_int) function f_initdecomp(iosysid, readonly, basetype, dims, cells, ioid, rearr, iostart, iocount) &
        bind(C, name="shoal_pio_f_initdecomp")
      import :: c_int, c_int64_t
      integer(c_int), value :: iosysid, readonly, basetype
      integer(c_int), intent(in) :: dims(:)
      type(*), dimension(..), intent(in) :: cells
      integer(c_int), intent(inout) :: ioid
      integer(c_int), intent(in), optional :: rearr
      integer(c_int64_t), intent(in), optional :: iostart(:), iocount(:)
    end function f_initdecomp
    integer(c_int) function c_initdecomp_bc(iosysid, basetype, ndims, dims, start, count, ioid) &
        bind(C, name="PIOc_InitDecomp_bc")
      import :: c_int, c_long
      integer(c_int), value :: iosysid, basetype, ndims
      integer(c_int), intent(in) :: dims(*)
      integer(c_long), intent(in) :: start(*), count(*)
      integer(c_int), intent(inout) :: ioid
    end function c_initdecomp_bc
    integer(c_int) function c_freedecomp(iosysid, ioid) bind(C, name="PIOc_freedecomp")
      import :: c_int
      integer(c_int), value :: iosysid, ioid
    end function c_freedecomp
    integer(c_int) function c_get_local_array_size(ioid) bind(C, name="PIOc_get_local_array_size")
      import :: c_int
      integer(c_int), value :: ioid
    end function c_get_local_array_size
    integer(c_int) function c_writemap(file, ndims, gdims, maplen, map, comm) bind(C, name="PIOc_writemap_from_f90")
      import :: c_char, c_int, c_int64_t
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int), value :: ndims, comm
      integer(c_int), intent(in) :: gdims(*)
      integer(c_int64_t), value :: maplen
      integer(c_int64_t), intent(in) :: map(*)
    end function c_writemap
    integer(c_int) function c_readmap(file, ndims, gdims, maplen, map, comm) bind(C, name="PIOc_readmap_from_f90")
      import :: c_char, c_int, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int), intent(inout) :: ndims
      type(c_ptr), intent(inout) :: gdims, map
      integer(c_int64_t), intent(inout) :: maplen
      integer(c_int), value :: comm
    end function c_readmap
    integer(c_int) function c_write_nc_decomp(iosysid, file, cmode, ioid, title, history, fortran_order) &
        bind(C, name="PIOc_write_nc_decomp")
      import :: c_char, c_int
      integer(c_int), value :: iosysid, cmode, ioid, fortran_order
      character(kind=c_char), intent(in) :: file(*), title(*), history(*)
    end function c_write_nc_decomp
    integer(c_int) function f_read_nc_decomp(iosysid, file, ioid, title, history, fortran_order) &
        bind(C, name="shoal_pio_f_read_nc_decomp")
      import :: c_char, c_int
      integer(c_int), value :: iosysid
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int), intent(inout) :: ioid, fortran_order
      character(kind=c_char), intent(inout) :: title(*), history(*)
    end function f_read_nc_decomp
    subroutine c_free(memory) bind(C, name="free")
      import :: c_ptr
      type(c_ptr), value :: memory
    end subroutine c_free

    ! ---- Files
    integer(c_int) function c_createfile(iosysid, ncid, iotype, name, mode) bind(C, name="PIOc_createfile")
      import :: c_char, c_int
      integer(c_int), value :: iosysid, mode
      integer(c_int), intent(inout) :: ncid
      integer(c_int), intent(in) :: iotype
      character(kind=c_char), intent(in) :: name(*)
    end function c_createfile
    integer(c_int) function c_openfile(iosysid, ncid, iotype, name, mode) bind(C, name="PIOc_openfile")
      import :: c_char, c_int
      integer(c_int), value :: iosysid, mode
      integer(c_int), intent(inout) :: ncid, iotype
      character(kind=c_char), intent(in) :: name(*)
    end function c_openfile
    integer(c_int) function c_sync(ncid) bind(C, name="PIOc_sync")
      import :: c_int
      integer(c_int), value :: ncid
    end function c_sync
    integer(c_int) function c_closefile(ncid) bind(C, name="PIOc_closefile")
      import :: c_int
      integer(c_int), value :: ncid
    end function c_closefile
    integer(c_int) function c_deletefile(iosysid, name) bind(C, name="PIOc_deletefile")
      import :: c_char, c_int
      integer(c_int), value :: iosysid
      character(kind=c_char), intent(in) :: name(*)
    end function c_deletefile
    integer(c_int) function c_redef(ncid) bind(C, name="PIOc_redef")
      import :: c_int
      integer(c_int), value :: ncid
    end function c_redef
    integer(c_int) function c_enddef(ncid) bind(C, name="PIOc_enddef")
      import :: c_int
      integer(c_int), value :: ncid
    end function c_enddef
    integer(c_int) function c_file_is_open(ncid) bind(C, name="PIOc_File_is_Open")
      import :: c_int
      integer(c_int), value :: ncid
    end function c_file_is_open
    integer(c_int) function c_set_fill(ncid, fillmode, old_mode) bind(C, name="PIOc_set_fill")
      import :: c_int
      integer(c_int), value :: ncid, fillmode
      integer(c_int), intent(inout) :: old_mode
    end function c_set_fill
    integer(c_int) function c_inq_ndims(ncid, number) bind(C, name="PIOc_inq_ndims")
      import :: c_int
      integer(c_int), value :: ncid
      integer(c_int), intent(inout) :: number
    end function c_inq_ndims
    integer(c_int) function c_inq_nvars(ncid, number) bind(C, name="PIOc_inq_nvars")
      import :: c_int
      integer(c_int), value :: ncid
      integer(c_int), intent(inout) :: number
    end function c_inq_nvars
    integer(c_int) function c_inq_natts(ncid, number) bind(C, name="PIOc_inq_natts")
      import :: c_int
      integer(c_int), value :: ncid
      integer(c_int), intent(inout) :: number
    end function c_inq_natts
    integer(c_int) function c_inq_unlimdim(ncid, dimid) bind(C, name="PIOc_inq_unlimdim")
      import :: c_int
      integer(c_int), value :: ncid
      integer(c_int), intent(inout) :: dimid
    end function c_inq_unlimdim

    ! ---- Dimensions
    integer(c_int) function c_def_dim(ncid, name, length, dimid) bind(C, name="PIOc_def_dim")
      import :: c_char, c_int, c_int64_t
      integer(c_int), value :: ncid
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: length
      integer(c_int), intent(inout) :: dimid
    end function c_def_dim
    integer(c_int) function c_inq_dimid(ncid, name, dimid) bind(C, name="PIOc_inq_dimid")
      import :: c_char, c_int
      integer(c_int), value :: ncid
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(inout) :: dimid
    end function c_inq_dimid
    integer(c_int) function c_inq_dimname(ncid, dimid, name) bind(C, name="PIOc_inq_dimname")
      import :: c_char, c_int
      integer(c_int), value :: ncid, dimid
      character(kind=c_char), intent(inout) :: name(*)
    end function c_inq_dimname
    integer(c_int) function c_inq_dimlen(ncid, dimid, length) bind(C, name="PIOc_inq_dimlen")
      import :: c_int, c_int64_t
      integer(c_int), value :: ncid, dimid
      integer(c_int64_t), intent(inout) :: length
    end function c_inq_dimlen

    ! ---- Variables
    integer(c_int) function c_def_var(ncid, name, xtype, ndims, dimids, varid) bind(C, name="PIOc_def_var")
      import :: c_char, c_int
      integer(c_int), value :: ncid, xtype, ndims
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(in) :: dimids(*)
      integer(c_int), intent(inout) :: varid
    end function c_def_var
    integer(c_int) function c_inq_varid(ncid, name, varid) bind(C, name="PIOc_inq_varid")
      import :: c_char, c_int
      integer(c_int), value :: ncid
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(inout) :: varid
    end function c_inq_varid
    integer(c_int) function c_inq_varname(ncid, varid, name) bind(C, name="PIOc_inq_varname")
      import :: c_char, c_int
      integer(c_int), value :: ncid, varid
      character(kind=c_char), intent(inout) :: name(*)
    end function c_inq_varname
    integer(c_int) function c_inq_vartype(ncid, varid, xtype) bind(C, name="PIOc_inq_vartype")
      import :: c_int
      integer(c_int), value :: ncid, varid
      integer(c_int), intent(inout) :: xtype
    end function c_inq_vartype
    integer(c_int) function c_inq_varndims(ncid, varid, ndims) bind(C, name="PIOc_inq_varndims")
      import :: c_int
      integer(c_int), value :: ncid, varid
      integer(c_int), intent(inout) :: ndims
    end function c_inq_varndims
    integer(c_int) function c_inq_vardimid(ncid, varid, dimids) bind(C, name="PIOc_inq_vardimid")
      import :: c_int
      integer(c_int), value :: ncid, varid
      integer(c_int), intent(inout) :: dimids(*)
    end function c_inq_vardimid
    integer(c_int) function c_inq_varnatts(ncid, varid, natts) bind(C, name="PIOc_inq_varnatts")
      import :: c_int
      integer(c_int), value :: ncid, varid
      integer(c_int), intent(inout) :: natts
    end function c_inq_varnatts
    integer(c_int) function c_def_var_deflate(ncid, varid, shuffle, deflate, level) &
        bind(C, name="PIOc_def_var_deflate")
      import :: c_int
      integer(c_int), value :: ncid, varid, shuffle, deflate, level
    end function c_def_var_deflate
    integer(c_int) function c_inq_var_deflate(ncid, varid, shuffle, deflate, level) &
        bind(C, name="PIOc_inq_var_deflate")
      import :: c_int
      integer(c_int), value :: ncid, varid
      integer(c_int), intent(inout) :: shuffle, deflate, level
    end function c_inq_var_deflate
    integer(c_int) function c_def_var_chunking(ncid, varid, storage, chunksizes) &
        bind(C, name="PIOc_def_var_chunking")
      import :: c_int, c_int64_t
      integer(c_int), value :: ncid, varid, storage
      integer(c_int64_t), intent(in) :: chunksizes(*)
    end function c_def_var_chunking
    integer(c_int) function c_inq_var_chunking(ncid, varid, storage, chunksizes) &
        bind(C, name="PIOc_inq_var_chunking")
      import :: c_int, c_int64_t
      integer(c_int), value :: ncid, varid
      integer(c_int), intent(inout) :: storage
      integer(c_int64_t), intent(inout) :: chunksizes(*)
    end function c_inq_var_chunking
    integer(c_int) function c_set_var_chunk_cache(ncid, varid, bytes, nelems, preemption) &
        bind(C, name="PIOc_set_var_chunk_cache")
      import :: c_float, c_int, c_int64_t
      integer(c_int), value :: ncid, varid
      integer(c_int64_t), value :: bytes, nelems
      real(c_float), value :: preemption
    end function c_set_var_chunk_cache
    integer(c_int) function c_get_var_chunk_cache(ncid, varid, bytes, nelems, preemption) &
        bind(C, name="PIOc_get_var_chunk_cache")
      import :: c_float, c_int, c_int64_t
      integer(c_int), value :: ncid, varid
      integer(c_int64_t), intent(inout) :: bytes, nelems
      real(c_float), intent(inout) :: preemption
    end function c_get_var_chunk_cache
    integer(c_int) function c_def_var_quantize(ncid, varid, mode, nsd) bind(C, name="PIOc_def_var_quantize")
      import :: c_int
      integer(c_int), value :: ncid, varid, mode, nsd
    end function c_def_var_quantize
    integer(c_int) function c_inq_var_quantize(ncid, varid, mode, nsd) bind(C, name="PIOc_inq_var_quantize")
      import :: c_int
      integer(c_int), value :: ncid, varid
      integer(c_int), intent(inout) :: mode, nsd
    end function c_inq_var_quantize
    integer(c_int) function c_def_var_zstandard(ncid, varid, level) bind(C, name="PIOc_def_var_zstandard")
      import :: c_int
      integer(c_int), value :: ncid, varid, level
    end function c_def_var_zstandard
    integer(c_int) function c_def_var_bzip2(ncid, varid, level) bind(C, name="PIOc_def_var_bzip2")
      import :: c_int
      integer(c_int), value :: ncid, varid, level
    end function c_def_var_bzip2
    integer(c_int) function c_def_var_szip(ncid, varid, options_mask, pixels_per_block) &
        bind(C, name="PIOc_def_var_szip")
      import :: c_int
      integer(c_int), value :: ncid, varid, options_mask, pixels_per_block
    end function c_def_var_szip
    integer(c_int) function c_inq_var_filter_ids(ncid, varid, number, ids) bind(C, name="PIOc_inq_var_filter_ids")
      import :: c_int, c_size_t
      integer(c_int), value :: ncid, varid
      integer(c_size_t), intent(inout) :: number
      integer(c_int), intent(inout) :: ids(*)
    end function c_inq_var_filter_ids
    integer(c_int) function c_inq_var_filter_info(ncid, varid, id, number, params) &
        bind(C, name="PIOc_inq_var_filter_info")
      import :: c_int, c_size_t
      integer(c_int), value :: ncid, varid, id
      integer(c_size_t), intent(inout) :: number
      integer(c_int), intent(inout) :: params(*)
    end function c_inq_var_filter_info
    integer(c_int) function c_inq_filter_avail(ncid, id) bind(C, name="PIOc_inq_filter_avail")
      import :: c_int
      integer(c_int), value :: ncid, id
    end function c_inq_filter_avail
    integer(c_int) function c_setframe(ncid, varid, frame) bind(C, name="PIOc_setframe")
      import :: c_int
      integer(c_int), value :: ncid, varid, frame
    end function c_setframe
    integer(c_int) function c_advanceframe(ncid, varid) bind(C, name="PIOc_advanceframe")
      import :: c_int
      integer(c_int), value :: ncid, varid
    end function c_advanceframe

    ! ---- Attributes
    integer(c_int) function c_inq_att(ncid, varid, name, xtype, length) bind(C, name="PIOc_inq_att")
      import :: c_char, c_int, c_int64_t
      integer(c_int), value :: ncid, varid
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(inout) :: xtype
      integer(c_int64_t), intent(inout) :: length
    end function c_inq_att
    integer(c_int) function c_inq_attid(ncid, varid, name, attid) bind(C, name="PIOc_inq_attid")
      import :: c_char, c_int
      integer(c_int), value :: ncid, varid
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(inout) :: attid
    end function c_inq_attid
    integer(c_int) function c_inq_attname(ncid, varid, attnum, name) bind(C, name="PIOc_inq_attname")
      import :: c_char, c_int
      integer(c_int), value :: ncid, varid, attnum
      character(kind=c_char), intent(inout) :: name(*)
    end function c_inq_attname
    integer(c_int) function c_copy_att(from, from_var, name, to, to_var) bind(C, name="PIOc_copy_att")
      import :: c_char, c_int
      integer(c_int), value :: from, from_var, to, to_var
      character(kind=c_char), intent(in) :: name(*)
    end function c_copy_att

    ! ---- Values, by descriptors (values.c)
    integer(c_int) function f_put_att(ncid, varid, name, values) bind(C, name="shoal_pio_f_put_att")
      import :: c_char, c_int
      integer(c_int), value :: ncid, varid
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(in) :: values
    end function f_put_att
    integer(c_int) function f_get_att(ncid, varid, name, values) bind(C, name="shoal_pio_f_get_att")
      import :: c_char, c_int
      integer(c_int), value :: ncid, varid
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(inout) :: values
    end function f_get_att
    ! Neither start nor count: the whole variable; start alone: one value, or string.
    integer(c_int) function f_put_var(ncid, varid, values, start, count) bind(C, name="shoal_pio_f_put_var")
      import :: c_int
      integer(c_int), value :: ncid, varid
      type(*), dimension(..), intent(in) :: values
      integer(c_int), intent(in), optional :: start(:), count(:)
    end function f_put_var
    integer(c_int) function f_get_var(ncid, varid, values, start, count) bind(C, name="shoal_pio_f_get_var")
      import :: c_int
      integer(c_int), value :: ncid, varid
      type(*), dimension(..), intent(inout) :: values
      integer(c_int), intent(in), optional :: start(:), count(:)
    end function f_get_var
    integer(c_int) function f_inq_var_fill(ncid, varid, no_fill, fillvalue) bind(C, name="shoal_pio_f_inq_var_fill")
      import :: c_int
      integer(c_int), value :: ncid, varid
      integer(c_int), intent(inout) :: no_fill
      type(*), dimension(..), intent(inout) :: fillvalue
    end function f_inq_var_fill
    ! Variables varids(1:nvars) have equal parts of values, one after the other.
    integer(c_int) function f_write_darray(ncid, nvars, varids, ioid, values, fillval) &
        bind(C, name="shoal_pio_f_write_darray")
      import :: c_int
      integer(c_int), value :: ncid, nvars, ioid
      integer(c_int), intent(in) :: varids(*)
      type(*), dimension(..), intent(in) :: values
      type(*), dimension(..), intent(in), optional :: fillval
    end function f_write_darray
    integer(c_int) function f_read_darray(ncid, varid, ioid, values) bind(C, name="shoal_pio_f_read_darray")
      import :: c_int
      integer(c_int), value :: ncid, varid, ioid
      type(*), dimension(..), intent(inout) :: values
    end function f_read_darray
  end interface

contains

  ! End of a call that gives no code to its caller: the next one of the file, or of the iosystem, that has one gives it.
  subroutine keep_error(id, code)
    integer(c_int), intent(in) :: id, code
    if (code /= 0) call c_defer_error(id, code)
  end subroutine keep_error

  ! A zero byte at the end, and no trailing blanks before it.
  function to_c(text)
    character(len=*), intent(in) :: text
    character(kind=c_char, len=len_trim(text)+1) :: to_c
    to_c = trim(text) // c_null_char
  end function to_c

  ! Up to the first zero byte; what does not fit is cut.
  subroutine from_c(letters, text)
    character(kind=c_char), intent(in) :: letters(:)
    character(len=*), intent(out) :: text
    integer :: i
    text = " "
    do i = 1, min(size(letters), len(text))
      if (letters(i) == c_null_char) exit
      text(i:i) = letters(i)
    end do
  end subroutine from_c
end module shoal_pio_c
