! SPDX-License-Identifier: BSD-3-Clause
!
! What is in a file: dimensions, variables, attributes. Files are named by a descriptor or by its id (ncid), variables
! by a descriptor or by their id. Ids count from 1, lists of dimensions begin with the one that varies fastest. All
! functions return a code. All are local, but pio_enddef is collective.
module pio_nf
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_null_char
  use pio_types
  use shoal_pio_c
  use shoal_pio_properties
  implicit none
  private

  public :: pio_redef, pio_enddef, pio_inquire, pio_inq_ndims, pio_inq_nvars, pio_inq_natts, pio_inq_unlimdim, &
      pio_def_dim, pio_inq_dimid, pio_inq_dimname, pio_inq_dimlen, pio_inquire_dimension, pio_def_var, &
      pio_inq_varid, pio_inq_varname, pio_inq_vartype, pio_inq_varndims, pio_inq_vardimid, &
      pio_inq_varnatts, pio_inquire_variable, pio_inq_att, pio_inq_attlen, pio_inq_atttype, &
      pio_inq_attid, pio_inq_attname, pio_def_var_deflate, pio_inq_var_deflate, &
      pio_def_var_chunking, pio_inq_var_chunking, pio_def_var_quantize, pio_inq_var_quantize, &
      pio_set_var_chunk_cache, pio_get_var_chunk_cache, pio_set_fill, pio_set_log_level, &
      pio_copy_att, pio_set_chunk_cache, pio_get_chunk_cache, pio_strerror

  interface pio_redef
    module procedure :: redef_id, redef_desc
  end interface pio_redef
  interface pio_enddef
    module procedure :: enddef_id, enddef_desc
  end interface pio_enddef
  interface pio_inquire
    module procedure :: inquire_id, inquire_desc
  end interface pio_inquire
  interface pio_inq_ndims
    module procedure :: inq_ndims_id, inq_ndims_desc
  end interface pio_inq_ndims
  interface pio_inq_nvars
    module procedure :: inq_nvars_id, inq_nvars_desc
  end interface pio_inq_nvars
  interface pio_inq_natts
    module procedure :: inq_natts_id, inq_natts_desc
  end interface pio_inq_natts
  interface pio_inq_unlimdim
    module procedure :: inq_unlimdim_id, inq_unlimdim_desc
  end interface pio_inq_unlimdim
  interface pio_def_dim
    module procedure :: def_dim_id, def_dim_desc, def_dim_id_long, def_dim_desc_long
  end interface pio_def_dim
  interface pio_inq_dimid
    module procedure :: inq_dimid_id, inq_dimid_desc
  end interface pio_inq_dimid
  interface pio_inq_dimname
    module procedure :: inq_dimname_id, inq_dimname_desc
  end interface pio_inq_dimname
  interface pio_inq_dimlen
    module procedure :: inq_dimlen_id, inq_dimlen_desc, inq_dimlen_id_long, inq_dimlen_desc_long
  end interface pio_inq_dimlen
  interface pio_inquire_dimension
    module procedure :: inquire_dimension_id, inquire_dimension_desc
  end interface pio_inquire_dimension
  interface pio_def_var
    module procedure :: def_var_id, def_var_desc, def_var_id_scalar, def_var_desc_scalar
  end interface pio_def_var
  interface pio_inq_varid
    module procedure :: inq_varid_id, inq_varid_vid, inq_varid_desc
  end interface pio_inq_varid
  interface pio_inq_varname
    module procedure :: inq_varname_id, inq_varname_vid, inq_varname_desc
  end interface pio_inq_varname
  interface pio_inq_vartype
    module procedure :: inq_vartype_id, inq_vartype_vid, inq_vartype_desc
  end interface pio_inq_vartype
  interface pio_inq_varndims
    module procedure :: inq_varndims_id, inq_varndims_vid, inq_varndims_desc
  end interface pio_inq_varndims
  interface pio_inq_vardimid
    module procedure :: inq_vardimid_id, inq_vardimid_vid, inq_vardimid_desc
  end interface pio_inq_vardimid
  interface pio_inq_varnatts
    module procedure :: inq_varnatts_id, inq_varnatts_vid, inq_varnatts_desc
  end interface pio_inq_varnatts
  interface pio_inquire_variable
    module procedure :: inquire_variable_id, inquire_variable_vid, inquire_variable_desc
  end interface pio_inquire_variable
  interface pio_inq_att
    module procedure :: inq_att_id, inq_att_vid, inq_att_desc
  end interface pio_inq_att
  interface pio_inq_attlen
    module procedure :: inq_attlen_id, inq_attlen_vid, inq_attlen_desc
  end interface pio_inq_attlen
  interface pio_inq_atttype
    module procedure :: inq_atttype_id, inq_atttype_vid, inq_atttype_desc
  end interface pio_inq_atttype
  interface pio_inq_attid
    module procedure :: inq_attid_id, inq_attid_vid, inq_attid_desc
  end interface pio_inq_attid
  interface pio_inq_attname
    module procedure :: inq_attname_id, inq_attname_vid, inq_attname_desc
  end interface pio_inq_attname

contains

  integer function redef_id(ncid) result(ierr)
    integer, intent(in) :: ncid
    ierr = c_redef(ncid)
  end function redef_id

  integer function redef_desc(file) result(ierr)
    type(file_desc_t), intent(in) :: file
    ierr = redef_id(file%fh)
  end function redef_desc

  integer function enddef_id(ncid) result(ierr)
    integer, intent(in) :: ncid
    ierr = c_enddef(ncid)
  end function enddef_id

  integer function enddef_desc(file) result(ierr)
    type(file_desc_t), intent(in) :: file
    ierr = enddef_id(file%fh)
  end function enddef_desc

  integer function inquire_id(ncid, ndimensions, nvariables, nattributes, unlimiteddimid) result(ierr)
    integer, intent(in) :: ncid
    integer, intent(out), optional :: ndimensions, nvariables, nattributes, unlimiteddimid
    ierr = PIO_noerr
    if (present(ndimensions)) ierr = inq_ndims_id(ncid, ndimensions)
    if (present(nvariables) .and. ierr == PIO_noerr) ierr = inq_nvars_id(ncid, nvariables)
    if (present(nattributes) .and. ierr == PIO_noerr) ierr = inq_natts_id(ncid, nattributes)
    if (present(unlimiteddimid) .and. ierr == PIO_noerr) ierr = inq_unlimdim_id(ncid, unlimiteddimid)
  end function inquire_id

  integer function inquire_desc(file, ndimensions, nvariables, nattributes, unlimiteddimid) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(out), optional :: ndimensions, nvariables, nattributes, unlimiteddimid
    ierr = inquire_id(file%fh, ndimensions, nvariables, nattributes, unlimiteddimid)
  end function inquire_desc

  integer function inq_ndims_id(ncid, ndims) result(ierr)
    integer, intent(in) :: ncid
    integer, intent(out) :: ndims
    ndims = 0
    ierr = c_inq_ndims(ncid, ndims)
  end function inq_ndims_id

  integer function inq_ndims_desc(file, ndims) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(out) :: ndims
    ierr = inq_ndims_id(file%fh, ndims)
  end function inq_ndims_desc

  integer function inq_nvars_id(ncid, nvars) result(ierr)
    integer, intent(in) :: ncid
    integer, intent(out) :: nvars
    nvars = 0
    ierr = c_inq_nvars(ncid, nvars)
  end function inq_nvars_id

  integer function inq_nvars_desc(file, nvars) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(out) :: nvars
    ierr = inq_nvars_id(file%fh, nvars)
  end function inq_nvars_desc

  integer function inq_natts_id(ncid, natts) result(ierr)
    integer, intent(in) :: ncid
    integer, intent(out) :: natts
    natts = 0
    ierr = c_inq_natts(ncid, natts)
  end function inq_natts_id

  integer function inq_natts_desc(file, natts) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(out) :: natts
    ierr = inq_natts_id(file%fh, natts)
  end function inq_natts_desc

  ! -1: there is none.
  integer function inq_unlimdim_id(ncid, unlimdim) result(ierr)
    integer, intent(in) :: ncid
    integer, intent(out) :: unlimdim
    unlimdim = -1
    ierr = c_inq_unlimdim(ncid, unlimdim)
    if (unlimdim >= 0) unlimdim = unlimdim + 1
  end function inq_unlimdim_id

  integer function inq_unlimdim_desc(file, unlimdim) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(out) :: unlimdim
    ierr = inq_unlimdim_id(file%fh, unlimdim)
  end function inq_unlimdim_desc

  ! ---- Dimensions

  integer function def_dim_id_long(ncid, name, len, dimid) result(ierr)
    integer, intent(in) :: ncid
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: len
    integer, intent(out) :: dimid
    dimid = -1
    ierr = c_def_dim(ncid, to_c(name), len, dimid)
    dimid = dimid + 1
  end function def_dim_id_long

  integer function def_dim_desc_long(file, name, len, dimid) result(ierr)
    type(file_desc_t), intent(in) :: file
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: len
    integer, intent(out) :: dimid
    ierr = def_dim_id_long(file%fh, name, len, dimid)
  end function def_dim_desc_long

  integer function def_dim_id(ncid, name, len, dimid) result(ierr)
    integer, intent(in) :: ncid
    character(len=*), intent(in) :: name
    integer, intent(in) :: len
    integer, intent(out) :: dimid
    ierr = def_dim_id_long(ncid, name, int(len, c_int64_t), dimid)
  end function def_dim_id

  integer function def_dim_desc(file, name, len, dimid) result(ierr)
    type(file_desc_t), intent(in) :: file
    character(len=*), intent(in) :: name
    integer, intent(in) :: len
    integer, intent(out) :: dimid
    ierr = def_dim_id_long(file%fh, name, int(len, c_int64_t), dimid)
  end function def_dim_desc

  integer function inq_dimid_id(ncid, name, dimid) result(ierr)
    integer, intent(in) :: ncid
    character(len=*), intent(in) :: name
    integer, intent(out) :: dimid
    dimid = -1
    ierr = c_inq_dimid(ncid, to_c(name), dimid)
    dimid = dimid + 1
  end function inq_dimid_id

  integer function inq_dimid_desc(file, name, dimid) result(ierr)
    type(file_desc_t), intent(in) :: file
    character(len=*), intent(in) :: name
    integer, intent(out) :: dimid
    ierr = inq_dimid_id(file%fh, name, dimid)
  end function inq_dimid_desc

  integer function inq_dimname_id(ncid, dimid, name) result(ierr)
    integer, intent(in) :: ncid
    integer, intent(in) :: dimid
    character(len=*), intent(out) :: name
    character(kind=c_char) :: letters(PIO_max_name + 1)
    letters = c_null_char
    ierr = c_inq_dimname(ncid, dimid - 1, letters)
    call from_c(letters, name)
  end function inq_dimname_id

  integer function inq_dimname_desc(file, dimid, name) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: dimid
    character(len=*), intent(out) :: name
    ierr = inq_dimname_id(file%fh, dimid, name)
  end function inq_dimname_desc

  integer function inq_dimlen_id_long(ncid, dimid, len) result(ierr)
    integer, intent(in) :: ncid, dimid
    integer(c_int64_t), intent(out) :: len
    len = 0
    ierr = c_inq_dimlen(ncid, dimid - 1, len)
  end function inq_dimlen_id_long

  integer function inq_dimlen_desc_long(file, dimid, len) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: dimid
    integer(c_int64_t), intent(out) :: len
    ierr = inq_dimlen_id_long(file%fh, dimid, len)
  end function inq_dimlen_desc_long

  ! PIO_einval: the length needs 8 bytes.
  integer function inq_dimlen_id(ncid, dimid, len) result(ierr)
    integer, intent(in) :: ncid, dimid
    integer, intent(out) :: len
    integer(c_int64_t) :: length
    ierr = inq_dimlen_id_long(ncid, dimid, length)
    len = int(min(length, int(huge(len), c_int64_t)))
    if (length > huge(len)) ierr = c_refuse(ncid, to_c("PIO_inq_dimlen"), PIO_einval, &
        to_c("a dimension is longer than an integer of 4 bytes can say; ask with one of 8 bytes"))
  end function inq_dimlen_id

  integer function inq_dimlen_desc(file, dimid, len) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: dimid
    integer, intent(out) :: len
    ierr = inq_dimlen_id(file%fh, dimid, len)
  end function inq_dimlen_desc

  integer function inquire_dimension_id(ncid, dimid, name, len) result(ierr)
    integer, intent(in) :: ncid
    integer, intent(in) :: dimid
    character(len=*), intent(out), optional :: name
    integer, intent(out), optional :: len
    ierr = PIO_noerr
    if (present(name)) ierr = inq_dimname_id(ncid, dimid, name)
    if (present(len) .and. ierr == PIO_noerr) ierr = inq_dimlen_id(ncid, dimid, len)
  end function inquire_dimension_id

  integer function inquire_dimension_desc(file, dimid, name, len) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: dimid
    character(len=*), intent(out), optional :: name
    integer, intent(out), optional :: len
    ierr = inquire_dimension_id(file%fh, dimid, name, len)
  end function inquire_dimension_desc

  ! ---- Variables

  integer function def_var_id(ncid, name, type, dimids, varid) result(ierr)
    integer, intent(in) :: ncid
    character(len=*), intent(in) :: name
    integer, intent(in) :: type, dimids(:)
    integer, intent(out) :: varid
    varid = -1
    ierr = c_def_var(ncid, to_c(name), type, size(dimids), dimids(size(dimids):1:-1) - 1, varid)
    varid = varid + 1
  end function def_var_id

  integer function def_var_id_scalar(ncid, name, type, varid) result(ierr)
    integer, intent(in) :: ncid
    character(len=*), intent(in) :: name
    integer, intent(in) :: type
    integer, intent(out) :: varid
    ierr = def_var_id(ncid, name, type, [integer ::], varid)
  end function def_var_id_scalar

  integer function def_var_desc(file, name, type, dimids, vardesc) result(ierr)
    type(file_desc_t), intent(in) :: file
    character(len=*), intent(in) :: name
    integer, intent(in) :: type, dimids(:)
    type(var_desc_t), intent(inout) :: vardesc
    ierr = def_var_id(file%fh, name, type, dimids, vardesc%varid)
    vardesc%ncid = file%fh
  end function def_var_desc

  integer function def_var_desc_scalar(file, name, type, vardesc) result(ierr)
    type(file_desc_t), intent(in) :: file
    character(len=*), intent(in) :: name
    integer, intent(in) :: type
    type(var_desc_t), intent(inout) :: vardesc
    ierr = def_var_desc(file, name, type, [integer ::], vardesc)
  end function def_var_desc_scalar

  ! Where there is none of the name, varid and vardesc stay as they are.
  integer function inq_varid_id(ncid, name, varid) result(ierr)
    integer, intent(in) :: ncid
    character(len=*), intent(in) :: name
    integer, intent(inout) :: varid
    integer(c_int) :: found
    found = -1
    ierr = c_inq_varid(ncid, to_c(name), found)
    if (ierr == PIO_noerr) varid = found + 1
  end function inq_varid_id

  integer function inq_varid_vid(file, name, varid) result(ierr)
    type(file_desc_t), intent(in) :: file
    character(len=*), intent(in) :: name
    integer, intent(inout) :: varid
    ierr = inq_varid_id(file%fh, name, varid)
  end function inq_varid_vid

  integer function inq_varid_desc(file, name, vardesc) result(ierr)
    type(file_desc_t), intent(in) :: file
    character(len=*), intent(in) :: name
    type(var_desc_t), intent(inout) :: vardesc
    ierr = inq_varid_id(file%fh, name, vardesc%varid)
    if (ierr == PIO_noerr) vardesc%ncid = file%fh
  end function inq_varid_desc

  integer function inq_varname_id(ncid, varid, name) result(ierr)
    integer, intent(in) :: ncid, varid
    character(len=*), intent(out) :: name
    character(kind=c_char) :: letters(PIO_max_name + 1)
    letters = c_null_char
    ierr = c_inq_varname(ncid, varid - 1, letters)
    call from_c(letters, name)
  end function inq_varname_id

  integer function inq_varname_vid(file, varid, name) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    character(len=*), intent(out) :: name
    ierr = inq_varname_id(file%fh, varid, name)
  end function inq_varname_vid

  integer function inq_varname_desc(file, vardesc, name) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    character(len=*), intent(out) :: name
    ierr = inq_varname_id(file%fh, vardesc%varid, name)
  end function inq_varname_desc

  integer function inq_vartype_id(ncid, varid, type) result(ierr)
    integer, intent(in) :: ncid, varid
    integer, intent(out) :: type
    type = 0
    ierr = c_inq_vartype(ncid, varid - 1, type)
  end function inq_vartype_id

  integer function inq_vartype_vid(file, varid, type) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer, intent(out) :: type
    ierr = inq_vartype_id(file%fh, varid, type)
  end function inq_vartype_vid

  integer function inq_vartype_desc(file, vardesc, type) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer, intent(out) :: type
    ierr = inq_vartype_id(file%fh, vardesc%varid, type)
  end function inq_vartype_desc

  integer function inq_varndims_id(ncid, varid, ndims) result(ierr)
    integer, intent(in) :: ncid, varid
    integer, intent(out) :: ndims
    ndims = 0
    ierr = c_inq_varndims(ncid, varid - 1, ndims)
  end function inq_varndims_id

  integer function inq_varndims_vid(file, varid, ndims) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer, intent(out) :: ndims
    ierr = inq_varndims_id(file%fh, varid, ndims)
  end function inq_varndims_vid

  integer function inq_varndims_desc(file, vardesc, ndims) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer, intent(out) :: ndims
    ierr = inq_varndims_id(file%fh, vardesc%varid, ndims)
  end function inq_varndims_desc

  ! dimids may be longer than the list; PIO_einval if it is shorter, with those that fit.
  integer function inq_vardimid_id(ncid, varid, dimids) result(ierr)
    integer, intent(in) :: ncid, varid
    integer, intent(inout) :: dimids(:)
    integer(c_int) :: list(PIO_max_var_dims)
    integer :: ndims, i
    ierr = inq_varndims_id(ncid, varid, ndims)
    if (ierr /= PIO_noerr) return
    ierr = c_inq_vardimid(ncid, varid - 1, list)
    if (ierr /= PIO_noerr) return
    do i = 1, min(ndims, size(dimids))
      dimids(i) = list(ndims - i + 1) + 1
    end do
    if (size(dimids) < ndims) ierr = c_refuse(ncid, to_c("PIO_inq_vardimid"), PIO_einval, &
        to_c("dimids is shorter than the variable has dimensions"))
  end function inq_vardimid_id

  integer function inq_vardimid_vid(file, varid, dimids) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer, intent(inout) :: dimids(:)
    ierr = inq_vardimid_id(file%fh, varid, dimids)
  end function inq_vardimid_vid

  integer function inq_vardimid_desc(file, vardesc, dimids) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer, intent(inout) :: dimids(:)
    ierr = inq_vardimid_id(file%fh, vardesc%varid, dimids)
  end function inq_vardimid_desc

  integer function inq_varnatts_id(ncid, varid, natts) result(ierr)
    integer, intent(in) :: ncid, varid
    integer, intent(out) :: natts
    natts = 0
    ierr = c_inq_varnatts(ncid, varid - 1, natts)
  end function inq_varnatts_id

  integer function inq_varnatts_vid(file, varid, natts) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer, intent(out) :: natts
    ierr = inq_varnatts_id(file%fh, varid, natts)
  end function inq_varnatts_vid

  integer function inq_varnatts_desc(file, vardesc, natts) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer, intent(out) :: natts
    ierr = inq_varnatts_id(file%fh, vardesc%varid, natts)
  end function inq_varnatts_desc

  integer function inquire_variable_id(ncid, varid, name, xtype, ndims, dimids, natts) result(ierr)
    integer, intent(in) :: ncid, varid
    character(len=*), intent(out), optional :: name
    integer, intent(out), optional :: xtype, ndims
    integer, intent(inout), optional :: dimids(:)
    integer, intent(out), optional :: natts
    ierr = PIO_noerr
    if (present(name)) ierr = inq_varname_id(ncid, varid, name)
    if (present(xtype) .and. ierr == PIO_noerr) ierr = inq_vartype_id(ncid, varid, xtype)
    if (present(ndims) .and. ierr == PIO_noerr) ierr = inq_varndims_id(ncid, varid, ndims)
    if (present(dimids) .and. ierr == PIO_noerr) ierr = inq_vardimid_id(ncid, varid, dimids)
    if (present(natts) .and. ierr == PIO_noerr) ierr = inq_varnatts_id(ncid, varid, natts)
  end function inquire_variable_id

  integer function inquire_variable_vid(file, varid, name, xtype, ndims, dimids, natts) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    character(len=*), intent(out), optional :: name
    integer, intent(out), optional :: xtype, ndims
    integer, intent(inout), optional :: dimids(:)
    integer, intent(out), optional :: natts
    ierr = inquire_variable_id(file%fh, varid, name, xtype, ndims, dimids, natts)
  end function inquire_variable_vid

  integer function inquire_variable_desc(file, vardesc, name, xtype, ndims, dimids, natts) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    character(len=*), intent(out), optional :: name
    integer, intent(out), optional :: xtype, ndims
    integer, intent(inout), optional :: dimids(:)
    integer, intent(out), optional :: natts
    ierr = inquire_variable_id(file%fh, vardesc%varid, name, xtype, ndims, dimids, natts)
  end function inquire_variable_desc

  ! ---- Attributes; varid PIO_global: of the file

  integer function inq_att_id(ncid, varid, name, xtype, len) result(ierr)
    integer, intent(in) :: ncid, varid
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: xtype
    integer(c_int64_t), intent(out), optional :: len
    integer(c_int) :: found
    integer(c_int64_t) :: length
    found = 0
    length = 0
    ierr = c_inq_att(ncid, varid - 1, to_c(name), found, length)
    if (present(xtype)) xtype = found
    if (present(len)) len = length
  end function inq_att_id

  integer function inq_att_vid(file, varid, name, xtype, len) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: xtype
    integer(c_int64_t), intent(out), optional :: len
    ierr = inq_att_id(file%fh, varid, name, xtype, len)
  end function inq_att_vid

  integer function inq_att_desc(file, vardesc, name, xtype, len) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: xtype
    integer(c_int64_t), intent(out), optional :: len
    ierr = inq_att_id(file%fh, vardesc%varid, name, xtype, len)
  end function inq_att_desc

  integer function inq_attlen_id(ncid, varid, name, len) result(ierr)
    integer, intent(in) :: ncid, varid
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(out) :: len
    ierr = inq_att_id(ncid, varid, name, len=len)
  end function inq_attlen_id

  integer function inq_attlen_vid(file, varid, name, len) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(out) :: len
    ierr = inq_attlen_id(file%fh, varid, name, len)
  end function inq_attlen_vid

  integer function inq_attlen_desc(file, vardesc, name, len) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(out) :: len
    ierr = inq_attlen_id(file%fh, vardesc%varid, name, len)
  end function inq_attlen_desc

  integer function inq_atttype_id(ncid, varid, name, xtype) result(ierr)
    integer, intent(in) :: ncid, varid
    character(len=*), intent(in) :: name
    integer, intent(out) :: xtype
    ierr = inq_att_id(ncid, varid, name, xtype=xtype)
  end function inq_atttype_id

  integer function inq_atttype_vid(file, varid, name, xtype) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    character(len=*), intent(in) :: name
    integer, intent(out) :: xtype
    ierr = inq_atttype_id(file%fh, varid, name, xtype)
  end function inq_atttype_vid

  integer function inq_atttype_desc(file, vardesc, name, xtype) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    character(len=*), intent(in) :: name
    integer, intent(out) :: xtype
    ierr = inq_atttype_id(file%fh, vardesc%varid, name, xtype)
  end function inq_atttype_desc

  integer function inq_attid_id(ncid, varid, name, id) result(ierr)
    integer, intent(in) :: ncid, varid
    character(len=*), intent(in) :: name
    integer, intent(out) :: id
    id = -1
    ierr = c_inq_attid(ncid, varid - 1, to_c(name), id)
    id = id + 1
  end function inq_attid_id

  integer function inq_attid_vid(file, varid, name, id) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    character(len=*), intent(in) :: name
    integer, intent(out) :: id
    ierr = inq_attid_id(file%fh, varid, name, id)
  end function inq_attid_vid

  integer function inq_attid_desc(file, vardesc, name, id) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    character(len=*), intent(in) :: name
    integer, intent(out) :: id
    ierr = inq_attid_id(file%fh, vardesc%varid, name, id)
  end function inq_attid_desc

  integer function inq_attname_id(ncid, varid, attnum, name) result(ierr)
    integer, intent(in) :: ncid, varid
    integer, intent(in) :: attnum
    character(len=*), intent(out) :: name
    character(kind=c_char) :: letters(PIO_max_name + 1)
    letters = c_null_char
    ierr = c_inq_attname(ncid, varid - 1, attnum - 1, letters)
    call from_c(letters, name)
  end function inq_attname_id

  integer function inq_attname_vid(file, varid, attnum, name) result(ierr)
    type(file_desc_t), intent(in) :: file
    integer, intent(in) :: varid
    integer, intent(in) :: attnum
    character(len=*), intent(out) :: name
    ierr = inq_attname_id(file%fh, varid, attnum, name)
  end function inq_attname_vid

  integer function inq_attname_desc(file, vdesc, attnum, name) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vdesc
    integer, intent(in) :: attnum
    character(len=*), intent(out) :: name
    ierr = inq_attname_id(file%fh, vdesc%varid, attnum, name)
  end function inq_attname_desc

  integer function pio_copy_att(infile, invarid, name, outfile, outvarid) result(ierr)
    type(file_desc_t), intent(in) :: infile, outfile
    integer, intent(in) :: invarid, outvarid
    character(len=*), intent(in) :: name
    ierr = c_copy_att(infile%fh, invarid - 1, to_c(name), outfile%fh, outvarid - 1)
  end function pio_copy_att
end module pio_nf
