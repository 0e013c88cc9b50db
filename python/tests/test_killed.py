# SPDX-License-Identifier: BSD-3-Clause
"""A job that is killed leaves files with the records it committed, for everybody's tools."""

import time

import numpy as np
import pytest

import shoal

netCDF4 = pytest.importorskip("netCDF4")


def opened_once_all_have_ended(path):
    """mpiexec may end before the last of the ranks that it stops, whose lock is on the file."""
    for _ in range(200):
        try:
            return shoal.open(path, mode="a")
        except shoal.StateError:
            time.sleep(0.1)
    return shoal.open(path, mode="a")


@pytest.mark.parametrize("ranks", [1, 4])
def test_the_records_committed_before_are_there(mpirun, tmp_path, any_format, ranks):
    path = tmp_path / "killed.nc"
    result = mpirun(ranks, "killed.py", path, any_format, expect=None)
    assert result.returncode != 0
    with netCDF4.Dataset(path) as file:
        assert len(file.dimensions["time"]) == 3
        assert file["time"][:].tolist() == [0, 1, 2]
        for record in range(3):
            assert np.all(file["v"][record] == record)
    with opened_once_all_have_ended(path) as file:  # and the next run goes on
        assert file.dimensions["time"].length == 3
        file.put("time", 3.0, 3)
    with netCDF4.Dataset(path) as file:
        assert file["time"][:].tolist() == [0, 1, 2, 3]
