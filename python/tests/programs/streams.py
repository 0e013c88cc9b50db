"""A run of streams on any number of ranks, in two jobs, and the mistakes of one rank. Argument: a folder."""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
folder = Path(sys.argv[1])
rank, ranks = comm.rank, comm.size
tiles = shoal.Decomposition.block(comm, {"y": 3 * ranks, "x": 4}, split="y", halo=1)


def configuration(name):
    file = f'[[file]]\nname = "{folder / name}"\nevery = "1 day"\n'
    return file + 'operation = "mean"\nfields = ["zeta", "rain"]\n'


def begin(name, now=None):
    streams = shoal.Streams.open(configuration(name), comm, start="2001-01-01", calendar="360_day", now=now)
    streams.axis("x", np.arange(4.0), attrs={"units": "km"})
    streams.grid("sea", tiles)
    streams.field("zeta", "f4", "y x", grid="sea", attrs={"_FillValue": np.float32(-1)})
    streams.field("rain", "f8", ["y", "x"], grid="sea", holds="step")
    return streams


def cells(step):
    y, x = np.ix_(range(tiles.first[0], tiles.first[0] + tiles.count[0]), range(4))
    return step * (100.0 * y + x)


def send(streams, step):
    with_halo = np.full(tiles.halo_shape, 1e30)
    with_halo[tiles.inner] = cells(step)
    streams.send("zeta", with_halo.astype("f4"))
    streams.send("rain", cells(step)[:, ::-1])  # another stride


streams = begin("split.nc")
for step in (1, 2):
    streams.advance(21600 * step)
    send(streams, step)
streams.checkpoint(folder / "saved.nc")
streams.abandon()
with begin("split.nc", now="2001-01-01 12:00:00") as streams:
    streams.resume(folder / "saved.nc")
    for step in (3, 4):
        streams.advance(21600 * step)
        send(streams, step)
with shoal.open(folder / "split.nc", comm) as file:
    assert np.allclose(file.read("zeta", 0, decomposition=tiles), cells(2.5))
    assert np.allclose(file.read("rain", 0, decomposition=tiles), cells(2.5)[:, ::-1])


# Mistakes of the last rank: at once on a single one, and on several where ranks meet.
def mistake(wrong, expected, part):
    streams = begin("mistake.nc")
    found = None
    try:
        for step in range(1, 5):
            streams.advance(21600 * step)
            if step == 2 and rank == ranks - 1:
                wrong(streams)
            send(streams, step)
        assert ranks > 1
        streams.close()
    except shoal.Error as error:
        found = error
    assert type(found) is expected, repr(found)
    assert part in str(found), str(found)
    if streams.is_open:
        streams.abandon()


mistake(lambda s: s.send("zeta", np.zeros((2, 2), "f4")), shoal.InvalidArgumentError, "'zeta'")
mistake(lambda s: s.send("zeta", np.zeros(tiles.shape, "c8")), shoal.TypeMismatchError, "complex64")
mistake(
    lambda s: s.send("rain", np.ma.masked_less(np.arange(12.0).reshape(3, 4), 3)),
    shoal.InvalidArgumentError,
    "masked cells",
)
mistake(lambda s: (s.send("zeta", cells(2)), s.send("zeta", cells(2))), shoal.StateError, "sent already")


# What all ranks describe wrongly alike, each knows at once; what one does, all learn with the first step.
def describe_wrongly(alone):
    streams = begin("mistake.nc")
    if not alone or rank == ranks - 1:
        try:
            streams.field("eta", "c8", "y x", grid="sea")
        except shoal.TypeMismatchError:
            pass
        else:
            raise AssertionError("a field of complex numbers was taken")
    try:
        streams.advance(1)
        assert not alone or ranks == 1
        send(streams, 1)
    except shoal.TypeMismatchError:
        assert alone
    streams.abandon()


describe_wrongly(False)
describe_wrongly(True)

# A path that only one rank cannot use is refused on all.
streams = begin("mistake.nc")
streams.advance(1)
send(streams, 1)
try:
    streams.checkpoint(3 if rank == ranks - 1 else folder / "saved.nc")
except shoal.Error:
    pass
else:
    raise AssertionError("a path that is a number was taken")
streams.abandon()
