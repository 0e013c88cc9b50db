"""An unstructured grid: every rank has a list of cells, in any order, and two levels of each."""

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
ncells, nlev = 20, 2
# The global cells of this rank, in the order of its arrays.
cells = np.arange(ncells)[comm.rank :: comm.size][::-1]
mine = shoal.Decomposition.map(comm, {"cell": ncells}, cells)
t = cells + 100.0 * np.arange(nlev)[:, None]

with shoal.create("cells_python.nc", comm) as file:
    file.def_dim("level", nlev)
    file.def_dim("cell", ncells)
    file.def_var("t", "f4", ("level", "cell"), mine)  # one list for all levels
    file.write("t", t)

with shoal.open("cells_python.nc", comm) as file:
    everywhere = file.get("t")  # the whole variable, on every rank
assert (everywhere == np.arange(ncells) + 100.0 * np.arange(nlev)[:, None]).all()
