! SPDX-License-Identifier: BSD-3-Clause
!
! The interface of PIO 2 in Fortran, on top of Shoal: what a program uses. docs/guide/pio.md says how programs
! are built with it, and what differs.
module pio
  use pio_kinds, only: pio_offset_kind
  ! What PIO 2 and SCORPIO export here, and no more: programs have constants of their own beside it.
  use pio_types, only: io_desc_t, file_desc_t, var_desc_t, iosystem_desc_t, pio_rearr_opt_t, pio_rearr_comm_fc_opt_t, &
      pio_rearr_comm_fc_2d_enable, pio_rearr_comm_fc_1d_comp2io, pio_rearr_comm_fc_1d_io2comp, &
      pio_rearr_comm_fc_2d_disable, PIO_REARR_COMM_UNLIMITED_PEND_REQ, pio_rearr_comm_p2p, pio_rearr_comm_coll, &
      PIO_rearr_box, PIO_rearr_subset, PIO_rearr_any, PIO_short, PIO_int, PIO_real, PIO_double, PIO_char, PIO_noerr, &
      iotype_netcdf, iotype_pnetcdf, PIO_iotype_pnetcdf, PIO_iotype_netcdf, PIO_iotype_netcdf4c, PIO_iotype_netcdf4p, &
      PIO_iotype_adios, PIO_iotype_adiosc, PIO_iotype_hdf5, PIO_write, PIO_nowrite, PIO_clobber, PIO_noclobber, &
      PIO_64bit_data, PIO_64bit_offset, PIO_fill, PIO_nofill, PIO_fill_char, PIO_fill_int, PIO_fill_float, &
      PIO_fill_double, PIO_global, PIO_unlimited, PIO_max_name, PIO_max_var_dims, PIO_internal_error, PIO_bcast_error, &
      PIO_return_error, PIO_reduce_error, PIO_default, PIO_chunked, PIO_contiguous, PIO_compact
  use piolib_mod
  use pio_nf
  use piodarray, only: pio_read_darray, pio_write_darray, pio_set_buffer_size_limit
  use pionfatt_mod, only: pio_put_att => put_att, pio_get_att => get_att, pio_inq_var_fill => inq_var_fill
  use pionfput_mod, only: pio_put_var => put_var
  use pionfget_mod, only: pio_get_var => get_var
  use pio_support, only: pio_writedof, pio_readdof, pio_write_nc_dof, pio_read_nc_dof
  use, intrinsic :: iso_c_binding
  implicit none
  public
end module pio
