# SPDX-License-Identifier: BSD-3-Clause
"""Whether what was measured has the shape of what was published, in words.

Machines differ, and seconds with them. Where the best stripe count lies, how flat the optimum is, and whether
serial or parallel output is ahead can be compared."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from . import published
from .compare import Contest, distinct
from .sweeps import pooled, sweeps_of, works_of

_level = 1.1  # of the best time: "within 10 %"
_flat = 1.5  # times the best time; where no count takes more, it does not matter much


@dataclass(frozen=True)
class Optimum:
    """Of times by a count of stripes or tasks: the best count, those within 10 % of it, how many times its
    time the worst takes, fewest and most that were tried."""

    best: int
    level: tuple[int, ...]
    worst_ratio: float
    least: int
    most: int

    @property
    def inside(self) -> bool:
        return self.least < self.best < self.most

    @property
    def flat(self) -> bool:
        return self.worst_ratio < _flat

    @property
    def words(self) -> str:
        """ "16 of 1 to 64 (within 10 %: 8, 16), others take up to 2.4 times the time". Local."""
        level = f" (within 10 %: {', '.join(map(str, self.level))})" if len(self.level) > 1 else ""
        ratio = f"others take up to {self.worst_ratio:.1f} times the time"
        return f"best with {self.best} of {self.least} to {self.most}{level}; {ratio}"


def optimum_of(seconds: Mapping[int, float]) -> Optimum:
    """seconds: by count, two at least. Local."""
    best = min(seconds, key=lambda count: seconds[count])
    least = max(seconds[best], 1e-12)
    level = tuple(sorted(count for count in seconds if seconds[count] <= _level * least))
    return Optimum(best, level, max(seconds.values()) / least, min(seconds), max(seconds))


def _place_of_best(optimum: Optimum) -> str:
    if optimum.inside:
        return "between fewest and most"
    return "at the fewest" if optimum.best == optimum.least else "at the most"


def _compared(here: Optimum, there: Optimum) -> str:
    """Where the best count lies, and how flat the optimum is, here and in what was published."""
    where, elsewhere = _place_of_best(here), _place_of_best(there)
    place = "here, too" if where == elsewhere else f"here {where}: the shapes differ"
    steep = {True: "flat", False: "steep"}
    flat = "here, too" if here.flat == there.flat else f"{steep[here.flat]} here: the shapes differ"
    return (
        f"The best count lies {elsewhere} there, {place}. The optimum is {steep[there.flat]} there, {flat}."
    )


def published_stripes(method: str) -> Optimum | None:
    """What was published of the method that stands for this one, if there is any. Local."""
    rates = published.restart_stripes.get(method.split("+")[0])
    return None if rates is None else optimum_of({count: 1 / rate for count, rate in rates.items()})


@dataclass(frozen=True)
class Counted:
    """A setting whose values count something, and what was published of it for an experiment.

    number: finds the count in a value, which may have others (cb_config_list=*:*;cb_nodes=8). there: of a
    method, where it was published and the optimum there."""

    name: str
    setting: str
    number: str
    experiment: str
    there: Callable[[str], list[tuple[str, Optimum]]]


def _stripes_there(method: str) -> list[tuple[str, Optimum]]:
    found = published_stripes(method)
    return [] if found is None else [("", found)]


def _tasks_there(method: str) -> list[tuple[str, Optimum]]:
    if method.split("+")[0] not in ("native", "pnetcdf-collective"):
        return []
    return [(f" ({place})", optimum_of(seconds)) for place, seconds in published.restart_tasks.items()]


_counted = (
    Counted("Stripes", "stripes", r"^(\d+)$", "restart", _stripes_there),
    Counted("I/O tasks", "io_ranks", r"^(\d+)$", "restart", _tasks_there),
    Counted("I/O tasks", "hints", r"cb_nodes=(\d+)", "restart", _tasks_there),
    Counted("Aggregators a node", "hints", r"^cb_config_list=\*:(\d+)$", "mom-output", lambda method: []),
)


def count_words(contests: Sequence[Contest]) -> list[str]:
    """A sentence for each method and format of which a count was varied in writing."""
    found = []
    for work in works_of([c for c in contests if c.key.what == "write"]):
        sweeps = sweeps_of(pooled(work))
        for counted in _counted:
            for (method, format), values in sweeps.get(counted.setting, {}).items():
                numbers = [(re.search(counted.number, value), entry) for value, entry in values]
                seconds = {int(number[1]): entry.seconds.middle for number, entry in numbers if number}
                if len(seconds) < 2:
                    continue
                here = optimum_of(seconds)
                text = f"{counted.name}, {work[0].key.ranks} ranks: `{method}` ({format}) is {here.words}."
                if work[0].key.experiment == counted.experiment:
                    for place, there in counted.there(method):
                        text += f" Published{place}: {there.words}. {_compared(here, there)}"
                found.append(text)
    return found


def _agreement(here: float, there: float) -> str:
    """Whether one way is ahead of another here and there alike, or as fast within 10 %. Local."""

    def standing(ratio: float) -> int:
        return (ratio > _level) - (ratio < 1 / _level)

    return f"The shapes {'agree' if standing(here) == standing(there) else 'differ'}."


def serial_words(contests: Sequence[Contest]) -> list[str]:
    """Whole runs with parallel output through those with serial output, beside the published pairs of the
    same kind of disk."""
    found = []
    for contest in contests:
        kind = published.roms_benchmark_kinds.get(contest.key.place.filesystem)
        serial = {e.format: e for e in contest.entries if e.method == "gather"}
        if contest.key.experiment != "roms-benchmark" or kind is None:
            continue
        pair = published.roms_benchmark[kind]
        there = pair["parallel"] / pair["serial"]
        for entry in contest.entries:
            if entry.method not in ("pnetcdf-collective", "netcdf-collective") or entry.format not in serial:
                continue
            here = entry.seconds.middle / max(serial[entry.format].seconds.middle, 1e-12)
            found.append(
                f"Parallel output (`{entry.method}`, {entry.format}) takes {here:.2f} times the run of "
                f"serial output; published for a {kind}: {there:.2f} times. {_agreement(here, there)}"
            )
    return found


def _ratio_words(ratios: Sequence[float], there: Sequence[float], what: str, to: str) -> list[str]:
    if not ratios:
        return []
    here, low, high = statistics.median(ratios), min(there), max(there)
    return [
        f"{what} takes {here:.2f} times {to}; published: {low:.2f} to {high:.2f} times. "
        f"{_agreement(here, statistics.mean(there))}"
    ]


def ocean_words(contests: Sequence[Contest]) -> list[str]:
    """Whether netCDF-4 or a classic format, and serial or parallel output, is ahead in E7; medians of all
    settings that were tried."""
    formats, access = [], []
    for contest in contests:
        if contest.key.experiment != "mom-output" or contest.key.what != "write":
            continue
        seconds = {(e.method, e.format[:3]): e.seconds.middle for e in contest.entries}
        classic = seconds.get(("pnetcdf-collective", "cdf"))
        netcdf4 = seconds.get(("netcdf-collective", "net"))
        if classic and netcdf4:
            formats.append(netcdf4 / classic)
        for format, parallel in (("cdf", classic), ("net", netcdf4)):
            if parallel and (serial := seconds.get(("gather", format))):
                access.append(parallel / serial)
    return _ratio_words(
        formats,
        published.mom_output_netcdf4_to_classic,
        "NetCDF-4 (`netcdf-collective`)",
        "a classic format (`pnetcdf-collective`)",
    ) + _ratio_words(
        access,
        published.mom_output_parallel_to_serial,
        "Parallel output (`pnetcdf-collective`, `netcdf-collective`)",
        "serial output (`gather`)",
    )


def shape_words(contests: Sequence[Contest]) -> list[str]:
    """All of one place. Local."""
    return distinct(count_words(contests) + serial_words(contests) + ocean_words(contests))
