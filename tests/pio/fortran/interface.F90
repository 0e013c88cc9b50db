! The interface as programs use it: each type and rank, sections and pointers, keywords, ids and descriptors, and
! each module by itself.
module test_short
#define VALUE integer(2)
#include "of_type.inc"
end module test_short
#undef VALUE

module test_int
#define VALUE integer(4)
#include "of_type.inc"
end module test_int
#undef VALUE

module test_real
#define VALUE real(4)
#include "of_type.inc"
end module test_real
#undef VALUE

module test_double
#define VALUE real(8)
#include "of_type.inc"
end module test_double

! Module pio has what PIO's has: these are names that programs have of their own.
module test_names
  use pio
  implicit none
  integer, parameter :: PIO_enotatt = 1, PIO_enotvar = 2, PIO_ebadid = 3, PIO_einval = 4, PIO_ests = 5, PIO_ebaddim = 6, &
      PIO_ebadiotype = 7, PIO_byte = 8, PIO_max_dims = 9, PIO_max_vars = 10, PIO_max_attrs = 11, PIO_num_OST = 12
  integer, parameter :: used(*) = [PIO_int, PIO_double, PIO_noerr, PIO_rearr_any, PIO_chunked, PIO_fill_int, PIO_reduce_error]
end module test_names

! Each module of PIO is used by itself, as some models do.
module test_modules
  use pio_test, only: check, ok, is, ios, file_name, iotypes, modes, ranks, rank
  implicit none

contains

  ! Types, kinds and ends of programs.
  subroutine kinds_and_types()
    use pio_kinds, only: i2, i4, i8, r4, r8, pio_offset_kind, int_kind, log_kind, char_len
    use pio_types, only: pio_noerr, pio_double, pio_real, pio_int, pio_char, pio_short, iosystem_desc_t, io_desc_t, &
        file_desc_t, var_desc_t, pio_rearr_opt_t, pio_rearr_comm_fc_opt_t, pio_rearr_comm_p2p, &
        pio_rearr_comm_unlimited_pend_req, pio_return_error, pio_bcast_error, pio_reduce_error, pio_max_name, &
        pio_global, pio_64bit_data, pio_64bit_offset
    use pio_support, only: piodie, CheckMPIreturn, replace_c_null, debug
    type(pio_rearr_opt_t) :: options
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    type(io_desc_t) :: d
    character(len=8) :: text
    call check(i2 == 2 .and. i4 == 4 .and. i8 == 8 .and. r4 == 4 .and. r8 == 8, "kinds")
    call check(pio_offset_kind == 8 .and. int_kind == kind(1) .and. log_kind == kind(.true.) .and. char_len > 0, &
        "kind of offsets")
    call check(pio_noerr == 0 .and. pio_char == 2 .and. pio_short == 3 .and. pio_int == 4 .and. pio_real == 5 .and. &
        pio_double == 6 .and. pio_global == 0, "numbers of types")
    call check(pio_bcast_error == -52 .and. pio_return_error == -53 .and. pio_reduce_error == -54, "handlers")
    call check(pio_64bit_data == 32 .and. pio_64bit_offset == 512 .and. pio_max_name == 256, "modes")
    options%comm_type = pio_rearr_comm_p2p
    options%comm_fc_opts_comp2io%max_pend_req = pio_rearr_comm_unlimited_pend_req
    call check(storage_size(options) == 8 * 24, "options of rearrangers have the size of C")
    call check(file%fh == -1 .and. .not. associated(file%iosystem) .and. v%varid == -1 .and. d%ioid == -1, "new types")
    text = "abc" // achar(0) // "rest"
    call replace_c_null(text)
    call check(text == "abc", "replace_c_null")
    call CheckMPIreturn("nothing is printed", 0)
    call check(.not. debug, "debug")
    if (.false.) call piodie("file", 1, msg="never", ival1=1, msg2="2", ival2=2, msg3="3", ival3=3, mpirank=0)
  end subroutine kinds_and_types

  ! Files and definitions.
  subroutine lib_and_nf()
    use piolib_mod, only: pio_createfile, pio_closefile, pio_openfile, pio_syncfile, pio_setdebuglevel, &
        pio_seterrorhandling, pio_set_hint, pio_set_rearr_opts, pio_getnumiotasks, pio_get_numiotasks, &
        pio_iotype_available, pio_file_is_open, pio_deletefile, pio_set_blocksize, pio_iam_iotask, pio_iotask_rank, &
        pio_iosystem_is_active, pio_get_version, pio_get_version_major, pio_get_version_minor, &
        pio_get_version_patch, pio_get_version_string, pio_get_version_hash
    use pio_nf, only: pio_def_dim, pio_def_var, pio_enddef, pio_redef, pio_def_var_chunking, pio_set_fill, &
        pio_inquire, pio_inq_varid, pio_set_log_level, pio_strerror, pio_def_var_deflate, pio_inq_var_deflate, &
        pio_inq_var_chunking, pio_set_chunk_cache, pio_get_chunk_cache, pio_set_var_chunk_cache, &
        pio_get_var_chunk_cache, pio_def_var_zstandard, pio_def_var_bzip2, pio_def_var_szip, pio_inq_filter_avail, &
        pio_inq_var_filter_ids, pio_inq_var_filter_info
    use piodarray, only: pio_set_buffer_size_limit
    use pio_types
    use pio_kinds, only: pio_offset_kind
    use, intrinsic :: iso_c_binding, only: c_size_t
    type(file_desc_t) :: file
    type(var_desc_t) :: v, packed
    integer :: x, y, number, other, shuffle, deflate, level, storage, ids(8), short(1), minor, patch
    integer(c_size_t) :: long
    integer(pio_offset_kind) :: bytes, elements, chunks(2)
    real :: preemption
    logical :: active
    character(len=200) :: message
    call pio_setdebuglevel(0)
    call pio_setdebuglevel(0, number)
    call ok(number, "setdebuglevel")
    call ok(pio_get_version(number, minor, patch, message), "get_version")
    call check(number == pio_get_version_major() .and. minor == pio_get_version_minor() .and. &
        patch == pio_get_version_patch() .and. number == 2, "version")
    call ok(pio_get_version_string(message), "get_version_string")
    call check(message(:2) == "2.", "version: " // trim(message))
    call ok(pio_get_version_hash(message), "get_version_hash")
    call check(message(:6) == "shoal-", "hash: " // trim(message))
    call ok(pio_set_log_level(0), "set_log_level")
    call ok(pio_set_log_level(ios, -1), "set_log_level of an iosystem")
    call pio_getnumiotasks(ios, number)
    call pio_get_numiotasks(ios, numiotasks=other)
    call is(number, max(1, ranks / 2), "getnumiotasks")
    call is(other, number, "get_numiotasks")
    call check(pio_iam_iotask(ios) .eqv. pio_iotask_rank(ios) >= 0, "iam_iotask and iotask_rank")
    call pio_iosystem_is_active(ios, active)
    call check(active, "iosystem_is_active")
    call check(pio_iotype_available(pio_iotype_netcdf4p) .and. .not. pio_iotype_available(pio_iotype_adios), &
        "iotype_available")
    call ok(pio_set_rearr_opts(ios, pio_rearr_comm_p2p, pio_rearr_comm_fc_2d_enable, enable_hs_c2i=.true., &
        enable_isend_c2i=.false., max_pend_req_c2i=64, enable_hs_i2c=.true., enable_isend_i2c=.false., &
        max_pend_req_i2c=pio_rearr_comm_unlimited_pend_req), "set_rearr_opts")
    call pio_set_blocksize(2048)
    call pio_set_buffer_size_limit(1000000_pio_offset_kind)
    call pio_set_buffer_size_limit(2000000_pio_offset_kind, prev_limit=bytes)
    call check(bytes == 1000000, "prev_limit")
    call pio_set_hint(ios, "romio_cb_write", "enable")
    call ok(pio_createfile(ios, file, pio_iotype_netcdf4c, "pio_modules.nc", pio_clobber), "createfile")
    call check(pio_file_is_open(file), "file_is_open")
    call check(associated(file%iosystem), "file%iosystem")
    call is(file%iosystem%iosysid, ios%iosysid, "file%iosystem%iosysid")
    call ok(pio_set_fill(file, pio_fill, number), "set_fill")
    call is(number, pio_nofill, "fill mode before")
    call ok(pio_set_fill(file%fh, pio_nofill, old_mode=number), "set_fill by id")
    call is(number, pio_fill, "fill mode before, by id")
    call ok(pio_def_dim(file, "x", 20, x), "def_dim")
    call ok(pio_def_dim(file, "y", 10, y), "def_dim")
    call ok(pio_def_var(file, "v", pio_real, [x, y], v), "def_var")
    call ok(pio_def_var_chunking(file, v, pio_chunked, [10, 5]), "def_var_chunking")
    call ok(pio_def_var_deflate(file, v, shuffle=1, deflate=1, deflate_level=2), "def_var_deflate")
    call ok(pio_set_var_chunk_cache(file, v, 4000000_pio_offset_kind, 100_pio_offset_kind, 0.5), "set_var_chunk_cache")
    call ok(pio_def_var(file, "packed", pio_real, [x, y], packed), "def_var")
    call pio_seterrorhandling(ios, pio_return_error, number, other)
    call ok(other, "seterrorhandling")
    if (pio_inq_filter_avail(file, 32015) == pio_noerr) then
      call ok(pio_def_var_zstandard(file, packed, level=3), "def_var_zstandard")
    else
      call ok(pio_def_var_deflate(file, packed, 0, 1, 3), "def_var_deflate")
    end if
    call ok(pio_inq_filter_avail(file%fh, 1), "inq_filter_avail")
    call is(pio_inq_filter_avail(file, 4711), -136, "inq_filter_avail of none")
    call is(pio_def_var_bzip2(file, packed%varid, 5), -132, "def_var_bzip2")
    call is(pio_def_var_szip(file, packed, options_mask=32, pixels_per_block=4), -132, "def_var_szip")
    call ok(pio_inq_var_filter_ids(file, v, number, ids), "inq_var_filter_ids")
    call check(number == 2 .and. ids(1) == 2 .and. ids(2) == 1, "shuffle and deflate")
    call is(pio_inq_var_filter_ids(file%fh, v%varid, number, short), pio_einval, "inq_var_filter_ids, too short")
    call check(number == 2 .and. short(1) == 2, "the first filter")
    call ok(pio_inq_var_filter_ids(file, packed%varid, long, ids), "inq_var_filter_ids")
    call check(long == 1 .and. (ids(1) == 1 .or. ids(1) == 32015), "one filter")
    call ok(pio_inq_var_filter_info(file, packed, ids(1), number, short), "inq_var_filter_info")
    call check(number == 1 .and. short(1) == 3, "level")
    call is(pio_inq_var_filter_info(file%fh, v%varid, 32015, long, short), -136, "inq_var_filter_info of none")
    call pio_seterrorhandling(ios, pio_internal_error)
    call ok(pio_enddef(file), "enddef")
    call ok(pio_redef(file), "redef")
    call ok(pio_enddef(file%fh), "enddef by id")
    call ok(pio_inquire(file, nvariables=number), "inquire")
    call is(number, 2, "variables")
    call pio_syncfile(file)
    call pio_closefile(file)
    call check(.not. pio_file_is_open(file), "file_is_open of a closed file")

    call ok(pio_openfile(ios, file, pio_iotype_netcdf, "pio_modules.nc", mode=pio_nowrite), "openfile")
    call ok(pio_inq_varid(file, "v", v), "inq_varid")
    call ok(pio_inq_var_deflate(file, v, shuffle, deflate, level), "inq_var_deflate")
    call check(shuffle == 1 .and. deflate == 1 .and. level == 2, "deflate")
    call ok(pio_inq_var_deflate(file%fh, v%varid, shuffle, deflate, deflate_level=level), "inq_var_deflate by id")
    call ok(pio_inq_var_chunking(file, v, storage, chunks), "inq_var_chunking")
    call check(storage == pio_chunked .and. all(chunks == [10, 5]), "chunks")
    call pio_closefile(file)
    call ok(pio_set_chunk_cache(ios%iosysid, pio_iotype_netcdf4p, 8000000_pio_offset_kind, 10_pio_offset_kind, 0.25), &
        "set_chunk_cache")
    call ok(pio_get_chunk_cache(ios%iosysid, pio_iotype_netcdf4p, bytes, elements, preemption), "get_chunk_cache")
    call check(bytes == 8000000 .and. elements == 10 .and. preemption == 0.25, "chunk cache")
    call pio_deletefile(ios, "pio_modules.nc")
    call pio_seterrorhandling(ios, pio_return_error, oldmethod=number)
    call is(number, pio_internal_error, "handler before")
    call check(pio_openfile(ios, file, pio_iotype_netcdf, "pio_modules.nc") /= pio_noerr, "a file that is gone")
    call check(.not. pio_file_is_open(file), "no file")
    call pio_seterrorhandling(ios%iosysid, pio_internal_error)
    call ok(pio_strerror(pio_enotvar, message), "strerror")
    call check(len_trim(message) > 0, "message")
  end subroutine lib_and_nf

  ! Values by the names that they have before module pio renames them.
  subroutine att_put_get()
    use pionfatt_mod, only: put_att, get_att, inq_var_fill
    use pionfput_mod, only: put_var
    use pionfget_mod, only: get_var
    use piodarray, only: pio_write_darray, pio_read_darray
    use piolib_mod, only: pio_createfile, pio_closefile
    use pio_nf, only: pio_def_var, pio_enddef, pio_inq_attlen
    use pio_types, only: file_desc_t, var_desc_t, pio_real, pio_clobber, pio_global, pio_iotype_pnetcdf
    use pio_kinds, only: pio_offset_kind
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    integer(pio_offset_kind) :: length
    character(len=20) :: text
    real :: number
    call ok(pio_createfile(ios, file, pio_iotype_pnetcdf, "pio_values.nc", pio_clobber), "createfile")
    call ok(pio_def_var(file, "v", pio_real, v), "def_var")
    call ok(put_att(file, pio_global, "title", "a title  "), "put_att")
    call ok(pio_enddef(file), "enddef")
    call ok(put_var(file, v, 3.5), "put_var")
    call ok(get_var(file, v, number), "get_var")
    call check(number == 3.5, "number")
    call ok(pio_inq_attlen(file, pio_global, "title", length), "inq_attlen")
    call is(int(length), 7, "length without trailing blanks")
    call ok(get_att(file, pio_global, "title", text), "get_att")
    call check(text == "a title", "title")
    call pio_closefile(file)
  end subroutine att_put_get
end module test_modules

program interface
  use pio
  use pio_test
  use test_short, only: short_forms => all_forms
  use test_int, only: int_forms => all_forms
  use test_real, only: real_forms => all_forms
  use test_double, only: double_forms => all_forms
  use test_modules
  implicit none
  integer :: f
  call begin()
  call kinds_and_types()
  call lib_and_nf()
  call att_put_get()
  do f = 1, nformats
    call short_forms(f, "short", PIO_short)
    call int_forms(f, "int", PIO_int)
    call real_forms(f, "real", PIO_real)
    call double_forms(f, "double", PIO_double)
    call inquiry(f)
  end do
  call finish()

contains

  ! All that asks, by descriptors and ids, with the keywords that models use.
  subroutine inquiry(f)
    integer, intent(in) :: f
    type(file_desc_t), target :: file
    type(var_desc_t) :: v, s
    integer :: x, y, t, number, ndims, nvars, natts, unlimited, dimids(2), xtype, varid, length
    integer(PIO_OFFSET_KIND) :: long
    character(len=PIO_max_name) :: name
    call ok(PIO_createfile(ios, file, iotypes(f), file_name("inquiry", f), amode_in=ior(PIO_clobber, modes(f))), &
        "createfile")
    call ok(PIO_inq_unlimdim(file, number), "inq_unlimdim of an empty file")
    call is(number, -1, "no unlimited dimension")
    call ok(PIO_def_dim(file, "x", len=5, dimid=x), "def_dim int")
    call ok(PIO_def_dim(file%fh, name="y", len=4_PIO_OFFSET_KIND, dimid=y), "def_dim long by id")
    call ok(PIO_def_dim(file, "time", PIO_unlimited, t), "def_dim unlimited")
    call is(x, 1, "ids of dimensions count from 1")
    call ok(PIO_def_var(file, "v", PIO_double, dimids=[x, t], vardesc=v), "def_var desc")
    call ok(PIO_def_var(file%fh, "w", PIO_int, [x, y], varid), "def_var id")
    call ok(PIO_def_var(file, name="s", type=PIO_real, vardesc=s), "def_var scalar desc")
    call ok(PIO_def_var(file%fh, "c", PIO_char, number), "def_var scalar id")
    call is(v%varid, 1, "ids of variables count from 1")
    call is(number, 4, "id of the last variable")
    call is(v%ncid, file%fh, "var_desc_t%ncid")
    call ok(PIO_put_att(file, v, "units", "K"), "put_att text desc")
    call ok(PIO_put_att(file%fh, v%varid, "scale", 0.5d0), "put_att id")
    call ok(PIO_put_att(file, PIO_global, "history", trim("made  ") // " here"), "put_att expression")
    call ok(PIO_enddef(file), "enddef")

    call ok(PIO_inquire(file, ndims, nvars, natts, unlimited), "inquire")
    call check(ndims == 3 .and. nvars == 4 .and. natts == 1 .and. unlimited == t, "numbers of the file")
    call ok(PIO_inquire(file%fh, nDimensions=ndims, nVariables=nvars, nAttributes=natts, unlimitedDimID=unlimited), &
        "inquire by id")
    call check(ndims == 3 .and. nvars == 4 .and. natts == 1 .and. unlimited == t, "numbers of the file, by id")
    call ok(PIO_inq_ndims(file, ndims), "inq_ndims")
    call ok(PIO_inq_nvars(file, nvars), "inq_nvars")
    call ok(PIO_inq_natts(file, natts), "inq_natts")
    call check(ndims == 3 .and. nvars == 4 .and. natts == 1, "numbers one by one")
    call ok(PIO_inq_unlimdim(file%fh, number), "inq_unlimdim")
    call is(number, t, "unlimited dimension")

    call ok(PIO_inq_dimid(file, "y", number), "inq_dimid")
    call is(number, y, "dimid")
    call ok(PIO_inq_dimid(file%fh, "x", dimid=number), "inq_dimid by id")
    call is(number, x, "dimid by id")
    call ok(PIO_inq_dimname(file, x, name), "inq_dimname")
    call check(name == "x", "dimname")
    call ok(PIO_inq_dimlen(file, y, length), "inq_dimlen int")
    call is(length, 4, "dimlen int")
    call ok(PIO_inq_dimlen(file%fh, dimid=x, len=long), "inq_dimlen long")
    call is(int(long), 5, "dimlen long")
    call ok(PIO_inq_dimlen(file, t, length), "inq_dimlen time")
    call is(length, 0, "records")
    call ok(PIO_inquire_dimension(file, y, name=name, len=length), "inquire_dimension")
    call check(name == "y" .and. length == 4, "dimension")
    call ok(PIO_inquire_dimension(file%fh, x, len=length), "inquire_dimension by id")
    call is(length, 5, "length by id")

    call ok(PIO_inq_varid(file, "w", number), "inq_varid vid")
    call is(number, varid, "varid")
    call ok(PIO_inq_varid(file%fh, "s", varid=number), "inq_varid id")
    call is(number, s%varid, "varid by id")
    call ok(PIO_inq_varid(file, name="v", vardesc=v), "inq_varid desc")
    call is(v%varid, 1, "varid by desc")
    call ok(PIO_inq_varname(file, v, name), "inq_varname")
    call check(name == "v", "varname")
    call ok(PIO_inq_varname(file, varid, name), "inq_varname vid")
    call check(name == "w", "varname by vid")
    call ok(PIO_inq_vartype(file, v, type=xtype), "inq_vartype")
    call is(xtype, PIO_double, "vartype")
    call ok(PIO_inq_varndims(file, v, ndims=ndims), "inq_varndims")
    call is(ndims, 2, "varndims")
    call ok(PIO_inq_vardimid(file, v, dimids), "inq_vardimid")
    call check(all(dimids == [x, t]), "vardimid")
    call ok(PIO_inq_vardimid(file%fh, varid, dimids), "inq_vardimid by id")
    call check(all(dimids == [x, y]), "vardimid by id")
    call ok(PIO_inq_varnatts(file, v, natts=natts), "inq_varnatts")
    call is(natts, 2, "varnatts")
    call ok(PIO_inquire_variable(file, v, name=name, xtype=xtype, ndims=ndims, dimids=dimids, natts=natts), &
        "inquire_variable")
    call check(name == "v" .and. xtype == PIO_double .and. ndims == 2 .and. all(dimids == [x, t]) .and. natts == 2, &
        "variable")
    call ok(PIO_inquire_variable(file, varid, ndims=ndims), "inquire_variable vid")
    call ok(PIO_inquire_variable(file%fh, varid, xtype=xtype), "inquire_variable id")
    call check(ndims == 2 .and. xtype == PIO_int, "variable by id")

    call ok(PIO_inq_att(file, v, "units", xtype=xtype, len=long), "inq_att")
    call check(xtype == PIO_char .and. long == 1, "attribute")
    call ok(PIO_inq_att(file, v%varid, "scale", xtype), "inq_att vid")
    call is(xtype, PIO_double, "type of attribute")
    call ok(PIO_inq_att(file%fh, PIO_global, "history", len=long), "inq_att of the file")
    call is(int(long), 9, "length of history")
    call ok(PIO_inq_attlen(file, v, "scale", len=long), "inq_attlen")
    call is(int(long), 1, "attlen")
    call ok(PIO_inq_attname(file, v, 2, name), "inq_attname")
    call check(name == "scale", "attname")
    call ok(PIO_inq_attname(file, PIO_global, 1, name), "inq_attname of the file")
    call check(name == "history", "attname of the file")
    call ok(PIO_inq_attid(file, v, "scale", number), "inq_attid")
    call is(number, 2, "attid")
    call ok(PIO_redef(file), "redef")
    call ok(PIO_copy_att(file, v%varid, "units", file, s%varid), "copy_att")
    call ok(PIO_enddef(file), "enddef")
    call ok(PIO_get_att(file, s, "units", name), "get_att of a copy")
    call check(name == "K", "copy")
    call PIO_closefile(file)
  end subroutine inquiry
end program interface
