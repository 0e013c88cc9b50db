#!/usr/bin/env python3
"""Hold the sources to the map of modules.

A module (a folder of src/) includes only modules to its right, no driver sees another, the
bindings see public headers alone, paths of files are asked for in src/storage/ alone, no
file has grown into two ideas, and none know each other in a circle (check_circles.py). Prints
every breach and exits 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import check_circles

TOP = Path(__file__).resolve().parent.parent

# What each module may include beside itself.
BASE = {"base"}
COMM = BASE | {"comm"}
DECOMP = COMM | {"decomp"}
PACK = DECOMP | {"format", "codec", "pack"}
LEAVES = PACK | {"rearrange", "storage", "machine"}
MODULES = {
    "base": set(),
    "comm": BASE,
    "decomp": COMM,
    "codec": BASE,  # knows nothing of MPI or files
    "storage": BASE,
    "format": BASE | {"storage", "codec"},  # a catalog reads its header through a store
    "pack": PACK,
    "machine": BASE | {"storage"},  # figures and their file; knows nothing of who chooses by them
    "rearrange": PACK | {"machine"},
    "driver": LEAVES,
    "dataset": LEAVES | {"driver"},
    "streams": LEAVES | {"driver", "dataset"},
    "capi": LEAVES | {"driver", "dataset", "streams"},
    # No parts of the library: the program of plan, and tests, link them.
    "simulate": LEAVES | {"driver"},
    "grids": set(),
    "plan": LEAVES | {"driver", "dataset", "simulate", "grids"},
    "tune": LEAVES | {"dataset"},
    "streams_program": LEAVES | {"dataset", "streams"},
}

# Folders of src/driver that are no drivers: all of these see them.
DRIVER_ROOMS = {"protocol", "records", "file", "plans"}

# Files that see base and each other alone, whatever their module may: functions of counts and settings.
PURE = {
    "machine/figures.cpp",
    "machine/figures.hpp",
    "machine/fields.hpp",
    "rearrange/options.hpp",
    "rearrange/storing_choice.cpp",
    "rearrange/storing_choice.hpp",
    "rearrange/strategy.cpp",
    "rearrange/strategy.hpp",
}

# System headers that betray knowledge which a module must not have.
FORBIDDEN = {
    "base": r"mpi\.h|hdf5\.h|H5.*\.h",
    "codec": r"mpi\.h|hdf5\.h|H5.*\.h|fstream|sys/.*",
    "comm": r"hdf5\.h|H5.*\.h",
    "decomp": r"hdf5\.h|H5.*\.h|fstream",
    "storage": r"hdf5\.h|H5.*\.h|netcdf.*\.h|pnetcdf\.h",
    "machine": r"mpi\.h|hdf5\.h|H5.*\.h|sys/.*",
    "pack": r"mpi\.h|hdf5\.h|H5.*\.h|fstream|sys/.*",
    "rearrange": r"mpi\.h|hdf5\.h|H5.*\.h|fstream",
    "format": r"mpi\.h|netcdf.*\.h|pnetcdf\.h",
    "grids": r".*\.h",  # the standard library alone: bench compiles it, too
    "dataset": r"hdf5\.h|H5.*\.h",
    "streams": r"hdf5\.h|H5.*\.h",
}  # capi may ask HDF5 for its version, which shoal_build_info says

# Only these ask the system for paths of files: storage, for all others (storage/paths.hpp); comm, whose
# windows are shared memory; and the programs, which are no parts of the library and make files of their own.
ASK_FOR_PATHS = {"storage", "comm", "tune", "plan", "streams_program"}
PATH_HEADERS = re.compile(r"filesystem|dirent\.h|fcntl\.h|glob\.h|unistd\.h|sys/(stat|statfs|statvfs|vfs)\.h")
PATH_CALLS = re.compile(
    r"std::filesystem\b|std::rename\("
    r"|std::remove\((?:[^,()]|\([^()]*\))*\)"  # of one path: the algorithm has three arguments
    r"|(?<![\w>])::(?:access|glob|lstat|mkdir|open|opendir|readlink|realpath|remove|rename|rmdir|stat|unlink)\("
)

# Folders outside src/ that stand on the public headers alone, but for what measures modules. bench shares a
# module that knows nothing.
OUTSIDE = ["fortran", "python", "bench", "lab", "examples", "compat"]
SEES_MODULES = [TOP / "bench" / "inside"]
SHARED = {"bench": {"grids"}}

# Folders of compat/doors/, and what each includes beside itself.
DOORS = {
    "front": set(),
    "user_format": {"front"},
    "file": {"front"},
    "data": {"front", "file"},
    "handback": {"front", "file", "data"},
    "calls": {"front", "file", "data", "handback"},
    "pnetcdf": {"front", "file", "data", "handback"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = {".c", ".cc", ".cpp", ".h", ".hpp"}
MAX_LINES = 700
MAX_COLUMNS = 110  # clang-format leaves comments as they are


def includes(path: Path):
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def sources(folder: Path):
    if folder.is_dir():
        yield from sorted(p for p in folder.rglob("*") if p.suffix in SOURCES and "build" not in p.parts)


def check_module(module: str, path: Path) -> list[str]:
    breaches = []
    inside = path.relative_to(TOP / "src" / module).parts
    for number, quote, name in includes(path):
        where = f"{path.relative_to(TOP)}:{number}"
        head, *rest = name.split("/")
        if head in MODULES and rest:
            if f"{module}/{'/'.join(inside)}" in PURE and head != "base" and name not in PURE:
                breaches.append(
                    f"{where}: includes {name}; it may include base, and {', '.join(sorted(PURE))}"
                )
            if head != module and head not in MODULES[module]:
                allowed = ", ".join(sorted(MODULES[module])) or "none"
                breaches.append(f"{where}: module {module} includes {name}; it may include: {allowed}")
            if (
                module == "driver"
                and head == "driver"
                and len(inside) > 1
                and len(rest) > 1
                and rest[0] not in {inside[0], *DRIVER_ROOMS}
            ):
                breaches.append(f"{where}: driver {inside[0]} sees driver {rest[0]} ({name})")
            if (
                module == "driver"
                and rest[0] == inside[0] == "library"
                and len(rest) > 2
                and (len(inside) < 3 or rest[1] != inside[1])
            ):
                breaches.append(f"{where}: sees one of the libraries ({name})")
            if not (TOP / "src" / name).exists() and name != "base/build_info.hpp":
                breaches.append(f"{where}: {name} does not exist")
        elif head == "shoal" and module != "capi":
            breaches.append(f"{where}: module {module} includes the public header {name}; only capi may")
        elif quote == '"' and head != "shoal":
            breaches.append(f"{where}: write includes of modules in full, from src/ ({name})")
        elif re.fullmatch(FORBIDDEN.get(module, r"(?!)"), name):
            breaches.append(f"{where}: module {module} must know nothing of {name}")
    return breaches


def check_paths(module: str, path: Path) -> list[str]:
    if module in ASK_FOR_PATHS:
        return []
    where, advice = path.relative_to(TOP), "paths of files are for src/storage/ (storage/paths.hpp)"
    breaches = [
        f"{where}:{number}: includes {name}; {advice}"
        for number, _, name in includes(path)
        if PATH_HEADERS.fullmatch(name)
    ]
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if call := PATH_CALLS.search(line.split("//")[0]):
            breaches.append(f"{where}:{number}: calls {call.group().rstrip('(')}; {advice}")
    return breaches


def check_outside(folder: str, path: Path) -> list[str]:
    if any(folder in path.parents for folder in SEES_MODULES):
        return []
    return [
        f"{path.relative_to(TOP)}:{number}: {folder} stands on include/shoal alone, and includes {name}"
        for number, _, name in includes(path)
        if name.split("/")[0] in MODULES.keys() - SHARED.get(folder, set())
        and "/" in name
        and name != "base/build_info.hpp"
    ]


def check_model(path: Path) -> list[str]:
    """The model of the laboratory is arithmetic: it sees itself and the standard library."""
    return [
        f"{path.relative_to(TOP)}:{number}: lab/model sees itself and the standard library, not {name}"
        for number, _, name in includes(path)
        if "." in name and not name.startswith("model/")
    ]


def check_doors(path: Path) -> list[str]:
    folder = path.relative_to(TOP / "compat/doors").parts[0]
    return [
        f"{path.relative_to(TOP)}:{number}: folder {folder} of the doors includes {name}"
        for number, _, name in includes(path)
        if name.split("/")[0] in DOORS.keys() - DOORS[folder] - {folder}
    ]


def check_length(path: Path) -> list[str]:
    name = path.relative_to(TOP)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    breaches = [f"{name}: {len(lines)} lines (limit {MAX_LINES})"] if len(lines) > MAX_LINES else []
    if path.suffix in SOURCES:
        breaches += [
            f"{name}:{number}: {len(line)} characters (limit {MAX_COLUMNS})"
            for number, line in enumerate(lines, 1)
            if len(line) > MAX_COLUMNS
        ]
    return breaches


def main() -> int:
    breaches: list[str] = []
    count = 0
    for folder in sorted((TOP / "src").iterdir()):
        if folder.is_dir() and folder.name not in MODULES:
            breaches.append(f"src/{folder.name}: not a module of the map")
    for module in MODULES:
        for path in sources(TOP / "src" / module):
            count += 1
            breaches += check_module(module, path) + check_paths(module, path) + check_length(path)
    for folder in OUTSIDE:
        for path in sources(TOP / folder):
            count += 1
            breaches += check_outside(folder, path) + check_length(path)
    for path in sources(TOP / "compat" / "doors"):
        breaches += check_doors(path)
    for path in sources(TOP / "lab" / "model"):
        breaches += check_model(path)
    for folder in [*OUTSIDE, "tests"]:
        for path in (TOP / folder).rglob("*"):
            if path.suffix in {".f90", ".F90", ".py"} or (folder == "tests" and path.suffix in SOURCES):
                breaches += check_length(path)
    breaches += check_circles.check(TOP)
    for breach in breaches:
        print(breach)
    if count == 0:
        print("no source was found: nothing was checked")
        return 1
    print(f"{count} sources checked, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
