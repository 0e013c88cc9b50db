"""shoal.to_netcdf of the same blocks to a Zarr store and to a netCDF-4 file: to_zarr.py FOLDER"""

import sys
from pathlib import Path

import numpy as np
import xarray as xr
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
folder = Path(sys.argv[1])
ny, nx = 13, 17
first = ny * comm.rank // comm.size
count = ny * (comm.rank + 1) // comm.size - first


def dataset(times):
    random = np.random.default_rng(7)
    values = random.normal(size=(6, ny, nx)).astype("f4")[times, first : first + count]
    packed = xr.Variable(("time", "y", "x"), values.astype("f8"))
    packed.encoding = {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -999}
    days = np.arange("2001-01-01", "2001-01-07", dtype="M8[D]").astype("M8[ns]")[times]
    ds = xr.Dataset(
        {
            "temp": (("time", "y", "x"), values, {"units": "K"}),
            "packed": packed,
            "name": ("x", np.array([f"x{i}" for i in range(nx)], object)),
            "wet": (("y", "x"), (np.arange(ny * nx).reshape(ny, nx) % 2 == 0)[first : first + count]),
        },
        coords={"time": days, "y": np.arange(ny, dtype="f8")[first : first + count]},
        attrs={"title": "blocks", "number": 3},
    )
    ds["temp"].encoding = {"chunksizes": (1, 4, 8), "zlib": True, "_FillValue": np.float32(-1)}
    ds["time"].encoding = {"units": "days since 2001-01-01", "dtype": "i4"}
    return ds


for name in "his.zarr", "his.nc":
    for times in slice(0, 4), slice(4, 6):
        shoal.to_netcdf(dataset(times), folder / name, comm, split="y", append_dim="time")
    shoal.to_netcdf(dataset(slice(0, 4)), folder / name, comm, split="y", mode="a", group="below")
tree = xr.DataTree.from_dict({"/": dataset(slice(0, 2)), "/ocean/ice": dataset(slice(0, 2))[["temp"]]})
for format in "zarr", "netcdf4":
    shoal.to_netcdf(tree, folder / f"tree.{format}", comm, split="y", format=format)
