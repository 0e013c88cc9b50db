! Masks: logicals, integers and reals of any kind, with and without halo, of blocks and maps; land gets the fill value in
! the file, and stays as it is in the array, or gets the fill value there too (read_masked).
! Saved and loaded; water points alone in a dimension of their own.
program masks
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  use mpi
  use shoal
  implicit none
  integer, parameter :: nx = 9, ny = 8, nz = 2
  real(real64), parameter :: land_value = -9.0_real64
  integer :: rank, ranks, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call blocks()
  call maps()
  call points()
  call refused()
  call finish()

contains

  logical function water(i, j)
    integer, intent(in) :: i, j
    water = mod(i*i + 3*j, 4) /= 1
  end function water

  real(real64) function value(i, j, k)
    integer, intent(in) :: i, j, k
    value = land_value
    if (water(i, j)) value = i + 100*j + 10000*k
  end function value

  subroutine blocks()
    type(shoal_decomposition) :: rho, masked(5)
    type(shoal_dataset) :: his
    real(real64), allocatable :: temp(:, :, :), back(:, :, :)
    logical, allocatable :: mask(:, :)
    integer :: first(2), last(2), i, j, k, form
    call tiles(nx, ny, first, last)
    rho = shoal_block(MPI_COMM_WORLD, [nx, ny], first, last, halo_low=[2, 1], halo_high=[1, 1])
    allocate (temp(first(1) - 2:last(1) + 1, first(2) - 1:last(2) + 1, nz))
    allocate (mask(first(1) - 2:last(1) + 1, first(2) - 1:last(2) + 1))
    allocate (back, mold=temp)
    mask = .true.
    do j = first(2), last(2)
      do i = first(1), last(1)
        mask(i, j) = water(i, j)
      end do
    end do
    masked(1) = rho%masked(mask)
    masked(2) = rho%masked(mask(first(1):last(1), first(2):last(2)))
    masked(3) = rho%masked(merge(1_int8, 0_int8, mask))
    masked(4) = rho%masked(merge(0.5_real32, 0.0_real32, mask))
    masked(5) = rho%masked(merge(1, 0, mask(first(1):last(1), first(2):last(2))))
    do form = 1, size(masked)
      call his%create("masks.nc", MPI_COMM_WORLD)
      call his%def_dim("x", nx)
      call his%def_dim("y", ny)
      call his%def_dim("z", nz)
      call his%def_var("temp", SHOAL_DOUBLE, "x y z", masked(form))
      call his%def_fill("temp", land_value)
      temp = 1e30_real64
      do k = 1, nz
        do j = first(2), last(2)
          do i = first(1), last(1)
            if (water(i, j)) temp(i, j, k) = value(i, j, k)
          end do
        end do
      end do
      call his%write("temp", temp)
      call his%close()
      call his%open("masks.nc", MPI_COMM_WORLD)
      back = 0
      call his%read("temp", back, decomposition=masked(form))
      call check(all([(((back(i, j, k) == merge(value(i, j, k), 0.0_real64, water(i, j)), &
          i=max(1, first(1) - 2), min(nx, last(1) + 1)), &
          j=max(1, first(2) - 1), min(ny, last(2) + 1)), k=1, nz)]), "land of tile and halo stays as it is")
      call his%read("temp", back, decomposition=rho)
      call check(all([(((back(i, j, k) == value(i, j, k), i=max(1, first(1) - 2), min(nx, last(1) + 1)), &
          j=max(1, first(2) - 1), min(ny, last(2) + 1)), k=1, nz)]), "land is filled, and read without a mask")
      call his%close()
      call his%open("masks.nc", MPI_COMM_WORLD, settings="read_masked=fill")
      back = 0
      call his%read("temp", back, decomposition=masked(form))
      call his%close()
      call check(all([(((back(i, j, k) == value(i, j, k), i=max(1, first(1) - 2), min(nx, last(1) + 1)), &
          j=max(1, first(2) - 1), min(ny, last(2) + 1)), k=1, nz)]), "land gets the fill value where that is asked for")
      call masked(form)%free()
    end do
    call rho%free()
  end subroutine blocks

  subroutine maps()
    type(shoal_decomposition) :: columns, masked
    type(shoal_dataset) :: file
    integer, allocatable :: cells(:), t(:)
    integer :: i
    cells = [0, (i, i=rank + 1, 40, ranks)]
    columns = shoal_map(MPI_COMM_WORLD, [40], cells)
    masked = columns%masked(mod(cells, 3) /= 0)
    call file%create("masks.nc", MPI_COMM_WORLD)
    call file%def_dim("ncol", 40)
    call file%def_var("t", SHOAL_INT, "ncol", masked)
    call file%def_fill("t", -1)
    call file%write("t", cells)
    call file%close()
    call file%open("masks.nc", MPI_COMM_WORLD)
    allocate (t(size(cells)))
    t = 0
    call file%read("t", t, decomposition=columns)
    call check(all(t == merge(-1, cells, mod(cells, 3) == 0 .and. cells > 0)), "a mask of a list")
    t = 7
    call file%read("t", t, decomposition=masked)
    call check(all(t == merge(7, cells, mod(cells, 3) == 0)), "land and holes of a list stay as they are")
    call file%close()
    call said()
    call masked%free()
    call columns%free()
  end subroutine maps

  ! Without a fill value of its own the file says which one land has.
  subroutine said()
    type(shoal_decomposition) :: columns, masked
    type(shoal_dataset) :: file
    integer, allocatable :: cells(:)
    real(real32) :: fill
    integer :: i
    cells = [(i, i=rank + 1, 40, ranks)]
    columns = shoal_map(MPI_COMM_WORLD, [40], cells)
    masked = columns%masked(mod(cells, 3) /= 0)
    call file%create("masks.nc", MPI_COMM_WORLD)
    call file%def_dim("ncol", 40)
    call file%def_var("t", SHOAL_FLOAT, "ncol", masked)
    call file%write("t", real(cells, real32))
    call file%close()
    call file%open("masks.nc", MPI_COMM_WORLD)
    fill = 0
    call file%get_att("t", "_FillValue", fill)
    call file%close()
    call check(fill > 9.96e36_real32 .and. fill < 9.97e36_real32, "_FillValue says what land is")
    call masked%free()
    call columns%free()
  end subroutine said

  ! Water points alone: the list counts from 0 and in C order, so x is the fastest.
  subroutine points()
    type(shoal_decomposition) :: rho, masked, loaded
    type(shoal_dataset) :: his
    real(real64), allocatable :: temp(:, :, :), back(:, :, :)
    logical, allocatable :: mask(:, :)
    integer, allocatable :: list(:), expected(:)
    real(real64), allocatable :: columns(:, :)
    integer :: first(2), last(2), i, j, k, stat
    character(len=400) :: message
    call tiles(nx, ny, first, last)
    rho = shoal_block(MPI_COMM_WORLD, [nx, ny], first, last, halo_low=[1, 1], halo_high=[1, 1])
    allocate (temp(first(1):last(1), first(2):last(2), nz), mask(first(1):last(1), first(2):last(2)))
    allocate (back(first(1) - 1:last(1) + 1, first(2) - 1:last(2) + 1, nz))
    do j = first(2), last(2)
      do i = first(1), last(1)
        mask(i, j) = water(i, j)
        do k = 1, nz
          temp(i, j, k) = merge(value(i, j, k), 1e30_real64, water(i, j))
        end do
      end do
    end do
    masked = rho%masked(mask)
    call masked%save("masks_map.nc")
    loaded = shoal_load(MPI_COMM_WORLD, "masks_map.nc")
    expected = pack([((i - 1 + nx*(j - 1), i=1, nx), j=1, ny)], [((water(i, j), i=1, nx), j=1, ny)])
    call his%create("masks.nc", MPI_COMM_WORLD)
    call his%def_dim("x", nx)
    call his%def_dim("y", ny)
    call his%def_dim("z", nz)
    call his%def_gathered("nothing", "x y", rho, stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "mask") > 0, "no mask: "//trim(message))
    call his%def_gathered("nothing", "y x", masked, stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "dimension 'x'") > 0, "other order: "//trim(message))
    call his%def_gathered("point", "x y", loaded)
    call his%def_var("temp", SHOAL_DOUBLE, "point z", loaded)
    call his%def_fill("temp", land_value)
    call his%write("temp", temp)
    call his%close()
    call his%open("masks.nc", MPI_COMM_WORLD)
    allocate (list(size(expected)), columns(size(expected), nz))
    call his%get("point", list)
    call his%get("temp", columns)
    back = 7
    call his%read("temp", back, decomposition=rho)
    call his%close()
    call check(all(list == expected), "the list of water points")
    call check(all([((columns(i, k) == value(mod(list(i), nx) + 1, list(i)/nx + 1, k), i=1, size(list)), k=1, nz)]), &
        "values of water points")
    call check(all([(((back(i, j, k) == value(i, j, k), i=max(1, first(1) - 1), min(nx, last(1) + 1)), &
        j=max(1, first(2) - 1), min(ny, last(2) + 1)), k=1, nz)]), "water points are read to full grids")
    call loaded%free()
    call masked%free()
    call rho%free()
  end subroutine points

  subroutine refused()
    type(shoal_decomposition) :: rho, masked
    integer :: stat
    character(len=400) :: message
    rho = shoal_block(MPI_COMM_WORLD, [4, ranks], [1, rank + 1], [4, rank + 1])
    masked = rho%masked(reshape([1, 1, 1], [3, 1]), stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "3x1") > 0 .and. index(message, "4x1") > 0, &
        "a mask of another shape: "//trim(message))
    masked = rho%masked("land", stat=stat, errmsg=message)
    call check(stat /= SHOAL_OK, "text is no mask: "//trim(message))
    ! Wrong on the last rank alone: the others hear why, too.
    if (rank == ranks - 1) then
      masked = rho%masked(reshape([(1.0, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0)], [4, 1]), stat=stat, errmsg=message)
    else
      masked = rho%masked(reshape([1, 1, 1, 1], [4, 1]), stat=stat, errmsg=message)
    end if
    call check(stat /= SHOAL_OK .and. index(message, "complex") > 0, "a complex mask: "//trim(message))
    call rho%free()
    masked = rho%masked([1], stat=stat, errmsg=message)
    call check(stat == SHOAL_INVALID_ARGUMENT .and. index(message, "decomposition") > 0, "what was freed: "//trim(message))
  end subroutine refused

  include "check.inc"
end program masks
