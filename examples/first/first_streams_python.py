"""A model sends a field after each step of six hours; the configuration asks for the means of days."""

import numpy as np
from mpi4py import MPI

import shoal

DAILY = """
[[file]]
name = "first_streams_python.nc"
every = "1 day"
operation = "mean"
fields = ["zeta"]
"""

comm = MPI.COMM_WORLD
shoal.abort_on_error()  # what nobody catches is printed once, and stops all ranks
tiles = shoal.Decomposition.block(comm, {"y": 4 * comm.size, "x": 8}, split=("y",))

with shoal.Streams.open(DAILY, comm, calendar="noleap", start="2001-01-01") as streams:
    streams.grid("sea", tiles)
    streams.field("zeta", "f4", tiles.dims, grid="sea", attrs={"units": "m"})
    for step in range(1, 9):
        zeta = np.full(tiles.shape, step, "f4")
        streams.advance(21600 * step)  # the clock first: the step ends here
        streams.send("zeta", zeta)

# The second day has steps 5 to 8.
with shoal.open("first_streams_python.nc", comm) as file:
    mean = file.read("zeta", record=1, decomposition=tiles)
    bounds = file.get("time_bounds", record=1)
assert (mean == 6.5).all()
assert bounds[1] == 2 * bounds[0] > 0
