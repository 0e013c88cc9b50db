# SPDX-License-Identifier: BSD-3-Clause
"""Random runs with streams against numpy, xarray and cftime, whole and in parts on other numbers of ranks
(programs/random_streams.py). TEST_ALL=1 runs two thousand and more; TEST_SEED is the first seed."""

import os

import pytest

pytest.importorskip("xarray")
pytest.importorskip("cftime")
pytest.importorskip("netCDF4")

# Set for this program alone: the library knows no such setting.
_all = os.environ.get("TEST_ALL", "").upper() in ("1", "ON", "TRUE")


def test_files_are_what_others_make_of_the_same_series(tmp_path, mpirun, with_streams):
    seed = os.environ.get("TEST_SEED", "1")
    cases = 2400 if _all else 60
    mpirun(4, "random_streams.py", tmp_path, seed, cases, seconds=7200 if _all else 300)
