# SPDX-License-Identifier: BSD-3-Clause
"""Whether what was measured has the shape of what was published, in words.

Machines differ, and seconds with them. Where the best stripe count lies, how flat the optimum is, and whether
serial or parallel output is ahead can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import published
from .compare import Contest, distinct
from .sweeps import not_set, pooled, sweeps_of, works_of

_level = 1.1  # of the best time: "within 10 %"
_flat = 1.5  # times the best time; where no count takes more, it does not matter much


@dataclass(frozen=True)
class Optimum:
    """Of times by stripe count: the best count, those within 10 % of it, how many times its time the worst
    takes, fewest and most that were tried."""

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
    """seconds: by stripe count, two at least. Local."""
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


def stripe_words(contests: Sequence[Contest]) -> list[str]:
    """A sentence for each method and format whose stripes were varied in writing."""
    found = []
    for work in works_of([c for c in contests if c.key.what == "write"]):
        for (method, format), values in sweeps_of(pooled(work)).get("stripes", {}).items():
            seconds = {int(value): entry.seconds.middle for value, entry in values if value != not_set}
            if len(seconds) < 2:
                continue
            here, there = optimum_of(seconds), published_stripes(method)
            text = f"Stripes, {work[0].key.ranks} ranks: `{method}` ({format}) is {here.words}."
            if there is not None and work[0].key.experiment == "restart":
                text += f" Published: {there.words}. {_compared(here, there)}"
            found.append(text)
    return found


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
            agree = "agree" if (here > 1) == (there > 1) else "differ"
            found.append(
                f"Parallel output (`{entry.method}`, {entry.format}) takes {here:.2f} times the run of "
                f"serial output; published for a {kind}: {there:.2f} times. The shapes {agree}."
            )
    return found


def shape_words(contests: Sequence[Contest]) -> list[str]:
    """All of one place. Local."""
    return distinct(stripe_words(contests) + serial_words(contests))
