"""Commit three records, write two more, and be killed: killed.py PATH FORMAT"""

import os
import signal
import sys

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
path, kind = sys.argv[1:]
cut = shoal.Decomposition.block(comm, {"y": 300, "x": 400}, split=("y", "x"))
file = shoal.create(path, comm, format=kind)
file.def_var("time", "f8", record="time")
file.def_var("v", "f8", cut, record="time")
for record in range(5):
    file.put("time", float(record) if comm.rank == 0 else None, record)
    file.write("v", np.full([s.stop - s.start for s in cut.slices], float(record)), record)
    if record < 3:
        file.sync()
comm.Barrier()
os.kill(os.getpid(), signal.SIGKILL)
