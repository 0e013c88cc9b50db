! What the pages by symptom show in Fortran: indices as values, and a disk that may be full.
program mistakes
  use mpi_f08
  use shoal
  implicit none
  integer, parameter :: nx = 8, ny = 12
  type(shoal_decomposition) :: rho
  type(shoal_dataset) :: his
  real, allocatable :: test(:, :)
  integer :: rank, ranks, i, j, istr, iend, jstr, jend, stat
  character(len=200) :: message

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  istr = 1
  iend = nx
  jstr = 1 + ny*rank/ranks
  jend = ny*(rank + 1)/ranks
  rho = shoal_block(MPI_COMM_WORLD, global=[nx, ny], first=[istr, jstr], last=[iend, jend])
  allocate (test(istr:iend, jstr:jend))

  call his%create("mistakes.nc", MPI_COMM_WORLD)
  call his%def_dim("x", nx)
  call his%def_dim("y", ny)
  call his%def_dim("time", SHOAL_UNLIMITED)
  call his%def_var("test", SHOAL_FLOAT, "x y time", rho)

  do j = jstr, jend
    do i = istr, iend
      test(i, j) = real(i + 1000*j)
    end do
  end do

  call his%write("test", test(istr:iend, jstr:jend), record=1)
  call his%sync(stat=stat, errmsg=message)
  if (stat == SHOAL_NO_SPACE) then
    ! The file is as at the last sync. Make room and write this record again, or close and stop.
    if (rank == 0) print '(a)', trim(message)
  else if (stat /= SHOAL_OK) then
    error stop "sync failed"
  end if
  call his%close()
  call rho%free()
  call MPI_Finalize()
end program mistakes
