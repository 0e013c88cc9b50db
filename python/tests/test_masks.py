# SPDX-License-Identifier: BSD-3-Clause
"""Decompositions with masks."""

import numpy as np
import pytest

import shoal


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_on_several_ranks(tmp_path, mpirun, n):
    mpirun(n, "masks.py", tmp_path)


def test_the_decomposition_itself_stays(tmp_path):
    all_cells = shoal.Decomposition.block(None, {"y": 2, "x": 3})
    masked = all_cells.masked([[True, False, True], [False, False, True]])
    path = tmp_path / "two.nc"
    with shoal.create(path, None) as data:
        data.def_var("masked", "i4", masked, fill=0)
        data.def_var("all", "i4", all_cells)
        for name in ("masked", "all"):
            data.write(name, np.arange(1, 7).reshape(2, 3))
    with shoal.open(path) as data:
        assert data.get("masked").tolist() == [[1, 0, 3], [0, 0, 6]]
        assert data.get("all").tolist() == [[1, 2, 3], [4, 5, 6]]
