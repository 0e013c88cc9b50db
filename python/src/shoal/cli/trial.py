# SPDX-License-Identifier: BSD-3-Clause
"""A tiny write and read in a folder, on the ranks that there are: what `shoal doctor` starts.

python -m shoal.cli.trial FOLDER prints "trial: ..." on success and "trial failed: ..." otherwise.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

_shape = (64, 96)
_records = 2
kinds = ("cdf5", "netcdf4", "zarr")


def _values(decomposition, record: int) -> np.ndarray:
    rows, columns = (np.arange(s.start, s.stop) for s in decomposition.slices)
    return (rows[:, None] * 1000.0 + columns[None, :] + record).astype("f4")


def run_trial(folder: str, comm) -> str:
    """Write and read a file in each kind of format; returns what to say about it. Collective."""
    import shoal

    from .. import _shoal
    from .._partial import of_partial, on_root

    where = os.fsencode(os.path.join(folder, "shoal-doctor.nc"))
    path = os.fsdecode(on_root(comm, lambda: _shoal.beside(where)))
    begin = time.perf_counter()
    tiles = shoal.Decomposition.block(
        comm, dict(zip(("y", "x"), _shape)), split=("y", "x"), halo=1 if comm.size > 1 else 0
    )
    try:
        for kind in kinds:
            with shoal.create(path, comm, format=kind, **of_partial) as file:
                file.def_var("field", "f4", tiles, record="time")
                for record in range(_records):
                    file.write("field", _values(tiles, record), record)
            with shoal.open(path, comm) as file:
                for record in range(_records):
                    found = file.read("field", record=record, decomposition=tiles)
                    if not np.array_equal(found, _values(tiles, record)):
                        raise RuntimeError(f"{kind}: what was read is not what was written (record {record})")
            _remove(path, comm)
    finally:
        _remove(path, comm)
    seconds = time.perf_counter() - begin
    return f"{', '.join(kinds[:-1])} and {kinds[-1]} written and read back alike in {seconds:.2f} s"


def _remove(path: str, comm) -> None:
    comm.barrier()
    from .._stores import remove_made

    if comm.rank == 0:
        remove_made(path)
    comm.barrier()


def main() -> int:
    from .._library import start_mpi

    comm = start_mpi().COMM_WORLD
    try:
        text = run_trial(sys.argv[1], comm)
    except Exception as error:
        print(f"trial failed: {error}", file=sys.stderr, flush=True)
        return 1
    if comm.rank == 0:
        print(f"trial: {text}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
