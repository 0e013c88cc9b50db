# SPDX-License-Identifier: BSD-3-Clause
"""Each collective call with arguments that it does not have, on the last rank alone: a TypeError there; the
others do not wait for it, and get an error where there is one to be told. misfits.py FOLDER"""

import os
import sys
import time

folder = sys.argv[1]
os.environ["SHOAL_WAIT_SECONDS"] = "60"

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

import shoal  # noqa: E402

world = MPI.COMM_WORLD
last = world.rank == world.size - 1
path = os.path.join(folder, "misfits.nc")


def call(what, method, *args, refused=True, **kwargs):
    """With one keyword too many on the last rank, and once more with too many arguments."""
    for more, keywords in (((), {"nonsense": 3}), (tuple(range(9)), {})):
        begin = time.monotonic()
        error = None
        try:
            if last:
                method(*args, *more, **keywords, **kwargs)
            else:
                method(*args, **kwargs)
        except Exception as problem:
            error = problem
        seconds = time.monotonic() - begin
        assert seconds < 20, f"{what}: rank {world.rank} waited {seconds:.1f} s"
        if last:
            assert isinstance(error, TypeError), f"{what}: {error!r}"
            assert "argument" in str(error), f"{what}: {error!r}"
        elif refused:
            assert isinstance(error, shoal.TypeMismatchError), f"{what}: rank {world.rank}: {error!r}"
            assert f"rank {world.size - 1}" in str(error), f"{what}: {error!r}"
        else:
            assert error is None, f"{what}: rank {world.rank}: {error!r}"
        world.barrier()


shape = {"y": 2 * world.size, "x": 3}
call("block", shoal.Decomposition.block, world, shape, split="y")
call("map", shoal.Decomposition.map, world, shape, cells=np.arange(6) + 6 * world.rank)
tiles = shoal.Decomposition.block(world, shape, split="y")
call("masked", tiles.masked, np.ones((2, 3), bool))
call("unique", tiles.unique, refused=False)
call("save", tiles.save, os.path.join(folder, "tiles.nc"))
tiles.save(os.path.join(folder, "tiles.nc"))
call("load", shoal.Decomposition.load, world, os.path.join(folder, "tiles.nc"))
call("wait", shoal.wait, world)

with shoal.create(path, world) as file:
    file.def_var("v", "f4", tiles, record="t")
    file.def_var("n", "i4", "t")
    file.end_define()
    values = np.ones((2, 3), "f4")
    call("end_define", file.end_define, refused=False)
    file.write("v", values, 0)
    file.put("n", 1, 0)
    call("sync", file.sync, refused=False)
    call("get", file.get, "n", record=0)
    call("read", file.read, "v", record=0, decomposition=tiles)
    # What a write lacks on one rank comes out of the next sync; of a put, rank 0's arguments count.
    call("write", file.write, "v", values, 0, refused=False)
    try:
        file.sync()
        raise AssertionError("a write that one rank could not make is an error of the sync")
    except shoal.Error as error:
        assert "argument" in str(error), error
    call("put", file.put, "n", 2, 0, refused=False)

# As on a file that is open to read: the same.
with shoal.open(path, world) as file:
    call("read", file.read, "v", 0, decomposition=tiles)
    call("get", file.get, "n", 0)
call("close", shoal.open(path, world).close, refused=False)

name = os.path.join(folder, "s.nc")
text = f'[[file]]\nname = "{name}"\nevery = "2 s"\noperation = "mean"\nfields = ["f"]\n'
streams = None
try:
    streams = shoal.Streams.open(text, world, start="2001-01-01")
except shoal.NotSupportedError:
    pass
if streams is not None:
    streams.abandon()
    call("Streams.open", shoal.Streams.open, text, world, start="2001-01-01")
    with shoal.Streams.open(text, world, start="2001-01-01") as streams:
        streams.grid("g", tiles)
        streams.field("f", "f4", "y x", grid="g")
        for name, args in (("advance", (1.0,)), ("advance_to", ("2001-01-01 00:00:01",))):
            begin = time.monotonic()
            try:
                getattr(streams, name)(*args, **({"nonsense": 3} if last else {}))
            except (TypeError, shoal.Error):
                pass
            assert time.monotonic() - begin < 20, name
        streams.abandon()
