# SPDX-License-Identifier: BSD-3-Clause
"""Programs that call netCDF and PnetCDF run as they are: on these libraries, and through the doors with the
same lines printed, the same exit codes and the same files. Without the doors' libraries the second half is
skipped.

TEST_DOORS names a folder with other doors than the build's; TEST_DOORS_SEQUENCES is how many sequences of
calls by chance are tried (a campaign: 5000), TEST_SEED their first seed."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass

import pytest
from door_runs import OMPIO, ROMIO, TOP, build_folder, compare, dependencies, doors, run

pytest.importorskip("netCDF4")
SEED = int(os.environ.get("TEST_SEED", "1"))
SEQUENCES = int(os.environ.get("TEST_DOORS_SEQUENCES", "12"))


@dataclass(frozen=True)
class Program:
    """A program with its arguments after the folder; `served`: files that a door must not hand back."""

    name: str
    arguments: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    # Part of tools/doors_programs.sh that makes it, "" if the build does.
    part: str = ""
    # Ranks write overlapping boxes, with which Open MPI's OMPIO stores other values than PnetCDF gives it.
    overlaps: bool = False

    @property
    def library(self) -> str:
        of_pnetcdf = self.name in ("wrf_like", "pnetcdf_calls") or "pnetcdf" in self.arguments
        return "pnetcdf" if of_pnetcdf else "netcdf"

    def command(self, folder) -> list:
        if self.name == "parallel.py":
            python = dependencies() / "python" / "bin" / "python"
            return [python, TOP / "tests" / "doors" / "programs" / self.name, folder]
        return [build_folder() / "tests" / "doors" / self.name, folder, *self.arguments]

    def run(self, ranks: int, folder, **options):
        return run(self.command(folder), ranks, folder, **options)


PROGRAMS = [
    Program("roms_like", ("netcdf4",), ("roms_his_netcdf4.nc",), "fortran"),
    Program("fms_like", (), ("ocean_daily.nc", "ocean_month.nc.0000", "ice_month.nc.0000"), "fortran"),
    Program("wrf_like", (), ("wrfout_d01.nc",)),
    Program("pnetcdf_calls", (), ("types.nc", "shapes.nc", "flexible.nc", "requests.nc", "lists.nc")),
    Program("netcdf_calls", (), ("types.nc", "shapes.nc", "independent.nc")),
    Program("parallel.py", (), ("python.nc",), "python"),
    *(
        Program("random_calls", (of, str(SEED), str(SEQUENCES)), (f"random_{of}_{SEED}.nc",), overlaps=True)
        for of in ("netcdf", "pnetcdf")
    ),
]


def names(program: Program) -> str:
    return "-".join((program.name, *program.arguments[:1]))


def need_door(library: str) -> None:
    if f"libshoal_{library}.so" not in [door.name for door in doors()]:
        pytest.skip(f"no door of {library} in the build: nothing to compare with")


@pytest.fixture(scope="session")
def made():
    """made(program): it is there, made now if it must be; otherwise the test is skipped, with the reason."""
    parts = {}

    def make(part: str) -> str:
        script = TOP / "tools" / "doors_programs.sh"
        result = subprocess.run(
            [script, build_folder(), part],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=1800,
        )
        assert result.returncode in (0, 77), f"{script} {part}\n{result.stdout}\n{result.stderr}"
        return result.stderr.strip() if result.returncode == 77 else ""

    def get(program: Program) -> None:
        if program.part and program.part not in parts:
            parts[program.part] = make(program.part)
        if program.part and parts[program.part]:
            pytest.skip(parts[program.part])
        if not program.part and not program.command("")[0].exists():
            pytest.skip(f"{program.name} is not in {build_folder()}: its library was not found")

    return get


@pytest.mark.parametrize(("ranks", "mpi_io"), [(1, OMPIO), (3, OMPIO), (4, ROMIO)], ids=["1", "3", "4"])
@pytest.mark.parametrize("program", PROGRAMS, ids=names)
def test_without_the_doors(program, ranks, mpi_io, made, tmp_path):
    made(program)
    result = program.run(ranks, tmp_path / "files", **(ROMIO if program.overlaps else mpi_io))
    assert result.code == 0, result.says()
    assert result.lines[-1] == "failed checks: 0", result.says()
    assert not {str(d) for d in doors()} & set(result.answering().values()), result.err


@pytest.mark.parametrize("ranks", [1, 3, 4])
@pytest.mark.parametrize("program", PROGRAMS, ids=names)
def test_with_the_doors(program, ranks, made, tmp_path):
    need_door(program.library)
    made(program)
    without = program.run(ranks, tmp_path / "without", **ROMIO)
    with_door = program.run(ranks, tmp_path / "with", door=True, **ROMIO)
    assert without.code == 0, without.says()
    found = compare(without, with_door)
    assert not found, "\n".join(found) + "\n" + with_door.err[-3000:]
    check_tried(program, with_door)


def check_tried(program: Program, result) -> None:
    """The doors answered the calls, and their report says so of each file that they must take."""
    answers = result.answering()
    for door in doors():
        symbol = "ncmpi_create" if "pnetcdf" in door.name else "nc_create_par"
        assert answers.get(symbol) == str(door), (
            f"{symbol} is not answered by {door}: {answers}\n{result.err}"
        )
    report = result.folder / "report"
    text = report.read_text() if report.exists() else ""
    for name in program.served:
        assert f"{name}: served by Shoal" in text, f"{name} was not served:\n{text}\n{result.err}"


def serial(program: Program) -> Program:
    return Program(program.name + "_serial", program.arguments, program.served, "serial")


@pytest.mark.parametrize("program", PROGRAMS[:2], ids=names)
def test_serial_netcdf_fortran_alone_is_refused(program, made, tmp_path):
    """Debian's netCDF-Fortran has no parallel access: the library's code, and no file of several ranks."""
    made(serial(program))
    result = serial(program).run(3, tmp_path / "files")
    assert result.code != 0 and "Parallel operation on file opened for non-parallel access" in result.err, (
        result.says()
    )


@pytest.mark.parametrize("program", PROGRAMS[:2], ids=names)
def test_serial_netcdf_fortran_with_the_doors(program, made, tmp_path):
    """With the doors the same binary writes what the parallel library's one does. (SHOAL_DOORS=all: its own
    library reads nothing in parallel.)"""
    need_door("netcdf")
    made(program)
    made(serial(program))
    without = program.run(3, tmp_path / "without", **ROMIO)
    with_door = serial(program).run(3, tmp_path / "with", door=True, SHOAL_DOORS="all", **ROMIO)
    found = compare(without, with_door)
    assert not found, "\n".join(found) + "\n" + with_door.err[-3000:]
    check_tried(program, with_door)


def test_netcdf_without_pnetcdf(made, tmp_path):
    """A netCDF that was built without PnetCDF refuses classic formats in parallel by its own code."""
    program = Program("roms_like", ("cdf5",), (), "fortran")
    made(program)
    result = program.run(3, tmp_path / "files")
    assert result.code in (0, 77), result.says()
    assert result.lines[0] == ("create: 0" if result.code == 0 else "create: -128"), result.says()


@pytest.mark.parametrize("format", ["cdf2", "cdf5"])
def test_classic_formats_with_the_doors(format, made, tmp_path):
    """The doors write and read classic formats, whatever the library was built with."""
    need_door("netcdf")
    program = Program("roms_like", (format,), (f"roms_his_{format}.nc",), "fortran")
    made(program)
    result = program.run(3, tmp_path / "files", door=True, SHOAL_DOORS="all")
    assert result.code == 0 and result.lines[-1] == "failed checks: 0", result.says()
    check_tried(program, result)


@pytest.mark.parametrize("library", ["netcdf", "pnetcdf"])
def test_bad_arguments_alone(library, made, tmp_path):
    """On one rank bad arguments are the library's own case: the sequences themselves are right."""
    program = Program("random_calls", (library, str(SEED), str(SEQUENCES), "faults"))
    made(program)
    result = program.run(1, tmp_path / "files")
    assert result.code == 0, result.says()


@pytest.mark.parametrize("ranks", [3, 4])
@pytest.mark.parametrize("library", ["netcdf", "netcdf3", "pnetcdf"])
def test_bad_arguments_on_one_rank(library, ranks, made, tmp_path):
    """Nobody waits for ever, in so many sequences with bad arguments on one rank; some at a time."""
    need_door(library.rstrip("3"))
    together = 50
    for first in range(SEED, SEED + SEQUENCES, together):
        count = min(together, SEED + SEQUENCES - first)
        program = Program("random_calls", (library, str(first), str(count), "faults"))
        made(program)
        result = program.run(ranks, tmp_path / str(first), door=True, seconds=60 + 3 * count)
        assert result.code == 0, f"seeds {first} to {first + count - 1}: {result.says()}"
        shutil.rmtree(result.folder)
