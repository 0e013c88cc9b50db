# SPDX-License-Identifier: BSD-3-Clause
"""boxes.py PATH FORMAT: each rank writes boxes of its own, that overlap those of others, and reads some."""

import sys

import numpy as np
import pytest
from mpi4py import MPI

import shoal

path, format = sys.argv[1:]
comm = MPI.COMM_WORLD
rank, last = comm.rank, comm.size - 1
with shoal.create(path, comm, format=format) as file:
    file.def_dim("time", None)
    file.def_dim("y", comm.size)
    file.def_dim("x", 10)
    file.def_var("v", "f4", ("time", "y", "x"))
    file.def_var("t", "f8", "time")
    file.def_var("line", "i4", "x")
    for record in range(3):
        rows = [("v", np.full(10, 10 * record + rank), np.s_[record, rank])]
        file.write_boxes([*rows, ("t", record, record)])
    file.write_boxes([("line", np.arange(10) + 100 * rank, np.s_[:]), ("v", -1, np.s_[0:3:2, 0, ::3])])
    file.write_boxes([("line", 7, np.s_[3])] if rank == last else [])
    file.sync()
    v, line, t = file.read_boxes([("v", np.s_[:, last, :2]), ("line",), ("t", np.s_[::2])])
    assert (v[1] == 10 + last).all() and t.tolist() == [0, 2]
    assert line.tolist() == [0, 1, 2, 7, *range(4, 10)]
    assert (file.read_boxes([("v", np.s_[2, 0, ::3])])[0] == -1).all()
    if comm.size > 1:
        if rank == last:
            with pytest.raises(shoal.NotFoundError, match="nothing"):
                file.write_boxes([("nothing", 1)])
        else:
            file.write_boxes([("line", 5, np.s_[0])])
        with pytest.raises(shoal.NotFoundError, match="nothing"):
            file.sync()
        with pytest.raises(shoal.NotFoundError, match="index of dimension 'time'"):
            file.read_boxes([("t", 99 if rank == last else 0)])
        assert file.read_boxes([("line", 0)])[0] == 5
