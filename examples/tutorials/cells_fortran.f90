! An unstructured grid: every rank has a list of cells, in any order, and two levels of each.
program cells
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: ncells = 20, nlev = 2
  type(shoal_decomposition) :: mine
  type(shoal_dataset) :: file
  integer, allocatable :: list(:)
  real, allocatable :: t(:, :), all_cells(:, :)
  integer :: rank, ranks, k, i

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (list, source=[(i, i=ncells - rank, 1, -ranks)])   ! global cells of this rank, from 1, in the order of its arrays
  mine = shoal_map(MPI_COMM_WORLD, global=[ncells], cells=list)
  allocate (t(size(list), nlev), all_cells(ncells, nlev))
  do k = 1, nlev
    t(:, k) = real(list) + 100*k
  end do

  call file%create("cells.nc", MPI_COMM_WORLD)
  call file%def_dim("cell", ncells)
  call file%def_dim("level", nlev)
  call file%def_var("t", SHOAL_FLOAT, "cell level", mine)   ! one list for all levels
  call file%write("t", t)
  call file%close()

  call file%open("cells.nc", MPI_COMM_WORLD)
  call file%get("t", all_cells)                             ! the whole variable, on every rank
  call file%close()
  do k = 1, nlev
    if (any(all_cells(:, k) /= [(real(i + 100*k), i=1, ncells)])) error stop "cells are not in order"
  end do
  call mine%free()
  call MPI_Finalize()
end program cells
