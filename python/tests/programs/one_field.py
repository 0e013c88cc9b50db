"""Write one field in tiles, count the writes: one_field.py PATH NX NY NZ TX TY RANKS_PER_NODE"""

import sys

import numpy as np
from mpi4py import MPI

import shoal
from shoal.explanation import Tiles

comm = MPI.COMM_WORLD
path = sys.argv[1]
nx, ny, nz, tx, ty, node = map(int, sys.argv[2:])
cells = Tiles((nx, ny, nz), (tx, ty), 4).tile(comm.rank)[::-1]
tiles = shoal.Decomposition.block(
    comm, {"z": nz, "y": ny, "x": nx}, [c.start for c in cells], [len(c) for c in cells]
)
with shoal.create(path, comm, format="cdf5", ranks_per_node=node) as file:
    file.def_var("field", "f4", tiles)
    file.sync()
    before = file.report
    file.write("field", np.ones(tiles.shape, "f4"))
    file.sync()
    after = file.report
    change = [after["counts"][key] - before["counts"][key] for key in ("writes", "bytes_written")]
    total = comm.allreduce(np.array(change))
    if comm.rank == 0:
        print("writes", *total, "stage", after["stage"]["bytes"], flush=True)
