"""A bug on one rank, inside of a with block, while the others wait at the end of it."""

import sys

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
tiles = shoal.Decomposition.block(comm, {"y": 6, "x": 8}, split=("y", "x"))
with shoal.create(sys.argv[1], comm) as file:
    file.def_var("v", "f8", tiles)
    file.write("v", np.ones(tiles.shape))
    if comm.rank == 1:
        raise ValueError("bug on rank 1")
