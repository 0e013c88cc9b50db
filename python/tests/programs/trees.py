# SPDX-License-Identifier: BSD-3-Clause
"""Trees whose ranks have blocks: trees.py IN FOLDER."""

import os
import sys

import numpy as np
import xarray as xr
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
source, folder = sys.argv[1:]


def path(name):
    return os.path.join(folder, name)


def fails(work, words):
    try:
        work()
    except (shoal.Error, TypeError) as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)


tree = xr.open_datatree(source, engine="shoal", comm=comm, split="x")
first, end = comm.rank * 6 // comm.size, (comm.rank + 1) * 6 // comm.size
assert tree["ocean/ice/conc"].sizes["x"] == tree["ssh"].sizes["x"] == tree.sizes["x"]
assert sum(comm.allgather(tree["ocean/temp"].sizes["x"])) == 6 and tree["land/v"].sizes["y"] == 5
shoal.to_netcdf(tree, path("again.nc"), comm)
shoal.to_netcdf(tree, path("by_thread.nc"), comm, background="thread")

ocean = xr.open_dataset(source, engine="shoal", comm=comm, split="x", group="ocean")
shoal.to_netcdf(ocean, path("group.nc"), comm, group="only/this")

# In memory: each rank has one cell more than the one before.
count = comm.rank + 1
counts = comm.allgather(count)
first = sum(counts[: comm.rank])
made = xr.DataTree.from_dict(
    {
        "/": xr.Dataset({"v": ("x", np.arange(first, first + count) * 1.0)}),
        "/a": xr.Dataset(
            {"w": (("k", "x"), np.arange(2.0 * count).reshape(2, -1)), "s": ("k", np.array(["p", "qq"]))}
        ),
        "/b": xr.Dataset({"c": ("m", np.arange(3))}),
    }
)
shoal.to_netcdf(made, path("split.nc"), comm, split="x")
block = shoal.Decomposition.block(comm, {"x": sum(counts)}, [first], [count])
shoal.to_netcdf(made, path("decomposed.nc"), comm, decomposition=block)

fails(lambda: xr.open_datatree(source, engine="shoal", comm=comm, split="q"), "'q'")
if comm.size > 1:
    fails(lambda: shoal.to_netcdf(xr.DataTree(made["b"].to_dataset()), path("no.nc"), comm), "which blocks")
    other = xr.DataTree.from_dict(
        {"/a": made["a"].to_dataset()} if comm.rank else {"/b": made["a"].to_dataset()}
    )
    fails(lambda: shoal.to_netcdf(other, path("no.nc"), comm, split="x"), "groups")
    assert not os.path.exists(path("no.nc"))
    # What one rank alone gives, or gives wrongly.
    for alone in (0, comm.size - 1):
        mine = comm.rank == alone
        given = {"decomposition": block} if mine else {"split": "x"}
        fails(lambda given=given: shoal.to_netcdf(made, path("no.nc"), comm, **given), "must give the same")
        given = {"decomposition": block} if mine else {}
        fails(lambda given=given: shoal.to_netcdf(tree, path("no.nc"), comm, **given), "must give the same")
        given = {"split": 3 if mine else "x"}
        fails(lambda given=given: shoal.to_netcdf(made, path("no.nc"), comm, **given), "int")
    assert not os.path.exists(path("no.nc"))
