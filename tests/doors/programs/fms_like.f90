! A global ocean model's diagnostics, as FMS writes them with parallel netCDF: I/O domains, each with files of its own
! on its part of the ranks, an unlimited axis, chunks and compression, collective access; a restart by the root of each
! domain without a communicator; and one file of all ranks beside them.
!   fms_like FOLDER
program fms_like
  use mpi
  use netcdf
  use lines_of_ranks
  implicit none
  integer, parameter :: ni = 24, nj = 18, nk = 6     ! of the whole grid

  ! A file that several ranks write: a part of the rows, cut in columns.
  type :: output
    integer :: ncid, comm, rows(2), thetao, area, wet, time, bounds, first(2), last(2)
  end type output

  character(len=:), allocatable :: folder
  character(len=4) :: suffix
  integer :: domains, domain, io_comm, io_rank, io_ranks, ierr, rows(2), rec
  type(output) :: month, ice, daily

  call begin(folder)
  domains = min(2, ranks)
  domain = rank * domains / ranks
  call MPI_Comm_split(MPI_COMM_WORLD, domain, rank, io_comm, ierr)
  call MPI_Comm_rank(io_comm, io_rank, ierr)
  call MPI_Comm_size(io_comm, io_ranks, ierr)
  call part_of(nj, domains, domain, rows(1), rows(2))
  write (suffix, '(i4.4)') domain

  ! Three files are open at a time, and the domains write different numbers of records.
  month = created('ocean_month.nc.' // suffix, io_comm, rows)
  daily = created('ocean_daily.nc', MPI_COMM_WORLD, [1, nj])
  ice = created('ice_month.nc.' // suffix, io_comm, rows)
  do rec = 1, 2
    call put_record(daily, rec)
    call put_record(month, rec)
  end do
  do rec = 3, 3 + domain
    call put_record(month, rec)
    call put_record(ice, rec - 2)
    call needs(nf90_sync(ice%ncid), 'sync')
  end do
  call put_record(daily, 3)
  call needs(nf90_close(ice%ncid), 'close')
  call needs(nf90_close(month%ncid), 'close')
  call needs(nf90_close(daily%ncid), 'close')
  if (io_rank == 0) call write_restart('ocean.res.nc.' // suffix)

  call read_back('ocean_month.nc.' // suffix, io_comm, rows, 3 + domain)
  call read_back('ice_month.nc.' // suffix, io_comm, rows, 1 + domain)
  call read_back('ocean_daily.nc', MPI_COMM_WORLD, [1, nj], 3)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call combine()
  call MPI_Comm_free(io_comm, ierr)
  call finish()

contains

  elemental real(r8) function value_of(rec, i, j, k)
    integer, intent(in) :: rec, i, j, k
    value_of = rec * 4096 + k * 512 + j * 25 + i * 0.25_r8
  end function value_of

  type(output) function created(name, comm, rows) result(file)
    character(len=*), intent(in) :: name
    integer, intent(in) :: comm, rows(2)
    integer :: xt, yt, zt, nv, time, id, all_of, mine, count_rows
    file%comm = comm
    file%rows = rows
    call MPI_Comm_size(comm, all_of, ierr)
    call MPI_Comm_rank(comm, mine, ierr)
    call part_of(ni, all_of, mine, file%first(1), file%last(1))
    count_rows = rows(2) - rows(1) + 1
    call needs(nf90_create(folder // '/' // name, ior(nf90_netcdf4, ior(nf90_mpiio, nf90_clobber)), file%ncid, &
      comm=comm, info=MPI_INFO_NULL), name)
    call needs(nf90_put_att(file%ncid, nf90_global, 'NumFilesInSet', domains), 'NumFilesInSet')
    call needs(nf90_put_att(file%ncid, nf90_global, 'filename', name), 'filename')
    call needs(nf90_def_dim(file%ncid, 'time', nf90_unlimited, time), 'time')
    call needs(nf90_def_dim(file%ncid, 'nv', 2, nv), 'nv')
    call needs(nf90_def_dim(file%ncid, 'xt_ocean', ni, xt), 'xt')
    call needs(nf90_def_dim(file%ncid, 'yt_ocean', count_rows, yt), 'yt')
    call needs(nf90_def_dim(file%ncid, 'st_ocean', nk, zt), 'zt')
    call define_axis(file%ncid, 'xt_ocean', xt, 'X', [1, ni, 1, ni])
    call define_axis(file%ncid, 'yt_ocean', yt, 'Y', [1, nj, rows(1), rows(2)])
    call needs(nf90_def_var(file%ncid, 'st_ocean', nf90_double, [zt], id), 'st')
    call needs(nf90_def_var(file%ncid, 'time', nf90_double, [time], file%time), 'time')
    call needs(nf90_put_att(file%ncid, file%time, 'units', 'days since 1900-01-01'), 'units')
    call needs(nf90_put_att(file%ncid, file%time, 'calendar', 'noleap'), 'calendar')
    call needs(nf90_def_var(file%ncid, 'time_bnds', nf90_double, [nv, time], file%bounds), 'time_bnds')
    call needs(nf90_def_var(file%ncid, 'thetao', nf90_float, [xt, yt, zt, time], file%thetao, &
      chunksizes=[ni / 2, 3, 2, 1], shuffle=.true., deflate_level=3), 'thetao')
    call needs(nf90_put_att(file%ncid, file%thetao, 'missing_value', -1e20), 'missing_value')
    call needs(nf90_put_att(file%ncid, file%thetao, '_FillValue', -1e20), '_FillValue')
    call needs(nf90_put_att(file%ncid, file%thetao, 'cell_methods', 'time: mean'), 'cell_methods')
    call needs(nf90_def_var(file%ncid, 'areacello', nf90_float, [xt, yt], file%area, contiguous=.true.), 'area')
    call needs(nf90_def_var(file%ncid, 'wet', nf90_short, [xt, yt], file%wet, chunksizes=[5, 4], &
      deflate_level=1), 'wet')
    call needs(nf90_enddef(file%ncid), 'enddef')
    file%first(2) = 1
    file%last(2) = count_rows
    call put_axes(file)
  end function created

  subroutine define_axis(ncid, name, dim, axis, decomposition)
    integer, intent(in) :: ncid, dim, decomposition(4)
    character(len=*), intent(in) :: name, axis
    integer :: id
    call needs(nf90_def_var(ncid, name, nf90_double, [dim], id), name)
    call needs(nf90_put_att(ncid, id, 'cartesian_axis', axis), 'cartesian_axis')
    call needs(nf90_put_att(ncid, id, 'domain_decomposition', decomposition), 'domain_decomposition')
  end subroutine define_axis

  ! Axes by all ranks, fields that do not change in tiles; one of these in memory as (row, column).
  subroutine put_axes(file)
    type(output), intent(in) :: file
    integer :: id, i, j, k, mask(file%last(2), file%first(1):file%last(1))
    real :: area(file%first(1):file%last(1), file%last(2))
    call needs(nf90_inq_varid(file%ncid, 'xt_ocean', id), 'xt')
    call needs(nf90_var_par_access(file%ncid, id, nf90_collective), 'access')
    call needs(nf90_put_var(file%ncid, id, [(i - 0.5_r8, i=1, ni)]), 'xt')
    call needs(nf90_inq_varid(file%ncid, 'yt_ocean', id), 'yt')
    call needs(nf90_var_par_access(file%ncid, id, nf90_collective), 'access')
    call needs(nf90_put_var(file%ncid, id, [(j - 0.5_r8, j=file%rows(1), file%rows(2))]), 'yt')
    call needs(nf90_inq_varid(file%ncid, 'st_ocean', id), 'st')
    call needs(nf90_put_var(file%ncid, id, [(10._r8 * k, k=1, nk)]), 'st')
    forall (i=file%first(1):file%last(1), j=1:file%last(2)) area(i, j) = i + 0.5 * (j + file%rows(1))
    call needs(nf90_var_par_access(file%ncid, file%area, nf90_collective), 'access')
    call needs(nf90_put_var(file%ncid, file%area, area, start=file%first, count=extents(file)), 'area')
    forall (i=file%first(1):file%last(1), j=1:file%last(2)) mask(j, i) = mod(i + j, 3)
    call needs(nf90_var_par_access(file%ncid, file%wet, nf90_collective), 'access')
    call needs(nf90_put_var(file%ncid, file%wet, mask, start=file%first, count=extents(file), &
      map=[file%last(2), 1]), 'wet')
  end subroutine put_axes

  function extents(file)
    type(output), intent(in) :: file
    integer :: extents(2)
    extents = file%last - file%first + 1
  end function extents

  subroutine put_record(file, rec)
    type(output), intent(in) :: file
    integer, intent(in) :: rec
    real :: tile(file%first(1):file%last(1), file%last(2), nk)
    integer :: i, j, k
    forall (i=file%first(1):file%last(1), j=1:file%last(2), k=1:nk)
      tile(i, j, k) = real(value_of(rec, i, j + file%rows(1) - 1, k))
    end forall
    call needs(nf90_var_par_access(file%ncid, file%time, nf90_collective), 'access')
    call needs(nf90_var_par_access(file%ncid, file%bounds, nf90_collective), 'access')
    call needs(nf90_var_par_access(file%ncid, file%thetao, nf90_collective), 'access')
    call needs(nf90_put_var(file%ncid, file%thetao, tile, start=[file%first, 1, rec], &
      count=[extents(file), nk, 1]), 'thetao')
    call needs(nf90_put_var(file%ncid, file%time, rec - 0.5_r8, start=[rec]), 'time')
    call needs(nf90_put_var(file%ncid, file%bounds, [rec - 1._r8, real(rec, r8)], start=[1, rec], count=[2, 1]), &
      'time_bnds')
  end subroutine put_record

  ! By one rank, without a communicator.
  subroutine write_restart(name)
    character(len=*), intent(in) :: name
    integer :: ncid, x, y, id, i, j
    call needs(nf90_create(folder // '/' // name, ior(nf90_64bit_offset, nf90_clobber), ncid), name)
    call needs(nf90_def_dim(ncid, 'xaxis_1', ni, x), 'xaxis_1')
    call needs(nf90_def_dim(ncid, 'yaxis_1', rows(2) - rows(1) + 1, y), 'yaxis_1')
    call needs(nf90_def_var(ncid, 'eta', nf90_double, [x, y], id), 'eta')
    call needs(nf90_enddef(ncid), 'enddef')
    call needs(nf90_put_var(ncid, id, reshape([((i + 100._r8 * j, i=1, ni), j=rows(1), rows(2))], &
      [ni, rows(2) - rows(1) + 1])), 'eta')
    call needs(nf90_close(ncid), 'close')
  end subroutine write_restart

  subroutine read_back(name, comm, rows, records)
    character(len=*), intent(in) :: name
    integer, intent(in) :: comm, rows(2), records
    integer :: ncid, id, time, length, level, chunks(4), wrong, rec, i, j, k, first, last, all_of, mine, height
    logical :: shuffle, contiguous
    real(r8), allocatable :: found(:, :, :)
    call MPI_Comm_size(comm, all_of, ierr)
    call MPI_Comm_rank(comm, mine, ierr)
    height = rows(2) - rows(1) + 1
    call part_of(ni, all_of, all_of - 1 - mine, first, last)   ! the part that another rank wrote
    call needs(nf90_open(folder // '/' // name, ior(nf90_nowrite, nf90_mpiio), ncid, comm=comm, &
      info=MPI_INFO_NULL), name)
    call needs(nf90_inq_dimid(ncid, 'time', time), 'time')
    call needs(nf90_inquire_dimension(ncid, time, len=length), 'records')
    call needs(nf90_inq_varid(ncid, 'thetao', id), 'thetao')
    call needs(nf90_inquire_variable(ncid, id, contiguous=contiguous, chunksizes=chunks, deflate_level=level, &
      shuffle=shuffle), 'thetao')
    call say(name(1:index(name, '.')) // 'nc: records, deflate level, shuffle', text_of([length, level]) // &
      ' ' // text_of(shuffle))
    call say(name(1:index(name, '.')) // 'nc: chunks', text_of(chunks))
    call check(length == records, name // ': records')
    call needs(nf90_var_par_access(ncid, id, nf90_collective), 'access')
    allocate (found(first:last, height, nk))
    wrong = 0
    do rec = 1, records
      call needs(nf90_get_var(ncid, id, found, start=[first, 1, 1, rec], &
        count=[last - first + 1, height, nk, 1]), 'thetao')
      wrong = wrong + count([(((found(i, j, k) /= value_of(rec, i, j + rows(1) - 1, k), i=first, last), &
        j=1, height), k=1, nk)])
    end do
    call say(name(1:index(name, '.')) // 'nc: wrong cells, first', text_of(wrong) // ' ' // &
      text_of([found(first, 1, 1)]))
    call check(wrong == 0, name)
    call needs(nf90_close(ncid), 'close')
  end subroutine read_back

  ! Rank 0 alone reads the files of all domains, as the program that combines them does.
  subroutine combine()
    integer :: d, ncid, id, first, last, wet(ni, nj)
    real(r8) :: eta(ni, nj)
    character(len=4) :: suffix
    wet = -1
    eta = -1
    if (rank == 0) then
      do d = 0, domains - 1
        write (suffix, '(i4.4)') d
        call part_of(nj, domains, d, first, last)
        call needs(nf90_open(folder // '/ocean_month.nc.' // suffix, nf90_nowrite, ncid), 'open')
        call needs(nf90_inq_varid(ncid, 'wet', id), 'wet')
        call needs(nf90_get_var(ncid, id, wet(:, first:last)), 'wet')
        call needs(nf90_close(ncid), 'close')
        call needs(nf90_open(folder // '/ocean.res.nc.' // suffix, nf90_nowrite, ncid), 'open')
        call needs(nf90_inq_varid(ncid, 'eta', id), 'eta')
        call needs(nf90_get_var(ncid, id, eta(:, first:last)), 'eta')
        call needs(nf90_close(ncid), 'close')
      end do
      call check(all(wet >= 0 .and. wet <= 2) .and. wet(1, 1) == 2, 'wet')
      call check(eta(ni, nj) == ni + 100 * nj, 'eta')
    end if
    call say('combined', text_of([sum(wet)]) // ' ' // text_of([sum(eta)]))
  end subroutine combine

end program fms_like
