# SPDX-License-Identifier: BSD-3-Clause
"""netCDF4-python with parallel=True: tiles, an unlimited axis, compression, masked values, appending.

parallel.py FOLDER. What it prints is the same in each run: two runs are compared line by line."""

import ctypes
import sys
from pathlib import Path

import netCDF4
import numpy as np
from mpi4py import MPI

NX, NY, STEPS = 14, 9, 3
comm = MPI.COMM_WORLD
folder = Path(sys.argv[1])


class Found(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def tell_libraries():
    """Which library answers calls of netCDF, on standard error; a module's own libraries are not asked."""
    process = ctypes.CDLL(None)
    for symbol in ("nc_create_par", "ncmpi_create"):
        found = Found()
        function = getattr(process, symbol, None)
        if function and process.dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(found)):
            print(f"library: {symbol} is of {found.file.decode()}", file=sys.stderr)


def say(what, *values):
    """One line of rank 0: what all ranks say, or each, where they differ. Collective."""
    texts = comm.gather(" ".join(map(str, values)))
    if comm.rank == 0:
        alike = len(set(texts)) == 1
        print(
            f"{what}:", texts[0] if alike else " ".join(f"[{r}] {t}" for r, t in enumerate(texts)), flush=True
        )


def rows_of(rank):
    return slice(NY * rank // comm.size, NY * (rank + 1) // comm.size)


def values_of(step, rows):
    """(NY rows of a part, NX): values that are their places."""
    return step * 1000.0 + np.arange(NY)[rows, None] * 20 + np.arange(NX)[None, :] / 4


def define(file):
    file.createDimension("time", None)
    file.createDimension("y", NY)
    file.createDimension("x", NX)
    file.title = "written by netCDF4-python"
    file.setncattr("numbers", np.array([1, 2, 3], dtype="i4"))
    time = file.createVariable("time", "f8", ("time",))
    time.units = "hours since 2001-01-01"
    file.createVariable("x", "f4", ("x",))
    field = file.createVariable("field", "f4", ("time", "y", "x"), fill_value=-999.0)
    field.setncatts({"long_name": "a field", "valid_range": np.array([-5, 5000], dtype="f4")})
    file.createVariable("packed", "f8", ("time", "y", "x"), zlib=True, complevel=2, chunksizes=(1, 3, NX))
    file.createVariable("mask", "i1", ("y", "x"))
    file.createVariable("by_one", "i8", ("y",))
    for variable in file.variables.values():
        variable.set_collective(True)


def write_step(file, step, rows):
    file["time"][step] = 6.0 * step
    land = 1000 + 10 * NY if step == 1 else -1
    values = np.ma.masked_less(values_of(step, rows), land)
    file["field"][step, rows, :] = values
    file["packed"][step, rows, :] = values_of(step, rows) * 0.5


def read(path, rows):
    """Everything, by another cut than it was written with."""
    with netCDF4.Dataset(path, parallel=True, comm=comm) as file:
        say("dimensions", [(name, len(each)) for name, each in file.dimensions.items()])
        say("title", file.title, list(map(int, file.numbers)), file.data_model)
        say("time", list(map(float, file["time"][:])))
        other = rows_of(comm.size - 1 - comm.rank)
        wrong = 0
        for step in range(STEPS + 1):
            found = file["field"][step, other, :]
            say("field", step, float(np.ma.filled(found, -999.0).sum()), int(np.ma.count_masked(found)))
            wrong += int((file["packed"][step, other, :] != values_of(step, other) * 0.5).sum())
        say("strided", list(map(float, file["field"][0, ::4, 3])))
        say("mask", int(np.asarray(file["mask"][:]).sum()), "by one", list(map(int, file["by_one"][:])))
        say("filters", file["packed"].filters()["zlib"], file["packed"].filters()["complevel"])
        say("wrong cells", wrong)
        return wrong


def main():
    if comm.rank == 0:
        tell_libraries()
    path = folder / "python.nc"
    rows = rows_of(comm.rank)
    with netCDF4.Dataset(path, "w", parallel=True, comm=comm, info=MPI.Info()) as file:
        define(file)
        file["x"][:] = np.arange(NX) * 0.5
        file["mask"][rows, :] = np.arange(NY)[rows, None] % 2 + np.zeros(NX)
        for step in range(STEPS):
            write_step(file, step, rows)
            file.sync()
        file["by_one"].set_collective(False)
        for y in range(rows.start, rows.stop):
            file["by_one"][y] = y * y
    with netCDF4.Dataset(path, "a", parallel=True, comm=comm) as file:
        for variable in file.variables.values():
            variable.set_collective(True)
        write_step(file, len(file.dimensions["time"]), rows)
        file.history = "appended"
    wrong = comm.allreduce(read(path, rows))
    say("failed checks", wrong)
    sys.exit(wrong != 0)


main()
