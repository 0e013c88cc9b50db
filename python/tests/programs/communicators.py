"""Two halves of the ranks write a file each at the same time; then all together: communicators.py FOLDER"""

import os
import sys

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
half = comm.Split(comm.rank % 2, comm.rank)
path = os.path.join(sys.argv[1], f"half{comm.rank % 2}.nc")
tiles = shoal.Decomposition.block(half, {"y": 4, "x": 6}, split="x")
with shoal.create(path, half, format=("cdf5", "netcdf4")[comm.rank % 2]) as file:
    file.def_var("v", "i4", tiles)
    file.write("v", np.full(tiles.shape, comm.rank))
half.Free()
comm.barrier()
for other in range(2):
    with shoal.open(os.path.join(sys.argv[1], f"half{other}.nc"), comm) as file:
        assert set(file.get("v").ravel()) == {other, other + 2}
with shoal.open(path) as file:  # alone
    assert file.get("v").shape == (4, 6)
