# SPDX-License-Identifier: BSD-3-Clause
"""append_dim=: steps are added one after the other: to_netcdf_append.py FOLDER"""

import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
folder = Path(sys.argv[1])
warnings.simplefilter("ignore")
ny = 7
whole = xr.Dataset(
    {
        "v": (("time", "y"), np.random.default_rng(1).random((5, ny)), {"units": "m"}),
        "flag": (("time", "y"), np.random.default_rng(2).random((5, ny)) > 0.5),
        "depth": ("y", np.arange(ny, dtype="f4")),
    },
    {
        "time": np.datetime64("2020-01-01", "ns") + np.arange(5) * np.timedelta64(1, "D"),
        "y": np.arange(ny) * 1.0,
    },
    {"title": "steps"},
)
whole.v.encoding = {"dtype": "i2", "scale_factor": 1e-4, "_FillValue": -1}
tile = shoal.Decomposition.block(comm, {"y": ny}, split="y")
(rows,) = tile.slices
for format in ("cdf5", "netcdf4"):
    path = folder / f"{format}.nc"
    for steps in (slice(0, 1), slice(1, 4), slice(4, 5)):
        mine = whole.isel(y=rows, time=steps)
        given = {
            "format": format,
            "encoding": {"time": {"units": "hours since 2020-01-01"}, "v": whole.v.encoding},
        }
        if steps.start > 0:
            given = {}
            if steps.start == 4:  # what does not vary with time need not come again
                mine = mine.drop_vars("depth").chunk({"time": 1})
        shoal.to_netcdf(mine, path, comm, append_dim="time", decomposition=tile, **given)
    comm.barrier()
    reference = folder / "reference.nc"
    if comm.rank == 0:
        whole.to_netcdf(
            reference, encoding={"time": {"units": "hours since 2020-01-01"}}, unlimited_dims=["time"]
        )
    comm.barrier()
    if comm.rank == 0:
        found, expected = xr.load_dataset(path, engine="netcdf4"), xr.load_dataset(reference)
        xr.testing.assert_identical(found, expected)
        assert found.time.encoding["units"] == "hours since 2020-01-01"
    comm.barrier()

    def refused(ds, word, path=path, **given):
        try:
            shoal.to_netcdf(ds, path, comm, append_dim="time", decomposition=tile, **given)
        except (ValueError, NotImplementedError) as error:
            assert word in str(error), error
        else:
            raise AssertionError(f"not refused: {word}")

    mine = whole.isel(y=rows, time=slice(0, 1))
    refused(mine.drop_vars("v"), "'v'")
    refused(mine.assign(w=mine.v), "'w'")
    refused(mine.assign(v=mine.v.T), "dimensions")
    refused(mine, "Leave them out", encoding={"v": {}})
    refused(mine, "Leave them out", format="netcdf4")
    refused(mine.assign_coords(time=mine.time + np.timedelta64(1234567, "ns")), "time")
    assert xr.load_dataset(path).sizes["time"] == 5
    comm.barrier()

# Another dimension that grows is written where it is.
path = folder / "two.nc"
two = xr.Dataset(
    {"v": (("time", "y"), np.arange(4.0 * ny).reshape(4, ny)), "seen": ("obs", np.arange(3.0))},
)
for steps in (slice(0, 2), slice(2, 4)):
    mine = two.isel(y=rows, time=steps)
    mine.encoding["unlimited_dims"] = {"time", "obs"}
    shoal.to_netcdf(mine, path, comm, append_dim="time", decomposition=tile)
comm.barrier()
xr.testing.assert_identical(xr.load_dataset(path, engine="netcdf4"), two)
