! An atmosphere on scattered columns: every rank owns a list of them, and 5 levels of each. Three records of the
! temperature, and the surface pressure, go to one file; the list is saved beside it, and another run of this
! program (on any number of ranks) goes on from both.
program columns
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi
  use shoal
  implicit none
  integer, parameter :: ncol = 96, nlev = 5
  type(shoal_decomposition) :: mine, again
  type(shoal_dataset) :: his
  integer(int64), allocatable :: list(:), found(:)
  real, allocatable :: t(:, :), ps(:), t_again(:, :)
  integer :: rank, ranks, i, k, step, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)

  ! Columns dealt out in an order that has nothing to do with their place in the file.
  list = pack([(int(i, int64), i=1, ncol)], [(mod(7 * i, ranks) == rank, i=1, ncol)])
  list = list(size(list):1:-1)
  allocate (t(size(list), nlev), ps(size(list)))
  mine = shoal_map(MPI_COMM_WORLD, [ncol], list)

  call his%create("columns.nc", MPI_COMM_WORLD)
  call his%def_dim("time", SHOAL_UNLIMITED)
  call his%def_dim("lev", nlev)
  call his%def_dim("ncol", ncol)
  call his%def_var("t", SHOAL_FLOAT, "ncol lev time", mine)   ! all levels with one list of columns
  call his%def_var("ps", SHOAL_FLOAT, "ncol time", mine)
  do step = 1, 3
    do k = 1, nlev
      t(:, k) = real(list) + 1000 * k + 0.25 * step
    end do
    ps = real(list) + 0.5 * step
    call his%write("t", t, record=step)
    call his%write("ps", ps, record=step)
  end do
  call his%close()
  call mine%save("columns_map.nc")
  call mine%free()

  again = shoal_load(MPI_COMM_WORLD, "columns_map.nc")
  call again%cells(found)   ! which columns this rank has now
  allocate (t_again(size(found), nlev))
  call his%open("columns.nc", MPI_COMM_WORLD)
  call his%read("t", t_again, record=3, decomposition=again)
  call his%close()
  do k = 1, nlev
    if (any(t_again(:, k) /= real(found) + 1000 * k + 0.75)) error stop "columns came back wrong"
  end do
  call again%free()
  call MPI_Finalize(ierr)
end program columns
