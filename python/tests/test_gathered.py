# SPDX-License-Identifier: BSD-3-Clause
"""Active points alone: CF's compression by gathering."""

import numpy as np
import pytest

import shoal


@pytest.mark.parametrize("n", [1, 2, 4])
def test_on_several_ranks(tmp_path, mpirun, n):
    mpirun(n, "gathered.py", tmp_path)


def test_it_needs_a_mask(tmp_path):
    grid = shoal.Decomposition.block(None, {"y": 2, "x": 3})
    with shoal.create(tmp_path / "a.nc", None) as data:
        with pytest.raises(shoal.InvalidArgumentError, match="mask"):
            data.def_gathered("water", grid)
        with pytest.raises(shoal.InvalidArgumentError, match="no water"):
            data.def_gathered("water", grid.masked(np.zeros((2, 3))))


def test_xarray_opens_it_as_it_is(tmp_path):
    xarray = pytest.importorskip("xarray")
    masked = shoal.Decomposition.block(None, {"y": 2, "x": 3}).masked([[1, 0, 1], [0, 0, 1]])
    with shoal.create(tmp_path / "a.nc", None) as data:
        data.def_gathered("water", masked)
        data.def_var("v", "i4", "water", masked)
        data.write("v", np.arange(6).reshape(2, 3))
    with xarray.open_dataset(tmp_path / "a.nc", engine="shoal") as found:
        assert found["v"].values.tolist() == [0, 2, 5] and found["water"].values.tolist() == [0, 2, 5]
