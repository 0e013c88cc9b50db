# SPDX-License-Identifier: BSD-3-Clause
"""What a program is made of, and the words of a launcher's line that name it."""

from __future__ import annotations

import re
import shutil
import stat
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .errors import InvalidArgumentError

# Programs that start others on several ranks, and those that run one with another environment or place.
_launchers = {
    *(
        "mpiexec",
        "mpirun",
        "mpiexec.hydra",
        "mpiexec.openmpi",
        "mpiexec.mpich",
        "mpirun.openmpi",
        "mpirun.mpich",
    ),
    *("orterun", "prterun", "srun", "aprun", "jsrun", "ibrun", "mpirun_rsh", "flux", "ccc_mprun"),
}
_before = {"env", "nice", "taskset", "numactl", "time", "timeout", "stdbuf"}


@dataclass
class Executable:
    """A program as it lies on disk. needs: paths of the libraries that the loader finds for it, by the names
    that it asks for; interpreter: of a script, the program that runs it."""

    path: Path
    needs: dict[str, str] = field(default_factory=dict)
    interpreter: str = ""

    def needed(self, pattern: str) -> list[str]:
        """Names of libraries that fit a regular expression. Local."""
        return sorted(name for name in self.needs if re.match(pattern, name))


def is_launcher(word: str) -> bool:
    """Whether a word is a launcher of MPI programs. Local."""
    return Path(word).name in _launchers


def _find(word: str) -> Path | None:
    found = shutil.which(word)
    return Path(found) if found and not Path(found).is_dir() else None


def places_of_programs(words: Sequence[str]) -> list[int]:
    """Indices of the words of a launcher's line that name programs: one, and one more behind each colon. A
    word with a folder in it counts first, then one on PATH that is no option's value. Local.

    Errors: InvalidArgumentError, a part of the line names none."""
    if not words or not is_launcher(words[0]):
        return [0] if words and _find(words[0]) else []
    places, begin = [], 1
    for end in [*(i for i, word in enumerate(words) if word == ":"), len(words)]:
        part = range(begin, end)
        named = [i for i in part if "/" in words[i] and not words[i].startswith("-") and _find(words[i])]
        plain = [
            i
            for i in part
            if not words[i].startswith("-") and not words[i - 1].startswith("-") and _find(words[i])
        ]
        found = named[:1] or [i for i in plain if Path(words[i]).name not in _before][:1]
        if not found:
            raise InvalidArgumentError(
                f"no program was found in '{' '.join(words[begin:end])}'; name it with its folder: ./model"
            )
        places += found
        begin = end + 1
    return places


def _has_loader(data: bytes) -> bool:
    """Of the beginning of an ELF file of 64 bits: does the loader of the system start it?"""
    offset, size, count = (
        struct.unpack_from("<Q", data, 32)[0],
        *struct.unpack_from("<HH", data, 54),
    )
    heads = (
        struct.unpack_from("<I", data, offset + i * size)[0] for i in range(count) if offset + 4 <= len(data)
    )
    return 3 in heads  # PT_INTERP


def _libraries(path: Path) -> dict[str, str]:
    shown = subprocess.run(["ldd", str(path)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return dict(re.findall(r"^\s*(\S+) => (\S+)", shown.stdout, re.M))


def examine(path: Path) -> Executable:
    """What a program needs. Local.

    Errors: InvalidArgumentError, for programs into which nothing can be loaded: static ones, and those that
    get the rights of another user."""
    mode = path.stat().st_mode
    if mode & (stat.S_ISUID | stat.S_ISGID):
        raise InvalidArgumentError(
            f"{path} runs with the rights of its owner (setuid or setgid), and the system loads nothing of "
            "others into such programs; run a copy without these bits"
        )
    with path.open("rb") as file:
        data = file.read(65536)
    if data.startswith(b"#!"):
        interpreter = data.split(b"\n", 1)[0][2:].decode(errors="replace").strip()
        return Executable(path, {}, interpreter)
    if not data.startswith(b"\x7fELF\x02"):
        raise InvalidArgumentError(f"{path} is no program of this system")
    if not _has_loader(data):
        raise InvalidArgumentError(
            f"{path} is linked statically, and nothing can be loaded into it; link it with shared libraries "
            "(netCDF's at least), or build it with Shoal's own interface"
        )
    return Executable(path, _libraries(path))


def libraries_of(path: Path) -> dict[str, str]:
    """Libraries that a shared library needs, by name. Local."""
    return _libraries(path) if path.exists() else {}
