# SPDX-License-Identifier: BSD-3-Clause
"""Reading results.json: one Run for each of its objects."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import FormatError, NoSuchFileError

from ..results import Result

# Without these an object is not the result of a run.
_needed = ("experiment", "method", "seconds")
# Settings of a whole start of the engine.
varied = ("hints", "io_layout", "stripes")


@dataclass(frozen=True)
class Place:
    """Where and by what was measured. Times of different places are never compared with each other."""

    host: str
    directory: str
    filesystem: str
    flush: bool
    mpi: str
    mpi_io: str
    shoal: str

    @property
    def target(self) -> str:
        """Where the bytes are when a run's time ends."""
        return "device" if self.flush else "page cache"


class Run(Result):
    """One run of one method, as the report looks at it; tiles and shape are tuples."""

    place: Place
    # Hints, I/O domains and stripes that all methods of a start of the engine had: "hints cb_nodes=1".
    options: str

    @property
    def what(self) -> str:
        """The operation, and whether a read came from the device: "write", "read", "cold read"."""
        return "cold read" if self.operation == "read" and self.cache == "cold" else self.operation

    @property
    def base(self) -> str:
        """The method without the settings of its variant: "native" of "native+writers=1"."""
        return self.method.split("+", 1)[0]

    @property
    def variant(self) -> dict[str, str]:
        """The settings in the method's name: {"writers": "1"}; of native+thread+zstd1, which are short for
        some, {"background": "thread", "compression": "zstd1"}."""
        return dict(map(_setting_of, self.method.split("+")[1:]))

    @property
    def compression(self) -> str:
        """Codec and level of a variant that compresses: "deflate1"; "" of others."""
        return self.variant.get("compression", "")

    @property
    def by_model(self) -> dict[str, float]:
        """Seconds by the names that MOM has for phases: what a file is flushed in is part of closing it."""
        found = dict(self.seconds)
        if "sync" in found:
            found["close"] = found.get("close", 0.0) + found.pop("sync")
        return found

    @property
    def crowded(self) -> bool:
        return self.more_ranks_than_cores

    @property
    def late_share(self) -> float:
        """In the laboratory: how late replies were, as a part of the time for which programs waited."""
        lab = self.more.get("lab") or {}
        late, waited = float(lab.get("late_seconds", 0)), float(lab.get("waited_seconds", 0))
        return late / max(waited, 1e-12) if late else 0.0

    @property
    def time_to_compare(self) -> float:
        """Seconds that methods are compared by: the whole run, with the joining of several files to one."""
        return self.seconds.get("total_joined") or self.seconds["total"]


def _setting_of(part: str) -> tuple[str, str]:
    """A setting in the name of a method, as written or as what the engine knows to be short for one."""
    if part == "thread":
        return "background", part
    if re.fullmatch(r"(deflate|zstd)\d+", part):
        return "compression", part
    key, _, value = part.partition("=")
    return key, value


@dataclass(frozen=True)
class Skipped:
    """A method that could not run, and the library's words why."""

    experiment: str
    method: str
    format: str
    directory: str
    reason: str


@dataclass
class Results:
    """What is in one results.json: runs, and methods that could not run."""

    path: Path
    runs: list[Run]
    skipped: list[Skipped] = field(default_factory=list)


def _tiles(value: Any) -> tuple[int, ...]:
    """[2, 2] or "2x2"."""
    if isinstance(value, str):
        value = [part for part in value.lower().split("x") if part]
    return tuple(int(part) for part in value or ())


def _mpi_io(text: str) -> str:
    """One spelling, whoever wrote it: "romio", "ROMIO", "romio321"; "ompio", "OMPIO"."""
    known = next((name for name in ("ROMIO", "OMPIO") if text.upper().startswith(name)), None)
    return known or text or "unknown"


# Of older engines, and of results that were made by hand.
_defaults = {
    **dict.fromkeys(("access", "format", "host", "time"), ""),
    **dict.fromkeys(("records", "bytes", "cores", "nodes", "megabytes_per_second"), 0),
    **dict.fromkeys(("ranks", "repetition"), 1),
    **dict.fromkeys(("tiles", "shape"), ()),
    **dict.fromkeys(("flush", "verified"), False),
    **dict.fromkeys(("versions", "settings"), {}),
    **{"operation": "write", "layout": "one", "dir": ".", "filesystem": "unknown", "whole_round": True},
}


def _run(item: Mapping[str, Any]) -> Run:
    given = {key: value for key, value in item.items() if value not in (None, "")}
    given.setdefault("cache", "device" if given.get("flush") else "page cache")
    given.setdefault("more_ranks_than_cores", 0 < given.get("cores", 0) < given.get("ranks", 1))
    run = Run.of({**_defaults, "driver": item["method"], **given})
    run.seconds = {key: float(value) for key, value in run.seconds.items() if value is not None}
    if not math.isfinite(run.seconds.get("total", math.nan)) or run.seconds["total"] < 0:
        raise ValueError("seconds.total is missing or no time")
    run.versions = {key: str(value).strip(" $") for key, value in run.versions.items()}
    run.versions["mpi_io"] = _mpi_io(run.versions.get("mpi_io", ""))
    run.tiles, run.shape = _tiles(run.tiles), tuple(int(n) for n in run.shape)
    run.settings = {str(key): str(value) for key, value in run.settings.items()}
    run.options = _options(run.settings, run.method)
    libraries = (run.versions.get(name, "unknown") for name in ("mpi", "mpi_io", "shoal"))
    run.place = Place(run.host or "unknown host", run.dir, run.filesystem, run.flush, *libraries)
    return run


def _options(settings: Mapping[str, str], method: str) -> str:
    """What is set for a run and not by the name of its method."""
    found = (f"{key} {settings[key]}" for key in varied if settings.get(key) and key not in method)
    return ", ".join(found)


def _give_options_of_starts(runs: list[Run]) -> None:
    """Methods that an option means nothing to were measured in turns with those that it is for, and are
    compared with them: they get it too."""
    options: dict[str, str] = {}
    for run in runs:
        if run.start and len(run.options) > len(options.get(run.start, "")):
            options[run.start] = run.options
    for run in runs:
        run.options = options.get(run.start, run.options)


def _skipped(item: Mapping[str, Any]) -> Skipped:
    reason = item.get("reason") or item.get("skipped") or ""
    words = (str(item.get(key) or "") for key in ("experiment", "method", "format", "dir"))
    return Skipped(*words, str(reason))


def parse(items: Iterable[Any], path: Path) -> Results:
    """Objects of results.json as Results. Local.

    Errors: FormatError names the first object that is no result, and what is wrong with it."""
    results = Results(path, [])
    for number, item in enumerate(items, 1):
        if isinstance(item, Mapping) and (item.get("event") == "skipped" or "skipped" in item):
            results.skipped.append(_skipped(item))
            continue
        if not isinstance(item, Mapping) or any(key not in item for key in _needed):
            keys = ", ".join(_needed)
            raise FormatError(f"{path}: object {number} is not the result of a run; it must have {keys}.")
        try:
            results.runs.append(_run(item))
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            raise FormatError(
                f"{path}: object {number} ({item.get('experiment')}, {item.get('method')}): {error}."
            ) from None
    if not results.runs:
        raise FormatError(
            f"{path} has no results. `shoal bench run EXPERIMENT --json {path.name}` writes some."
        )
    _give_options_of_starts(results.runs)
    return results


def load(path: Path) -> Results:
    """Read results.json. Local.

    Errors: NoSuchFileError; FormatError where the file is no list of results, is damaged or has none."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NoSuchFileError(
            f"{path} is not there. `shoal bench run EXPERIMENT --json {path}` writes it."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} cannot be read: {error}") from None
    try:
        items = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{path} is no JSON: {error.msg} in line {error.lineno}, column {error.colno}. If a run was "
            "interrupted while it wrote, start `shoal bench run` with this file again."
        ) from None
    if not isinstance(items, list):
        raise FormatError(f"{path} must be a list of results, and is a {type(items).__name__}.")
    return parse(items, path)
