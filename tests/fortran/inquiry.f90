! What a file holds, as Fortran sees it: indices from 1, dimensions in Fortran order; and the library's own texts.
program inquiry
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use shoal
  implicit none
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call library()
  call file_of_format("cdf5")
  call file_of_format("netcdf4")
  call packed_values("cdf5")
  call packed_values("netcdf4")
  call names_in_quotes("cdf5")
  call names_in_quotes("netcdf4")
  call namelist_group()
  call finish()

contains

  subroutine library()
    character(len=:), allocatable :: text
    text = shoal_version()
    call check(index(text, ".") > 0, "the version")
    call check(SHOAL_VERSION_NUMBER == 10000 * SHOAL_VERSION_MAJOR + 100 * SHOAL_VERSION_MINOR + SHOAL_VERSION_PATCH, &
        "the version's number")
    text = shoal_setting_keys()
    call check(index(text, "stage_bytes" // achar(9) // "basic") > 0, "the settings that there are")
    text = shoal_build_info()
    call check(len(text) > 0, "what it was built with")
    text = shoal_settings()
    call check(index(text, "format") > 0, "the settings name the format")
    call check(shoal_error_name(SHOAL_RANGE) == "SHOAL_RANGE", "names of errors")
    call check(shoal_error_name(0) == "SHOAL_OK", "no error")
  end subroutine library

  subroutine file_of_format(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    type(shoal_file_info) :: info
    type(shoal_dim_info) :: dim
    type(shoal_var_info) :: var
    integer :: x, y, time, v, code, bits
    character(len=300) :: text
    call file%create("inquiry_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_dim("y", 4_int64)
    call file%def_dim("x", 30)
    call file%def_var("v", SHOAL_DOUBLE, "x y time")
    call file%def_quantize("v", "bitround:9")
    call file%def_var("scalar", SHOAL_INT, "")
    call file%def_quantize("scalar", "bitround:9", stat=code, errmsg=text)
    call check(code == SHOAL_TYPE .and. index(text, "float and double") > 0, format // ": integers are not quantized")
    call file%def_pack("scalar", "short(1, 2)", stat=code, errmsg=text)
    call check(code == SHOAL_TYPE .and. index(text, "float and double") > 0, format // ": integers are packed already")
    if (format == "netcdf4") then
      call file%def_chunks("v", [15, 2, 1])
      call file%def_compression("v", "shuffle+deflate:4")
    end if
    call file%put_att("v", "units", "m")
    call file%put_att(SHOAL_GLOBAL, "title", "inquiry")
    call file%put("v", reshape([(real(x), x=1, 120)], [30, 4]), record=1)
    call file%put("scalar", 7)
    call check(index(file%settings(), "format") > 0, "settings of a dataset")
    call check(index(file%report(), "{") > 0, "the report is JSON")
    call file%close()

    call file%open("inquiry_" // format // ".nc", MPI_COMM_WORLD)
    call file%inq_file(info)
    call check(info%format == format .and. .not. info%writable, format // ": the format is recognised: " // info%format)
    ! With the variable that describes the quantization.
    call check(info%dimensions == 3 .and. info%variables == 3 .and. info%attributes >= 1, format // ": how many")
    call check(index(info%path, "inquiry_") > 0, format // ": the path")
    call file%find_dim("x", x)
    call file%find_dim("y", y)
    call file%find_dim("time", time)
    call file%inq_dim(time, dim)
    call check(dim%name == "time" .and. dim%unlimited .and. dim%length == 1, format // ": the unlimited dimension")
    call file%find_var("v", v)
    call file%inq_var(v, var)
    call file%get_att("v", "quantization_nsb", bits)
    call check(bits == 9, format // ": bits that are kept")
    call check(var%filters == merge("shuffle+deflate:4", "none             ", format == "netcdf4"), format // ": filters")
    call check(var%name == "v" .and. var%type == SHOAL_DOUBLE .and. var%ndims == 3 .and. var%has_record, format // ": the variable")
    call check(all(var%dims == [x, y, time]), format // ": its dimensions, fastest first")
    if (format == "netcdf4") then
      call check(size(var%chunks) == 3, "it is chunked")
      call check(all(var%chunks == [15_int64, 2_int64, 1_int64]), "with the chunks given, fastest first")
    end if
    call file%find_var("scalar", v)
    call file%inq_var(v, var)
    call check(var%ndims == 0 .and. size(var%dims) == 0 .and. .not. var%has_record, format // ": a scalar")
    call file%close()
  end subroutine file_of_format

  subroutine packed_values(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    type(shoal_var_info) :: info
    real(real64) :: values(3)
    integer :: v
    call file%create("packed_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("x", 3)
    call file%def_var("temp", SHOAL_FLOAT, "x")
    call file%def_pack("temp", "short(-2, 35)")
    call file%put("temp", [-2.0, 20.25, 35.0])
    call file%close()
    call file%open("packed_" // format // ".nc", MPI_COMM_WORLD, settings="pack=attributes")
    call file%find_var("temp", v)
    call file%inq_var(v, info)
    call check(info%packed .and. info%type == SHOAL_SHORT, format // ": a packed variable says so")
    call file%get("temp", values)
    call check(all(abs(values - [-2d0, 20.25d0, 35d0]) < 0.0003d0), format // ": packed values come back")
    call file%close()
    call file%open("packed_" // format // ".nc", MPI_COMM_WORLD)
    call file%inq_var(v, info)
    call file%get("temp", values)
    call check(.not. info%packed .and. values(1) == -32766, format // ": without the setting the numbers do")
    call file%close()
  end subroutine packed_values

  ! Names may have blanks and commas; in a list they are in quotes then.
  subroutine names_in_quotes(format)
    character(len=*), intent(in) :: format
    type(shoal_dataset) :: file
    type(shoal_var_info) :: var
    integer :: x, y, time, v
    call file%create("names_" // format // ".nc", MPI_COMM_WORLD, format=format)
    call file%def_dim("time step", SHOAL_UNLIMITED)
    call file%def_dim("y, north", 4)
    call file%def_dim('the "x" axis', 30)
    call file%def_var("v", SHOAL_DOUBLE, '"the \"x\" axis" "y, north", "time step"')
    call file%put("v", reshape([(real(x), x=1, 120)], [30, 4]), record=1)
    call file%close()
    call file%open("names_" // format // ".nc", MPI_COMM_WORLD)
    call file%find_dim('the "x" axis', x)
    call file%find_dim("y, north", y)
    call file%find_dim("time step", time)
    call file%find_var("v", v)
    call file%inq_var(v, var)
    call check(all(var%dims == [x, y, time]), format // ": names in quotes, fastest first")
    call file%close()
  end subroutine names_in_quotes

  ! Settings come from the group &shoal of the model's own namelist file.
  subroutine namelist_group()
    type(shoal_dataset) :: file
    type(shoal_file_info) :: info
    integer :: unit, ierr
    if (rank == 0) then
      open (newunit=unit, file="model.nml", action="write", status="replace")
      write (unit, '(a)') "&model", "  dt = 5.0", "/", "&shoal", "  format = 'cdf2'", "/"
      close (unit)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call shoal_namelist("model.nml")
    call file%create("by_namelist.nc", MPI_COMM_WORLD)
    call file%inq_file(info)
    call check(info%format == "cdf2", "the namelist chooses the format")
    call file%close()
    call file%create("by_namelist.nc", MPI_COMM_WORLD, format="cdf1")
    call file%inq_file(info)
    call check(info%format == "cdf1", "an argument goes before it")
    call file%close()
    call shoal_namelist()
  end subroutine namelist_group

  include "check.inc"
end program inquiry
