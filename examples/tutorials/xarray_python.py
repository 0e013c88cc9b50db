"""Reading with xarray: alone, and with a block of each variable on every rank."""

import numpy as np
import xarray as xr
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
rows = shoal.Decomposition.block(comm, {"y": 12, "x": 10}, split=("y",))
with shoal.create("xarray_python.nc", comm, format="netcdf4") as file:
    file.def_var("time", "f8", record="time", attrs={"units": "days since 2000-01-01"})
    file.def_var("temp", "f4", rows, record="time", attrs={"units": "Celsius"})
    for day in range(3):
        file.put("time", float(day), record=day)
        file.write("temp", np.full(rows.shape, 10.0 + day), record=day)
comm.barrier()

# Any program reads the file: xarray with its own engines, or with Shoal's, which needs no other library.
with xr.open_dataset("xarray_python.nc", engine="shoal") as ds:
    last = ds.temp.sel(time="2000-01-03")
    assert last.size == 12 * 10 and float(last.mean()) == 12.0

# With comm= and split= every rank has its block, read when it is used.
with xr.open_dataset("xarray_python.nc", engine="shoal", comm=comm, split=("y",)) as block:
    part = block.temp.isel(time=-1)
    total = comm.allreduce(float(part.sum()))
    assert part.sizes["y"] == rows.count[0] and total == 12.0 * 12 * 10
