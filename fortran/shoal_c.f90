! SPDX-License-Identifier: BSD-3-Clause
!
! The C side as Fortran sees it: calls.h, and those functions of shoal.h that need no translation.
! Nothing here is for users; module shoal is.
module shoal_c
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_ptr, c_size_t
  implicit none
  private
  public :: f_unique, f_inq_fill, c_rename_dim, c_rename_var, f_rename_att, f_delete_att
  public :: c_map_info, f_map, f_load, f_masked, f_save, c_decomposition_map_info, c_decomposition_cells
  public :: c_file_info, c_dim_info, c_var_info, c_att_info
  public :: f_block, f_decomposition, f_create, f_open, f_def_dim, f_def_var, f_def_var_dims, f_def_chunks, f_def_compression
  public :: f_def_quantize, f_def_pack, c_def_var_names
  public :: f_def_fill, f_def_gathered
  public :: f_def_cut, f_def_independent, f_move_independent, f_move_boxes
  public :: f_put_att, f_get_att, f_move, f_move_variable, f_message, f_clear, f_abort, f_closed
  public :: f_error_rank, f_error_file, f_error_variable
  public :: c_decomposition_free, c_end_define, c_sync, c_close, c_abandon, c_inq_file, c_inq_dim, c_inq_var, c_inq_att
  public :: c_num_records, c_begin_step, c_setting_keys
  public :: c_find_dim, c_find_var, c_find_att, c_version, c_build_info, c_error_name, c_settings, c_report
  public :: c_namelist, f_wait, c_stop_serving, f_serve, f_serve_components, c_write_reference, c_write_master, c_recover, c_strlen

  integer(c_int), parameter, public :: verb_write = 0, verb_read = 1, verb_put = 2, verb_get = 3, &
    verb_write_boxes = 4, verb_read_boxes = 5

  ! The structs of shoal.h, member for member. Whoever has one sets struct_size to its c_sizeof.
  type, bind(C) :: c_map_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: is_map, uncut
    integer(c_int64_t) :: ncells, mapped, runs, bytes, repeated
    integer(c_int) :: repeated_ranks(2), leaves_cells
  end type c_map_info
  type, bind(C) :: c_file_info
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: path, format, driver
    integer(c_int) :: writable, dimensions, variables, attributes
  end type c_file_info
  type, bind(C) :: c_dim_info
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: name
    integer(c_int64_t) :: length
    integer(c_int) :: unlimited
  end type c_dim_info
  type, bind(C) :: c_var_info
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: name
    integer(c_int) :: type, ndims
    type(c_ptr) :: dims
    integer(c_int) :: has_record, attributes, logical, packed
    type(c_ptr) :: chunks, storage, filters
  end type c_var_info
  type, bind(C) :: c_att_info
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: name
    integer(c_int) :: type
    integer(c_int64_t) :: count
  end type c_att_info

  interface
    integer(c_int) function f_block(comm, global, first, last, halo_low, halo_high, comm_out, out) &
        bind(C, name="shoal_f_block")
      import :: c_int, c_ptr
      type(*), dimension(..), intent(in) :: comm, global, first, last
      type(*), dimension(..), intent(in), optional :: halo_low, halo_high
      integer(c_int), intent(out) :: comm_out
      type(c_ptr), intent(out) :: out
    end function f_block
    integer(c_int) function f_map(comm, global, cells, uncut, comm_out, out) bind(C, name="shoal_f_map")
      import :: c_int, c_ptr
      type(*), dimension(..), intent(in) :: comm, global, cells
      integer(c_int), value :: uncut
      integer(c_int), intent(out) :: comm_out
      type(c_ptr), intent(out) :: out
    end function f_map
    integer(c_int) function f_load(comm, path, name, comm_out, out) bind(C, name="shoal_f_load")
      import :: c_char, c_int, c_ptr
      type(*), dimension(..), intent(in) :: comm
      character(kind=c_char), intent(in) :: path(*), name(*)
      integer(c_int), intent(out) :: comm_out
      type(c_ptr), intent(out) :: out
    end function f_load
    integer(c_int) function f_masked(comm, decomposition, mask, out) bind(C, name="shoal_f_masked")
      import :: c_int, c_ptr
      integer(c_int), value :: comm
      type(c_ptr), value :: decomposition
      type(*), dimension(..), intent(in) :: mask
      type(c_ptr), intent(out) :: out
    end function f_masked
    integer(c_int) function f_unique(comm, decomposition, out) bind(C, name="shoal_f_unique")
      import :: c_int, c_ptr
      integer(c_int), value :: comm
      type(c_ptr), value :: decomposition
      type(c_ptr), intent(out) :: out
    end function f_unique
    integer(c_int) function c_rename_dim(dataset, name, new_name) bind(C, name="shoal_rename_dim")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: name(*), new_name(*)
    end function c_rename_dim
    integer(c_int) function c_rename_var(dataset, name, new_name) bind(C, name="shoal_rename_var")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: name(*), new_name(*)
    end function c_rename_var
    integer(c_int) function f_rename_att(dataset, variable, name, new_name) bind(C, name="shoal_f_rename_att")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*), name(*), new_name(*)
    end function f_rename_att
    integer(c_int) function f_delete_att(dataset, variable, name) bind(C, name="shoal_f_delete_att")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*), name(*)
    end function f_delete_att
    integer(c_int) function f_inq_fill(dataset, variable, fill, value) bind(C, name="shoal_f_inq_fill")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int), intent(inout) :: fill
      type(*), dimension(..), intent(inout), optional :: value
    end function f_inq_fill
    integer(c_int) function f_save(comm, decomposition, path) bind(C, name="shoal_f_save")
      import :: c_char, c_int, c_ptr
      integer(c_int), value :: comm
      type(c_ptr), value :: decomposition
      character(kind=c_char), intent(in) :: path(*)
    end function f_save
    integer(c_int) function c_decomposition_map_info(decomposition, info) bind(C, name="shoal_decomposition_map_info")
      import :: c_int, c_map_info, c_ptr
      type(c_ptr), value :: decomposition
      type(c_map_info), intent(out) :: info
    end function c_decomposition_map_info
    integer(c_int) function c_decomposition_cells(decomposition, cells) bind(C, name="shoal_decomposition_cells")
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: decomposition
      integer(c_int64_t), intent(inout) :: cells(*)
    end function c_decomposition_cells
    integer(c_int) function f_decomposition(decomposition, ndims, numbers) bind(C, name="shoal_f_decomposition")
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: decomposition
      integer(c_int), intent(out) :: ndims
      integer(c_int64_t), intent(inout) :: numbers(15, 5)
    end function f_decomposition
    integer(c_int) function f_create(comm, path, settings, comm_out, out) bind(C, name="shoal_f_create")
      import :: c_char, c_int, c_ptr
      type(*), dimension(..), intent(in) :: comm
      character(kind=c_char), intent(in) :: path(*), settings(*)
      integer(c_int), intent(inout) :: comm_out
      type(c_ptr), intent(inout) :: out
    end function f_create
    integer(c_int) function f_open(comm, path, mode, settings, comm_out, out) bind(C, name="shoal_f_open")
      import :: c_char, c_int, c_ptr
      type(*), dimension(..), intent(in) :: comm
      character(kind=c_char), intent(in) :: path(*), settings(*)
      integer(c_int), value :: mode
      integer(c_int), intent(inout) :: comm_out
      type(c_ptr), intent(inout) :: out
    end function f_open
    integer(c_int) function f_def_dim(dataset, name, length) bind(C, name="shoal_f_def_dim")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(in) :: length
    end function f_def_dim
    integer(c_int) function f_def_var(dataset, name, type, dims, decomposition) bind(C, name="shoal_f_def_var")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset, decomposition
      character(kind=c_char), intent(in) :: name(*), dims(*)
      integer(c_int), value :: type
    end function f_def_var
    integer(c_int) function c_def_var_names(dataset, name, type, ndims, dims, decomposition) &
        bind(C, name="shoal_def_var_names")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset, decomposition
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type, ndims
      type(c_ptr), intent(in) :: dims(*)
    end function c_def_var_names
    integer(c_int) function f_def_var_dims(dataset, name, type, ndims, dims, decomposition) &
        bind(C, name="shoal_f_def_var_dims")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset, decomposition
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type, ndims
      integer(c_int), intent(in) :: dims(*)
    end function f_def_var_dims
    integer(c_int) function f_def_gathered(dataset, name, dims, decomposition) bind(C, name="shoal_f_def_gathered")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset, decomposition
      character(kind=c_char), intent(in) :: name(*), dims(*)
    end function f_def_gathered
    integer(c_int) function f_def_chunks(dataset, variable, chunks) bind(C, name="shoal_f_def_chunks")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*)
      type(*), dimension(..), intent(in) :: chunks
    end function f_def_chunks
    integer(c_int) function f_def_compression(dataset, variable, filters) bind(C, name="shoal_def_compression")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*), filters(*)
    end function f_def_compression
    integer(c_int) function f_def_cut(dataset, variable) bind(C, name="shoal_def_cut")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*)
    end function f_def_cut
    integer(c_int) function f_def_quantize(dataset, variable, how) bind(C, name="shoal_def_quantize")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*), how(*)
    end function f_def_quantize
    integer(c_int) function f_def_pack(dataset, variable, how) bind(C, name="shoal_def_pack")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*), how(*)
    end function f_def_pack
    integer(c_int) function f_def_fill(dataset, variable, value) bind(C, name="shoal_f_def_fill")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*)
      type(*), dimension(..), intent(in), optional :: value
    end function f_def_fill
    integer(c_int) function f_put_att(to, handle, variable, name, value) bind(C, name="shoal_f_put_att")
      import :: c_char, c_int, c_ptr
      integer(c_int), value :: to
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: variable(*), name(*)
      type(*), dimension(..), intent(in) :: value
    end function f_put_att
    integer(c_int) function f_get_att(dataset, variable, name, value) bind(C, name="shoal_f_get_att")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*), name(*)
      type(*), dimension(..), intent(inout) :: value
    end function f_get_att
    ! values is only read by the verbs that write; one interface serves both ways, hence no intent.
    integer(c_int) function f_move(verb, dataset, variable, values, record, start, count, records, decomposition) &
        bind(C, name="shoal_f_move")
      import :: c_char, c_int, c_ptr
      integer(c_int), value :: verb
      type(c_ptr), value :: dataset, decomposition
      character(kind=c_char), intent(in) :: variable(*)
      type(*), dimension(..) :: values
      type(*), dimension(..), intent(in), optional :: record, start, count, records
    end function f_move
    integer(c_int) function f_move_variable(verb, dataset, number, values, record, start, count, records, decomposition) &
        bind(C, name="shoal_f_move_variable")
      import :: c_int, c_ptr
      integer(c_int), value :: verb, number
      type(c_ptr), value :: dataset, decomposition
      type(*), dimension(..) :: values
      type(*), dimension(..), intent(in), optional :: record, start, count, records
    end function f_move_variable
    integer(c_int) function f_def_independent(dataset, variable) bind(C, name="shoal_f_def_independent")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*)
    end function f_def_independent
    integer(c_int) function f_move_independent(verb, dataset, variable, values, start, count, stride) &
        bind(C, name="shoal_f_move_independent")
      import :: c_char, c_int, c_ptr
      integer(c_int), value :: verb
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*)
      type(*), dimension(..) :: values
      type(*), dimension(..), intent(in), optional :: start, count, stride
    end function f_move_independent
    integer(c_int) function f_move_boxes(verb, dataset, variable, values, start, count, stride) &
        bind(C, name="shoal_f_move_boxes")
      import :: c_char, c_int, c_ptr
      integer(c_int), value :: verb
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: variable(*)
      type(*), dimension(..) :: values
      type(*), dimension(..), intent(in), optional :: start, count, stride
    end function f_move_boxes
    type(c_ptr) function f_message() bind(C, name="shoal_f_message")
      import :: c_ptr
    end function f_message
    integer(c_int) function f_error_rank() bind(C, name="shoal_f_error_rank")
      import :: c_int
    end function f_error_rank
    type(c_ptr) function f_error_file() bind(C, name="shoal_f_error_file")
      import :: c_ptr
    end function f_error_file
    type(c_ptr) function f_error_variable() bind(C, name="shoal_f_error_variable")
      import :: c_ptr
    end function f_error_variable
    subroutine f_clear() bind(C, name="shoal_f_clear")
    end subroutine f_clear
    integer(c_int) function f_closed(path) bind(C, name="shoal_f_closed")
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
    end function f_closed
    subroutine f_abort(comm, code, message) bind(C, name="shoal_f_abort")
      import :: c_char, c_int
      integer(c_int), value :: comm
      integer(c_int), value :: code
      character(kind=c_char), intent(in) :: message(*)
    end subroutine f_abort
    integer(c_int) function c_decomposition_free(decomposition) bind(C, name="shoal_decomposition_free")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: decomposition
    end function c_decomposition_free
    integer(c_int) function c_end_define(dataset) bind(C, name="shoal_end_define")
      import :: c_int, c_ptr
      type(c_ptr), value :: dataset
    end function c_end_define
    integer(c_int) function c_sync(dataset, durable) bind(C, name="shoal_sync")
      import :: c_int, c_ptr
      type(c_ptr), value :: dataset
      integer(c_int), value :: durable
    end function c_sync
    integer(c_int) function c_close(dataset, durable) bind(C, name="shoal_close")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: dataset
      integer(c_int), value :: durable
    end function c_close
    subroutine c_abandon(dataset) bind(C, name="shoal_abandon")
      import :: c_ptr
      type(c_ptr), intent(inout) :: dataset
    end subroutine c_abandon
    integer(c_int) function c_inq_file(dataset, out) bind(C, name="shoal_inq_file")
      import :: c_int, c_ptr, c_file_info
      type(c_ptr), value :: dataset
      type(c_file_info), intent(out) :: out
    end function c_inq_file
    integer(c_int) function c_inq_dim(dataset, index, out) bind(C, name="shoal_inq_dim")
      import :: c_int, c_ptr, c_dim_info
      type(c_ptr), value :: dataset
      integer(c_int), value :: index
      type(c_dim_info), intent(out) :: out
    end function c_inq_dim
    integer(c_int) function c_inq_var(dataset, index, out) bind(C, name="shoal_inq_var")
      import :: c_int, c_ptr, c_var_info
      type(c_ptr), value :: dataset
      integer(c_int), value :: index
      type(c_var_info), intent(out) :: out
    end function c_inq_var
    ! variable is C_NULL_PTR for attributes of the file.
    integer(c_int) function c_inq_att(dataset, variable, index, out) bind(C, name="shoal_inq_att")
      import :: c_int, c_ptr, c_att_info
      type(c_ptr), value :: dataset, variable
      integer(c_int), value :: index
      type(c_att_info), intent(out) :: out
    end function c_inq_att
    ! variable is C_NULL_PTR for the records of the file.
    integer(c_int) function c_num_records(dataset, variable, out) bind(C, name="shoal_num_records")
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: dataset, variable
      integer(c_int64_t), intent(inout) :: out
    end function c_num_records
    integer(c_int) function c_begin_step(dataset, record) bind(C, name="shoal_begin_step")
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: dataset
      integer(c_int64_t), intent(inout) :: record
    end function c_begin_step
    integer(c_int) function c_find_dim(dataset, name, out) bind(C, name="shoal_find_dim")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: out
    end function c_find_dim
    integer(c_int) function c_find_var(dataset, name, out) bind(C, name="shoal_find_var")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: out
    end function c_find_var
    integer(c_int) function c_find_att(dataset, variable, name, out) bind(C, name="shoal_find_att")
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: dataset, variable
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: out
    end function c_find_att
    type(c_ptr) function c_version() bind(C, name="shoal_version")
      import :: c_ptr
    end function c_version
    type(c_ptr) function c_build_info() bind(C, name="shoal_build_info")
      import :: c_ptr
    end function c_build_info
    type(c_ptr) function c_error_name(code) bind(C, name="shoal_error_name")
      import :: c_int, c_ptr
      integer(c_int), value :: code
    end function c_error_name
    type(c_ptr) function c_settings(dataset) bind(C, name="shoal_settings")
      import :: c_ptr
      type(c_ptr), value :: dataset
    end function c_settings
    type(c_ptr) function c_setting_keys() bind(C, name="shoal_setting_keys")
      import :: c_ptr
    end function c_setting_keys
    type(c_ptr) function c_report(dataset) bind(C, name="shoal_report")
      import :: c_ptr
      type(c_ptr), value :: dataset
    end function c_report
    ! path is C_NULL_PTR for none.
    integer(c_int) function c_namelist(path) bind(C, name="shoal_namelist")
      import :: c_int, c_ptr
      type(c_ptr), value :: path
    end function c_namelist
    integer(c_int) function f_wait(comm) bind(C, name="shoal_f_wait")
      import :: c_int
      type(*), dimension(..), intent(in) :: comm
    end function f_wait
    integer(c_int) function c_stop_serving() bind(C, name="shoal_stop_serving")
      import :: c_int
    end function c_stop_serving
    integer(c_int) function f_serve(all, n, computing) bind(C, name="shoal_f_serve")
      import :: c_int
      type(*), dimension(..), intent(in) :: all
      integer(c_int), value :: n
      type(*), dimension(..), intent(inout) :: computing
    end function f_serve
    integer(c_int) function f_serve_components(all, component, computing) bind(C, name="shoal_f_serve_components")
      import :: c_int
      type(*), dimension(..), intent(in) :: all
      integer(c_int), value :: component
      type(*), dimension(..), intent(inout) :: computing
    end function f_serve_components
    integer(c_int) function c_write_reference(paths, n, path) bind(C, name="shoal_write_reference")
      import :: c_int, c_ptr
      type(c_ptr), intent(in) :: paths(*)
      integer(c_int), value :: n
      type(c_ptr), value :: path
    end function c_write_reference
    integer(c_int) function c_write_master(paths, n, path) bind(C, name="shoal_write_master")
      import :: c_int, c_ptr
      type(c_ptr), intent(in) :: paths(*)
      integer(c_int), value :: n
      type(c_ptr), value :: path
    end function c_write_master
    integer(c_int) function c_recover(path, finished) bind(C, name="shoal_recover")
      import :: c_int, c_ptr
      type(c_ptr), value :: path
      integer(c_int), intent(out) :: finished
    end function c_recover
    integer(c_size_t) function c_strlen(text) bind(C, name="strlen")
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function c_strlen
  end interface
end module shoal_c
