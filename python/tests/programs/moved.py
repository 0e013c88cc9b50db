# SPDX-License-Identifier: BSD-3-Clause
"""Definitions in classic files without free space, whose data move: moved.py FOLDER. netCDF4-python and scipy
read all variables of all files."""

import itertools
import sys
from pathlib import Path

import netCDF4
import numpy as np
from mpi4py import MPI
from scipy.io import netcdf_file

import shoal

comm = MPI.COMM_WORLD
folder = Path(sys.argv[1])
nx, nz, records = 20_000, 2, 4
fill = netCDF4.default_fillvals


def cut(name, n):
    """Even parts; of z some ranks have nothing."""
    first = n * comm.rank // comm.size
    return shoal.Decomposition.block(
        comm, {name: n}, first=[first], count=[n * (comm.rank + 1) // comm.size - first]
    )


x, z = cut("x", nx), cut("z", nz)
along_x, along_z = np.arange(nx), np.arange(nz)
whole = {
    "depth": along_x * 0.5,
    "flag": np.arange(records, dtype="i1"),
    "temp": (1000 * np.arange(records)[:, None] + along_x).astype("f4"),
    "salt": np.full((records, nx), fill["f4"], "f4"),
    "level": np.full((records, nz), fill["i4"], "i4"),
    "bounds": along_z + 0.25,
    "late": np.full((records, nx), fill["i2"], "i2"),
}
whole["salt"][1] = along_x + 7
whole["level"][2] = along_z + 70
whole["late"][3] = along_x % 1000


def write(path, **settings):
    with shoal.create(path, comm, header_reserve=0, alignment=4, **settings) as file:

        def write_to(name, record=None):
            decomposition = z if name in ("level", "bounds") else x
            values = whole[name] if record is None else whole[name][record]
            file.write(name, values[decomposition.slices], record=record)

        def add_record(record):
            write_to("temp", record)
            file.put("flag", whole["flag"][record], record=record)

        file.def_var("depth", "f8", x)
        file.def_var("flag", "i1", record="time")
        file.def_var("temp", "f4", x, record="time")
        write_to("depth")
        for record in range(2):
            add_record(record)
        file.put_att(None, "history", "h" * 100_000)
        file.def_var("salt", "f4", x, record="time")
        file.def_var("level", "i4", z, record="time")
        file.def_var("bounds", "f8", z)
        write_to("salt", 1)
        add_record(2)
        write_to("level", 2)
        write_to("bounds")
        file.sync()
        file.put_att("temp", "comment", "c" * 200_000)
        file.def_var("late", "i2", x, record="time")
        add_record(3)
        write_to("late", 3)
        moved = file.report["counts"]["bytes_moved"]
    if comm.rank == 0:
        assert moved > 0, moved


def check(file):
    """What one file has; how many cells of x and z."""
    cells = []
    parts = {}
    for name, n in (("x", nx), ("z", nz)):
        parts[name] = slice(0, n if name in file.dimensions else 0)
        if name in file.variables:  # the part of a set
            _, _, first, last = file.variables[name].domain_decomposition
            parts[name] = slice(first - 1, last)
        cells.append(parts[name].stop - parts[name].start)
    for name, values in whole.items():
        part = parts["z" if name in ("level", "bounds") else "x"]
        if name != "flag":
            if part.stop == part.start:
                assert name not in file.variables
                continue
            values = values[..., part]
        np.testing.assert_array_equal(file.variables[name][:], values, name)
    return cells


layouts = {"one": {}, "process": {"layout": "process"}, "node": {"layout": "node"}}
if comm.size > 1:
    layouts["domains"] = {"io_layout": "2x1"}
writers = {"native": {}, "thread": {"background": "thread", "stage_bytes": "256KiB"}}
writers |= {name: {"driver": name} for name in ("pnetcdf", "mpiio", "gather")}
for layout, writer in itertools.product(layouts, writers):
    if writers[writer].get("driver", "native") not in shoal.build_info()["drivers"].split():
        continue
    format = "cdf5" if writer == "pnetcdf" else "cdf2"
    path = folder / f"{layout}-{writer}.nc"
    write(path, format=format, **layouts[layout], **writers[writer])
    comm.barrier()
    if comm.rank == 0:
        files = sorted(folder.glob(f"{path.name}*"))
        assert len(files) == {"one": 1, "process": comm.size, "node": 1, "domains": 2}[layout], files
        assert not list(folder.glob(".*")), list(folder.glob(".*"))
        cells = np.zeros(2, int)
        for name in files:
            with netCDF4.Dataset(name) as file:
                file.set_auto_mask(False)
                cells += check(file)
                assert (len(file.history), len(file["temp"].comment)) == (100_000, 200_000)
            if format == "cdf2":
                with netcdf_file(name, mmap=False) as file:
                    check(file)
        assert cells.tolist() == [nx, nz], (layout, writer, cells)
    comm.barrier()
