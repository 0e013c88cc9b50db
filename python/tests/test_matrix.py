# SPDX-License-Identifier: BSD-3-Clause
"""shoal matrix: the same fields in every way. Here a faithful subset; all of them with TEST_ALL=1 in the
environment, or when the build under test was configured with SHOAL_TEST_ALL (make test-all)."""

import os
import sys
from pathlib import Path

import pytest
from conftest import run_program

import shoal
from shoal.cli.configurations import Configuration, Fields, all_configurations, compare_all, take

program = [sys.executable, "-m", "shoal.cli", "matrix"]
launcher = str(Path(__file__).resolve().parents[2] / "tools" / "mpirun.sh")


def run(ranks, *options, expect=0, seconds=300):
    result = run_program([launcher, str(ranks), *program, *options], seconds)
    assert result.returncode == expect, result.stdout + result.stderr
    return result.stdout


def test_native_in_every_layout(tmp_path):
    out = run(4, "--drivers", "native", "--formats", "cdf5,netcdf4,raw", "--dir", str(tmp_path))
    assert "12 ways: 12 written, 0 refused, 0 failed; 66 pairs compared, 0 of the written differ" in out
    assert not list(tmp_path.iterdir())


def test_libraries(tmp_path):
    options = ["--formats", "cdf5,netcdf4", "--layouts", "one,process", "--accesses", "collective"]
    out = run(3, *options, "--dir", str(tmp_path), "--keep")
    # Every driver either has the format or says who has: what is refused has words.
    assert " 0 failed; " in out and ", 0 of the written differ" in out
    refusal = "driver pnetcdf has no format netcdf4, only cdf1, cdf2, cdf5"
    assert refusal not in out and "refused [" not in out and "--all" in out
    everything = run(3, *options, "--dir", str(tmp_path), "--all")
    assert refusal in everything or "not in this build" in everything
    (folder,) = tmp_path.iterdir()
    assert (folder / "one-cdf5-native").is_file() and (folder / "process-cdf5-native.0002").is_file()


def test_uneven_and_empty_tiles():
    """More ranks than cells in a dimension."""
    out = run(7, "--size", "3x2x2", "--drivers", "native", "--formats", "cdf5,netcdf4", "--layouts", "one")
    assert "2 ways: 2 written" in out and "1 pairs compared, 0 of the written differ" in out


def test_what_differs_is_found(tmp_path):
    comm = shoal._library.communicator(None)
    fields = Fields(comm, (12, 10, 3), 2)
    ways = list(
        all_configurations(
            {"formats": ["cdf1", "cdf5", "netcdf4"], "drivers": ["native"], "layouts": ["one"]}
        )
    )
    for way in ways:
        take(way, fields, str(tmp_path))
    with shoal.open(ways[2].path, mode="r+") as file:
        file.put("u", file.get("u", 1) + 1, 1)
    assert compare_all(ways, comm) == 3
    assert [way.differs for way in ways] == [[], [], ["from one-cdf1-native: u"]]
    broken = Configuration("one", "cdf5", "native", "")
    fields.values = lambda name, record: 1 / 0
    with pytest.raises(ZeroDivisionError):
        take(broken, fields, str(tmp_path))


def test_refusals():
    for wrong, words in (
        (["--drivers", "nativ"], "native"),
        (["--size", "3x4"], "48x40x5"),
        (["--dir", "/none/such"], "--dir"),
        (["--keep"], "--keep"),
    ):
        result = run_program([*program, *wrong])
        assert result.returncode == 2 and words in result.stderr, result.stderr
        assert "Traceback" not in result.stderr


def wants_all() -> bool:
    if "TEST_ALL" in os.environ:
        return os.environ["TEST_ALL"] in ("1", "ON")
    cache = Path(os.environ.get("TEST_BUILD_DIR", "")) / "CMakeCache.txt"
    return cache.is_file() and "SHOAL_TEST_ALL:BOOL=ON" in cache.read_text()


@pytest.mark.skipif(not wants_all(), reason="all ways: with TEST_ALL=1 in the environment, or make test-all")
@pytest.mark.parametrize("ranks", [1, 4])
def test_all(ranks):
    out = run(ranks, seconds=1200)
    assert " 0 failed; " in out and ", 0 of the written differ" in out
