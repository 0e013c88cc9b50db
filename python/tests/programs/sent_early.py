"""Fields that are sent before the first step: one line, at once, and an error of the first advance."""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
text = f"""[[file]]
name = "{Path(sys.argv[1]) / "a.nc"}"
every = "1 day"
operation = "instant"
fields = ["*"]
"""
with shoal.Streams.open(text, comm, start="2001-01-01") as streams:
    streams.field("level", "f8", ())
    for _ in range(3):
        streams.send("level", np.float64(1))
    sys.stderr.flush()
    comm.barrier()
    if comm.rank == 0:
        print("SENT", file=sys.stderr, flush=True)
    try:
        streams.advance(86400)
    except shoal.StateError as error:
        assert "field 'level' was sent before the first step; advance first" in str(error)
    else:
        raise AssertionError("the first advance says nothing")
    streams.advance(86400)
    streams.send("level", np.float64(2.5))
