# SPDX-License-Identifier: BSD-3-Clause
"""Runs of programs without and with the doors, and what is compared of two runs: lines, exit codes, files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
# Settings of the two MPI-IOs of Open MPI.
OMPIO, ROMIO = {}, {"OMPI_MCA_io": "romio321"}
# What `ncdump -s` says of storage that must be the same; how values lie in chunks is each library's own.
KEPT = ("_Format", "_DeflateLevel", "_Shuffle", "_Fletcher32", "_Filter", "_Endianness", "_NoFill")


def build_folder() -> Path:
    return Path(os.environ.get("TEST_BUILD_DIR", TOP / "build" / "release"))


def doors() -> list[Path]:
    """The doors' libraries that there are: those of the build, or in the folder that TEST_DOORS names."""
    folder = Path(os.environ.get("TEST_DOORS", build_folder() / "lib" / "shoal" / "doors"))
    return [p for p in (folder / f"libshoal_{library}.so" for library in ("netcdf", "pnetcdf")) if p.exists()]


def dependencies() -> Path:
    """What tools/doors_programs.sh keeps."""
    return Path(os.environ.get("TEST_DOORS_DEPENDENCIES", TOP / "build" / "doors"))


@dataclass(frozen=True)
class Run:
    folder: Path
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def says(self) -> str:
        return f"exit code {self.code}\n{self.out[-3000:]}\n{self.err[-3000:]}"

    def answering(self) -> dict[str, str]:
        """Which library answers the calls, by the symbols that the program asked for."""
        return dict(re.findall(r"^library: (\w+) is of (.+)$", self.err, re.MULTILINE))


def run(
    command: list, ranks: int, folder: Path, *, door: bool = False, seconds: int = 120, **environment
) -> Run:
    """A program on so many ranks, with the doors loaded if `door`. What takes longer is ended, all of it,
    with exit code 124."""
    folder.mkdir(parents=True)
    place = {**os.environ, **environment, "PYTHONDONTWRITEBYTECODE": "1"}
    launch = [TOP / "tools" / "mpirun.sh", ranks]
    if door:
        # Not for the launcher: it is no program of MPI.
        launch += [
            "env",
            "LD_PRELOAD=" + ":".join(map(str, doors())),
            f"SHOAL_DOORS_REPORT={folder / 'report'}",
        ]
    process = subprocess.Popen(
        [*map(str, launch), *map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=place,
        cwd=folder,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        code = 124
    return Run(folder, code, out, err)


def ncdump(option: str, path: Path) -> str:
    command = ["ncdump", option, path]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def header(path: Path) -> str:
    """Dimensions, variables and attributes as ncdump prints them, without what each library chooses."""
    with open(path, "rb") as file:
        classic = file.read(3) == b"CDF"  # whose storage ncdump 4.9.0 fails to tell
    options = "-h" if classic else "-hs"
    text = ncdump(options, path)
    special = re.compile(r"^\s*\w*:(_[A-Z]\w*) = ")
    lines = [ncdump("-k", path).strip()]
    for line in text.splitlines():
        found = special.match(line)
        if not found or found[1] in KEPT or found[1] == "_FillValue":
            lines.append(line)
    return "\n".join(line for line in lines if line.strip() != "// global attributes:")


def values(group, path: str = "") -> dict[str, tuple]:
    """Type, shape and bytes of each variable of a group and of those in it."""
    import numpy as np

    found = {}
    for name, variable in group.variables.items():
        variable.set_auto_maskandscale(False)
        # Of several records, of which the variable has not all, netCDF leaves some of the memory as it was.
        records = group.dimensions.get(variable.dimensions[0]) if variable.dimensions else None
        in_turn = records is not None and records.isunlimited() and len(records) > 0
        array = np.stack([variable[i] for i in range(len(records))]) if in_turn else np.asarray(variable[...])
        found[f"{path}/{name}"] = (str(variable.dtype), array.shape, array.tobytes())
    for name, inner in group.groups.items():
        found.update(values(inner, f"{path}/{name}"))
    return found


def different(one: Path, other: Path) -> str:
    """What differs between two files, "" if nothing that counts."""
    import netCDF4

    if header(one) != header(other):
        return f"{one.name}: headers differ:\n{header(one)}\n---- and with the door:\n{header(other)}"
    with netCDF4.Dataset(one) as first, netCDF4.Dataset(other) as second:
        of_one, of_other = values(first), values(second)
    wrong = [name for name in of_one if of_one[name] != of_other.get(name)]
    return f"{one.name}: values differ of {', '.join(wrong)}" if wrong else ""


def compare(without: Run, with_door: Run) -> list[str]:
    """What differs between two runs."""
    found = []
    if without.code != with_door.code:
        found.append(f"exit codes {without.code} and {with_door.code}")
    pairs = zip(without.lines, with_door.lines)
    found += [f"line {n}: '{a}', with the door '{b}'" for n, (a, b) in enumerate(pairs, 1) if a != b][:20]
    if len(without.lines) != len(with_door.lines):
        found.append(f"{len(without.lines)} lines, with the door {len(with_door.lines)}")
    files = [sorted(p.name for p in r.folder.glob("*.nc*")) for r in (without, with_door)]
    if files[0] != files[1]:
        found.append(f"files {files[0]}, with the door {files[1]}")
    else:
        found += filter(None, (different(without.folder / f, with_door.folder / f) for f in files[0]))
    return found
