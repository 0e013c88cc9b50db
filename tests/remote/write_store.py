# SPDX-License-Identifier: BSD-3-Clause
"""Writes records of a store, and says after which ones it committed.

write_store.py URL FIRST RECORDS KEY=VALUE..."""

import sys

import numpy as np
from mpi4py import MPI

import shoal

url, first, records = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
settings = dict(one.split("=", 1) for one in sys.argv[4:])
comm = MPI.COMM_WORLD
shape = {"z": 3, "y": 40, "x": 50}
tile = shoal.Decomposition.block(comm, shape, split=("y", "x"))


def values(record):
    return np.arange(6000, dtype="f8").reshape(3, 40, 50) + 10000.0 * record


if first == 0:
    file = shoal.create(url, comm, quiet=True, **settings)
    file.def_var("time", "f8", record="time", attrs={"units": "days since 2000-01-01"})
    for name, dtype in (("temp", "f4"), ("plain", "f8")):
        file.def_var(name, dtype, tile, record="time", chunks=(1, 1, 20, 25))
    file.def_compression("temp", "zstd:1")
else:
    file = shoal.open(url, comm, mode="r+", quiet=True, **settings)
for record in range(first, first + records):
    file.put("time", float(record), record=record)
    mine = values(record)[tile.slices]
    file.write("temp", mine.astype("f4"), record=record, decomposition=tile)
    file.write("plain", mine, record=record, decomposition=tile)
    file.sync()
    if comm.rank == 0:
        print("committed", record, flush=True)
file.close()
