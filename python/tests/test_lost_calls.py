# SPDX-License-Identifier: BSD-3-Clause
"""Calls with wrong arguments, and calls that ranks leave out: nobody waits longer than wait_seconds, and
where all ranks make all calls they get one code from each. TEST_ALL=1 runs ten thousand and more."""

import os

import pytest

# Set for this program alone: the library knows no such setting.
_all = os.environ.get("TEST_ALL", "").upper() in ("1", "ON", "TRUE")

# ranks, settings, sequences of the ordinary run and of all
ways = [
    (2, ["format=cdf5"], 25, 1500),
    (3, ["format=netcdf4"], 25, 3000),
    (4, ["format=netcdf4"], 15, 2500),
    (4, ["format=cdf5", "ranks_per_node=2"], 15, 2500),
    (3, ["driver=gather", "format=cdf5"], 10, 1000),
]
others = [
    (3, ["driver=pnetcdf", "format=cdf5"], 10, 500),
    (3, ["driver=mpiio", "format=raw"], 10, 500),
]


@pytest.mark.parametrize("n, settings, few, many", ways)
def test_nobody_waits_for_ever(tmp_path, mpirun, n, settings, few, many):
    mpirun(n, "lost_calls.py", tmp_path, 1, many if _all else few, *settings, seconds=7200 if _all else 120)


@pytest.mark.parametrize("n, settings, few, many", others)
def test_nobody_waits_for_ever_in_other_libraries(tmp_path, mpirun, n, settings, few, many):
    import shoal

    driver = settings[0].split("=")[1]
    if driver not in shoal.build_info()["drivers"].split():
        pytest.skip(f"this build has no driver {driver}")
    mpirun(n, "lost_calls.py", tmp_path, 1, many if _all else few, *settings, seconds=7200 if _all else 120)
