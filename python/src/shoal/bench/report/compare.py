# SPDX-License-Identifier: BSD-3-Clause
"""Which runs are compared with each other, and how: cells, contests, medians, spreads, winners.

An Entry is what one method did in one cell, all repetitions together. A Cell has the entries of one format;
a Contest those of all formats. Everything else is the same within both: place, experiment, study,
operation, size, records, tiles, ranks."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Optional

from .results import Place, Run

near = 1.10  # "within 10 %"


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

    @property
    def size(self) -> str:
        return times(self.shape)


def distinct(values: Iterable) -> list:
    """Each value once, in the order of coming."""
    return list(dict.fromkeys(values))


def times(numbers: Iterable[int]) -> str:
    """ "656x640x16"."""
    return "x".join(str(n) for n in numbers)


class Entry:
    """All repetitions of one method with one format in one cell."""

    def __init__(self, key: Key, runs: list[Run]) -> None:
        self.key = key
        self.runs = sorted(runs, key=lambda run: run.repetition)
        first = self.runs[0]
        self.method, self.base, self.format = first.method, first.base, first.format
        self.seconds = spread_of(run.time_to_compare for run in runs)

    @property
    def first(self) -> Run:
        return self.runs[0]

    @property
    def is_limit(self) -> bool:
        return self.base == "limit"

    @property
    def is_bound(self) -> bool:
        """Whether it only says what is possible: limit, and runs of a model without output ("none")."""
        return self.base in ("limit", "none")

    @property
    def verified(self) -> bool:
        return all(run.verified for run in self.runs)

    @property
    def crowded(self) -> bool:
        return any(run.crowded for run in self.runs)

    def phase(self, name: str) -> Optional[Spread]:
        """Seconds of one phase; None where it was not measured."""
        values = [run.seconds[name] for run in self.runs if name in run.seconds]
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

    def __init__(self, key: Key, entries: list[Entry], older: int = 0) -> None:
        """older: runs of the same work by an earlier start of the engine, which are left out."""
        self.key = key
        self.older = older
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

    def share_of_limit(self, entry: Entry) -> Optional[float]:
        """1: as fast as limit; 0.5: it takes twice the time."""
        limit = self.limit
        return None if limit is None else limit.seconds.middle / max(entry.seconds.middle, 1e-12)


def contests_of(runs: Iterable[Run]) -> list[Contest]:
    """Runs sorted into contests, in an order that is good to read. Local."""
    groups: dict[Key, dict[tuple[str, str], list[Run]]] = {}
    for run in runs:
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
        groups.setdefault(key, {}).setdefault((run.method, run.format), []).append(run)
    made = []
    for key, group in groups.items():
        newest = [_newest(runs) for runs in group.values()]
        older = sum(map(len, group.values())) - sum(map(len, newest))
        made.append(Contest(key, [Entry(key, runs) for runs in newest], older))
    return sorted(made, key=lambda contest: _order(contest.key))


def _newest(runs: list[Run]) -> list[Run]:
    """Those of the start that was last: starts of other builds or options are not mixed."""
    last = max(runs, key=lambda run: run.time)
    return [run for run in runs if run.start == last.start]


_operations = ("run", "define", "write", "read", "cold read")


def _order(key: Key) -> tuple:
    what = _operations.index(key.what) if key.what in _operations else len(_operations)
    cells = 1
    for n in key.shape:
        cells *= n
    return (key.experiment, key.study, what, cells, key.ranks, key.tiles, key.records, key.options)


def is_clear(winner: Entry, other: Entry) -> Optional[bool]:
    """Whether the difference is larger than the spread: every run of the winner was faster than every run
    of the other. None with one repetition, which has no spread. Local."""
    if winner.seconds.count < 2 or other.seconds.count < 2:
        return None
    return winner.seconds.high < other.seconds.low


@dataclass(frozen=True)
class Verdict:
    """How `native` did in one cell. verdict: wins, within (10 % of the best), behind, missing, unverified.

    best: the fastest of the others; ratio: seconds of native through those of best."""

    key: Key
    format: str
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

    A cell has one format. `native` is the method of this name, with no settings of its own."""
    all_of_them = []
    for contest in contests:
        for name in contest.formats:
            entries = contest.of_format(name)
            native = next((e for e in contest.entries if e.method == "native" and e.format == name), None)
            others = [entry for entry in entries if entry.method != "native"]
            if native is not None and not native.verified:
                best = others[0] if others else native
                all_of_them.append(Verdict(contest.key, name, "unverified", native, best, None, None))
            elif native is None and others:
                all_of_them.append(Verdict(contest.key, name, "missing", None, others[0], None, None))
            elif native is not None and others:
                best = others[0]
                ratio = native.seconds.middle / max(best.seconds.middle, 1e-12)
                word = "wins" if ratio <= 1 else "within" if ratio <= near else "behind"
                clear = is_clear(native, best) if ratio <= 1 else is_clear(best, native)
                all_of_them.append(Verdict(contest.key, name, word, native, best, ratio, clear))
    return all_of_them
