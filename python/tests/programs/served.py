"""Ranks that serve and ranks that compute: served.py PATH."""

import sys

import numpy as np
from mpi4py import MPI

import shoal

world = MPI.COMM_WORLD
path = sys.argv[1]

try:
    shoal.serve(world, world.size)
    raise AssertionError("somebody must compute")
except shoal.InvalidArgumentError as error:
    assert "compute" in str(error), error

for servers in range(1, min(3, world.size)):
    comm = shoal.serve(world, servers)
    assert (comm is None) == (world.rank >= world.size - servers)
    if comm is None:
        continue
    assert comm.size == world.size - servers
    cut = shoal.Decomposition.block(comm, {"x": 5 * comm.size}, first=[5 * comm.rank], count=[5])
    file = shoal.create(path, comm, background="ranks", format="netcdf4", compression="deflate:1")
    file.def_dim("time", None)
    file.def_dim("x", 5 * comm.size)
    file.def_var("v", "f8", ("time", "x"), decomposition=cut)
    for record in range(3):
        file.write("v", 100.0 * record + 5 * comm.rank + np.arange(5), record=record)
    try:
        shoal.stop_serving()
        raise AssertionError("a dataset is open")
    except shoal.StateError as error:
        assert "close" in str(error), error
    file.close()
    shoal.stop_serving()
    comm.Free()

# Each rank says what it does: the first two serve, one component each.
try:
    shoal.serve_components(world, 0)
    raise AssertionError("somebody must serve")
except shoal.InvalidArgumentError as error:
    assert "that serve" in str(error), error
try:
    shoal.serve_components(world, -1 if world.rank == 0 else 0)
    raise AssertionError("-1 is no component")
except shoal.InvalidArgumentError as error:
    assert "no component" in str(error), error
if world.size >= 4:
    component = None if world.rank < 2 else world.rank % 2
    comm = shoal.serve_components(world, component)
    assert (comm is None) == (component is None)
    if comm is not None:
        cut = shoal.Decomposition.block(comm, {"x": 5 * comm.size}, first=[5 * comm.rank], count=[5])
        file = shoal.create(f"{path}.{component}", comm, background="ranks", format="cdf5")
        file.def_dim("x", 5 * comm.size)
        file.def_var("v", "f8", ("x",), decomposition=cut)
        file.write("v", 1000.0 * component + 5 * comm.rank + np.arange(5))
        file.close()
        shoal.stop_serving()
        comm.Free()
world.Barrier()
