# SPDX-License-Identifier: BSD-3-Clause
"""Which runs are compared with each other, and how: cells, contests, medians, spreads, winners.

An Entry is what one method did in one cell, all repetitions together. A Cell has the entries of one format;
a Contest those of all formats. Everything else is the same within both: place, experiment, study,
operation, size, records, tiles, ranks."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Optional

from .results import Place, Run

near = 1.10  # "within 10 %"
_believable = 1.25  # times the best of limit's rates


@dataclass(frozen=True)
class Spread:
    """Minimum, median and maximum of the repetitions of something, in its own unit."""

    low: float
    middle: float
    high: float
    count: int

    @property
    def relative(self) -> Optional[float]:
        """From the lowest to the highest, as a share of the median; None for a single value."""
        return (self.high - self.low) / self.middle if self.count > 1 and self.middle > 0 else None


def spread_of(values: Iterable[float]) -> Spread:
    """Minimum, median and maximum. Local. Errors: ValueError without values."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("No values to take a median of")
    return Spread(ordered[0], statistics.median(ordered), ordered[-1], len(ordered))


@dataclass(frozen=True)
class Key:
    """What is the same in a contest."""

    place: Place
    experiment: str
    study: str
    what: str
    shape: tuple[int, ...]
    records: int
    tiles: tuple[int, ...]
    ranks: int
    options: str = ""
    # 0; in studies of settings 1, 2, ... for starts of the engine with other methods: they are in one
    # picture, but were not measured in turns.
    part: int = 0

    @property
    def size(self) -> str:
        """ "656x640x16"; lengths of 1, which say nothing, are left away."""
        return times([n for n in self.shape if n != 1] or self.shape)


def distinct(values: Iterable) -> list:
    """Each value once, in the order of coming."""
    return list(dict.fromkeys(values))


def times(numbers: Iterable[int]) -> str:
    """ "656x640x16"."""
    return "x".join(str(n) for n in numbers)


def work_words(key: Key) -> str:
    """ "656x640x16, 5 records"."""
    return f"{key.size}, {key.records} record{'s' if key.records > 1 else ''}" if key.records else key.size


class Entry:
    """All repetitions of one method with one format in one cell."""

    def __init__(self, key: Key, runs: list[Run]) -> None:
        self.key = key
        self.runs = sorted(runs, key=lambda run: run.repetition)
        first = self.runs[0]
        self.method, self.base, self.format = first.method, first.base, first.format
        self.compression = first.compression
        self.seconds = spread_of(run.time_to_compare for run in runs)

    @property
    def first(self) -> Run:
        return self.runs[0]

    @property
    def is_limit(self) -> bool:
        return self.base == "limit"

    @property
    def is_bound(self) -> bool:
        """Whether it only says what is possible: limit, and runs of a model without output."""
        return self.base in ("limit", "none", "accumulate")

    @property
    def verified(self) -> bool:
        return all(run.verified for run in self.runs)

    @property
    def crowded(self) -> bool:
        return any(run.crowded for run in self.runs)

    def phase(self, name: str, by_model: bool = False) -> Optional[Spread]:
        """Seconds of one phase; None where it was not measured. by_model: under MOM's names."""
        seconds = [run.by_model if by_model else run.seconds for run in self.runs]
        values = [found[name] for found in seconds if name in found]
        return spread_of(values) if values else None

    def rate(self, phase: str = "") -> Optional[Spread]:
        """Megabytes (10^6) a second of all repetitions, of a phase or of the time compared by."""
        values = [run.seconds.get(phase, 0.0) if phase else run.time_to_compare for run in self.runs]
        if not self.first.bytes or min(values) <= 0:
            return None
        return spread_of(self.first.bytes / value / 1e6 for value in values)

    def __repr__(self) -> str:
        return f"Entry({self.method}, {self.format}, {self.key.what}, {self.seconds.middle:.4g} s)"


class Contest:
    """Methods and formats that did the same work."""

    def __init__(self, key: Key, entries: list[Entry], left_out: int = 0) -> None:
        """left_out: runs of the same work by other starts of the engine."""
        self.key = key
        self.left_out = left_out
        self.entries = sorted(entries, key=lambda entry: entry.seconds.middle)

    @property
    def limit(self) -> Optional[Entry]:
        return next((entry for entry in self.entries if entry.is_limit), None)

    @property
    def rivals(self) -> list[Entry]:
        """All but bounds, the fastest first. Entries with wrong values do not count: they prove nothing."""
        return [entry for entry in self.entries if not entry.is_bound and entry.verified]

    @property
    def winner(self) -> Optional[Entry]:
        return next(iter(self.rivals), None)

    @property
    def formats(self) -> list[str]:
        return sorted({entry.format for entry in self.entries if not entry.is_bound})

    def of_format(self, name: str) -> list[Entry]:
        """Rivals with this format, the fastest first."""
        return [entry for entry in self.rivals if entry.format == name]

    def peers_of(self, entry: Entry) -> list[Entry]:
        """Rivals that make the same file: with the same format and compression, the fastest first."""
        return [e for e in self.of_format(entry.format) if e.compression == entry.compression]

    def share_of_limit(self, entry: Entry) -> Optional[float]:
        """1: as fast as limit; 0.5: it takes twice the time."""
        limit = self.limit
        return None if limit is None else limit.seconds.middle / max(entry.seconds.middle, 1e-12)

    @property
    def moving(self) -> str:
        """The phase in which bytes go to the file, or come from it."""
        return "store" if self.key.what in ("write", "run") else "read"

    def beyond_limit(self, entry: Entry) -> Optional[float]:
        """How many times as fast as limit's bytes those of an entry would have moved, where that is clearly
        too much to be believed; else None."""
        if self.limit is None or entry.is_bound:
            return None
        rate, bound = entry.rate(self.moving), self.limit.rate(self.moving)
        if rate is None or bound is None or rate.middle <= _believable * bound.high:
            return None
        return rate.middle / bound.middle


MethodFormat = tuple[str, str]  # method and format


def contests_of(runs: Iterable[Run]) -> list[Contest]:
    """Runs sorted into contests, in an order that is good to read. Local.

    Runs of a round in which not every method had its turn are left out, and methods of different starts of
    the engine are never in one contest."""
    groups: dict[Key, dict[str, dict[MethodFormat, list[Run]]]] = {}
    for run in runs:
        if not run.whole_round:
            continue
        key = Key(
            run.place,
            run.experiment,
            run.study,
            run.what,
            run.shape,
            run.records,
            run.tiles,
            run.ranks,
            run.options,
        )
        start = groups.setdefault(key, {}).setdefault(run.start, {})
        start.setdefault((run.method, run.format), []).append(run)
    varied = _studies_of_settings(groups)
    made = []
    for key, starts in groups.items():
        made += _contests_of_work(key, list(starts.values()), (key.experiment, key.study) in varied)
    return sorted(made, key=lambda contest: _order(contest.key))


def _studies_of_settings(groups: dict[Key, dict[str, dict[MethodFormat, list[Run]]]]) -> set[tuple[str, str]]:
    """Experiments and studies in which settings are varied, and each value may be a start of its own."""
    found = set()
    for key, starts in groups.items():
        variants = (method for start in starts.values() for method, _ in start)
        if key.options or any("+" in method for method in variants):
            found.add((key.experiment, key.study))
    return found


def _contests_of_work(key: Key, starts: list[dict[MethodFormat, list[Run]]], varied: bool) -> list[Contest]:
    """The start with the most methods, of several the last; in a study of settings those that have nothing
    in common with it too, each for itself. The rest is counted."""

    def rank(ways: dict[MethodFormat, list[Run]]) -> tuple[int, str]:
        return len(ways), max(run.time for runs in ways.values() for run in runs)

    chosen: list[dict[MethodFormat, list[Run]]] = []
    left_out = 0
    for ways in sorted(starts, key=rank, reverse=True):
        if not chosen or (varied and not any(ways.keys() & others.keys() for others in chosen)):
            chosen.append(ways)
        else:
            left_out += sum(map(len, ways.values()))
    made = []
    for part, ways in enumerate(chosen):
        own = replace(key, part=part)
        entries = [Entry(own, runs) for runs in ways.values()]
        made.append(Contest(own, entries, 0 if part else left_out))
    return made


_operations = ("run", "define", "write", "read", "cold read")


def _order(key: Key) -> tuple:
    what = _operations.index(key.what) if key.what in _operations else len(_operations)
    cells = 1
    for n in key.shape:
        cells *= n
    options = order_of_settings(key.options)
    return (key.experiment, key.study, what, cells, key.ranks, key.tiles, key.records, options, key.part)


_units = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def order_of_settings(value: str) -> tuple:
    """Few settings before many; values with numbers in the order of the numbers: 256KiB before 1MiB."""
    found = re.findall(r"(\d+)(KiB|MiB|GiB)?", value)
    words = re.sub(r"\d+(KiB|MiB|GiB)?", "", value)
    return (value.count("="), words, *(int(digits) * _units[unit] for digits, unit in found))


def is_clear(winner: Entry, other: Entry) -> Optional[bool]:
    """Whether the difference is larger than the spread: every run of the winner was faster than every run
    of the other. None with one repetition, which has no spread. Local."""
    if winner.seconds.count < 2 or other.seconds.count < 2:
        return None
    return winner.seconds.high < other.seconds.low


@dataclass(frozen=True)
class Verdict:
    """How `native` did in one cell. verdict: wins, within (10 % of the best), behind, missing, unverified.

    best: the fastest of the others; ratio: seconds of native through those of best. compression: codec and
    level of all of them, or nothing."""

    key: Key
    format: str
    compression: str
    verdict: str
    native: Optional[Entry]
    best: Entry
    ratio: Optional[float]
    clear: Optional[bool]

    def as_dict(self) -> dict:
        """For machines: plain values."""
        key, place = self.key, self.key.place
        return {
            "experiment": key.experiment,
            "study": key.study,
            "operation": key.what,
            "shape": list(key.shape),
            "records": key.records,
            "tiles": list(key.tiles),
            "ranks": key.ranks,
            "options": key.options,
            "format": self.format,
            "compression": self.compression,
            "dir": place.directory,
            "filesystem": place.filesystem,
            "host": place.host,
            "mpi": place.mpi,
            "mpi_io": place.mpi_io,
            "shoal": place.shoal,
            "cache": self.best.first.cache,
            "verdict": self.verdict,
            "native_seconds": None if self.native is None else self.native.seconds.middle,
            "best_other_method": self.best.method,
            "best_other_seconds": self.best.seconds.middle,
            "ratio": self.ratio,
            "larger_than_spread": self.clear,
            "native_phases": {} if self.native is None else _phases(self.native),
            "best_other_phases": _phases(self.best),
        }


def _phases(entry: Entry) -> dict[str, float]:
    names = {name for run in entry.runs for name in run.seconds}
    spreads = {name: entry.phase(name) for name in sorted(names)}
    return {name: spread.middle for name, spread in spreads.items() if spread and spread.high > 0}


def verdicts(contests: Iterable[Contest]) -> list[Verdict]:
    """`native` against the best method other than limit, for each cell where anything else ran. Local.

    A cell has one format and one compression, or none. `native` is the method of this name, with no settings
    but that of the cell. Work that only variants and layouts of native did (sweeps of settings) is no cell:
    native did run."""
    contests = list(contests)
    own = {
        (replace(contest.key, options="", part=0), entry.format)
        for contest in contests
        for entry in contest.entries
        if entry.first.driver == "native"
    }
    all_of_them = []
    for contest in contests:
        for way in distinct((e.format, e.compression) for e in contest.entries if not e.is_bound):
            found = _verdict(contest, *way)
            if found is not None and not (
                found.verdict == "missing" and (replace(contest.key, options="", part=0), way[0]) in own
            ):
                all_of_them.append(found)
    return all_of_them


def _verdict(contest: Contest, format: str, compression: str) -> Optional[Verdict]:
    cell = (contest.key, format, compression)
    same = [e for e in contest.entries if (e.format, e.compression) == (format, compression)]
    native = next((e for e in same if e.base == "native" and len(e.first.variant) == bool(compression)), None)
    others = [entry for entry in contest.rivals if entry in same and entry is not native]
    if native is not None and not native.verified:
        return Verdict(*cell, "unverified", native, others[0] if others else native, None, None)
    if not others:
        return None
    best = others[0]
    if native is None:
        return Verdict(*cell, "missing", None, best, None, None)
    ratio = native.seconds.middle / max(best.seconds.middle, 1e-12)
    word = "wins" if ratio <= 1 else "within" if ratio <= near else "behind"
    clear = is_clear(native, best) if ratio <= 1 else is_clear(best, native)
    return Verdict(*cell, word, native, best, ratio, clear)
