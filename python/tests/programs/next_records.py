# SPDX-License-Identifier: BSD-3-Clause
"""Steps appended with shoal.NEXT; what one rank refuses all get, and no step is left under way."""

import sys

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
path = sys.argv[1]
tile = shoal.Decomposition.block(comm, {"x": 10}, split="x")
with shoal.create(path, comm, format="netcdf4") as file:
    file.def_var("time", "f8", record="time")
    file.def_var("v", "f8", tile, record="time")
    for step in range(3):
        file.put("time", step, shoal.NEXT)
        file.write("v", np.full(tile.shape, step), shoal.NEXT)
        assert file.num_records == step + 1
with shoal.open(path, comm, mode="r+") as file:
    assert file.num_records == 3
    file.put("time", 3.0, shoal.NEXT)
    wrong = comm.rank == comm.size - 1
    try:
        file.write("v", np.ones(77 if wrong else tile.shape), shoal.NEXT, decomposition=tile)
        file.sync()
    except ValueError:
        pass
    else:
        raise AssertionError("no error")
    assert file.num_records == 4, file.num_records
    file.put("time", 4.0, shoal.NEXT)
    file.write("v", np.full(tile.shape, 4), shoal.NEXT, decomposition=tile)
    assert file.num_records == 5
    file.put("time", np.arange(6.0) if comm.rank == 0 else None)
    try:
        file.num_records  # noqa: B018
    except shoal.StateError as error:
        assert "sync" in str(error)
    else:
        raise AssertionError("ranks do not know yet")
    file.sync()
    assert file.num_records == 6
    assert (file.read("v", -2, decomposition=tile) == 4).all()
    try:
        file.read("v", -7, decomposition=tile)
    except IndexError:
        pass
    else:
        raise AssertionError("there are 6")
