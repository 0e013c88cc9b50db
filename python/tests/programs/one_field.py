"""Write one field in tiles, count the writes: one_field.py PATH NX NY NZ TX TY RANKS_PER_NODE [BACKGROUND]

With BACKGROUND ranks the last rank serves."""

import sys

import numpy as np
from mpi4py import MPI

import shoal
from shoal.explanation import Tiles

path = sys.argv[1]
nx, ny, nz, tx, ty, node = map(int, sys.argv[2:8])
background = sys.argv[8] if len(sys.argv) > 8 else "off"
comm = shoal.serve(MPI.COMM_WORLD, 1) if background == "ranks" else MPI.COMM_WORLD
if comm is None:
    sys.exit()
settings = {"format": "cdf5", "ranks_per_node": node}
if background != "off":
    settings |= {"background": background, "stage_bytes": "16MiB", "fill": False}
cells = Tiles((nx, ny, nz), (tx, ty), 4).tile(comm.rank)[::-1]
tiles = shoal.Decomposition.block(
    comm, {"z": nz, "y": ny, "x": nx}, [c.start for c in cells], [len(c) for c in cells]
)
with shoal.create(path, comm, report=f"{path}.json", **settings) as file:
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
