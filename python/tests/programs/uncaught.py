"""An exception that nobody catches: uncaught.py shoal|own|one|exit FOLDER, without `-m mpi4py`."""

import sys

from mpi4py import MPI

import shoal

what, folder = sys.argv[1:]
comm = MPI.COMM_WORLD.Dup()  # one that Shoal is not called with otherwise
shoal.abort_on_error(comm)
if what == "own" or (what == "one" and comm.rank == comm.size - 1):
    raise ValueError("the grid has no cells\nin grid.nc")
if what == "one":
    comm.Barrier()
if what == "exit":
    sys.exit("all is said")
shoal.open(f"{folder}/no_such.nc", comm)
