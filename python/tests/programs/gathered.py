"""Active points alone, against netCDF4-python, written from full grids and read back: gathered.py FOLDER"""

import os
import sys

import netCDF4
import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
path = os.path.join(sys.argv[1], "water.nc")
other = os.path.join(sys.argv[1], "foreign.nc")

grid = {"lat": 11, "lon": 17}
world = np.random.default_rng(3).random((11, 17)) > 0.4  # True: water
points = np.flatnonzero(world)
field = np.arange(2 * 3 * 11 * 17.0).reshape(2, 3, 11, 17)
full = np.where(world, field, -1.0)
ocean = shoal.Decomposition.block(comm, grid, split=("lat", "lon"), halo=1)
rows, columns = ocean.slices
masked = ocean.masked(world[rows, columns])

for form in ("cdf5", "netcdf4"):
    with shoal.create(path, comm, format=form) as data:
        data.def_dim("lev", 3)
        data.def_gathered("water", masked)
        data.def_var("t", "f4", "lev water", masked, record="time", fill=-1.0)
        for record in range(2):
            data.write("t", field[record][:, rows, columns], record=record)
    if comm.rank == 0:
        with netCDF4.Dataset(path) as plain:
            assert plain["water"].compress == "lat lon" and plain["water"].dtype == np.int32
            np.testing.assert_array_equal(plain["water"][:], points)
            np.testing.assert_array_equal(plain["t"][:], field.reshape(2, 3, -1)[:, :, points])
    with shoal.open(path, comm) as data:
        for record in range(2):
            np.testing.assert_array_equal(
                data.read("t", record=record, decomposition=ocean), full[record][:, rows, columns]
            )
            around = data.read("t", record=record, halo=True, decomposition=ocean)
            np.testing.assert_array_equal(around[(slice(None), *ocean.inner)], full[record][:, rows, columns])
        mine = np.arange(comm.rank, 11 * 17, comm.size)
        scattered = shoal.Decomposition.map(comm, grid, mine)
        np.testing.assert_array_equal(
            data.read("t", record=1, decomposition=scattered), full[1].reshape(3, -1)[:, mine]
        )

# Somebody else's file, its list in another order.
order = np.random.default_rng(4).permutation(points)
if comm.rank == 0:
    with netCDF4.Dataset(other, "w") as plain:
        for name, length in grid.items():
            plain.createDimension(name, length)
        plain.createDimension("landpoint", len(order))
        plain.createVariable("landpoint", "i8", ("landpoint",)).compress = "lat lon"
        plain["landpoint"][:] = order
        plain.createVariable("v", "f8", ("landpoint",), fill_value=-1.0)[:] = field[0, 0].ravel()[order]
comm.barrier()
with shoal.open(other, comm) as data:
    np.testing.assert_array_equal(data.read("v", decomposition=ocean), full[0, 0][rows, columns])
