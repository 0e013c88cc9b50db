# SPDX-License-Identifier: BSD-3-Clause
"""The results in plain words: who won where, by how much, and what to set on this machine."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Optional

from .compare import Contest, Entry, Verdict, distinct, is_clear, times, work_words
from .results import Place
from .sweeps import not_set, not_swept, pooled, sweeps_of, works_of

_drivers = ("native", "gather", "pnetcdf", "netcdf", "mpiio")
# Settings of a variant that are settings of Shoal, and can be in shoal.toml.
_settings = ("writers", "slot_bytes", "stage_bytes", "io_layout", "chunk_bytes", "alignment", "hints", "fill")
_settings += ("header_reserve", "replicated_access", "replicated_read", "background")
_needs = {"background": " The model has to start MPI by MPI_Init_thread."}
_enough = 0.6  # a way that ran in less than this share of all contests is not advised
_few = 3  # cases; fewer are no reason to leave the defaults
_level = 1.05  # a gain that is smaller is no reason to leave the defaults
_operation_words = {"write": "Writing", "read": "Reading", "cold read": "Reading what is not cached"}
_operation_words.update({"run": "Whole runs", "define": "Defining"})


def times_text(ratio: float) -> str:
    """How much more time a ratio is: "2.3 times the time", "4 % more time", "as much time"."""
    if ratio < 1.005:
        return "as much time"
    return f"{ratio:.1f} times the time" if ratio >= 1.95 else f"{100 * (ratio - 1):.0f}\u00a0% more time"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def runner_up(contest: Contest) -> Optional[Entry]:
    """The fastest entry of another method than the winner's."""
    winner = contest.winner
    return next((e for e in contest.rivals if winner is not None and e.method != winner.method), None)


def operation_words(contests: Sequence[Contest]) -> str:
    """One or two sentences on contests of the same operation: winners, lead, spread."""
    fought = [(c, c.winner, runner_up(c)) for c in contests]
    fought = [(c, w, o) for c, w, o in fought if w is not None and o is not None]
    if not fought:
        return "only one method ran, so that nothing can be compared."
    wins = Counter(winner.method for _, winner, _ in fought).most_common()
    shown = wins if len(wins) <= 4 else wins[:3]
    texts = [_won(method, fought) for method, _ in shown]
    if len(shown) < len(wins):
        texts.append(f"{_count(len(wins) - len(shown), 'other method')} in the rest")
    return "; ".join(texts) + "."


def _certain(clear: Sequence[Optional[bool]]) -> str:
    """Whether differences are larger than the spread."""
    if None in clear:
        return "ran once, so the spread is not known"
    if all(clear):
        return "more than the spread"
    if not any(clear):
        return "within the spread, so it may be chance"
    return f"more than the spread in {sum(map(bool, clear))} of {len(clear)}"


_special = (
    ("size", lambda key: key.size),
    ("ranks", lambda key: str(key.ranks)),
    ("tiles", lambda key: times(key.tiles)),
    ("records", lambda key: str(key.records)),
)


def _where(won: Sequence[Contest], lost: Sequence[Contest]) -> str:
    """What is special to contests that were won: " (size 82x80x16)"; nothing where there is nothing."""
    for name, value in _special:
        mine, others = ({value(c.key): None for c in group} for group in (won, lost))
        if lost and not mine.keys() & others.keys() and len(mine) <= 3:
            return f" ({name} {', '.join(mine)})"
    return ""


def _won(method: str, fought: Sequence[tuple[Contest, Entry, Entry]]) -> str:
    """How one method won: how often and where, against whom, by how much, and whether that is certain."""
    mine = [(winner, other) for _, winner, other in fought if winner.method == method]
    lead = statistics.median(other.seconds.middle / winner.seconds.middle for winner, other in mine)
    certain = _certain([is_clear(winner, other) for winner, other in mine])
    others = Counter(other.method for _, other in mine)
    other = ("" if len(others) == 1 else "mostly ") + f"`{others.most_common(1)[0][0]}`"
    if len(fought) == 1:
        return f"`{method}` is fastest; {other} takes {times_text(lead)} ({certain})"
    where = _where(
        [c for c, winner, _ in fought if winner.method == method],
        [c for c, winner, _ in fought if winner.method != method],
    )
    often = f"all {len(fought)}" if len(mine) == len(fought) else f"{len(mine)} of {len(fought)}"
    return (
        f"`{method}` is fastest in {often} cases{where}; the runner-up, {other}, takes {times_text(lead)} "
        f"(median; {certain})"
    )


def sweep_words(contests: Sequence[Contest], brief: bool) -> list[str]:
    """What settings that were varied change: a sentence for each setting, operation and method; in brief only
    where the change is not within the spread, and one for all the others."""
    found: list[str] = []
    level: list[str] = []
    several_sizes = len({(c.key.shape, c.key.records) for c in contests}) > 1
    for work in works_of(contests):
        key = work[0].key
        for setting, methods in sweeps_of(pooled(work)).items():
            for (method, format), values in methods.items():
                ordered = sorted(values, key=lambda pair: pair[1].seconds.middle)
                (best, first), (worst, last) = ordered[0], ordered[-1]
                if brief and is_clear(first, last) is False:
                    level.append(setting)
                    continue
                gain = times_text(last.seconds.middle / max(first.seconds.middle, 1e-12))
                operation = _operation_words.get(key.what, key.what).lower()
                where = f"{setting}, {operation}, {_count(key.ranks, 'rank')}"
                if several_sizes:
                    where += f", {work_words(key)}"
                fast, slow = (
                    f"with {value}" if value != not_set else "without it" for value in (best, worst)
                )
                certain = _certain([is_clear(first, last)])
                found.append(f"{where}: `{method}` ({format}) is fastest {fast}; {slow}: {gain} ({certain}).")
    if level:
        more = " else" if found else ""
        settings = " and ".join(f"`{setting}`" for setting in distinct(level))
        found.append(f"What{more} was varied ({settings}) made no difference larger than the spread.")
    return found


def spread_words(contests: Sequence[Contest]) -> str:
    """How much runs of the same method differed."""
    spreads = [e.seconds.relative for c in contests for e in c.entries]
    known = [spread for spread in spreads if spread is not None]
    if not known:
        return "Each method ran once: how much runs differ is not known. Take --reps 5."
    return (
        "Spread: from the fastest to the slowest run of a method it is "
        f"{100 * statistics.median(known):.0f}\u00a0% (median), and {100 * max(known):.0f}\u00a0% at most."
    )


def summary_of(contests: Sequence[Contest], brief: bool = False) -> list[str]:
    """Sentences on one experiment in one place: on each operation, on settings, and on the spread."""
    operations = dict.fromkeys(contest.key.what for contest in contests)
    sentences = []
    for what in operations:
        group = [contest for contest in not_swept(contests) if contest.key.what == what]
        if not group:
            continue
        sentences.append(f"{_operation_words.get(what, what.capitalize())}: {operation_words(group)}")
    reported = (output_words(contests), waiting_words(contests), joining_words(contests))
    sentences += [words for words in reported if words]
    sentences += compression_words(contests)
    return sentences + sweep_words(contests, brief) + [spread_words(contests)]


def output_words(contests: Sequence[Contest]) -> str:
    """How much longer runs of a model are with output than without."""
    longer: dict[str, list[float]] = {}
    for contest in contests:
        none = next((entry for entry in contest.entries if entry.base == "none"), None)
        for entry in contest.rivals if none is not None and none.seconds.middle > 0 else ():
            way = f"`{entry.method}` ({entry.format})"
            longer.setdefault(way, []).append(entry.seconds.middle / none.seconds.middle - 1)
    if not longer:
        return ""
    shares = sorted((statistics.median(values), way) for way, values in longer.items())
    words = [f"{100 * share:.0f}\u00a0% with {way}" for share, way in shares]
    return f"Output makes a run longer: {', '.join(words)}."


def waiting_words(contests: Sequence[Contest]) -> str:
    """How long a model cannot compute for its output, of whole runs."""
    waits: dict[str, list[float]] = {}
    for contest in contests:
        for entry in contest.rivals if contest.key.what == "run" else ():
            blocked = entry.phase("blocked")
            if blocked is not None and entry.seconds.middle > 0:
                way = f"`{entry.method}` ({entry.format})"
                waits.setdefault(way, []).append(blocked.middle / entry.seconds.middle)
    if not waits:
        return ""
    shares = sorted((statistics.median(values), way) for way, values in waits.items())
    words = [f"{100 * share:.0f}\u00a0% with {way}" for share, way in shares]
    return f"Of its run a model waits for calls of output: {', '.join(words)}."


def compression_words(contests: Sequence[Contest]) -> list[str]:
    """Who compresses fastest, a sentence for each codec and level that several drivers were measured with."""
    found = []
    levels = distinct(e.compression for c in contests for e in c.entries if e.compression)
    for what in distinct(contest.key.what for contest in contests):
        for level in sorted(levels):
            group = [
                Contest(contest.key, [entry for entry in contest.entries if entry.compression == level])
                for contest in contests
                if contest.key.what == what
            ]
            if len({entry.first.driver for contest in group for entry in contest.entries}) > 1:
                words = _operation_words.get(what, what.capitalize())
                found.append(f"{words}, {level}: {operation_words(group)}")
    return found


def joining_words(contests: Sequence[Contest]) -> str:
    """What several files save, and what is left of it when they are joined."""
    without, with_join = [], []
    for contest in contests:
        for entry in contest.rivals:
            joined, alone = entry.phase("total_joined"), entry.phase("total")
            same = [e for e in contest.of_format(entry.format) if not e.phase("total_joined")]
            one = next((e for e in same if e.first.driver == entry.first.driver), None)
            if joined is not None and alone is not None and one is not None:
                without.append(alone.middle / one.seconds.middle)
                with_join.append(joined.middle / one.seconds.middle)
    if not without:
        return ""
    return (
        f"Several files take {statistics.median(without):.2f} of the time of one file by the same driver, "
        f"and {statistics.median(with_join):.2f} once they are joined (median of "
        f"{_count(len(without), 'case')})."
    )


def native_words(verdicts: Sequence[Verdict]) -> str:
    """How often `native` wins, in one sentence."""
    count = Counter(verdict.verdict for verdict in verdicts)
    judged = count["wins"] + count["within"] + count["behind"]
    if not judged:
        return "`native` was not compared with another method of the same format."
    parts = [f"`native` wins {count['wins']} of {_count(judged, 'cell')} (same work, same format)"]
    if count["within"]:
        parts.append(f"is within 10 % of the best in {count['within']}")
    if count["behind"]:
        parts.append(f"is further behind in {count['behind']}")
    if count["unverified"]:
        parts.append(f"gave wrong values in {count['unverified']}")
    words = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    missing = f" In {_count(count['missing'], 'more cell')} it did not run." if count["missing"] else ""
    return f"{words}.{missing}"


@dataclass
class Way:
    """A driver with access and layout, and a format: what a user can set."""

    driver: str
    access: str
    layout: str
    format: str
    ratio: float  # geometric mean of its time through that of the best way, over the contests that it was in
    cases: int
    clear: int = 0  # cases in which every run of it was faster than every run of native

    @property
    def settings(self) -> dict[str, str]:
        """For shoal.toml; defaults are spelled out for driver and format alone."""
        found = {"driver": self.driver, "format": self.format}
        if self.driver not in ("native", "gather") and self.access:
            found["access"] = self.access
        if self.layout and self.layout != "one":
            found["layout"] = self.layout
        return found


@dataclass
class Advice:
    """What to set in one place, why, and the best way for each format."""

    best: Optional[Way]
    reason: str
    extra: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    by_format: list[Way] = field(default_factory=list)

    @property
    def toml(self) -> str:
        """Lines of shoal.toml."""
        settings = {**(self.best.settings if self.best else {}), **self.extra}
        return "\n".join(f"{key} = {_toml(value)}" for key, value in settings.items())


def _toml(value: str) -> str:
    return value if value.isdigit() or value in ("true", "false") else f'"{value}"'


def _is_way(entry: Entry) -> bool:
    """Whether it can be set, is no variant, and gives a file that others can read: not raw or ascii."""
    return (
        entry.first.driver in _drivers
        and not entry.base.startswith("bare-")
        and not entry.first.variant
        and not entry.key.options
        and entry.format not in ("raw", "ascii")
    )


def ways_of(contests: Iterable[Contest]) -> list[Way]:
    """Ways that ran often enough to be advised, the best first. Each contest counts alike, but those without
    `native`, where it ran elsewhere, not at all: nobody can say what it would have done there."""
    ratios: dict[tuple[str, str, str, str], list[float]] = {}
    clear: Counter[tuple[str, str, str, str]] = Counter()
    count = 0
    fields = [[entry for entry in contest.rivals if _is_way(entry)] for contest in contests]
    with_native = [field for field in fields if any(entry.method == "native" for entry in field)]
    for entries in with_native or fields:
        if len({entry.method for entry in entries}) < 2:
            continue
        count += 1
        best = entries[0].seconds.middle
        native = next((entry for entry in entries if entry.method == "native"), None)
        for entry in entries:
            run = entry.first
            way = (run.driver, run.access, run.layout, entry.format)
            ratios.setdefault(way, []).append(max(entry.seconds.middle, 1e-9) / max(best, 1e-9))
            clear[way] += native is not None and is_clear(entry, native) is True
    ways = [
        Way(*way, math.exp(statistics.fmean(map(math.log, values))), len(values), clear[way])
        for way, values in ratios.items()
    ]
    ways.sort(key=lambda way: way.ratio)
    often = [way for way in ways if way.cases >= _enough * count]
    return often or [way for way in ways if way.cases >= 0.5 * max(w.cases for w in ways)]


def advice_for(contests: Sequence[Contest]) -> Advice:
    """What to set in the place of these contests: the defaults, unless there is good reason. Local."""
    ways = ways_of(contests)
    if not ways and not not_swept(contests):
        return Advice(
            None,
            "Only settings were varied here, so that there is no advice on drivers and formats. What the "
            "settings gained stands with the experiments.",
        )
    if not ways:
        return Advice(
            None, "Too few ways were measured here to advise one. Run more methods, and keep the defaults."
        )
    best = ways[0]
    natives = [way for way in ways if (way.driver, way.layout) == ("native", "one")]
    default = next((way for way in natives if way.format == "cdf5"), natives[0] if natives else None)
    if default is None:
        advice = Advice(
            best, f"{_took(best)} the least time ({_count(best.cases, 'case')}). Native did not run."
        )
    elif default.ratio <= best.ratio * _level:
        gain = "took the least time" if default is best else "took at most 5 % more time than the fastest"
        gain += f" of all that can be set, over {_count(default.cases, 'case')} together"
        words = "The default (driver native, one file, format cdf5)"
        if default.format != "cdf5":
            words = f"Driver native with one file and format {default.format}"
        advice = Advice(default, f"{words} {gain}: nothing else needs to be set.")
    else:
        share = f"{100 * best.ratio / default.ratio:.0f}\u00a0% of the time of native with {default.format}"
        reason = f"{_took(best)} {share} (geometric mean, {_count(best.cases, 'case')})."
        if best.cases >= _few and 2 * best.clear >= best.cases:
            advice = Advice(best, reason)
        else:
            doubt = "in too few cases" if best.cases < _few else "mostly within the spread"
            advice = Advice(default, f"{reason} But that is {doubt}: no reason to leave native.")
    advice.by_format = [
        next(w for w in ways if w.format == name) for name in distinct(w.format for w in ways)
    ]
    assert advice.best is not None
    advice.extra, advice.notes = _tuning(contests, advice.best)
    return advice


def _took(way: Way) -> str:
    access = f", access {way.access}" if "access" in way.settings else ""
    return f"Driver {way.driver}{access}, format {way.format} and layout {way.layout or 'one'} took"


def _tuning(contests: Sequence[Contest], way: Way) -> tuple[dict[str, str], list[str]]:
    """Single settings that made this way clearly faster than without them, and what they gained."""
    gains: dict[tuple[str, str], list[float]] = {}
    for work in works_of(contests):
        for setting, methods in sweeps_of(pooled(work)).items():
            for values in methods.values():
                (unset, plain), *others = values
                run = plain.first
                if unset != not_set or (run.driver, plain.format, run.layout) != (
                    way.driver,
                    way.format,
                    way.layout,
                ):
                    continue
                for value, entry in others:
                    gain = plain.seconds.middle / max(entry.seconds.middle, 1e-9)
                    clear = is_clear(entry, plain)
                    gains.setdefault((setting, value), []).append(gain if clear else min(gain, 1.0))
    extra, notes = {}, []
    for (key, value), found in sorted(gains.items(), key=lambda item: -statistics.median(item[1])):
        gain = statistics.median(found)
        if gain < 1.1 or key in extra or key not in _settings:
            continue
        extra[key] = value
        text = f"Without {key} = {value} it takes {times_text(gain)} ({_count(len(found), 'case')})."
        notes.append(text + _needs.get(key, ""))
    return extra, notes


def by_place(contests: Sequence[Contest]) -> dict[Place, list[Contest]]:
    """Contests of each place."""
    groups: dict[Place, list[Contest]] = {}
    for contest in contests:
        groups.setdefault(contest.key.place, []).append(contest)
    return groups
