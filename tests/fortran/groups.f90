! Names in groups: dimensions, fields, attributes, other names, and what is listed.
program groups
  use mpi
  use shoal
  implicit none
  integer, parameter :: nx = 13, nz = 2
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call write_and_read()
  call refused()
  call finish()

contains

  subroutine write_and_read()
    type(shoal_decomposition) :: cells
    type(shoal_dataset) :: file
    type(shoal_group_info) :: group
    type(shoal_var_info) :: info
    type(shoal_dim_info) :: dim
    real, allocatable :: a(:, :), b(:, :)
    character(len=5) :: title
    integer :: first, last, i, k, n, found, stat
    call cut(nx, ranks, rank, first, last)
    cells = shoal_block(MPI_COMM_WORLD, [nx, nz], [first, 1], [last, nz])
    call file%create("fortran_groups.nc", MPI_COMM_WORLD, format="netcdf4")
    call file%def_dim("x", nx)
    call file%def_dim("ocean/z", nz)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("ocean/temp", SHOAL_FLOAT, "x z time", decomposition=cells)
    call file%def_var("/ocean/ice/level", SHOAL_INT, "z")
    call file%def_group("empty")
    call file%put_att("ocean", "title", "water")
    call file%put_att("empty/", "n", 7)
    call file%num_groups(n)
    call check(n == 3, "three groups")
    allocate (a(first:last, nz))
    do k = 1, 2
      a = reshape([((real(i + 100 * n + 1000 * k), i=first, last), n=1, nz)], shape(a))
      call file%write("ocean/temp", a, record=k)
    end do
    call file%put("ocean/ice/level", [5, 6])
    call file%rename_var("ocean/ice/level", "depth")
    call file%rename_group("empty", "hollow")
    call file%rename_group("ocean", "ice", stat=stat)
    call check(stat == SHOAL_OK, "another name for a group")
    call file%rename_group("/ice", "/ocean")
    call file%rename_group("ocaen", "x", stat=stat)
    call check(stat == SHOAL_NOT_FOUND, "no group to rename")
    call file%close()

    call file%open("fortran_groups.nc", MPI_COMM_WORLD)
    call file%inq_group(2, group)
    call check(group%name == "ocean/ice" .and. group%attributes == 0, "the second group")
    call file%find_group("/ocean", found)
    call file%inq_group(found, group)
    call check(found == 1 .and. group%name == "ocean" .and. group%attributes == 1, "the group of a name")
    call file%find_group("ocaen", found, stat=stat)
    call check(stat == SHOAL_NOT_FOUND .and. found == 0, "no such group")
    call file%get_att("ocean", "title", title)
    call check(title == "water", "an attribute of a group")
    call file%get_att("hollow", "n", n)
    call check(n == 7, "an attribute of an empty group with another name")
    call file%find_var("ocean/temp", found)
    call file%inq_var(found, info)
    call file%inq_dim(info%dims(2), dim)
    call check(info%name == "ocean/temp" .and. dim%name == "ocean/z", "paths of names")
    allocate (b(first:last, nz))
    call file%read("ocean/temp", b, record=2, decomposition=cells)
    call check(all(a == b), "values of a group")
    call file%find_var("ocean/ice/depth", found)
    call check(found > 0, "another name in a group")
    call file%close()
  end subroutine write_and_read

  subroutine refused()
    type(shoal_dataset) :: file
    integer :: n, stat
    call file%create("fortran_groups.nc", MPI_COMM_WORLD, format="cdf5")
    call file%def_dim("ocean/z", nz, stat=stat)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. index(shoal_error_message(), "cdf5 has no groups") > 0, "a name")
    call file%def_group("ocean", stat=stat)
    call check(stat == SHOAL_NOT_SUPPORTED, "a group")
    call file%close()
    call file%num_groups(n, stat=stat)
    call check(stat == SHOAL_STATE .or. stat == SHOAL_INVALID_ARGUMENT, "a closed file")
  end subroutine refused

  include "check.inc"
end program groups
