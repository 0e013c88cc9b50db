! SPDX-License-Identifier: BSD-3-Clause
!
! Shoal for Fortran: parallel input and output for fields that are cut over MPI ranks. Conventions of all procedures:
!  1. Indices start at 1 and bounds are inclusive; the first dimension varies fastest, in arrays, in
!     lists of dimensions and in sections. Records count from 1.
!  2. Array arguments may be integer(1,2,4,8), real(4,8), logical(1,2,4,8) or character, of rank 0 to 7
!     and any stride: sections, reversed sections, arrays with halo. Nothing is copied on the way.
!     Assumed-size arrays need a section with bounds.
!  3. Text is stored with the string length as the fastest dimension. gfortran 12 loses the length of
!     scalar text that is not a variable (literals, substrings, trim(...)): put_text and get_text take those.
!  4. Integers that are numbers of cells or records (global, cells, first, last, length, record, start, count,
!     chunks, halo_low, halo_high) may be of any kind, scalars or lists.
!  5. comm is an integer (use mpi) or a type(MPI_Comm) (use mpi_f08) and must live until close.
!  6. stat= gets 0 or an error code (SHOAL_RANGE ...), errmsg= the message, cut to its length (an
!     allocatable must be allocated); shoal_error_message() gives all of it. errmsg= stays as it is when
!     nothing failed. Where it is class(*), it must be a character variable, too: anything else stops all ranks,
!     whether or not something failed. Without stat= a failure prints the message and stops all ranks.
!  7. Collective: all ranks call it, in the same order. Local: no other rank is needed.
!  8. Nothing happens when a variable of these types goes out of scope: close and free are called by hand.
!     An assignment makes a second name for the same dataset or decomposition, not a second one.
module shoal
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_int, c_int64_t, c_loc, c_null_char, &
      c_null_ptr, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use shoal_c
  use shoal_library
  use shoal_support, only: as_int, settle, settle_any, text_of, zero_ended
  implicit none
  private

  public :: shoal_decomposition, shoal_dataset, shoal_block, shoal_map, shoal_load, shoal_free, shoal_namelist
  public :: shoal_wait, shoal_serve, shoal_serve_components, shoal_stop_serving, shoal_write_reference
  public :: shoal_write_master, shoal_recover, shoal_version, shoal_build_info, shoal_settings, shoal_setting_keys
  public :: shoal_error_name, shoal_error_message, shoal_error_rank, shoal_error_file, shoal_error_variable
  public :: shoal_map_info, shoal_file_info, shoal_dim_info, shoal_var_info, shoal_att_info

  ! The version that a program is compiled with; shoal_version() is the one that runs.
  integer, parameter, public :: SHOAL_VERSION_MAJOR = 0, SHOAL_VERSION_MINOR = 2, SHOAL_VERSION_PATCH = 0, &
      SHOAL_VERSION_NUMBER = 10000 * SHOAL_VERSION_MAJOR + 100 * SHOAL_VERSION_MINOR + SHOAL_VERSION_PATCH

  ! Element types. SHOAL_LOGICAL is stored as bytes 0 and 1.
  integer, parameter, public :: SHOAL_BYTE = 1, SHOAL_CHAR = 2, SHOAL_SHORT = 3, SHOAL_INT = 4, SHOAL_FLOAT = 5, &
      SHOAL_DOUBLE = 6, SHOAL_UBYTE = 7, SHOAL_USHORT = 8, SHOAL_UINT = 9, SHOAL_INT64 = 10, SHOAL_UINT64 = 11, &
      SHOAL_STRING = 12, SHOAL_LOGICAL = 13

  ! Error codes; docs/errors.md says of each what to do.
  integer, parameter, public :: SHOAL_OK = 0, SHOAL_INVALID_ARGUMENT = 1, SHOAL_NOT_FOUND = 2, SHOAL_EXISTS = 3, &
      SHOAL_PERMISSION = 4, SHOAL_NO_SPACE = 5, SHOAL_IO = 6, SHOAL_FORMAT = 7, SHOAL_RANGE = 8, SHOAL_TYPE = 9, &
      SHOAL_NOT_SUPPORTED = 10, SHOAL_OVERLAP = 11, SHOAL_OUT_OF_STEP = 12, SHOAL_TIMEOUT = 13, SHOAL_SETTING = 14, &
      SHOAL_STATE = 15, SHOAL_NO_MEMORY = 16, SHOAL_MPI = 17, SHOAL_INTERNAL = 18

  integer(int64), parameter, public :: SHOAL_UNLIMITED = 0_int64     ! length of a dimension that grows
  integer, parameter, public :: SHOAL_SERVES = -1                     ! shoal_serve_components: this rank serves
  integer(int64), parameter, public :: SHOAL_NO_RECORD = -1_int64    ! record= of a variable without records
  integer(int64), parameter, public :: SHOAL_ALL_RECORDS = -2_int64  ! record= of put and get: every record there is
  ! record= of write and put: the record of the time step that is being written. It is the last one, if that was begun
  ! since the file was opened and the variable is not in it yet; otherwise the one after the last. A variable that is
  ! not in every step comes after one that is, or the program says where steps begin (begin_step).
  integer(int64), parameter, public :: SHOAL_NEXT = -3_int64
  integer, parameter, public :: SHOAL_READ = 0, SHOAL_WRITE = 1, SHOAL_APPEND = 2  ! how open opens
  character(len=*), parameter, public :: SHOAL_GLOBAL = ""           ! the file, where attributes want a variable

  ! What each rank owns of a field: one box of its global shape, or a list of its cells.
  type :: shoal_decomposition
    private
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int) :: comm = -1
  contains
    procedure :: inquire => decomposition_inquire
    procedure :: map_info => decomposition_map_info
    procedure :: cells => decomposition_cells
    procedure :: masked => decomposition_masked
    procedure :: unique => decomposition_unique
    procedure :: save => decomposition_save
    procedure :: free => shoal_free
    procedure :: c_handle => decomposition_c_handle
  end type shoal_decomposition

  ! What map_info reports of this rank's list.
  type :: shoal_map_info
    logical :: is_map = .false.   ! false: made by shoal_block
    integer :: uncut = 0          ! first dimensions that are not cut
    integer(int64) :: ncells = 0  ! length of the list, holes too; of a block, the cells of the tile
    integer(int64) :: mapped = 0  ! of those, the ones that are no holes
    integer(int64) :: runs = 0    ! of cells that follow each other in the list and in the global shape
    integer(int64) :: bytes = 0   ! of memory: the list, and cells that no rank has
    integer(int64) :: repeated = 0  ! the lowest index that comes twice, on any ranks; 0: none (unique makes it so)
    integer :: repeated_ranks(2) = 0   ! two ranks that have it, from 0, or one twice
    logical :: leaves_cells = .false.  ! some cells of the global shape are no rank's, or masked
  end type shoal_map_info

  ! What inq_file, inq_dim, inq_var and inq_att report.
  type :: shoal_file_info
    character(len=:), allocatable :: path, format, driver
    logical :: writable = .false.
    integer :: dimensions = 0, variables = 0, attributes = 0  ! how many
  end type shoal_file_info
  type :: shoal_dim_info
    character(len=:), allocatable :: name
    integer(int64) :: length = 0  ! records so far, if unlimited
    logical :: unlimited = .false.
  end type shoal_dim_info
  type :: shoal_var_info
    character(len=:), allocatable :: name, storage
    character(len=:), allocatable :: filters   ! 'none', 'shuffle+deflate:1', ...
    integer :: type = 0, ndims = 0, attributes = 0
    integer, allocatable :: dims(:)            ! [ndims] indices of dimensions, fastest first
    logical :: has_record = .false., logical = .false.
    logical :: packed = .false.                ! arrays of real hold its values (def_pack)
    integer(int64), allocatable :: chunks(:)   ! [ndims] fastest first, of size 0 if not chunked
  end type shoal_var_info
  type :: shoal_att_info
    character(len=:), allocatable :: name
    integer :: type = 0
    integer(int64) :: count = 0  ! elements; of SHOAL_CHAR: characters
  end type shoal_att_info

  ! An open file.
  type :: shoal_dataset
    private
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int) :: comm = -1
    character(len=:), allocatable :: path  ! of the file that was opened last, for messages when it is closed
  contains
    procedure :: create => dataset_create
    procedure :: open => dataset_open
    procedure :: close => dataset_close
    procedure :: abandon => dataset_abandon
    procedure :: sync => dataset_sync
    procedure :: end_define => dataset_end_define
    procedure :: def_dim => dataset_def_dim, def_group => dataset_def_group
    procedure :: rename_group => dataset_rename_group
    procedure, private :: def_var_text, def_var_names, def_var_dims
    generic :: def_var => def_var_text, def_var_names, def_var_dims
    procedure :: def_cut => dataset_def_cut
    procedure :: def_independent => dataset_def_independent
    procedure :: def_gathered => dataset_def_gathered
    procedure :: def_fill => dataset_def_fill
    procedure :: def_chunks => dataset_def_chunks
    procedure :: def_compression => dataset_def_compression
    procedure :: def_quantize => dataset_def_quantize, def_pack => dataset_def_pack
    procedure, private :: put_att_scalar, put_att_list, get_att_scalar, get_att_list
    ! Attribute of a variable, or of the file where variable is SHOAL_GLOBAL; (variable, name, value).
    ! put_att: a scalar or list of numbers keeps its kind; text becomes one text; a list of texts becomes
    ! strings (netcdf4); logicals become bytes 0 and 1. get_att: numbers are converted to the kind given,
    ! the list has as many elements as inq_att says; text is padded with blanks. Local.
    generic :: put_att => put_att_scalar, put_att_list
    generic :: get_att => get_att_scalar, get_att_list
    procedure :: rename_dim => dataset_rename_dim
    procedure :: rename_var => dataset_rename_var
    procedure :: rename_att => dataset_rename_att
    procedure :: delete_att => dataset_delete_att
    procedure :: write => dataset_write
    procedure :: read => dataset_read
    procedure :: put => dataset_put
    procedure :: get => dataset_get
    ! By the number of the variable (find_var), which need not be looked for in each call.
    procedure :: write_variable, read_variable, put_variable, get_variable
    procedure :: write_boxes => dataset_write_boxes, read_boxes => dataset_read_boxes
    procedure :: write_independent => dataset_write_independent, read_independent => dataset_read_independent
    procedure :: put_text => dataset_put_text, get_text => dataset_get_text
    procedure :: inq_file => dataset_inq_file
    procedure :: inq_dim => dataset_inq_dim
    procedure :: num_records => dataset_num_records
    procedure :: begin_step => dataset_begin_step
    procedure :: inq_fill => dataset_inq_fill
    procedure :: inq_var => dataset_inq_var
    procedure :: inq_att => dataset_inq_att
    procedure :: num_groups => dataset_num_groups, inq_group => dataset_inq_group, find_group => dataset_find_group
    procedure :: find_dim => dataset_find_dim
    procedure :: find_var => dataset_find_var
    procedure :: find_att => dataset_find_att
    procedure :: settings => dataset_settings, report => dataset_report
    procedure :: is_open => dataset_is_open
  end type shoal_dataset

  ! Lists of cells, and what a decomposition says of itself: maps.f90.
  interface
    ! Each rank owns a list of cells of a field of shape global. cells: which global cell each local cell is,
    ! counted from 1, the first dimension fastest; 0 is a hole, a local cell that belongs to none. Integers of
    ! any kind, in any order; of size 0: this rank has none. uncut: so many of the first dimensions are
    ! not cut, and cells counts those after them. Arrays then have the extents (the `uncut` first
    ! dimensions, size(cells), dimensions after those of the decomposition). A cell that two ranks have can be read,
    ! but not written. Errors: SHOAL_INVALID_ARGUMENT for cells outside of global. Collective.
    module function shoal_map(comm, global, cells, uncut, stat, errmsg) result(decomposition)
      type(*), dimension(..), intent(in) :: comm, global, cells
      integer, intent(in), optional :: uncut
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
      type(shoal_decomposition) :: decomposition
    end function shoal_map
    ! The decomposition in a file that save wrote, in a map file of E3SM's benchmark (name: "D1"), or in PIO's text
    ! form. On as many ranks as it is for, each gets what it had; on others, a map with an even share. Collective.
    module function shoal_load(comm, path, name, stat, errmsg) result(decomposition)
      type(*), dimension(..), intent(in) :: comm
      character(len=*), intent(in) :: path
      character(len=*), intent(in), optional :: name
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
      type(shoal_decomposition) :: decomposition
    end function shoal_load
    ! The same with a mask: .false. or 0 is land, .true. or another number water, of any kind. Land gets the fill value
    ! when a field is written, and stays as it is in the array when one is read (setting read_masked). mask: of a block, the first dimensions of the tile, with or
    ! without halo (for all levels behind); of a map, the list. Other extents are an error. Collective.
    module function decomposition_masked(self, mask, stat, errmsg) result(decomposition)
      class(shoal_decomposition), intent(in) :: self
      type(*), dimension(..), intent(in) :: mask
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
      type(shoal_decomposition) :: decomposition
    end function decomposition_masked
    ! The same map with each cell once, so that it can be written: of one that comes twice, the lowest rank keeps its
    ! last place in the list; all others are holes. What is so already comes back as it is. SHOAL_NOT_SUPPORTED: it has
    ! a mask, too, which is to be given to the unique map. Collective.
    module function decomposition_unique(self, stat, errmsg) result(decomposition)
      class(shoal_decomposition), intent(in) :: self
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
      type(shoal_decomposition) :: decomposition
    end function decomposition_unique
    ! A dimension for the water points alone of dims ("lon lat", fastest first), which the mask of the decomposition
    ! has, and the variable of its name, which lists their indices in the grid, from 0. Variables with it are written
    ! and read with arrays and decompositions of the grid. Local.
    module subroutine dataset_def_gathered(self, name, dims, decomposition, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: name, dims
      type(shoal_decomposition), intent(in) :: decomposition
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_def_gathered
    ! Save to a NetCDF file, which is replaced if it exists, with the mask. Collective.
    module subroutine decomposition_save(self, path, stat, errmsg)
      class(shoal_decomposition), intent(in) :: self
      character(len=*), intent(in) :: path
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine decomposition_save
    ! Shape, own tile and halo, each of the number of dimensions, one-based, last inclusive. A map has no tile: it
    ! gives all of the shape on a rank that has any cell. Local.
    module subroutine decomposition_inquire(self, global, first, last, halo_low, halo_high, stat, errmsg)
      class(shoal_decomposition), intent(in) :: self
      integer(int64), allocatable, intent(out), optional :: global(:), first(:), last(:), halo_low(:), halo_high(:)
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine decomposition_inquire
    ! Length and memory of this rank's list. Local.
    module subroutine decomposition_map_info(self, info, stat, errmsg)
      class(shoal_decomposition), intent(in) :: self
      type(shoal_map_info), intent(out) :: info
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine decomposition_map_info
    ! The list itself, as shoal_map takes it; of a block, the cells of its tile. Local.
    module subroutine decomposition_cells(self, cells, stat, errmsg)
      class(shoal_decomposition), intent(in) :: self
      integer(int64), allocatable, intent(out) :: cells(:)
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine decomposition_cells
    ! ---- How values are stored: storage.f90. Local.
    ! Chunk shape, one number for each dimension of the variable, fastest first; netcdf4 and zarr.
    module subroutine dataset_def_chunks(self, variable, chunks, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable
      type(*), dimension(..), intent(in) :: chunks
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine dataset_def_chunks
    ! The variable was defined without a decomposition, which comes with write: it gets what variables with one
    ! have (alignment, and the settings chunks, compression and quantize).
    module subroutine dataset_def_cut(self, variable, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_def_cut
    ! Compression: 'none', 'shuffle+zstd:1', 'deflate:1+fletcher32', 'blosc:zstd:5', ... (docs/guide/compression.md)
    module subroutine dataset_def_compression(self, variable, filters, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable, filters
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_def_compression
    ! Lossy: 'none', 'bitround:7' (so many bits of the mantissa are kept) or 'granular_bitround:3' (decimal
    ! digits), of real kinds only.
    module subroutine dataset_def_quantize(self, variable, how, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable, how
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_def_quantize
    ! Values are whole numbers in the file, as CF packs them: 'short(-2, 35)', 'attributes' or 'none' (packing.h).
    module subroutine dataset_def_pack(self, variable, how, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable, how
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_def_pack
    ! ---- Attributes and fill values: attributes.f90.
    ! Fill value of a variable, converted to its type; without value: no fill (cells that nobody writes
    ! are undefined, and keep what was written there where no rank has them in later writes). Local.
    module subroutine dataset_def_fill(self, variable, value, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable
      class(*), intent(in), optional :: value
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_def_fill
    ! What cells hold that were never written: fill .false. is anything. value: converted to its kind, also where fill
    ! is .false.; SHOAL_RANGE where it does not fit. Local.
    module subroutine dataset_inq_fill(self, variable, fill, value, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable
      logical, intent(out) :: fill
      class(*), intent(inout), optional :: value
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_inq_fill
    ! Other names for what is there, also where the file has data. Definitions: Local, the same on every rank.
    module subroutine dataset_rename_dim(self, name, new_name, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: name, new_name
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_rename_dim
    module subroutine dataset_rename_var(self, name, new_name, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: name, new_name
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_rename_var
    module subroutine dataset_rename_att(self, variable, name, new_name, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable, name, new_name
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_rename_att
    ! An attribute goes. A definition, as rename_att: Local; variable SHOAL_GLOBAL: of the file.
    module subroutine dataset_delete_att(self, variable, name, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable, name
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_delete_att
    module subroutine put_att_scalar(self, variable, name, value, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable, name
      class(*), intent(in) :: value
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine put_att_scalar
    module subroutine put_att_list(self, variable, name, value, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable, name
      class(*), intent(in) :: value(:)
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine put_att_list
    module subroutine get_att_scalar(self, variable, name, value, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable, name
      class(*), intent(inout) :: value
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine get_att_scalar
    module subroutine get_att_list(self, variable, name, value, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable, name
      class(*), intent(inout) :: value(:)
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine get_att_list
    ! ---- What is in a file: inquire.f90. All Local.
    ! Path, format and driver of the file, and how many dimensions, variables and attributes it has.
    module subroutine dataset_inq_file(self, info, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      type(shoal_file_info), intent(out) :: info
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_inq_file
    ! index: 1 to the number of dimensions.
    module subroutine dataset_inq_dim(self, index, info, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      integer, intent(in) :: index
      type(shoal_dim_info), intent(out) :: info
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_inq_dim
    ! Records so far, of the file's record dimension or of a variable's: the number of the last record, 0 if there is
    ! none. Shared by all ranks that made the same calls.
    module function dataset_num_records(self, variable, stat, errmsg) result(records)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in), optional :: variable
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
      integer(int64) :: records
    end function dataset_num_records
    ! index: 1 to the number of variables.
    module subroutine dataset_inq_var(self, index, info, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      integer, intent(in) :: index
      type(shoal_var_info), intent(out) :: info
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_inq_var
    ! index: 1 to the number of attributes of the variable (SHOAL_GLOBAL: of the file).
    module subroutine dataset_inq_att(self, variable, index, info, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable
      integer, intent(in) :: index
      type(shoal_att_info), intent(out) :: info
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_inq_att
    ! Index by name; 0 and SHOAL_NOT_FOUND, with the nearest name in the message, if there is none.
    module subroutine dataset_find_dim(self, name, index, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: name
      integer, intent(out) :: index
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_find_dim
    module subroutine dataset_find_var(self, name, index, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: name
      integer, intent(out) :: index
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_find_var
    module subroutine dataset_find_att(self, variable, name, index, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable, name
      integer, intent(out) :: index
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_find_att
    ! Every setting with its value and where it came from, one a line.
    module function dataset_settings(self) result(text)
      class(shoal_dataset), intent(in) :: self
      character(len=:), allocatable :: text
    end function dataset_settings
    ! This rank's report so far, as JSON.
    module function dataset_report(self) result(text)
      class(shoal_dataset), intent(in) :: self
      character(len=:), allocatable :: text
    end function dataset_report
  end interface

  ! Text that is any expression: text.f90.
  interface
    ! Put one text into a CHAR variable whose fastest dimension is the string length (padded with blanks;
    ! longer than that is SHOAL_RANGE), into a CHAR variable without dimensions (one character), or into a
    ! STRING variable. record, start, count as for put, without the string length. Collective.
    module subroutine dataset_put_text(self, variable, text, record, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable, text
      type(*), dimension(..), intent(in), optional :: record
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine dataset_put_text
    ! Get such a text, without trailing blanks and zeros, on every rank. Collective.
    module subroutine dataset_get_text(self, variable, text, record, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable
      character(len=:), allocatable, intent(out) :: text
      type(*), dimension(..), intent(in), optional :: record
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine dataset_get_text
  end interface

  ! The life of a dataset, its dimensions, variables and data: dataset.f90.
  interface
    ! Make a new file; one that exists is replaced. format: cdf1, cdf2, cdf5, netcdf4, netcdf4-classic, raw, ascii.
    ! settings: "key=value, key=value", see docs/settings.md. SHOAL_STATE: self is open, and stays so. Collective.
    module subroutine dataset_create(self, path, comm, format, settings, stat, errmsg)
      class(shoal_dataset), intent(inout) :: self
      character(len=*), intent(in) :: path
      type(*), dimension(..), intent(in) :: comm
      character(len=*), intent(in), optional :: format, settings
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine dataset_create
    ! Open a file of any supported format; mode is SHOAL_READ (default), SHOAL_WRITE (read, change and append) or
    ! SHOAL_APPEND (as SHOAL_WRITE; a file that does not exist is made, and settings of new files are passed over where
    ! there is one). SHOAL_STATE as of create. Collective.
    module subroutine dataset_open(self, path, comm, mode, settings, stat, errmsg)
      class(shoal_dataset), intent(inout) :: self
      character(len=*), intent(in) :: path
      type(*), dimension(..), intent(in) :: comm
      integer, intent(in), optional :: mode
      character(len=*), intent(in), optional :: settings
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine dataset_open
    ! Store, agree on errors, commit, report, close. durable: wait until the device has it. Collective.
    module subroutine dataset_close(self, durable, stat, errmsg)
      class(shoal_dataset), intent(inout) :: self
      logical, intent(in), optional :: durable
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_close
    ! Store all that was written, agree on errors, commit. durable: wait until the device has it. Collective.
    module subroutine dataset_sync(self, durable, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      logical, intent(in), optional :: durable
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_sync
    ! Finish the define phase; implicit at the first write, put or sync. Collective.
    module subroutine dataset_end_define(self, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_end_define

    ! Definitions are Local; every rank makes the same ones in the same order.
    ! A dimension; length SHOAL_UNLIMITED: one that grows.
    module subroutine dataset_def_dim(self, name, length, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: name
      type(*), dimension(..), intent(in) :: length
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine dataset_def_dim
    ! A variable of a type (SHOAL_FLOAT ...). dims: names with blanks between, fastest first ("xi_rho
    ! eta_rho s_rho ocean_time"), "" for a scalar; one that has blanks or commas goes in double quotes
    ! ('x "sea level"'), in which \" and \\ are a quote and a backslash. With a decomposition: the first dimensions of the
    ! variable are those of it. Without: the same on every rank. dims may also be an array, of names as they are
    ! (blanks behind a name aside), or of numbers (find_dim).
    module subroutine def_var_text(self, name, type, dims, decomposition, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: name, dims
      integer, intent(in) :: type
      type(shoal_decomposition), intent(in), optional :: decomposition
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine def_var_text
    module subroutine def_var_names(self, name, type, dims, decomposition, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: name, dims(:)
      integer, intent(in) :: type
      type(shoal_decomposition), intent(in), optional :: decomposition
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine def_var_names
    module subroutine def_var_dims(self, name, type, dims, decomposition, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: name
      integer, intent(in) :: type, dims(:)
      type(shoal_decomposition), intent(in), optional :: decomposition
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine def_var_dims

    ! A time step begins: record is its number, one more than num_records. SHOAL_NEXT is this record for all variables
    ! until the next step begins. After an error at sync no step is begun. SHOAL_INVALID_ARGUMENT: the file has no
    ! record dimension, or several. Local; every rank begins the same steps.
    module subroutine dataset_begin_step(self, record, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      integer(int64), intent(out), optional :: record
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine dataset_begin_step

    ! Data.
    ! record        number of the record; left out for a variable without records
    ! start, count  a section: one number for each dimension but the record dimension; 1 and the global
    !               length where the variable is cut. Left out: everything.
    ! records       put and get: so many, from record on; the array then has one more dimension behind the others
    ! Write this rank's cells. Returns as soon as the array may be changed; errors of other ranks come out
    ! at sync and close. Collective in order, without waiting.
    module subroutine dataset_write(self, variable, array, record, start, count, decomposition, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: record, start, count
      type(shoal_decomposition), intent(in), optional :: decomposition
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine dataset_write
    ! Read this rank's cells and, if the array has room for them, the halo cells inside of the field. Collective.
    module subroutine dataset_read(self, variable, array, record, start, count, decomposition, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable
      type(*), dimension(..), intent(inout) :: array
      type(*), dimension(..), intent(in), optional :: record, start, count
      type(shoal_decomposition), intent(in), optional :: decomposition
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine dataset_read
    ! Put a replicated variable: the values of rank 0 go to the file. Collective.
    module subroutine dataset_put(self, variable, array, record, start, count, records, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: record, start, count, records
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine dataset_put
    ! Get the same values on every rank. Collective.
    module subroutine dataset_get(self, variable, array, record, start, count, records, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      character(len=*), intent(in) :: variable
      type(*), dimension(..), intent(inout) :: array
      type(*), dimension(..), intent(in), optional :: record, start, count, records
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine dataset_get

    ! The same by the number of the variable, from 1.
    module subroutine write_variable(self, variable, array, record, start, count, decomposition, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      integer, intent(in) :: variable
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: record, start, count
      type(shoal_decomposition), intent(in), optional :: decomposition
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine write_variable
    module subroutine read_variable(self, variable, array, record, start, count, decomposition, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      integer, intent(in) :: variable
      type(*), dimension(..), intent(inout) :: array
      type(*), dimension(..), intent(in), optional :: record, start, count
      type(shoal_decomposition), intent(in), optional :: decomposition
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine read_variable
    module subroutine put_variable(self, variable, array, record, start, count, records, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      integer, intent(in) :: variable
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: record, start, count, records
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine put_variable
    module subroutine get_variable(self, variable, array, record, start, count, records, stat, errmsg)
      class(shoal_dataset), intent(in) :: self
      integer, intent(in) :: variable
      type(*), dimension(..), intent(inout) :: array
      type(*), dimension(..), intent(in), optional :: record, start, count, records
      integer, intent(out), optional :: stat
      class(*), intent(inout), optional :: errmsg
    end subroutine get_variable
  end interface
#include "independent.inc"
#include "groups.inc"

contains

  ! ---- Decomposition ---------------------------------------------------------------------------

  ! Each rank owns the cells first to last (one-based, inclusive) of a field of shape global; last
  ! before first in any dimension: this rank owns nothing. halo_low, halo_high: cells before and after
  ! the tile in this rank's arrays, which then have the tile's extents or those plus the halo. Errors:
  ! SHOAL_OVERLAP where two ranks own a cell, SHOAL_INVALID_ARGUMENT for cells outside of global. Collective.
  function shoal_block(comm, global, first, last, halo_low, halo_high, stat, errmsg) result(decomposition)
    type(*), dimension(..), intent(in) :: comm, global, first, last
    type(*), dimension(..), intent(in), optional :: halo_low, halo_high
    integer, intent(out), optional :: stat
    class(*), intent(inout), optional :: errmsg
    type(shoal_decomposition) :: decomposition
    integer(c_int) :: code
    code = f_block(comm, global, first, last, halo_low, halo_high, decomposition%comm, decomposition%handle)
    call settle_any(code, decomposition%comm, stat, errmsg)
  end function shoal_block

  ! Give a decomposition back; datasets that use it keep what they need. Local.
  subroutine shoal_free(decomposition, stat, errmsg)
    class(shoal_decomposition), intent(inout) :: decomposition
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: code
    call f_clear()
    code = c_decomposition_free(decomposition%handle)
    call settle(code, decomposition%comm, stat, errmsg)
  end subroutine shoal_free

  ! Give the handle back without storing or committing: what was written since the last sync is lost. For
  ! the way out of an error, where the other ranks cannot be waited for. Local.
  subroutine dataset_abandon(self)
    class(shoal_dataset), intent(inout) :: self
    call f_clear()
    call c_abandon(self%handle)
  end subroutine dataset_abandon

  ! True between create or open and close. Local.
  logical function dataset_is_open(self)
    class(shoal_dataset), intent(in) :: self
    dataset_is_open = c_associated(self%handle)
  end function dataset_is_open

  ! What is given to shoal.h, C_NULL_PTR before it was made and after free; still owned by this object. Local.
  function decomposition_c_handle(self) result(handle)
    class(shoal_decomposition), intent(in) :: self
    type(c_ptr) :: handle
    handle = self%handle
  end function decomposition_c_handle
end module shoal
