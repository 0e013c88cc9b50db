# SPDX-License-Identifier: BSD-3-Clause
"""The door as a user-defined format of a netCDF-C that loads formats itself, without anything preloaded:
programs without and with a .ncrc that names it, the same codes, values and files.

netCDF-C 4.10 and the programs come from `make test-format` (tools/doors_programs.sh BUILD format); without
them all of this is skipped. Where they are left over from that, a part runs with all other tests; TEST_ALL=1
runs the rest."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from door_runs import ROMIO, TOP, build_folder, compare, run

PROGRAMS = build_folder() / "tests" / "doors" / "format"
LIBRARY = build_folder() / "lib" / "shoal" / "doors" / "libshoal_netcdf_format.so"
HERE = TOP / "tests" / "doors"
ALL = os.environ.get("TEST_ALL", "").upper() in ("1", "ON", "TRUE")

pytestmark = pytest.mark.skipif(
    not (PROGRAMS / ".stamp").exists(), reason="no netCDF-C that loads formats: make test-format"
)


def ncrc(*magics: bytes) -> bytes:
    """The lines of .ncrc that name the format, with the magic numbers of files that come to it when they are
    opened; netCDF-C has one for each slot."""
    lines = []
    for slot, magic in enumerate(magics or (b"",)):
        name = f"NETCDF.UDF{slot}."
        lines += [f"{name}LIBRARY={LIBRARY}".encode(), f"{name}INIT=shoal_netcdf_format".encode()]
        lines += [name.encode() + b"MAGIC=" + magic] if magic else []
    return b"\n".join(lines) + b"\n"


ALL_FILES = (b"\x89HDF", b"CDF")
only_with_all = pytest.mark.skipif(not ALL, reason="make test-format, or TEST_ALL=1, runs it")


def run_both(ranks: int, program: str, folder, *lines: str, magics=ALL_FILES, preload="", with_door=""):
    """run.sh without and with the .ncrc: logs and files are alike, and the report has the lines."""
    (folder / "ncrc").write_bytes(ncrc(*magics))
    command = [HERE / "run.sh", TOP / "tools" / "mpirun.sh", ranks, preload, PROGRAMS / program, *lines]
    environment = {**os.environ, "WITH_DOOR": f"cp ../ncrc .ncrc\n{with_door}"}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=folder, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.parametrize("ranks", [1, 3, 4] if ALL else [3])
def test_addresses_of_a_user(ranks, tmp_path):
    """A program that is neither compiled nor linked again, with an address in place of each path."""
    address = 'set -- "file://$PWD/" "#mode=netcdf-4,udf0"'
    served = ("address.nc: served by Shoal, netcdf4, 4", "address5.nc: served by Shoal, cdf5, 4")
    run_both(ranks, "address", tmp_path, *served, with_door=address)


@only_with_all
@pytest.mark.parametrize("ranks", [1, 3])
def test_opened_by_addresses(ranks, tmp_path):
    """No magic numbers: netCDF-C reads the beginning of a file that an address names, where it can at all."""
    settings = (PROGRAMS / ".settings").read_text()
    if not re.search(r"^Byte-Range Support:\s*yes", settings, re.MULTILINE):
        pytest.skip("this netCDF-C opens no files by addresses")
    address = 'set -- "file://$PWD/" "#mode=netcdf-4,udf0" opened'
    run_both(ranks, "address", tmp_path, magics=(), with_door=f"export SHOAL_DOORS=all; {address}")
    report = (tmp_path / "report").read_text()
    assert report.count("served by Shoal") == 6, report


@only_with_all
@pytest.mark.parametrize("setting", ["SHOAL_DOORS=off", "SHOAL_DOORS=all"])
def test_choice_of_files(setting, tmp_path):
    address = f'export {setting}; set -- "file://$PWD/" "#mode=netcdf-4,udf0"'
    run_both(2, "address", tmp_path, with_door=f"{address}; touch ../report")
    report = (tmp_path / "report").read_text()
    assert report.count("served by Shoal") == (0 if setting.endswith("off") else 7), report


@only_with_all
@pytest.mark.parametrize("way", ["mode", "address"])
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("program", ["definitions", "handed_back", "independent", "names", "values"])
def test_programs_of_the_door(program, ranks, way, tmp_path):
    """The programs of the other door's tests, made to use the format by a library before them: by a mode, or
    by addresses and magic numbers."""
    magics = ALL_FILES if way == "address" else ()
    shim = str(PROGRAMS / "libas_format.so")
    line = "group.nc: handed back to netCDF: nc_def_grp" if program == "handed_back" else "served by Shoal"
    run_both(ranks, program, tmp_path, line, magics=magics, preload=shim, with_door=f"export AS_FORMAT={way}")


@only_with_all
@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_calls_family_by_family(ranks, tmp_path):
    pytest.importorskip("netCDF4")
    command, folders = [PROGRAMS / "netcdf_calls"], (tmp_path / "without", tmp_path / "with")
    without = run([*command, folders[0]], ranks, folders[0], **ROMIO)
    (tmp_path / ".ncrc").write_bytes(ncrc(*ALL_FILES))
    shim = ["env", f"LD_PRELOAD={PROGRAMS / 'libas_format.so'}", "AS_FORMAT=address"]
    of_ncrc = {"HOME": str(tmp_path), "NCRCENV_HOME": str(tmp_path)}
    report = tmp_path / "report"
    with_door = run(
        [*shim, *command, folders[1]], ranks, folders[1], SHOAL_DOORS_REPORT=str(report), **of_ncrc, **ROMIO
    )
    assert without.code == 0, without.says()
    found = compare(without, with_door)
    assert not found, "\n".join(found) + "\n" + with_door.err[-3000:]
    assert "types.nc: served by Shoal" in report.read_text()
