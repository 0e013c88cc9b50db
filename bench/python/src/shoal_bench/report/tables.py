# SPDX-License-Identifier: BSD-3-Clause
"""Tables of results, without a way to show them: the terminal and the page show the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Optional

from .compare import Contest, Entry, Spread, Verdict, times
from .gaps import places_in_words
from .results import Place

# Medians of these phases have columns of their own, in the tables of these experiments.
_phases = {
    "roms-benchmark": ("user", "system", "compute", "halo", "blocked"),
    "streams": ("accumulate", "write", "sync", "compute", "blocked"),
    "restart": ("store", "read", "exchange", "open", "close"),
    "mom-output": ("open", "read_meta", "read", "write_meta", "write_3d", "write_4d", "close", "join"),
}


@dataclass
class Row:
    """mark: "best" (fastest), "limit" (a bound), "wrong" or nothing; begins: the first row of a contest."""

    cells: list[str]
    mark: str = ""
    begins: bool = False


@dataclass
class Table:
    """left: how many columns, from the first on, are words and not numbers."""

    title: str
    caption: str
    headings: list[str]
    rows: list[Row]
    left: int = 1
    notes: list[str] = field(default_factory=list)


def seconds(value: Optional[float]) -> str:
    """Four digits that count: "0.01234", "12.34"."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if value < 0.000005:
        return "<0.00001"
    digits = 4 if value < 1 else 3 if value < 10 else 2 if value < 100 else 1
    return f"{value:.5f}" if value < 0.01 else f"{value:.{digits}f}"


def percent(value: Optional[float]) -> str:
    """ "12 %"."""
    return "" if value is None else f"{100 * value:.0f} %"


def rate(spread: Optional[Spread]) -> str:
    """Megabytes a second, without digits that do not count."""
    if spread is None:
        return ""
    return f"{spread.middle:,.0f}" if spread.middle >= 10 else f"{spread.middle:.2g}"


def megabytes(count: int) -> str:
    """ "23.5"."""
    return f"{count / 1e6:.3g}" if count < 1e9 else f"{count / 1e6:,.0f}"


def ranks_text(contest: Contest) -> str:
    """ "4", or "16 > 2 cores"."""
    crowded = next((entry.first for entry in contest.entries if entry.crowded), None)
    text = str(contest.key.ranks)
    if crowded is None:
        return text
    return f"{text} > {crowded.cores} cores" if crowded.cores else f"{text} > cores"


_keys = (
    ("operation", lambda c: c.key.what),
    ("size", lambda c: c.key.size),
    ("records", lambda c: str(c.key.records or "")),
    ("tiles", lambda c: times(c.key.tiles)),
    ("ranks", ranks_text),
    ("options", lambda c: c.key.options),
)


def _won(contest: Contest, entry: Entry) -> str:
    """ "fastest", or "fastest cdf5", "fastest deflate1" where another format or compression was faster."""
    if not entry.verified:
        return "WRONG VALUES"
    if entry is contest.winner:
        return "fastest" if len(contest.rivals) > 1 else ""
    peers = [] if entry.is_bound else contest.peers_of(entry)
    which = entry.format if len(contest.formats) > 1 else ""
    which = " ".join(filter(None, (which, entry.compression)))
    return f"fastest {which}".rstrip() if len(peers) > 1 and peers[0] is entry else ""


def _cells(contest: Contest, entry: Entry, phases: Sequence[str], files: bool) -> list[str]:
    spread = entry.seconds
    cells = [entry.method, entry.format, _won(contest, entry), str(spread.count)]
    cells += [seconds(value) for value in (spread.low, spread.middle, spread.high)]
    share = contest.share_of_limit(entry)
    cells += [percent(spread.relative), rate(entry.rate())]
    if files:
        cells.append(megabytes(entry.first.file_bytes) if entry.first.file_bytes else "")
    cells.append("" if share is None else f"{share:.2f}")
    cells.append("yes" if entry.verified else "NO")
    return cells + [_phase(contest, entry, name) for name in phases]


def _phase(contest: Contest, entry: Entry, name: str) -> str:
    """The median of a phase; a dash where it was not measured, or cannot be the time of all bytes."""
    found = entry.phase(name, _by_model(contest))
    if found is None or (name == contest.moving and contest.beyond_limit(entry) is not None):
        return "-"
    return seconds(found.middle)


def _by_model(contest: Contest) -> bool:
    """Whether phases have MOM's names."""
    return contest.key.experiment == "mom-output"


def _phases_of(contests: Sequence[Contest], experiment: str) -> list[str]:
    """Those of the experiment that any run has."""
    entries = [entry for contest in contests for entry in contest.entries]
    by_model = any(map(_by_model, contests))
    return [
        name
        for name in _phases.get(experiment, ())
        if any((found := entry.phase(name, by_model)) and found.high > 0 for entry in entries)
    ]


def table_of(title: str, contests: Sequence[Contest], place: str) -> Table:
    """One table: all contests of one study in one place. What they have in common is in the caption."""
    varied = [(name, text) for name, text in _keys if len({text(c) for c in contests}) > 1]
    common = [(name, text(contests[0])) for name, text in _keys if (name, text) not in varied]
    phases = _phases_of(contests, contests[0].key.experiment)
    entries = [entry for contest in contests for entry in contest.entries]
    # Of interest where it is what was varied.
    files = any(e.compression for e in entries) and any(e.first.file_bytes for e in entries)
    rows = []
    for contest in contests:
        for number, entry in enumerate(contest.entries):
            keys = [text(contest) if number == 0 else "" for _, text in varied]
            mark = "" if entry.verified else "wrong"
            mark = mark or ("limit" if entry.is_bound else "best" if entry is contest.winner else "")
            rows.append(Row(keys + _cells(contest, entry, phases, files), mark, number == 0))
    headings = [name for name, _ in varied] + [
        "method",
        "format",
        "won",
        "runs",
        "min s",
        "median s",
        "max s",
    ]
    headings += ["spread", "MB/s", *(["file MB"] if files else []), "of limit", "checked"]
    headings += [f"{name} s" for name in phases]
    caption = f"{place}; " + ", ".join(f"{name} {text}" for name, text in common if text) + "."
    return Table(title, caption, headings, rows, len(varied) + 3)


how_to_read = (
    "Seconds are from before opening to after closing, of the slowest rank; with joining, where there are "
    "several files. Spread: from the fastest to the slowest run, as a share of the median. MB/s: 10^6 "
    "bytes a second of the median, before compression. File MB: what was written. Of limit: 1 is as fast as "
    "each rank writing one contiguous block. "
    "Checked: every value that was written was read back and compared; of what was read, all records in the "
    "round that warms up, and the last one in the rounds that count. Phases are each the slowest rank's, "
    "so they need not add up to the whole; a dash: not measured, or not to be believed."
)


def tables_of(title: str, contests: Sequence[Contest], names: dict[Place, str]) -> list[Table]:
    """A table for each study and place."""
    groups: dict[tuple[str, Place], list[Contest]] = {}
    for contest in contests:
        groups.setdefault((contest.key.study, contest.key.place), []).append(contest)
    return [
        table_of(f"{title}, study {study}" if study else title, group, names[place])
        for (study, place), group in groups.items()
    ]


def cells_table(verdicts: Sequence[Verdict], names: dict[Place, str]) -> Table:
    """Cells in which `native` is more than 10 % behind the best but limit, or has wrong values."""
    headings = ["experiment", "operation", "size", "records", "tiles", "ranks", "format", "where", "options"]
    headings += ["best method", "its s", "native s", "native / best", "larger than spread"]
    rows = []
    for verdict in sorted(verdicts, key=lambda v: (v.key.experiment, -(v.ratio or 99))):
        if verdict.verdict not in ("behind", "unverified"):
            continue
        key = verdict.key
        cells = [key.experiment, key.what, key.size, str(key.records or ""), times(key.tiles), str(key.ranks)]
        format = " ".join(filter(None, (verdict.format, verdict.compression)))
        cells += [format, names[key.place], key.options, verdict.best.method]
        cells.append(seconds(verdict.best.seconds.middle))
        native = verdict.native.seconds.middle if verdict.native else None
        cells.append(seconds(native) if verdict.ratio else "WRONG VALUES")
        cells.append(f"{verdict.ratio:.2f}" if verdict.ratio else "")
        cells.append({None: "", True: "yes", False: "no"}[verdict.clear])
        rows.append(Row(cells))
    # Where one value is that of all, it is said once.
    said = [i for i in (3, 7, 8) if len({row.cells[i] for row in rows}) == 1]
    common = ", ".join(f"{headings[i]} {rows[0].cells[i]}" for i in said if rows[0].cells[i])
    keep = [i for i in range(len(headings)) if i not in said]
    for row in rows:
        row.cells = [row.cells[i] for i in keep]
    return Table(
        "Cells where native is more than 10 % behind the best",
        "A cell is one experiment, operation, size, tiling, number of ranks, format, compression and place. "
        "Best is the fastest method other than limit, with every value right. --cells gives all cells as "
        f"JSON, with the phases of both.{' All of them: ' + common + '.' if common else ''}",
        [headings[i] for i in keep],
        rows,
        len(keep) - 4,
    )


def machines_table(contests: Sequence[Contest], names: dict[Place, str]) -> Table:
    """What was run on what: a column of facts for each place."""
    facts = places_in_words(contests)
    keys = list(dict.fromkeys(key for place in facts for key in facts[place]))
    rows = [Row([key, *(facts[place].get(key, "") for place in facts)]) for key in keys]
    return Table("What was run on what", "", ["", *(names[place] for place in facts)], rows, 1 + len(facts))
