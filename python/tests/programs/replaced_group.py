# SPDX-License-Identifier: BSD-3-Clause
"""Ranks replace values of a group that is there: replaced_group.py PATH"""

import sys

import numpy as np
import xarray as xr
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
tile = shoal.Decomposition.block(comm, {"x": 6}, split="x")
cells = tile.slices[0]
whole = np.arange(12.0).reshape(2, 6)
mine = xr.Dataset({"v": (("time", "x"), whole[:, cells], {"by": "ranks"})}, {"x": np.arange(6.0)[cells]})
last = comm.rank == comm.size - 1
try:
    wrong = mine.astype("f4") if last else mine
    shoal.to_netcdf(wrong, sys.argv[1], comm, group="g", mode="a", decomposition=tile)
except ValueError as error:
    assert "same variables" in str(error), error
else:
    raise AssertionError("not refused")
shoal.to_netcdf(mine, sys.argv[1], comm, group="g", mode="a", decomposition=tile)
