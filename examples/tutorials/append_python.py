"""Appends two days to a series; makes the file if there is none. Run it again, on any number of ranks."""

import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
rows = shoal.Decomposition.block(comm, {"y": 6, "x": 8}, split=("y",))

with shoal.open("append_python.nc", comm, mode="a", format="netcdf4") as file:
    if "temp" not in file:
        file.def_var("time", "f8", record="time", attrs={"units": "days since 2000-01-01"})
        file.def_var("temp", "f4", rows, record="time")
    for _ in range(2):
        day = file.dimensions["time"].length
        file.put("time", float(day), record=day)
        file.write("temp", np.full(rows.shape, day, "f4"), record=day, decomposition=rows)
        file.sync()  # committed: a job that is killed now leaves this record
    if comm.rank == 0:
        print("append_python.nc has", day + 1, "records")
