"""Write the model's fields: write_model.py PATH FORMAT [KEY=VALUE...]"""

import sys

import model
import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
path, kind, *settings = sys.argv[1:]
with shoal.create(path, comm, format=kind, **dict(item.split("=") for item in settings)) as file:
    file.put_att(None, "title", "a small model")
    file.def_var("time", "f8", record="time", attrs={"units": "days since 2000-01-01"})
    file.def_dim("length", 16)
    file.def_var("name", "S1", "length")
    cuts = {}
    for name, (dtype, _) in model.fields.items():
        cuts[name] = model.tiles(comm, name, halo=1 if name == "u" else None)
        file.def_var(name, dtype, cuts[name], record="time", attrs={"long_name": f"field {name}"})
    file.put("name", "shoal" if comm.rank == 0 else None)
    for record in (1, 0, 3, 2):
        file.put("time", float(record) if comm.rank == 0 else None, record)
        for name, cut in cuts.items():
            tile = model.values(name, record)[cut.slices]
            if name == "u":  # with its halo, every other element of a larger array, back to front
                room = np.full([2 * n for n in cut.halo_shape], 99.0)
                view = room[::-2, ::2, ::2]
                view[cut.inner] = tile
                tile = view
            file.write(name, tile, record)
