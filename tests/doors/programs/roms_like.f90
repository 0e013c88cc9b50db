! A regional ocean model's history file, as ROMS writes it with parallel netCDF: tiles of fields with halos, access set
! variable by variable, scalars and coordinates by all ranks, redefinition between records, records appended later.
!   roms_like FOLDER [netcdf4 | cdf2 | cdf5]     cdf2, cdf5: 77 is the exit code of a netCDF without PnetCDF
program roms_like
  use mpi
  use netcdf
  use lines_of_ranks
  implicit none
  integer, parameter :: Lm = 21, Mm = 13, N = 5   ! interior points, levels
  real(r8), parameter :: spval = 1e37_r8
  integer, parameter :: fields = 5, zeta = 1, u = 2, v = 3, temp = 4, salt = 5
  character(len=4), parameter :: names(fields) = ['zeta', 'u   ', 'v   ', 'temp', 'salt']
  character(len=:), allocatable :: folder, path
  character(len=16) :: format
  integer :: Istr, Iend, Jstr, Jend      ! this tile's interior
  integer :: ncid, status, mode, rec, time_dim, length
  integer :: xi_rho, eta_rho, xi_u, eta_v, s_rho, axes(4)

  call begin(folder)
  call make_tiles()
  format = 'netcdf4'
  if (command_argument_count() > 1) call get_command_argument(2, format)
  path = folder // '/roms_his_' // trim(format) // '.nc'
  select case (format)
  case ('netcdf4')
    mode = ior(nf90_netcdf4, nf90_mpiio)
  case ('cdf2')
    mode = ior(nf90_64bit_offset, nf90_mpiio)
  case default
    mode = ior(nf90_64bit_data, nf90_mpiio)
  end select
  status = nf90_create(path, ior(mode, nf90_clobber), ncid, comm=MPI_COMM_WORLD, info=MPI_INFO_NULL)
  call say('create', text_of(status))
  if (status /= nf90_noerr .and. format /= 'netcdf4') then
    call MPI_Finalize(status)
    stop 77
  end if
  call needs(status, 'creation')
  call define()
  call write_grid()
  do rec = 1, 2
    call write_record(rec, temp)
  end do
  call redefine()
  call write_record(3, salt)
  call needs(nf90_sync(ncid), 'sync')
  call master_alone()
  call needs(nf90_close(ncid), 'close')

  call needs(nf90_open(path, nf90_write, ncid, comm=MPI_COMM_WORLD, info=MPI_INFO_NULL), 'opening to write')
  call needs(nf90_inquire(ncid, unlimiteddimid=time_dim), 'unlimited dimension')
  call needs(nf90_inquire_dimension(ncid, time_dim, len=length), 'its length')
  call say('records before the restart', text_of(length))
  call write_record(length + 1, salt)
  call needs(nf90_close(ncid), 'close')

  call needs(nf90_open(path, nf90_nowrite, ncid, comm=MPI_COMM_WORLD, info=MPI_INFO_NULL), 'opening to read')
  call read_back()
  call needs(nf90_close(ncid), 'close')
  call finish()

contains

  ! Tiles of nearly equal size, the first dimension first.
  subroutine make_tiles()
    integer :: tiles(2), ierr
    tiles = 0
    call MPI_Dims_create(ranks, 2, tiles, ierr)
    call part_of(Lm, tiles(1), mod(rank, tiles(1)), Istr, Iend)
    call part_of(Mm, tiles(2), rank / tiles(1), Jstr, Jend)
  end subroutine make_tiles

  ! The points of a field that this tile writes, with those of the domain's edge: rho points begin at 0, u points at
  ! 1 in xi, v points at 1 in eta.
  subroutine bounds(field, Imin, Imax, Jmin, Jmax)
    integer, intent(in) :: field
    integer, intent(out) :: Imin, Imax, Jmin, Jmax
    Imin = merge(0, Istr, Istr == 1 .and. field /= u)
    Imax = merge(Lm + 1, Iend, Iend == Lm)
    Jmin = merge(0, Jstr, Jstr == 1 .and. field /= v)
    Jmax = merge(Mm + 1, Jend, Jend == Mm)
  end subroutine bounds

  ! A value that is its place, exactly also in single precision.
  elemental real(r8) function value_of(field, rec, i, j, k)
    integer, intent(in) :: field, rec, i, j, k
    value_of = real(i + 32 * (j + 16 * (k + 8 * (rec + 8 * field))), r8) - 70000
  end function value_of

  ! The field in the tile with its halo of two points, which holds what must not be written.
  subroutine fill_tile(field, rec, tile)
    integer, intent(in) :: field, rec
    real(r8), allocatable, intent(out) :: tile(:, :, :)
    integer :: i, j, k, Imin, Imax, Jmin, Jmax
    allocate (tile(Istr-2:Iend+2, Jstr-2:Jend+2, N))
    tile = -spval
    call bounds(field, Imin, Imax, Jmin, Jmax)
    do k = 1, N
      do j = Jmin, Jmax
        do i = Imin, Imax
          tile(i, j, k) = value_of(field, rec, i, j, k)
        end do
      end do
    end do
  end subroutine fill_tile

  subroutine define()
    integer :: id, f
    call needs(nf90_def_dim(ncid, 'xi_rho', Lm + 2, xi_rho), 'xi_rho')
    call needs(nf90_def_dim(ncid, 'xi_u', Lm + 1, xi_u), 'xi_u')
    call needs(nf90_def_dim(ncid, 'eta_rho', Mm + 2, eta_rho), 'eta_rho')
    call needs(nf90_def_dim(ncid, 'eta_v', Mm + 1, eta_v), 'eta_v')
    call needs(nf90_def_dim(ncid, 's_rho', N, s_rho), 's_rho')
    call needs(nf90_def_dim(ncid, 'ocean_time', nf90_unlimited, time_dim), 'ocean_time')
    call needs(nf90_put_att(ncid, nf90_global, 'title', 'Wind-driven upwelling'), 'title')
    call needs(nf90_put_att(ncid, nf90_global, 'tiling', [Lm, Mm, N]), 'tiling')
    call needs(nf90_def_var(ncid, 'ntimes', nf90_int, id), 'ntimes')
    call needs(nf90_put_att(ncid, id, 'long_name', 'number of long time-steps'), 'long_name')
    call needs(nf90_def_var(ncid, 'dt', nf90_double, id), 'dt')
    call needs(nf90_put_att(ncid, id, 'units', 'second'), 'units')
    call needs(nf90_def_var(ncid, 'spherical', nf90_char, id), 'spherical')
    call needs(nf90_def_var(ncid, 'Cs_r', nf90_double, [s_rho], id), 'Cs_r')
    call needs(nf90_put_att(ncid, id, 'valid_range', [-1._r8, 0._r8]), 'valid_range')
    call needs(nf90_def_var(ncid, 'h', nf90_double, [xi_rho, eta_rho], id), 'h')
    call needs(nf90_def_var(ncid, 'mask_rho', nf90_byte, [xi_rho, eta_rho], id), 'mask_rho')
    call needs(nf90_put_att(ncid, id, 'flag_values', [0, 1]), 'flag_values')
    call needs(nf90_def_var(ncid, 'ocean_time', nf90_double, [time_dim], id), 'ocean_time')
    call needs(nf90_put_att(ncid, id, 'units', 'seconds since 2000-01-01 00:00:00'), 'units')
    do f = zeta, temp
      call define_field(f)
    end do
    call needs(nf90_enddef(ncid), 'enddef')
  end subroutine define

  subroutine define_field(field)
    integer, intent(in) :: field
    integer :: id
    axes = [merge(xi_u, xi_rho, field == u), merge(eta_v, eta_rho, field == v), s_rho, time_dim]
    if (field == zeta) then
      call needs(nf90_def_var(ncid, trim(names(field)), nf90_float, axes([1, 2, 4]), id), names(field))
    else
      call needs(nf90_def_var(ncid, trim(names(field)), nf90_float, axes, id), names(field))
    end if
    call needs(nf90_put_att(ncid, id, '_FillValue', real(spval)), '_FillValue')
    call needs(nf90_put_att(ncid, id, 'time', 'ocean_time'), 'time')
    call needs(nf90_put_att(ncid, id, 'field', trim(names(field)) // ', scalar, series'), 'field')
  end subroutine define_field

  integer function id_of(name) result(id)
    character(len=*), intent(in) :: name
    call needs(nf90_inq_varid(ncid, trim(name), id), 'variable ' // name)
    call needs(nf90_var_par_access(ncid, id, nf90_collective), 'access of ' // name)
  end function id_of

  ! Scalars and coordinates by all ranks; the depth with one point more on each side, which neighbours write, too.
  subroutine write_grid()
    integer :: i, j, k, Imin, Imax, Jmin, Jmax, mask(0:Lm+1, 0:Mm+1)
    real(r8) :: h(-1:Lm+2, -1:Mm+2)
    call needs(nf90_put_var(ncid, id_of('ntimes'), 1440), 'ntimes')
    call needs(nf90_put_var(ncid, id_of('dt'), 300.5_r8), 'dt')
    call needs(nf90_put_var(ncid, id_of('spherical'), 'F'), 'spherical')
    call needs(nf90_put_var(ncid, id_of('Cs_r'), [(-(k - 0.5_r8) / N, k=N, 1, -1)], start=[1], count=[N]), 'Cs_r')
    h = -spval
    forall (i=0:Lm+1, j=0:Mm+1) h(i, j) = i + 100 * j
    Imin = max(0, Istr - 1)
    Imax = min(Lm + 1, Iend + 1)
    Jmin = max(0, Jstr - 1)
    Jmax = min(Mm + 1, Jend + 1)
    call needs(nf90_put_var(ncid, id_of('h'), h(Imin:Imax, Jmin:Jmax), start=[Imin + 1, Jmin + 1], &
      count=[Imax - Imin + 1, Jmax - Jmin + 1]), 'h')
    forall (i=0:Lm+1, j=0:Mm+1) mask(i, j) = merge(0, 1, j > Mm)
    call bounds(zeta, Imin, Imax, Jmin, Jmax)
    call needs(nf90_put_var(ncid, id_of('mask_rho'), mask(Imin:Imax, Jmin:Jmax), start=[Imin + 1, Jmin + 1], &
      count=[Imax - Imin + 1, Jmax - Jmin + 1]), 'mask_rho')
  end subroutine write_grid

  ! A record of all fields up to `last`.
  subroutine write_record(rec, last)
    integer, intent(in) :: rec, last
    real(r8), allocatable :: tile(:, :, :)
    integer :: f, Imin, Imax, Jmin, Jmax
    call needs(nf90_put_var(ncid, id_of('ocean_time'), [rec * 3600._r8], start=[rec], count=[1]), 'ocean_time')
    do f = 1, last
      call fill_tile(f, rec, tile)
      call bounds(f, Imin, Imax, Jmin, Jmax)
      if (f == zeta) then
        call needs(nf90_put_var(ncid, id_of(names(f)), tile(Imin:Imax, Jmin:Jmax, 1), &
          start=[index_of(f, Imin, 1), index_of(f, Jmin, 2), rec], &
          count=[Imax - Imin + 1, Jmax - Jmin + 1, 1]), names(f))
      else
        call needs(nf90_put_var(ncid, id_of(names(f)), tile(Imin:Imax, Jmin:Jmax, :), &
          start=[index_of(f, Imin, 1), index_of(f, Jmin, 2), 1, rec], &
          count=[Imax - Imin + 1, Jmax - Jmin + 1, N, 1]), names(f))
      end if
    end do
  end subroutine write_record

  ! The place in the file, from 1, of point `i` along dimension `d`.
  integer function index_of(field, i, d)
    integer, intent(in) :: field, i, d
    index_of = i + merge(0, 1, (d == 1 .and. field == u) .or. (d == 2 .and. field == v))
  end function index_of

  ! A variable and an attribute more, which the records before do not have.
  subroutine redefine()
    call needs(nf90_redef(ncid), 'redef')
    call needs(nf90_put_att(ncid, nf90_global, 'history', 'restarted with salt'), 'history')
    call needs(nf90_put_att(ncid, nf90_global, 'title', 'Upwelling'), 'title')
    call define_field(salt)
    call needs(nf90_enddef(ncid), 'enddef')
  end subroutine redefine

  ! What one rank writes without the others.
  subroutine master_alone()
    integer :: id
    if (format == 'netcdf4') then
      call needs(nf90_inq_varid(ncid, 'ntimes', id), 'ntimes')
      call needs(nf90_var_par_access(ncid, id, nf90_independent), 'independent access')
      if (rank == 0) call needs(nf90_put_var(ncid, id, 2880), 'ntimes by the master')
    end if
  end subroutine master_alone

  subroutine read_back()
    integer :: rec, f, id, number, dims, atts, i
    real(r8) :: dt, times(4), levels(N)
    character(len=1) :: spherical
    character(len=80) :: text
    call needs(nf90_inquire(ncid, nvariables=number, ndimensions=dims, nattributes=atts), 'inquiry')
    call say('variables, dimensions, attributes', text_of([number, dims, atts]))
    text = ''
    call needs(nf90_get_att(ncid, nf90_global, 'history', text), 'history')
    call say('history', trim(text))
    call needs(nf90_get_var(ncid, id_of('ntimes'), number), 'ntimes')
    call say('ntimes', text_of(number))
    call needs(nf90_get_var(ncid, id_of('dt'), dt), 'dt')
    call needs(nf90_get_var(ncid, id_of('spherical'), spherical), 'spherical')
    call needs(nf90_get_var(ncid, id_of('Cs_r'), levels), 'Cs_r')
    call needs(nf90_get_var(ncid, id_of('ocean_time'), times, start=[1], count=[4]), 'ocean_time')
    call say('dt, spherical, Cs_r(1)', text_of([dt]) // ' ' // spherical // ' ' // text_of(levels(1:1)))
    call say('ocean_time', text_of(times))
    call check(all(times == [(i * 3600._r8, i=1, 4)]), 'ocean_time')
    call read_depth()
    do f = 1, fields
      call needs(nf90_inq_varid(ncid, trim(names(f)), id), names(f))
      do rec = 1, 4
        call read_record(f, rec)
      end do
    end do
  end subroutine read_back

  ! The tile and its halo, from what other ranks wrote.
  subroutine read_depth()
    real(r8) :: h(0:Lm+1, 0:Mm+1)
    integer :: i, j, Imin, Imax, Jmin, Jmax
    logical :: good
    Imin = max(0, Istr - 2)
    Imax = min(Lm + 1, Iend + 2)
    Jmin = max(0, Jstr - 2)
    Jmax = min(Mm + 1, Jend + 2)
    h = -1
    call needs(nf90_get_var(ncid, id_of('h'), h(Imin:Imax, Jmin:Jmax), start=[Imin + 1, Jmin + 1], &
      count=[Imax - Imin + 1, Jmax - Jmin + 1]), 'h')
    good = all([((h(i, j) == i + 100 * j, i=Imin, Imax), j=Jmin, Jmax)])
    call say('depth with halo is right', text_of(good))
    call check(good, 'h')
  end subroutine read_depth

  subroutine read_record(field, rec)
    integer, intent(in) :: field, rec
    real(r8), allocatable :: wanted(:, :, :), found(:, :, :)
    integer :: Imin, Imax, Jmin, Jmax, levels, wrong
    levels = merge(1, N, field == zeta)
    call fill_tile(field, rec, wanted)
    if (field == salt .and. rec < 3) wanted = real(spval)
    call bounds(field, Imin, Imax, Jmin, Jmax)
    allocate (found(Imin:Imax, Jmin:Jmax, levels))
    if (field == zeta) then
      call needs(nf90_get_var(ncid, id_of(names(field)), found(:, :, 1), &
        start=[index_of(field, Imin, 1), index_of(field, Jmin, 2), rec], &
        count=[Imax - Imin + 1, Jmax - Jmin + 1, 1]), names(field))
    else
      call needs(nf90_get_var(ncid, id_of(names(field)), found, &
        start=[index_of(field, Imin, 1), index_of(field, Jmin, 2), 1, rec], &
        count=[Imax - Imin + 1, Jmax - Jmin + 1, N, 1]), names(field))
    end if
    wrong = count(found /= wanted(Imin:Imax, Jmin:Jmax, 1:levels))
    call say(trim(names(field)) // ', record ' // text_of(rec) // ': cells, wrong cells, first value', &
      text_of([size(found), wrong]) // ' ' // text_of([found(Imin, Jmin, 1)]))
    call check(wrong == 0, names(field) // ', record ' // text_of(rec))
  end subroutine read_record

end program roms_like
