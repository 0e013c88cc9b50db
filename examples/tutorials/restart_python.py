"""A model that goes on from its restart file, on any number of ranks. Run it twice: on 4 ranks, then on 3."""

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
rows = shoal.Decomposition.block(comm, {"y": 10, "x": 12}, split=("y",), halo={"y": 1})
here = np.arange(10)[rows.slices[0]]

try:
    with shoal.open("restart_python.nc", comm) as file:
        step = int(file.attributes["step"])
        u = file.read("u", halo=True, decomposition=rows)  # this run's tiles; the halo comes with them
    assert (u[rows.inner] == 100 * step + here[:, None]).all()
except FileNotFoundError:
    step = 0
    u = np.zeros(rows.halo_shape)

step += 1  # the model's time step
u[rows.inner] = 100 * step + here[:, None]

# The old file stays until the new one is whole.
with shoal.create("restart_python.nc", comm, format="netcdf4") as file:
    file.def_var("u", "f8", rows)
    file.put_att(None, "step", step)
    file.write("u", u)
if comm.rank == 0:
    print("step", step, "on", comm.size, "ranks")
