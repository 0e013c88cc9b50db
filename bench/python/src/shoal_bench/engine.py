# SPDX-License-Identifier: BSD-3-Clause
"""shoal-bench, the program that measures: where it is, what it can do, what a start of it would need."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shoal.cli.mpi_launch import Launcher
from shoal.programs import ProgramError, find_program

from .launching import needed_settings
from .machine import nodes, usable_cores
from .study import Start

name = "shoal-bench"
# Not SHOAL_...: such names are settings of the library, which refuses those that it does not know.
variable = "BENCH_ENGINE"
_seconds = 120


class EngineError(RuntimeError):
    """The engine is not there, or did not do what it was asked for."""


@dataclass(frozen=True)
class Estimate:
    """What a start needs: memory of all ranks together, most bytes at one time in a folder."""

    memory_bytes: int
    disk_bytes: int
    shape: tuple[int, ...]
    records: int
    bytes: int


@dataclass
class Capabilities:
    """What `shoal-bench list` says: objects with a name each."""

    experiments: dict[str, dict] = field(default_factory=dict)
    methods: dict[str, dict] = field(default_factory=dict)

    def checks_in_other_folder(self, experiment: str) -> bool:
        """Whether an experiment takes --check-in, the folder of its files by another path. Local."""
        return bool(self.experiments[experiment].get("check_in"))

    def has_method(self, text: str) -> bool:
        """Whether a method, which may have settings (native+writers=1), is in this build. Local."""
        return text.split("+")[0] in self.methods


def settings_for(start: Start, launcher: Launcher | None) -> dict[str, str]:
    """What is set in the environment of a start beside what is in this one: its MPI-IO, and what MPI cannot
    do without on this machine. Local."""
    here = start.ranks_per_node or -(-start.ranks // nodes())
    found = needed_settings(launcher, here, usable_cores())
    if launcher is not None and launcher.flavour == "openmpi" and start.mpi_io != "default":
        # ROMIO's component bears its version in its name: romio321, romio341.
        found["OMPI_MCA_io"] = "^ompio" if start.mpi_io == "romio" else start.mpi_io
    if start.lab is not None:
        found["SHOAL_RANKS_PER_NODE"] = str(start.lab.ranks_per_node(start.ranks))
    return found


def settings_in_environment() -> dict[str, str]:
    """What the environment sets for Shoal, MPI and MPI-IO: other values would give other times. Local."""
    reported = ("SHOAL_", "OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "ROMIO_", "MPICH_", "PNETCDF_", "HDF5_")
    return {key: value for key, value in os.environ.items() if key.startswith(reported)}


class Engine:
    """The program at a path."""

    def __init__(self, path: Path):
        self.path = path
        self._build = ""
        self._capabilities: Capabilities | None = None

    @property
    def build(self) -> str:
        """Distinguishes builds: a digest of the program and of the libshoal beside it. Local."""
        if not self._build:
            digest = hashlib.sha256(self.path.read_bytes())
            library = self.path.resolve().parent.parent / "lib" / "libshoal.so"
            if library.is_file():
                digest.update(library.read_bytes())
            self._build = digest.hexdigest()[:16]
        return self._build

    def _ask(self, arguments: Sequence[str]) -> dict:
        """The one object that it prints. EngineError with its own words."""
        try:
            answer = subprocess.run(
                [str(self.path), *arguments],
                capture_output=True,
                text=True,
                timeout=_seconds,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise EngineError(
                f"{self.path} {' '.join(arguments)} did not end within {_seconds} s; "
                "does MPI start without mpiexec?"
            ) from None
        except OSError as error:
            raise EngineError(f"{self.path}: {error.strerror}") from None
        lines = [line for line in answer.stdout.splitlines() if line.startswith("{")]
        try:
            if answer.returncode == 0 and lines:
                return json.loads(lines[-1])
        except ValueError:
            pass
        said = [line for line in answer.stderr.splitlines() if line.strip()]
        reported = (
            [line for line in said if line.startswith(name)] or said or [f"exit code {answer.returncode}"]
        )
        raise EngineError(reported[0].removeprefix(f"{name}: "))

    def capabilities(self) -> Capabilities:
        """EngineError. Local."""
        if self._capabilities is None:
            self._capabilities = self._ask_for_capabilities()
        return self._capabilities

    def _ask_for_capabilities(self) -> Capabilities:
        reported = self._ask(["list", "--stream"])
        try:
            return Capabilities(
                {item["name"]: item for item in reported["experiments"]},
                {item["name"]: item for item in reported["methods"]},
            )
        except (KeyError, TypeError) as error:
            raise EngineError(
                f"{self.path} is of another version than this package: its list lacks {error}"
            ) from None

    def estimate(self, start: Start) -> Estimate:
        """What a start would need; nothing is run. EngineError also where the engine refuses it. Local."""
        reported = self._ask([*start.arguments(), "--ranks", str(start.ranks), "--estimate"])
        try:
            return Estimate(
                int(reported["memory_bytes"]),
                int(reported["disk_bytes"]),
                tuple(reported["shape"]),
                int(reported["records"]),
                int(reported["bytes"]),
            )
        except (KeyError, TypeError) as error:
            raise EngineError(f"{self.path} is of another version: its estimate lacks {error}") from None


def find_engine() -> Engine:
    """BENCH_ENGINE names it; otherwise as find_program says. EngineError: where it was
    looked for. Local."""
    try:
        return Engine(find_program(name, variable))
    except ProgramError as error:
        raise EngineError(str(error)) from None
