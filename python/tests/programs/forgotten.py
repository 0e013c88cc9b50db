"""Nobody closes the file: the program ends, and all is in it."""

import sys

import numpy as np
import numpy.ma  # else what imports it first keeps all variables of the script for longer
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
tiles = shoal.Decomposition.block(comm, {"y": 3, "x": 4}, split=("y", "x"))
file = shoal.create(sys.argv[1], comm)
file.def_var("v", "f8", tiles, record="time")
file.write("v", np.full(tiles.shape, 7.0), 0)
file.sync()
file.write("v", np.full(tiles.shape, 8.0), 1)
