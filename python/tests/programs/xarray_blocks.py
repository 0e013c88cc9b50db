"""Each rank's block of a file through xarray: xarray_blocks.py PATH"""

import sys

import numpy as np
import xarray as xr
from mpi4py import MPI

comm = MPI.COMM_WORLD
path = sys.argv[1]
with (
    xr.open_dataset(path, engine="shoal") as whole,
    xr.open_dataset(path, engine="shoal", comm=comm, split=("y", "x")) as mine,
):
    cells = comm.allreduce(mine.sizes["y"] * mine.sizes["x"])
    assert cells == 30, cells
    assert mine.sizes["time"] == 4
    # The block lies where its coordinates say.
    if mine.sizes["x"] and mine.sizes["y"]:
        x = mine.x.values.astype(int)
        y = (mine.lon.values[:, 0] // 6).astype(int)
        expected = whole.isel(x=slice(x[0], x[-1] + 1), y=slice(y[0], y[-1] + 1))
        xr.testing.assert_identical(mine.load(), expected.load())
        # Reading is nobody's business but this rank's.
        if comm.rank == 0:
            mine.zeta.isel(time=-1, y=0).load()
    total = comm.allreduce(float(np.nansum(mine.zeta.values)))
    assert np.isclose(total, float(np.nansum(whole.zeta.values)))
