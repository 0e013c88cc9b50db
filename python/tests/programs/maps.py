"""Maps on several ranks: lists, saved and loaded, and what is wrong on one rank: maps.py FOLDER"""

import os
import sys

import numpy as np
from alike import all_raise
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
last = comm.size - 1
path = os.path.join(sys.argv[1], "map.nc")


def mine(bad, good):
    return bad if comm.rank == last else good


# Cells dealt out in random order, holes between them; rank 1 has none.
shape = {"y": 6, "x": 7, "lev": 3}
order = np.random.default_rng(1).permutation(42)
owners = np.arange(42) % (comm.size + 1)  # cells of the last owner belong to nobody
cells = order[owners == comm.rank] if comm.rank != 1 else order[:0]
cells = np.insert(cells, len(cells) // 2, -1) if len(cells) else cells
for dtype in (np.int64, np.int32, np.int16, np.uint64 if (cells >= 0).all() else ">i8"):
    columns = shoal.Decomposition.map(comm, shape, cells.astype(dtype), uncut=1)
    np.testing.assert_array_equal(columns.cells, cells)
assert columns.is_map and columns.uncut == 1 and columns.dims == ("y", "x", "lev")
assert columns.shape == (len(cells), 3) and columns.mapped == (cells >= 0).sum()
assert columns.is_empty == (columns.mapped == 0)
assert columns.nbytes <= 8 * max(len(cells), 100) and columns.runs <= columns.mapped
assert repr(columns) == f"<shoal.Decomposition {columns.mapped} cells of y: 6, x: 7, lev: 3>"

# Fields: levels behind the columns, or in front of them; cells of nobody are filled; holes stay as they are.
data = os.path.join(sys.argv[1], "fields.nc")
flat = shoal.Decomposition.map(comm, {"y": 6, "x": 7}, cells.astype(np.int32))
field = np.arange(42 * 3.0).reshape(42, 3)
owned = np.isin(np.arange(42), np.concatenate(comm.allgather(cells[cells >= 0])))
for kind in ("cdf5", "netcdf4"):
    with shoal.create(data, comm, format=kind) as file:
        file.def_dim("lev", 3)
        file.def_var("t", "f4", columns, record="time", fill=-1)
        file.def_var("q", "f8", "lev y x", flat, fill=-2)
        for record in (1, 0):
            file.write("t", np.where(cells[:, None] >= 0, field[cells] + record, np.nan), record)
        file.write("q", np.asfortranarray(field[cells].T))
    with shoal.open(data, comm) as file:
        expected = np.where(cells[:, None] >= 0, field[cells] + 1, 77)
        out = np.full(columns.shape, 77.0)
        file.read("t", record=1, out=out, decomposition=columns)
        np.testing.assert_array_equal(out, expected)
        got = file.read("q", decomposition=flat)
        assert got.shape == (3, len(cells))
        np.testing.assert_array_equal(got, np.where(cells >= 0, field[cells].T, -2))
        whole = np.asarray(file.get("t", 0)).reshape(42, 3)
        np.testing.assert_array_equal(whole, np.where(owned[:, None], field, -1))

columns.save(path)
again = shoal.Decomposition.load(comm, path, dims=("y", "x", "lev"))
np.testing.assert_array_equal(again.cells, cells)
assert again.shape == columns.shape and again.global_shape == (6, 7, 3)

# On fewer ranks: the same cells, evenly.
every = np.concatenate(comm.allgather(cells[cells >= 0]))
few = comm.Split(0 if comm.rank < last else 1)
if comm.rank < last:
    part = shoal.Decomposition.load(few, path)
    np.testing.assert_array_equal(np.concatenate(few.allgather(part.cells)), every)
    assert part.dims is None

# A block says its cells too.
tile = shoal.Decomposition.block(comm, {"y": 8, "x": 9}, split=("y", "x"))
np.testing.assert_array_equal(tile.cells, np.arange(72).reshape(8, 9)[tile.slices].ravel())
assert not tile.is_map

# Wrong on the last rank only.
good = np.array([comm.rank])
new_map = shoal.Decomposition.map
text = all_raise(shoal.InvalidArgumentError, lambda: new_map(comm, (60,), mine([60], good)))
assert "60" in text, text
all_raise(shoal.InvalidArgumentError, lambda: new_map(comm, (60,), mine([[1]], good)))
all_raise(shoal.TypeMismatchError, lambda: new_map(comm, (60,), mine([1.0], good)))
all_raise(shoal.TypeMismatchError, lambda: new_map(comm, (60,), mine([True], good)))
all_raise(shoal.InvalidArgumentError, lambda: new_map(comm, (60,), mine(np.array([2**63], "u8"), good)))
all_raise(shoal.InvalidArgumentError, lambda: new_map(comm, (60, 2), good, uncut=2))
if comm.size > 1:
    all_raise(shoal.Error, lambda: new_map(comm, mine((60, 61), (60,)), good))
all_raise(shoal.NoSuchFileError, lambda: shoal.Decomposition.load(comm, path + "x"))
all_raise(shoal.NoSuchFileError, lambda: columns.save(os.path.join(sys.argv[1], "no", "folder.nc")))
all_raise(shoal.NotFoundError, lambda: shoal.Decomposition.load(comm, path, "D1"))

# What one rank gets wrong before the call is made leaves the others in no call either.
columns.save(path)
all_raise(shoal.TypeMismatchError, lambda: shoal.Decomposition.load(comm, mine(5, path)))
all_raise(shoal.TypeMismatchError, lambda: columns.save(mine(5, path)))
