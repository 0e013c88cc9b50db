# SPDX-License-Identifier: BSD-3-Clause
"""Starts in the laboratory: on the mounts of labfs, an emulated parallel file system with several nodes."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shoal.programs import ProgramError, find_program

from .engine import EngineError
from .results import Result
from .study import Lab, Start

# Not SHOAL_..., as the engine's.
variable = "BENCH_LABFS"
_seconds = 60
# What mounts bear on two cores that ranks use, too (docs/design/lab.md): a faster model is slowed down.
_real_bytes_per_second = 100e6
# Replies that are later than this part of the time for which programs waited have decided the result.
much_late = 0.1
# Kinds of file systems that a node has for itself, as Shoal has them.
_of_one_node = ("ext4", "xfs", "btrfs")
# Files lie in memory for the time of a start.
backing = "/dev/shm"


@dataclass(frozen=True)
class FileSystem:
    """What labfs says of a preset. bytes_per_second: of one file, by all nodes together."""

    kind: str
    servers: int
    stripe_count: int
    bytes_per_second: float


class Labfs:
    """The program labfs."""

    def __init__(self, path: Path):
        self.path = path

    def _run(self, words: Sequence[str]) -> str:
        """What it prints. EngineError in its own words."""
        try:
            done = subprocess.run(
                [str(self.path), *words],
                capture_output=True, text=True, timeout=_seconds, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EngineError(f"{self.path}: {error}") from None
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if line.startswith("labfs: ")]
            raise EngineError((said or [done.stderr.strip() or f"labfs ended with {done.returncode}"])[0])
        return done.stdout

    def file_system(self, lab: Lab) -> FileSystem:
        """EngineError: there is no such preset, or it cannot be changed so. Local."""
        return FileSystem(**json.loads(self._run(["--describe", *_options(lab)])))

    def model(self, lab: Lab) -> str:
        """Distinguishes models: a digest of the program and of the preset. Local."""
        named = self.path.resolve().parent.parent / "share" / "shoal" / "lab" / f"{lab.preset}.toml"
        preset = Path(lab.preset) if _is_path(lab.preset) else named
        return hashlib.sha256(self.path.read_bytes() + preset.read_bytes()).hexdigest()[:16]

    def try_mounts(self, lab: Lab) -> None:
        """EngineError: why this machine cannot emulate nodes (no FUSE, or no root). Local."""
        enter = [str(self.path), "enter", "--client", "0", "--", "true"]
        self._run(["run", *_options(replace(lab, nodes=1)), "--", *enter])

    def command(
        self, lab: Lab, mounts: Path, report: str, launch: Sequence[str], program: Sequence[str]
    ) -> list[str]:
        """Serves the mounts while `launch` (mpiexec and its options) runs, and puts each rank of `program`
        on its node, where it finds the file system at `mounts`/here, and the same files past the model at
        `mounts`/bytes. report: where labfs says at the end how it went. Local."""
        serve = [str(self.path), "run", *_options(lab), "--scale", str(lab.scale)]
        serve += ["--dir", str(mounts), "--report", report]
        return [*serve, "--", *launch, str(self.path), "enter", "--", *program]


def _is_path(preset: str) -> bool:
    return "/" in preset or preset.endswith(".toml")


def _options(lab: Lab) -> list[str]:
    changes = [*lab.changes, *([f"striping.count = {lab.stripes}"] if lab.stripes else [])]
    options = ["--preset", lab.preset, "--clients", str(lab.nodes)]
    return options + [word for change in changes for word in ("--set", change)]


def find_labfs() -> Labfs:
    """EngineError: where it was looked for. Local."""
    try:
        return Labfs(find_program("labfs", variable))
    except ProgramError as error:
        text = str(error).replace("Build it (make build)", "Build it (CMake option SHOAL_LAB, libfuse 3)")
        raise EngineError(f"--lab: {text}") from None


def prepared(starts: Sequence[Start], labfs: Labfs) -> tuple[list[Start], list[str]]:
    """Starts whose laboratory has all that it needs, and what is to be said: more stripes than servers are
    left out, the disk of one node has one node. EngineError: the machine or a preset does not do. Local.

    All starts of a study have the same scale, which the fastest of them needs, unless one was given."""
    found, notes = [], {}
    fastest: dict[tuple, float] = {}
    for start in starts:
        there = labfs.file_system(start.lab)
        if there.kind in _of_one_node and start.lab.nodes > 1:
            notes[f"{start.lab.preset} is the disk of one node ({there.kind}): it has one here."] = None
            start = replace(start, lab=replace(start.lab, nodes=1))
        if start.lab.stripes > there.servers:
            notes[
                f"{start.lab.preset} has {there.servers} servers: more stripes are left out; "
                "--lab-set 'servers.number = N' gives it more."
            ] = None
            continue
        key = _same_scale(start)
        fastest[key] = max(fastest.get(key, 0.0), there.bytes_per_second)
        found.append(start)
    if not found:
        raise EngineError(" ".join(notes))
    labfs.try_mounts(found[0].lab)
    return [_with_scale(start, fastest[_same_scale(start)], labfs) for start in found], list(notes)


def _same_scale(start: Start) -> tuple:
    return start.experiment, start.study, start.lab.preset, start.lab.changes


def _with_scale(start: Start, bytes_per_second: float, labfs: Labfs) -> Start:
    scale = start.lab.scale or max(1.0, round(bytes_per_second / _real_bytes_per_second, 1))
    return replace(start, lab=replace(start.lab, scale=scale, model=labfs.model(start.lab)))


def mounts_of_a_start() -> Path:
    """A folder that is not there yet; labfs makes and removes it. Local."""
    return Path(tempfile.gettempdir()) / f"shoal-lab-{os.getpid()}-{secrets.token_hex(4)}"


# Times of processors are real ones.
_real_times = ("user", "system")


def of_the_model(result: Result, start: Start) -> None:
    """Makes a result of the engine, with times of the machine, one of the emulated file system. Local."""
    lab = start.lab
    result.seconds = {
        name: seconds if name in _real_times else seconds / lab.scale
        for name, seconds in result.seconds.items()
    }
    result.megabytes_per_second *= lab.scale
    result.dir, result.filesystem = lab.place, lab.preset
    result.nodes = lab.used_nodes(start.ranks)
    if lab.stripes:
        result.settings = {**result.settings, "stripes": str(lab.stripes)}
    result.host = os.uname().nodename
    result.more["lab"] = {
        "preset": lab.preset,
        "nodes": lab.nodes,
        "stripes": lab.stripes,
        "changes": list(lab.changes),
        "scale": lab.scale,
        "model": lab.model,
    }
