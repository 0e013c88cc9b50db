! One rank of each node serves: it stores what the others write, while these compute the next step. On 2 ranks
! or more.
program servers
  use mpi_f08
  use shoal
  implicit none
  type(MPI_Comm) :: comm
  integer :: provided

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)   ! servers store in threads of their own
  call shoal_serve(MPI_COMM_WORLD, 1, comm)             ! on a rank that serves: over when the model is done
  if (comm /= MPI_COMM_NULL) then
    call run_model(comm)
    call MPI_Comm_free(comm)
  end if
  call MPI_Finalize()                                   ! of the others: here servers go home

contains

  ! Knows nothing of the ranks that serve, but for the setting: it could stand in the environment as well.
  subroutine run_model(comm)
    type(MPI_Comm), intent(in) :: comm
    integer, parameter :: nx = 8, rows = 4, steps = 5
    type(shoal_decomposition) :: tiles
    type(shoal_dataset) :: file
    real :: zeta(nx, rows), back(nx, rows)
    integer :: rank, ranks, step

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    tiles = shoal_block(comm, global=[nx, rows*ranks], first=[1, rows*rank + 1], last=[nx, rows*(rank + 1)])
    call file%create("servers_fortran.nc", comm, settings="format=netcdf4, background=ranks")
    call file%def_dim("x", nx)
    call file%def_dim("y", rows*ranks)
    call file%def_dim("time", SHOAL_UNLIMITED)
    call file%def_var("zeta", SHOAL_FLOAT, "x y time", tiles)
    do step = 1, steps
      call compute(zeta, rank, step)
      call file%write("zeta", zeta, record=step)   ! over when zeta was copied
    end do
    call file%close()                              ! waits until all is stored

    call file%open("servers_fortran.nc", comm)
    call file%read("zeta", back, record=steps, decomposition=tiles)
    call file%close()
    call tiles%free()
    if (any(back /= zeta)) error stop "the last step came back wrong"
  end subroutine run_model

  ! What a step makes of the field of these rows; stands for a model.
  subroutine compute(zeta, rank, step)
    real, intent(out) :: zeta(:, :)
    integer, intent(in) :: rank, step
    integer :: i, j
    do j = 1, size(zeta, 2)
      do i = 1, size(zeta, 1)
        zeta(i, j) = 100*step + 10*rank + j + real(i)/size(zeta, 1)
      end do
    end do
  end subroutine compute

end program servers
