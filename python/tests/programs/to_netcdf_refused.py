# SPDX-License-Identifier: BSD-3-Clause
"""What one rank refuses, or cannot compute, comes to all: to_netcdf_refused.py FOLDER"""

import sys
from pathlib import Path

import dask.array
import numpy as np
import xarray as xr
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
folder = Path(sys.argv[1])
path = folder / "a.nc"
last = comm.rank == comm.size - 1
tile = shoal.Decomposition.block(comm, {"x": 10}, split="x")
mine = xr.Dataset({"v": ("x", np.arange(10.0)[tile.slices[0]]), "n": ("t", [1, 2])})
shoal.to_netcdf(mine.rename(v="old"), path, comm, decomposition=tile)


def refused(ds, *words, kind=Exception, **given):
    try:
        shoal.to_netcdf(ds, path, comm, **{"decomposition": tile, **given})
    except kind as error:
        assert any(word in str(error) for word in words), error
        said = comm.allgather(True)
        assert all(said)
    else:
        comm.allgather(False)
        raise AssertionError(f"not refused: {words}")
    comm.barrier()
    if comm.rank == 0:
        assert list(xr.load_dataset(path)) == ["old", "n"]
    comm.barrier()
    assert sorted(p.name for p in folder.iterdir()) == ["a.nc"], list(folder.iterdir())
    comm.barrier()


def fails(block):
    raise RuntimeError("cannot be computed") if last else None


bad = dask.array.map_blocks(
    lambda block: (_ for _ in ()).throw(RuntimeError("cannot be computed")) if last and block.size else block,
    dask.array.zeros(tile.count[0], chunks=-1), dtype="f8", meta=np.zeros(0),
)  # fmt: skip
refused(mine.assign(v=("x", bad)), "cannot be computed")
refused(mine, "nothing says which blocks", decomposition=None, kind=ValueError)
refused(mine, "encoding", encoding={"v": {"zlip": True}} if last else {}, kind=ValueError)
refused(mine.rename(v="w") if last else mine, "same variables", kind=ValueError)
refused(mine.isel(x=slice(0, 1)) if last else mine, "its block has", kind=ValueError)
refused(mine.assign_attrs(a={}) if last else mine, "attr", kind=(ValueError, TypeError))
refused(mine, "'k'", encoding={"k": {}} if last else {}, kind=ValueError)
refused(mine, "group", group="g" if last else None)
refused(mine, "mode", group="g", mode="a" if last else "w")
refused(mine, "unlimited_dims=[]", unlimited_dims=["x"], kind=NotImplementedError)
refused(mine, "'y'", split="y" if last else "x", decomposition=None, kind=ValueError)
refused(mine.drop_vars("n") if last else mine, "variables", kind=ValueError)
refused(
    mine.assign(v=mine.v.astype("i8") + 2**40),
    "cdf1",
    "safely",
    "exceed",
    "cast",
    format="cdf1",
    kind=ValueError,
)
own = shoal.Decomposition.block(None, {"x": 10})
refused(mine, "communicator", decomposition=own, kind=ValueError)
first = comm.rank == 0
refused(mine, "must give the same", decomposition=tile if first else None, kind=ValueError)
refused(mine, "must give the same", decomposition=None if first else tile, kind=ValueError)
refused(mine, "must give the same", decomposition=None, split="x" if last else None, kind=ValueError)
read = xr.open_dataset(path, engine="shoal", comm=comm, split="x")
refused(read, "must give the same", decomposition=tile if last else None, kind=ValueError)
read.close()
square = xr.Dataset({"v": (("y", "x"), np.zeros((2, 2)))})
by_y = shoal.Decomposition.block(comm, {"y": 2 * comm.size}, split="y")
by_x = shoal.Decomposition.block(comm, {"x": 2 * comm.size}, split="x")
refused(square, "other dimensions", decomposition=by_y if first else by_x, kind=ValueError)
both = shoal.Decomposition.block(comm, {"y": 2 * comm.size, "x": 2}, split="y")
refused(square, "other dimensions", decomposition=both if first else by_y, kind=ValueError)
