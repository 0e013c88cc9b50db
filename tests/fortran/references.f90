! A reference over a file, and what is refused.
program references
  use mpi_f08
  use shoal
  implicit none
  type(shoal_decomposition) :: rows
  type(shoal_dataset) :: file
  real :: values(5, 2)
  integer :: rank, ranks, stat
  logical :: there
  character(len=200) :: message

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  rows = shoal_block(MPI_COMM_WORLD, global=[5, 2*ranks], first=[1, 2*rank + 1], last=[5, 2*rank + 2])
  values = real(rank)
  call file%create("references.nc", MPI_COMM_WORLD, settings="layout=process", format="netcdf4")
  call file%def_dim("x", 5)
  call file%def_dim("y", 2*ranks)
  call file%def_var("a", SHOAL_FLOAT, "x y", rows)
  call file%write("a", values)
  call file%close()
  if (rank == 0) then
    call shoal_write_reference("references.nc", "references.json")
    inquire (file="references.json", exist=there)
    if (.not. there) error stop "there is no reference"
    call shoal_write_master("references.nc", "references_master.nc")
    call shoal_write_reference("nothing.nc", "nothing.json", stat=stat, errmsg=message)
    if (stat /= SHOAL_NOT_FOUND) error stop "a file that is not there has a reference"
    if (index(message, "nothing.nc") == 0) error stop "the message names no file"
    inquire (file="nothing.json", exist=there)
    if (there) error stop "what failed left a file"
    there = .true.
    call shoal_recover("references_master.nc", there)
    if (there) error stop "a file that was closed has something to finish"
    call shoal_recover("nothing.nc", stat=stat, errmsg=message)
    if (stat /= SHOAL_NOT_FOUND) error stop "a file that is not there is finished"
  end if
  call MPI_Barrier(MPI_COMM_WORLD)
  values = -1
  call file%open("references_master.nc", MPI_COMM_WORLD)
  call file%read("a", values, decomposition=rows)
  call file%close()
  if (any(values /= real(rank))) error stop "the master gives other values"
  call rows%free()
  call MPI_Finalize()
end program references
