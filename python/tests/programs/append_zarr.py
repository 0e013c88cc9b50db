"""Adds three records to a store that xarray made, and opens it anew for each: append_zarr.py STORE"""

import sys

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
cut = shoal.Decomposition.block(comm, {"y": 10, "x": 12}, split=("y", "x"))
for record in 5, 6, 7:
    values = (np.arange(120).reshape(10, 12) / 4 + record)[cut.slices]
    with shoal.open(sys.argv[1], comm, mode="r+", quiet=True) as file:
        days = int((np.datetime64("2001-01-01") - np.datetime64("1990-01-01")) / np.timedelta64(1, "D"))
        file.put("time", 24 * (days + record), record)
        file.put("time_bnds", [record, record + 1.0], record)
        file.write("temp", values.astype("f4"), record, decomposition=cut)
        file.write("packed", values.astype("f4"), record, decomposition=cut)
