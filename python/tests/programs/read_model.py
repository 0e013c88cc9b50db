"""Read what write_model.py wrote, halos too: read_model.py PATH"""

import sys

import model
import numpy as np
from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD
with shoal.open(sys.argv[1], comm) as file:
    assert file.get_att(None, "title") == "a small model"
    assert file.get("time").tolist() == [0, 1, 2, 3]
    assert shoal.text(file.get("name")) == "shoal"
    for name in model.fields:
        assert file.variables[name].shape[0] == model.records
        plain, haloed = model.tiles(comm, name), model.tiles(comm, name, halo=2)
        for record in (3, 0):
            whole = model.values(name, record)
            found = file.read(name, record=record, decomposition=plain)
            np.testing.assert_array_equal(found, whole[plain.slices])
            found = file.read(name, record=record, halo=True, decomposition=haloed)
            if haloed.is_empty:
                continue
            fill = file.variables[name].fill_value
            padded = np.pad(whole, [(0, 0)] * (whole.ndim - 2) + [(2, 2)] * 2, constant_values=fill)
            box = tuple(
                slice(s.start, s.stop + low + high)
                for s, low, high in zip(haloed.slices, haloed.halo_low, haloed.halo_high)
            )
            np.testing.assert_array_equal(found, padded[box])
        np.testing.assert_array_equal(file.get(name, 2), model.values(name, 2))
