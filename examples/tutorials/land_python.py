"""A field with land: the mask is given once, and land goes to the file as the fill value."""

import numpy as np
import xarray as xr
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
rows = shoal.Decomposition.block(comm, {"y": 8, "x": 8}, split=("y",))
is_water = np.ones(rows.shape, bool)
is_water[:, :3] = False  # land in the west
water = rows.masked(is_water)

temp = np.where(is_water, 15.0, np.nan)  # nobody looks at land
with shoal.create("land_python.nc", comm, format="netcdf4") as file:
    file.def_var("temp", "f4", water, fill=1.0e20)  # without fill: the default of the type
    file.write("temp", temp)

with shoal.open("land_python.nc", comm) as file:
    room = np.full(rows.shape, -1.0)
    file.read("temp", out=room, decomposition=water)
    assert (room[:, :3] == -1.0).all()  # left as it was
    assert (room[:, 3:] == 15.0).all()

comm.barrier()
with xr.open_dataset("land_python.nc", engine="shoal") as ds:
    assert ds.temp.isnull().sum() == 8 * 3 and ds.temp.mean() == 15.0
