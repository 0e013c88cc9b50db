"""One rank fails, all ranks get the same exception, nobody hangs: errors.py FOLDER"""

import os
import sys

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
last = comm.size - 1
path = os.path.join(sys.argv[1], "a.nc")


def all_raise(kind, call, same=True, words=""):
    """call() raises `kind` on every rank, with the same code; `same`: and the same message, with `words`."""
    try:
        call()
        caught = None
    except shoal.Error as error:
        caught = error
    found = comm.allgather((type(caught).__name__, str(caught)))
    assert isinstance(caught, kind) and words in str(caught), found
    if same:
        assert len(set(found)) == 1, found


def mine(bad, good):
    return bad if comm.rank == last else good


tiles = shoal.Decomposition.block(comm, {"y": 8, "x": 9}, split=("y", "x"))
whole = np.arange(72.0).reshape(8, 9)

# Tiles that overlap, and arguments that are wrong on one rank only.
all_raise(shoal.OverlapError, lambda: shoal.Decomposition.block(comm, (8, 9), (0, 0), (8, 9)))
all_raise(
    shoal.InvalidArgumentError,
    lambda: shoal.Decomposition.block(comm, {"y": 8, "x": 9}, split=mine(("q",), ("y", "x"))),
    words="split= names 'q'",
)
all_raise(
    shoal.TypeMismatchError,
    lambda: shoal.Decomposition.map(comm, (72,), mine([0.5], [comm.rank])),
    words="cells= is of type float64",
)
all_raise(
    shoal.TypeMismatchError,
    lambda: tiles.masked(mine(np.zeros(tiles.shape, "c16"), np.ones(tiles.shape))),
    words="The mask is of type complex128",
)
all_raise(
    shoal.InvalidArgumentError,
    lambda: tiles.masked(np.ones(mine((1,) * 17, tiles.shape))),
    words="the mask has 17 dimensions",
)
all_raise(shoal.TypeMismatchError, lambda: shoal.Decomposition.block(comm, mine(None, {"y": 8}), split="y"))
all_raise(
    shoal.InvalidArgumentError,
    lambda: shoal.Decomposition.block(comm, {"y": mine(2**70, 8)}, split="y"),
)
all_raise(shoal.TypeMismatchError, lambda: tiles.save(mine(5, path)), words="path is a int")
all_raise(
    shoal.TypeMismatchError,
    lambda: shoal.Decomposition.load(comm, mine(5, path)),
    words="path is a int",
)
all_raise(shoal.NoSuchFileError, lambda: shoal.open(os.path.join(sys.argv[1], "none.nc"), comm))

with shoal.create(path, comm) as file:
    file.def_var("v", "f8", tiles, record="time")
    file.write("v", whole[tiles.slices], 0)
    file.sync()
    for wrong, right in [
        ({"record": "a"}, {"record": 0}),
        ({"record": 2**70}, {"record": 0}),
        ({"start": ("a", 0), "count": (8, 9)}, {"start": (0, 0), "count": (8, 9)}),
        ({"start": (0, 0), "count": ("a", 9)}, {"start": (0, 0), "count": (8, 9)}),
    ]:
        given = {"record": 0, **mine(wrong, right)}
        all_raise(
            shoal.InvalidArgumentError,
            lambda given=given: file.read("v", decomposition=tiles, **given),
            same=False,
        )
        all_raise(shoal.InvalidArgumentError, lambda given=given: file.get("v", **given), same=False)

# Where it was: the same on all ranks.
with shoal.open(path, comm) as file:
    try:
        file.get("v", 0, out=np.zeros(mine((3,), (8, 9))))
    except shoal.Error as error:
        assert (error.rank, error.file, error.variable) == (last, path, "v"), vars(error)

with shoal.open(path, comm) as file:
    # Wrong on one rank: name, shape, out, record; the others learn of it from the call itself.
    all_raise(shoal.Error, lambda: file.read(mine("vv", "v"), record=0, decomposition=tiles), same=False)
    all_raise(
        shoal.Error,
        lambda: file.read("v", record=0, out=mine(np.zeros(3), None), decomposition=tiles),
        same=False,
    )
    all_raise(
        shoal.Error, lambda: file.read("v", record=0, out=mine([1], None), decomposition=tiles), same=False
    )
    all_raise(shoal.Error, lambda: file.read("v", record=0, decomposition=mine("x", tiles)), same=False)
    all_raise(shoal.Error, lambda: file.get("v", 0, start=mine((0,), (0, 0)), count=(8, 9)), same=False)
    all_raise(LookupError, lambda: file.read("v", record=5, decomposition=tiles))
    all_raise(LookupError, lambda: file["v"][0, mine(99, 1)], same=False)
    all_raise(LookupError, lambda: file["v"][7])
    np.testing.assert_array_equal(file["v"][0, 2:5, ::3], whole[2:5, ::3])
    np.testing.assert_array_equal(file.read("v", record=0, decomposition=tiles), whole[tiles.slices])

# A value that does not fit, on one rank: all hear of it at sync, and the rest is written.
file = shoal.create(path, comm)
file.def_var("v", "i2", tiles)
values = whole[tiles.slices].copy()
if comm.rank == last:
    values[-1, -1] = 1e6


def write_and_sync():
    try:
        file.write("v", values)
    except shoal.RangeError:
        pass  # the rank may hear of it at once
    file.sync()


all_raise(shoal.RangeError, write_and_sync)
file.close()
with shoal.open(path, comm) as file:
    found = file.get("v")
    assert (found.ravel()[:-1] == whole.ravel()[:-1]).all()

# A type that cannot be written, on one rank.
file = shoal.create(path, comm)
file.def_var("v", "f8", tiles)
try:
    file.write("v", mine(values.astype("c16"), values))
    assert comm.rank != last
except TypeError:
    assert comm.rank == last
all_raise(shoal.Error, file.close)

# What rank 0 refuses all ranks get at close, with the file and the variable named once.
file = shoal.create(path, comm)
file.def_dim("x", 3)
file.def_var("lon", "f8", ("x",))
try:
    file.put("lon", "abc")
except shoal.TypeMismatchError as error:
    assert f"{path}: variable 'lon': its type is float64" in str(error)
all_raise(
    shoal.TypeMismatchError,
    file.close,
    words=f"{path}: variable 'lon': rank 0: its type is float64, and the values are text",
)
