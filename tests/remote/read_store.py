# SPDX-License-Identifier: BSD-3-Clause
"""Reads all of a dataset, each rank its tile, and keeps what they have in a file of NumPy.

read_store.py URL OUT"""

import sys

import numpy as np
from mpi4py import MPI

import shoal

url, out = sys.argv[1], sys.argv[2]
comm = MPI.COMM_WORLD
tile = shoal.Decomposition.block(comm, {"z": 3, "y": 40, "x": 50}, split=("y", "x"))
values = {}
with shoal.open(url, comm) as file:
    values["time"] = np.atleast_1d(file.get("time"))
    for name in ("temp", "plain"):
        records = [file.read(name, decomposition=tile, record=r) for r in range(len(values["time"]))]
        parts = comm.gather((tile.slices, records))
        if comm.rank == 0:
            whole = np.empty((len(records), 3, 40, 50), file.variables[name].dtype)
            for where, mine in parts:
                for record, part in enumerate(mine):
                    whole[record][where] = part
            values[name] = whole
if comm.rank == 0:
    np.savez(out, **values)
