"""Every rank owns a tile of a field and writes it, three records, to one NetCDF file."""

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
shoal.abort_on_error()  # what nobody catches is printed once, and stops all ranks
tiles = shoal.Decomposition.block(comm, {"y": 4 * comm.size, "x": 8}, split=("y",))

with shoal.create("first_python.nc", comm, format="netcdf4") as file:
    file.def_var("zeta", "f4", tiles, record="time", attrs={"units": "m"})
    for step in range(3):
        zeta = np.full(tiles.shape, 10 * comm.rank + step, "f4")
        file.write("zeta", zeta, record=step)

with shoal.open("first_python.nc", comm) as file:
    last = file.read("zeta", record=2, decomposition=tiles)
assert (last == 10 * comm.rank + 2).all()
