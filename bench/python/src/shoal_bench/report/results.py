# SPDX-License-Identifier: BSD-3-Clause
"""Reading results.json: one Run for each of its objects."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional

from shoal.errors import FormatError, NoSuchFileError

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


@dataclass(frozen=True)
class Run:
    """One run of one method. seconds and bytes are those of all ranks together, the slowest rank's time."""

    place: Place
    experiment: str
    study: str
    operation: str
    method: str
    driver: str
    access: str
    layout: str
    format: str
    ranks: int
    tiles: tuple[int, ...]
    shape: tuple[int, ...]
    records: int
    bytes: int
    cache: str
    repetition: int
    verified: bool
    seconds: Mapping[str, float]
    settings: Mapping[str, str]
    cores: Optional[int]
    nodes: Optional[int]
    crowded: bool
    paper: bool
    time: str
    versions: Mapping[str, str]
    added_bytes: Optional[int]
    file_bytes: int = 0  # of the files that were written; 0 where that was not recorded
    start: str = ""
    whole_round: bool = True
    # In the laboratory: how late replies were, as a part of the time for which programs waited.
    late_share: float = 0.0
    # Hints, I/O domains and stripes that all methods of a start of the engine had: "hints cb_nodes=1".
    options: str = ""

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


def _run(item: Mapping[str, Any]) -> Run:
    seconds = {key: float(value) for key, value in item["seconds"].items() if value is not None}
    if not math.isfinite(seconds.get("total", math.nan)) or seconds["total"] < 0:
        raise ValueError("seconds.total is missing or no time")
    versions = {key: str(value).strip(" $") for key, value in (item.get("versions") or {}).items()}
    versions["mpi_io"] = _mpi_io(versions.get("mpi_io", ""))
    flush = bool(item.get("flush", False))
    ranks = int(item.get("ranks", 1))
    cores = None if item.get("cores") is None else int(item["cores"])
    settings = {str(key): str(value) for key, value in (item.get("settings") or {}).items()}
    place = Place(
        str(item.get("host") or "unknown host"),
        str(item.get("dir") or "."),
        str(item.get("filesystem") or "unknown"),
        flush,
        versions.get("mpi", "unknown"),
        versions["mpi_io"],
        versions.get("shoal", "unknown"),
    )
    return Run(
        place=place,
        experiment=str(item["experiment"]),
        study=str(item.get("study") or ""),
        operation=str(item.get("operation") or "write"),
        method=str(item["method"]),
        driver=str(item.get("driver") or item["method"]),
        access=str(item.get("access") or ""),
        layout=str(item.get("layout") or "one"),
        format=str(item.get("format") or ""),
        ranks=ranks,
        tiles=_tiles(item.get("tiles")),
        shape=tuple(int(n) for n in item.get("shape") or ()),
        records=int(item.get("records") or 0),
        bytes=int(item.get("bytes") or 0),
        cache=str(item.get("cache") or ("device" if flush else "page cache")),
        repetition=int(item.get("repetition") or 1),
        verified=bool(item.get("verified", False)),
        seconds=seconds,
        settings=settings,
        cores=cores,
        nodes=None if item.get("nodes") is None else int(item["nodes"]),
        crowded=bool(item.get("more_ranks_than_cores", cores is not None and ranks > cores)),
        paper=bool(item.get("paper", False)),
        time=str(item.get("time") or ""),
        versions=versions,
        added_bytes=None if item.get("added_rss_bytes") is None else int(item["added_rss_bytes"]),
        file_bytes=int(item.get("file_bytes") or 0),
        start=str(item.get("start") or ""),
        whole_round=bool(item.get("whole_round", True)),
        late_share=_late_share(item.get("lab") or {}),
        options=_options(settings, str(item["method"])),
    )


def _late_share(lab: Mapping[str, Any]) -> float:
    late, waited = float(lab.get("late_seconds", 0)), float(lab.get("waited_seconds", 0))
    return late / max(waited, 1e-12) if late else 0.0


def _options(settings: Mapping[str, str], method: str) -> str:
    """What is set for a run and not by the name of its method."""
    found = (f"{key} {settings[key]}" for key in varied if settings.get(key) and key not in method)
    return ", ".join(found)


def _with_options_of_starts(runs: list[Run]) -> list[Run]:
    """Methods that an option means nothing to were measured in turns with those that it is for, and are
    compared with them: they get it too."""
    options: dict[str, str] = {}
    for run in runs:
        if run.start and len(run.options) > len(options.get(run.start, "")):
            options[run.start] = run.options
    return [replace(run, options=options.get(run.start, run.options)) for run in runs]


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
    results.runs = _with_options_of_starts(results.runs)
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
