# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are built with the library: shoal-plan, shoal-streams, and the benchmark's shoal-bench."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Container, Sequence
from pathlib import Path

from .errors import InvalidArgumentError


class ProgramError(RuntimeError):
    """A program is not there, or did not do what it was asked for."""


def _beside_library(name: str) -> list[Path]:
    """bin/ of the folder that libshoal was built in or installed to."""
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[5] for line in maps.splitlines() if "/libshoal.so" in line}
    return [parent / "bin" / name for path in sorted(paths) for parent in list(Path(path).parents)[1:3]]


def find_program(name: str, variable: str) -> Path:
    """The environment's variable names it; otherwise the one of the libshoal in use, one beside Python, one
    on PATH, or one in build/release. ProgramError says where it was looked for. Local."""
    named = os.environ.get(variable)
    if named:
        found = shutil.which(named)
        if found is None:
            raise ProgramError(f"{variable} is '{named}', which is no program; name {name}, or unset it.")
        return Path(found)
    places = _beside_library(name)
    places.append(Path(sys.executable).parent / name)
    on_path = shutil.which(name)
    if on_path:
        places.append(Path(on_path))
    places.append(Path.cwd() / "build" / "release" / "bin" / name)
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return place
    raise ProgramError(
        f"{name} was not found; looked at {', '.join(dict.fromkeys(map(str, places)))} and PATH. "
        f"Build it (make build), or name it with {variable}=<path>."
    )


def run_program(name: str, variable: str, words: Sequence[str], good: Container[int] = (0,)) -> dict:
    """The JSON object that a program prints last, where it ends with a good status. Local.

    Errors: InvalidArgumentError in the program's words, if it ends with 2; ProgramError if it is not there or
    fails."""
    path = find_program(name, variable)
    try:
        done = subprocess.run([str(path), *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise ProgramError(f"{path}: {error.strerror}") from None
    if done.returncode == 2:
        said = [line for line in done.stderr.splitlines() if line.startswith(f"{name}: ")]
        raise InvalidArgumentError(
            (said or [done.stderr.strip() or "it said nothing"])[0].removeprefix(f"{name}: ")
        )
    try:
        if done.returncode in good:
            return json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        pass
    raise ProgramError(f"{path} ended with status {done.returncode}: {done.stderr.strip()}")
