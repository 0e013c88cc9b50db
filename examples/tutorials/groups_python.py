"""A file with groups as a tree of xarray's, and a tree written by all ranks."""

import numpy as np
import xarray as xr
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
rows = shoal.Decomposition.block(comm, {"y": 10, "x": 12}, split=("y",))
with shoal.create("groups_python.nc", comm, format="netcdf4") as file:
    file.def_var("ocean/temp", "f4", rows, attrs={"units": "degC"})
    file.def_var("ocean/ice/conc", "f4", rows)
    file.put_att("ocean", "title", "water")
    file.write("ocean/temp", np.full(rows.shape, 4.0))
    file.write("ocean/ice/conc", np.full(rows.shape, 0.5))
comm.barrier()

# One group as a Dataset, or all of them as a tree, of which every rank has its block.
with xr.open_dataset("groups_python.nc", engine="shoal", group="ocean") as ocean:
    assert ocean.temp.sizes["y"] == 10 and ocean.attrs["title"] == "water"
with xr.open_datatree("groups_python.nc", engine="shoal", comm=comm, split=("y",)) as tree:
    area = tree["ocean/ice"].conc.load()
    assert area.sizes["y"] == rows.count[0]
    tree["ocean/ice"]["melt"] = area * 0.1
    shoal.to_netcdf(tree, "groups_melted.nc", comm)

with shoal.open("groups_melted.nc", comm) as file:
    names = sorted(file.variables)
    assert names == ["ocean/ice/conc", "ocean/ice/melt", "ocean/temp"], names
    assert np.allclose(file["ocean/ice/melt"][...], 0.05)
if comm.rank == 0:
    print("groups_melted.nc has", ", ".join(names))
