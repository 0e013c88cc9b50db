! SPDX-License-Identifier: BSD-3-Clause
!
! Types and constants. The numbers are those of pio.h, but for PIO_GLOBAL: ids of variables, dimensions and
! attributes are one more here than in C.
module pio_types
  use, intrinsic :: iso_c_binding, only: c_bool, c_double, c_float, c_int
  implicit none
  private
  public :: pio_rearr_comm_p2p, pio_rearr_comm_coll, pio_rearr_comm_fc_2d_enable, pio_rearr_comm_fc_1d_comp2io, &
      pio_rearr_comm_fc_1d_io2comp, pio_rearr_comm_fc_2d_disable

  ! What programs hold: ids of the C interface; -1 is none.
  type, public :: iosystem_desc_t
    integer(c_int) :: iosysid = -1
  end type iosystem_desc_t
  type, public :: file_desc_t
    integer(c_int) :: fh = -1
    type(iosystem_desc_t), pointer :: iosystem => null()
  end type file_desc_t
  type, public :: io_desc_t
    integer(c_int) :: ioid = -1
  end type io_desc_t
  type, public :: var_desc_t
    integer(c_int) :: varid = -1  ! from 1
    integer(c_int) :: ncid = -1
  end type var_desc_t

  ! Options of PIO's rearrangers: taken and kept. Shoal chooses how cells move.
  type, bind(C), public :: pio_rearr_comm_fc_opt_t
    logical(c_bool) :: enable_hs
    logical(c_bool) :: enable_isend
    integer(c_int) :: max_pend_req
  end type pio_rearr_comm_fc_opt_t
  type, bind(C), public :: pio_rearr_opt_t
    integer(c_int) :: comm_type
    integer(c_int) :: fcd
    type(pio_rearr_comm_fc_opt_t) :: comm_fc_opts_comp2io
    type(pio_rearr_comm_fc_opt_t) :: comm_fc_opts_io2comp
  end type pio_rearr_opt_t
  enum, bind(C)
    enumerator :: pio_rearr_comm_p2p = 0, pio_rearr_comm_coll = 1
  end enum
  enum, bind(C)
    enumerator :: pio_rearr_comm_fc_2d_enable = 0, pio_rearr_comm_fc_1d_comp2io = 1, &
        pio_rearr_comm_fc_1d_io2comp = 2, pio_rearr_comm_fc_2d_disable = 3
  end enum
  integer(c_int), parameter, public :: PIO_REARR_COMM_UNLIMITED_PEND_REQ = -1
  integer(c_int), parameter, public :: PIO_rearr_box = 1, PIO_rearr_subset = 2, PIO_rearr_any = 3, &
      PIO_rearr_contig = 4

  ! How files are made. 5 to 7 are refused by the calls (PIO_EBADIOTYPE).
  integer(c_int), parameter, public :: PIO_iotype_pnetcdf = 1, PIO_iotype_netcdf = 2, PIO_iotype_netcdf4c = 3, &
      PIO_iotype_netcdf4p = 4, PIO_iotype_netcdf4p_nczarr = 5, PIO_iotype_adios = 6, PIO_iotype_adiosc = 7, &
      PIO_iotype_hdf5 = 8, PIO_iotype_hdf5c = 9
  integer(c_int), parameter, public :: iotype_pnetcdf = PIO_iotype_pnetcdf, iotype_netcdf = PIO_iotype_netcdf
  integer(c_int), parameter, public :: PIO_write = 1, PIO_nowrite = 0, PIO_clobber = 0, PIO_noclobber = 4, &
      PIO_64bit_data = 32, PIO_64bit_offset = 512
  integer(c_int), parameter, public :: PIO_fill = 0, PIO_nofill = 256

  ! Error handlers, and what PIO_seterrorhandling takes for those of iosystems that are made later.
  integer(c_int), parameter, public :: PIO_internal_error = -51, PIO_bcast_error = -52, PIO_return_error = -53, &
      PIO_reduce_error = -54, PIO_default = -1

  ! Types of variables and attributes.
  integer(c_int), parameter, public :: PIO_byte = 1, PIO_char = 2, PIO_short = 3, PIO_int = 4, PIO_real = 5, &
      PIO_double = 6

  ! Sizes and special ids.
  integer(c_int), parameter, public :: PIO_global = 0, PIO_unlimited = 0
  integer(c_int), parameter, public :: PIO_max_name = 256, PIO_max_dims = 1024, PIO_max_vars = 8192, &
      PIO_max_attrs = 8192, PIO_max_var_dims = 1024, PIO_num_OST = 16
  integer(c_int), parameter, public :: PIO_chunked = 0, PIO_contiguous = 1, PIO_compact = 2
  integer(c_int), parameter, public :: PIO_noquantize = 0, PIO_quantize_bitgroom = 1, PIO_quantize_granularbr = 2, &
      PIO_quantize_bitround = 3
  integer(c_int), parameter, public :: PIO_fill_char = 0, PIO_fill_int = -2147483647
  real(c_float), parameter, public :: PIO_fill_float = 9.9692099683868690e+36_c_float
  real(c_double), parameter, public :: PIO_fill_double = 9.9692099683868690e+36_c_double

  ! Codes that programs compare with; others are netCDF's.
  integer(c_int), parameter, public :: PIO_noerr = 0, PIO_ebadid = -33, PIO_einval = -36, PIO_ests = -52, &
      PIO_enotatt = -43, PIO_enotvar = -49, PIO_ebaddim = -46, PIO_ebadiotype = -500
end module pio_types
