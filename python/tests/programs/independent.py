# SPDX-License-Identifier: BSD-3-Clause
"""independent.py PATH FORMAT: the last rank writes cells alone, while the others wait for its message."""

import sys

import numpy as np
import pytest
from mpi4py import MPI

import shoal

path, format = sys.argv[1:]
comm = MPI.COMM_WORLD
last = comm.size - 1
with shoal.create(path, comm, format=format) as file:
    file.def_dim("time", None)
    file.def_dim("y", 4)
    file.def_dim("x", 10)
    file.def_var("v", "f4", ("time", "y", "x"))
    file.def_var("flag", bool, "x")
    file.def_var("name", "S1", "x")
    file.def_independent("v")
    with pytest.raises(shoal.StateError, match="end_define"):
        file.write_independent("flag", True)
    file.put("v", np.zeros((2, 4, 10)), 0, records=2)
    file.sync()
    if comm.rank == last:
        file.write_independent("v", np.arange(10), np.s_[0, 1])
        file.write_independent("v", np.asfortranarray(-np.arange(8.0).reshape(2, 4)), np.s_[:, :, 7])
        file.write_independent("v", 5, np.s_[1, ::2, 1:9:3])
        file.write_independent("flag", [True, False] * 5)
        file.write_independent("name", "ten letter")
        assert (file.read_independent("v", np.s_[0, 1, :6]) == np.arange(6)).all()
        out = np.zeros((2, 2), "i2")
        assert file.read_independent("v", np.s_[1, 0:3:2, 1:5:3], out=out) is out
        assert (out == 5).all()
        with pytest.raises(shoal.NotFoundError, match="index of dimension 'time' is 2"):
            file.write_independent("v", 1.0, 2)
        with pytest.raises(shoal.InvalidArgumentError, match="shape"):
            file.write_independent("v", [1.0, 2.0], np.s_[0, 0])
        with pytest.raises(shoal.RangeError, match="does not fit"):
            file.write_independent("v", [1e300, 3.0], np.s_[0, 3, 0:2])
        with pytest.raises(TypeError):
            file.write_independent("v", "text", np.s_[0, 0, 0])
    comm.Barrier()
# An error of this rank alone leaves the block at once, while the others wait for this rank.
if comm.size > 1:
    with pytest.raises(shoal.NotFoundError if comm.rank == last else ZeroDivisionError):
        with shoal.open(path, comm) as file:
            if comm.rank == last:
                file.read_independent("v", 7)
            comm.recv(source=last)
            raise ZeroDivisionError
    for rank in range(last if comm.rank == last else 0):
        comm.send("left", rank)
with shoal.open(path, comm) as file:
    v = file.read_independent("v")
    assert v.dtype == "f4" and v.shape == (2, 4, 10)
    with pytest.raises(shoal.StateError):
        file.write_independent("v", 0)
