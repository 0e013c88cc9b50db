"""Masks on several ranks: blocks with halo and maps; what is wrong on one rank: masks.py FOLDER"""

import os
import sys

import numpy as np
from alike import all_raise
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
last = comm.size - 1
path = os.path.join(sys.argv[1], "masks.nc")

shape = {"lev": 3, "lat": 11, "lon": 17}
world = np.random.default_rng(3).random((11, 17)) > 0.4  # True: water
field = np.arange(3 * 11 * 17.0).reshape(3, 11, 17)
ocean = shoal.Decomposition.block(comm, shape, split=("lat", "lon"), halo=2)
levels, rows, columns = ocean.slices
mine = world[rows, columns]
with_halo = np.full(ocean.halo_shape[1:], True)
with_halo[ocean.inner[1:]] = mine
for mask in (
    mine,
    mine.astype("i4"),
    mine.astype("f4") * 0.5,
    np.asfortranarray(mine),
    with_halo,
    mine.astype(">i2"),
):
    masked = ocean.masked(mask)
    assert masked.dims == ocean.dims and masked.shape == ocean.shape and masked.halo_shape == ocean.halo_shape
    local = np.full(ocean.halo_shape, 1e300)
    local[ocean.inner] = np.where(mine, field[ocean.slices], np.nan)
    with shoal.create(path, comm) as data:
        data.def_var("t", "i4", masked, fill=-7)
        data.write("t", local)
    with shoal.open(path, comm) as data:
        np.testing.assert_array_equal(data.get("t"), np.where(world, field, -7))
        np.testing.assert_array_equal(
            data.read("t", decomposition=masked), np.where(mine, field[ocean.slices], -7)
        )
        np.testing.assert_array_equal(
            data.read("t", dtype="f8", decomposition=masked), np.where(mine, field[ocean.slices], -7)
        )
        # Land of a model's own array stays as it is, in the halo too.
        whole = np.full(ocean.halo_shape, 5)
        data.read("t", out=whole, decomposition=masked)
        padded = np.full((3, 15, 21), 5)
        padded[:, 2:-2, 2:-2] = np.where(world, field, 5)
        around = padded[:, rows.start : rows.stop + 4, columns.start : columns.stop + 4]
        np.testing.assert_array_equal(whole, around)
    with shoal.open(path, comm, read_masked="fill") as data:
        data.read("t", out=whole, decomposition=masked)
        np.testing.assert_array_equal(whole[ocean.inner], np.where(mine, field[ocean.slices], -7))

# Maps.
n = 50
cells = np.arange(comm.rank, n, comm.size)
land = cells % 5 == 0
scattered = shoal.Decomposition.map(comm, {"ncol": n}, cells).masked(~land)
with shoal.create(path, comm) as data:
    data.def_var("t", "f8", scattered, fill=-1.0)
    data.write("t", np.where(land, np.inf, cells))
with shoal.open(path, comm) as data:
    assert data.get("t").tolist() == [-1 if i % 5 == 0 else i for i in range(n)]
    mine_too = np.full(len(cells), 3.0)
    data.read("t", out=mine_too, decomposition=scattered)
    np.testing.assert_array_equal(mine_too, np.where(land, 3.0, cells))

# Without a fill value of its own, the file says which one land has; in an array of integers it is theirs.
with shoal.create(path, comm) as data:
    data.def_var("t", "f4", scattered)
    data.write("t", np.where(land, np.inf, cells))
with shoal.open(path, comm) as data:
    assert data.variables["t"].attributes["_FillValue"] == np.float32(9.96921e36)
    np.testing.assert_array_equal(
        data.read("t", dtype="i4", decomposition=scattered), np.where(land, -2147483647, cells)
    )


# One rank has another shape, NaN, or no numbers; nobody waits for ever.
wrong = mine[:, :-1] if comm.rank == last else mine
assert "the mask has the extents" in all_raise(shoal.InvalidArgumentError, lambda: ocean.masked(wrong))
holes = np.where(mine, np.nan, 0.0) if comm.rank == last else mine
assert "NaN" in all_raise(shoal.InvalidArgumentError, lambda: ocean.masked(holes))
text = np.array(["land"]) if comm.rank == last else mine
all_raise(shoal.TypeMismatchError, lambda: ocean.masked(text))
# Not looked at on a rank without cells.
idle = shoal.Decomposition.map(comm, {"ncol": n}, np.arange(n) if comm.rank == 0 else [])
idle.masked(np.arange(n) % 5 if comm.rank == 0 else None)

# A mask is saved with its decomposition.
scattered.save(path)
loaded = shoal.Decomposition.load(comm, path)
with shoal.create(path, comm) as data:
    data.def_dim("ncol", n)
    data.def_var("t", "f8", ("ncol",), fill=-1.0)
    data.write("t", np.where(land, np.inf, cells), decomposition=loaded)
with shoal.open(path, comm) as data:
    assert data.get("t").tolist() == [-1 if i % 5 == 0 else i for i in range(n)]
