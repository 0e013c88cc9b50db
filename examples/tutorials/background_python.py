"""Output in the background: threads compress and store while the model computes."""

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD  # mpi4py starts MPI so that there may be threads
rows = shoal.Decomposition.block(comm, {"y": 64, "x": 64}, split=("y",))

settings = {"format": "netcdf4", "background": "thread", "stage_bytes": "64MiB"}
with shoal.create("background_python.nc", comm, **settings) as file:
    file.def_var("temp", "f4", rows, record="time")
    file.def_compression("temp", "shuffle+deflate:1")
    file.def_quantize("temp", "bitround:9")  # lossy; leave it out to keep all bits
    for step in range(4):
        temp = np.full(rows.shape, 15.0 + np.sin(step))  # the model computes
        file.write("temp", temp, record=step)  # over when the cells are in shared memory
# Leaving the block closes the file, which waits until all is stored.

with shoal.open("background_python.nc", comm) as file:
    temp = file.read("temp", record=3, decomposition=rows)
assert abs(temp - (15.0 + np.sin(3))).max() <= 16 * 2.0**-10
