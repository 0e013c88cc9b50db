"""Nobody closes the streams: the program ends, and all is in the file."""

import sys

import numpy as np
import numpy.ma  # else what imports it first keeps all variables of the script for longer
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
tiles = shoal.Decomposition.block(comm, {"y": 3, "x": 4}, split=("y", "x"))
streams = shoal.Streams.open(
    f'[[file]]\nname = "{sys.argv[1]}/a.nc"\nevery = "1 day"\noperation = "mean"\nfields = ["temp"]\n',
    comm,
    start="2001-01-01",
)
streams.grid("sea", tiles)
streams.field("temp", "f8", tiles.dims, "sea")
for step in range(1, 5):
    streams.advance(21600 * step)
    streams.send("temp", np.full(tiles.shape, float(step)))
