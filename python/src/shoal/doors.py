# SPDX-License-Identifier: BSD-3-Clause
"""Doors: libraries by which programs of netCDF and PnetCDF run on Shoal as they are."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import InvalidArgumentError
from .executables import Executable, examine, libraries_of, places_of_programs

_mpi = r"libmpi(ch)?\.so\."
_hdf5 = r"libhdf5(_serial|_openmpi|_mpich)?\.so\."
_report = "shoal_doors.txt"


def netcdf_door() -> Path:
    """The library that is preloaded, beside the libshoal in use. Local.

    Errors: InvalidArgumentError, there is none."""
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        maps = ""
    libraries = sorted({line.split(maxsplit=5)[5] for line in maps.splitlines() if "/libshoal.so" in line})
    places = [Path(library).resolve().parent / "shoal/doors/libshoal_netcdf.so" for library in libraries]
    for place in places:
        if place.is_file():
            return place
    raise InvalidArgumentError(
        f"this Shoal has no door for netCDF (looked at {', '.join(map(str, places)) or 'no place'}); "
        "build it where netCDF's parallel headers are (CMake: SHOAL_DOORS, SHOAL_NETCDF_INCLUDE)"
    )


def pnetcdf_door(door: Path) -> Path | None:
    """The one for PnetCDF, beside the one for netCDF; None: this Shoal has none. Local."""
    beside = door.with_name("libshoal_pnetcdf.so")
    return beside if beside.is_file() else None


def _loaded(path: Path, door: Path) -> list[str]:
    """What is preloaded into a program: the door for PnetCDF where it has that, or may start what has."""
    program = examine(path)
    other = pnetcdf_door(door) if program.interpreter or program.needed(r"libpnetcdf") else None
    return [str(each) for each in (door, other) if each is not None]


def _compare(program: Executable, door: Path) -> None:
    """Refuse a program of another MPI or HDF5: the door would stand aside in it."""
    ours = libraries_of(door.with_name("libshoal_netcdf_core.so"))
    for pattern, what in ((_mpi, "MPI"), (_hdf5, "HDF5")):
        theirs = program.needed(pattern)
        own = sorted(name for name in ours if re.match(pattern, name))
        # The same HDF5 may be there in another build, as beside a serial netCDF: its number is the same.
        numbers = {name.rsplit(".", 1)[1] for name in own}
        strangers = [name for name in theirs if name not in own]
        if what == "HDF5":
            strangers = [name for name in strangers if name.rsplit(".", 1)[1] not in numbers]
        if own and strangers:
            raise InvalidArgumentError(
                f"{program.path} has {what} {', '.join(strangers)}, and this Shoal {', '.join(own)}; "
                "load a Shoal that was built with the former"
            )


def describe(path: Path, door: Path) -> str:
    """One line: what of a program will be served. InvalidArgumentError: nothing can be. Local."""
    program = examine(path)
    if program.interpreter:
        return (
            f"{path} is a script ({program.interpreter}); files of netCDF that its programs write in parallel"
        )
    _compare(program, door)
    netcdf = program.needed(r"libnetcdf")
    if not netcdf and pnetcdf_door(door) is not None:
        netcdf = program.needed(r"libpnetcdf")
    others = [*program.needed(_mpi), *program.needed(_hdf5), *program.needed(r"libpnetcdf")]
    libraries = ", ".join(name for name in others if name not in netcdf)
    if netcdf:
        return (
            f"{path} ({', '.join(netcdf)}; {libraries}): files that it makes, or opens to write, in parallel"
        )
    return f"{path} ({libraries or 'no MPI'}): nothing, unless it loads a netCDF later, as Python does"


def settings_of_ranks(environment: Mapping[str, str]) -> dict[str, str]:
    """What the ranks get of Shoal's variables: all, as some launchers hand on nothing, and ranks must decide
    alike; and where threads are to store, MPI's own that lets a plain MPI_Init allow them. Local."""
    found = {
        name: value
        for name, value in sorted(environment.items())
        if name.startswith("SHOAL_") and name != "SHOAL_DOORS_REPORT"
    }
    if environment.get("SHOAL_BACKGROUND", "").strip() in ("thread", "auto"):
        levels = {
            "OMPI_MPI_THREAD_LEVEL": "1",
            "MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_FUNNELED",
        }
        found |= {name: value for name, value in levels.items() if name not in environment}
    return found


def _unused(path: Path) -> list[str]:
    """Lines on what is set, and has no use for the program."""
    program = examine(path)
    names = [name for name in ("SHOAL_STREAMS", "SHOAL_STREAMS_CHECK") if os.environ.get(name)]
    if program.interpreter or program.needed(r"libshoal\.so"):
        return []
    return [
        f"{name} has no use here: {path} calls no streams of Shoal, which know the steps of a model; "
        "settings of its files are SHOAL_BACKGROUND, SHOAL_COMPRESSION and the like"
        for name in names
    ]


def plan(words: Sequence[str], door: Path, report: Path) -> tuple[list[str], list[str]]:
    """(words to run, lines that say what is served). Behind a launcher the library is loaded into the ranks
    alone: `env LD_PRELOAD=...` before each program, which no launcher keeps from other nodes. A script has it
    in its environment, and hands it on. Local.

    Errors: InvalidArgumentError, no program in the line, or one that cannot be served."""
    places = places_of_programs(words)
    if not places:
        raise InvalidArgumentError(f"no such program: {words[0] if words else '(none is given)'}")
    paths = [Path(shutil.which(words[i]) or words[i]) for i in places]
    told = [describe(path, door) for path in paths] + [line for path in paths for line in _unused(path)]
    made = list(words)
    settings = [f"{name}={value}" for name, value in settings_of_ranks(os.environ).items()]
    for place, path in reversed(list(zip(places, paths, strict=True))):
        loaded = ":".join(filter(None, [*_loaded(path, door), os.environ.get("LD_PRELOAD")]))
        made[place:place] = ["env", f"LD_PRELOAD={loaded}", f"SHOAL_DOORS_REPORT={report}", *settings]
    return made, told


def summary(report: Path) -> str:
    """What the report of a run says, in a line. Local."""
    try:
        lines = report.read_text().splitlines()
    except OSError:
        return "no file was served, handed back or left: the program made none in parallel"
    counts = {word: sum(f": {word}" in line for line in lines) for word in ("served", "handed back", "left")}
    parts = [f"{number} {word}" for word, number in counts.items() if number]
    return f"files: {', '.join(parts) or 'none'}; see {report}"


def report_path() -> Path:
    """Where doors write their report. Local."""
    return Path(os.environ.get("SHOAL_DOORS_REPORT") or _report).absolute()
