"""Reads stores that zarr-python wrote (zarr_stores.py): whole, in sections, and each rank its block."""

import pickle
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
folder = Path(sys.argv[1])


def bits(array):
    array = np.asarray(array)
    if array.dtype.kind == "O":
        return array.tolist()
    return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)).tobytes()


def check(file, name, expected):
    variable = file.variables[name]
    assert variable.shape == expected.shape, (variable.shape, expected.shape)
    kind = str if expected.dtype.kind == "O" else expected.dtype.newbyteorder("=")
    assert variable.dtype == kind, (variable.dtype, kind)
    assert bits(file.get(name)) == bits(expected), "get"
    if not expected.ndim:
        return
    start = [n // 3 for n in expected.shape]
    count = [max(1, n // 2) for n in expected.shape]
    box = tuple(slice(s, s + n) for s, n in zip(start, count))
    assert bits(file.get(name, start=start, count=count)) == bits(expected[box]), "section"
    if kind is str:
        return
    longest = int(np.argmax(expected.shape))
    shape = {f"d{axis}": n for axis, n in enumerate(expected.shape)}
    cut = shoal.Decomposition.block(comm, shape, split=(f"d{longest}",))
    assert bits(file.read(name, decomposition=cut)) == bits(expected[cut.slices]), "block"
    if expected.ndim > 1:
        halo = shoal.Decomposition.block(comm, shape, split=("d0", "d1"), halo=1)
        found = file.read(name, decomposition=halo)
        assert bits(found) == bits(expected[halo.slices]), "tile"


with open(folder / "expected.pickle", "rb") as stored:
    stores = pickle.load(stored)
wrong = []
for store, variables in stores.items():
    with shoal.open(folder / store, comm) as file:
        unknown = set(file.variables) ^ set(variables)
        wrong += [f"{store}: {name} is in one alone" for name in sorted(unknown)]
        for name, expected in variables.items():
            try:
                check(file, name, expected)
            except (shoal.Error, AssertionError) as error:
                wrong.append(f"{store}: {name}: {type(error).__name__}: {error}")
of_all = comm.allgather(wrong)
if comm.rank == 0:
    print("\n".join(sorted({line for lines in of_all for line in lines})))
sys.exit(1 if any(of_all) else 0)
