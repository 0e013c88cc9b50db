# SPDX-License-Identifier: BSD-3-Clause
"""How long data of a classic file take to move for definitions without a place, beside `cp` and `sync`.

python bench/inside/move.py FOLDER [MiB] [TURNS]: in turns, medians. One rank, or those of a launcher."""

import os
import statistics
import subprocess
import sys
import time

import numpy as np
from mpi4py import MPI

import shoal


def make(path: str, mib: int) -> None:
    with shoal.create(path, comm=MPI.COMM_SELF, format="cdf5", header_reserve=0, alignment=4) as file:
        file.def_dim("time", None)
        file.def_dim("x", 1 << 18)
        file.def_var("temp", "f4", ("time", "x"))
        for record in range(mib):
            file.put("temp", np.full(1 << 18, record + 1, "f4"), record=record)


def move(path: str, variable: bool) -> float:
    with shoal.open(path, mode="r+", comm=MPI.COMM_WORLD, header_reserve=0) as file:
        if variable:
            file.def_var("late", "f4", ("time",))
        else:
            file.put_att(None, "note", "x" * 100_000)
        MPI.COMM_WORLD.barrier()
        start = time.perf_counter()
        file.end_define()
        return time.perf_counter() - start


def copy(path: str) -> tuple[float, float]:
    start = time.perf_counter()
    subprocess.run(["cp", path, path + ".copy"], check=True)
    copied = time.perf_counter() - start
    subprocess.run(["sync", path + ".copy"], check=True)
    done = time.perf_counter() - start
    os.remove(path + ".copy")
    return copied, done


def main() -> None:
    folder = sys.argv[1]
    mib = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    turns = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    path = os.path.join(folder, "move.nc")
    root = MPI.COMM_WORLD.rank == 0
    found: dict[str, list[float]] = {}
    for _ in range(turns):
        for name, variable in (("attribute", False), ("record variable", True)):
            if root:
                make(path, mib)
                subprocess.run(["sync", path], check=True)
            MPI.COMM_WORLD.barrier()
            found.setdefault(name, []).append(move(path, variable))
        if root:
            copied, done = copy(path)
            found.setdefault("cp", []).append(copied)
            found.setdefault("cp and sync", []).append(done)
        MPI.COMM_WORLD.barrier()
    if root:
        os.remove(path)
        for name, seconds in found.items():
            median = statistics.median(seconds)
            print(f"{name:16} {median:7.3f} s  {mib / median:7.0f} MiB/s")


if __name__ == "__main__":
    main()
