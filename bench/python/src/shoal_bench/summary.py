# SPDX-License-Identifier: BSD-3-Clause
"""What was measured, in a table a study: medians, and how near to the limit they come."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .results import Result
from .study import Start

_columns = 5  # starts beside each other
_limit = "limit"


def _row(result: Result, several_dirs: bool) -> tuple[str, ...]:
    row = (result.operation, result.method, result.format)
    return (*row, result.dir) if several_dirs else row


def _heading(start: Start, among: Sequence[Start]) -> str:
    """What differs among the starts of a study."""
    parts = {
        "ranks": f"{start.ranks} ranks",
        "tiles": start.tiles,
        "size": start.size,
        "records": f"{start.records} records" if start.records else "",
        "hints": start.hints.replace(",", " ") or "no hints",
        "io_layout": f"io_layout {start.io_layout}" if start.io_layout else "",
        "mpi_io": start.mpi_io,
    }
    differing = [part for name, part in parts.items() if len({getattr(s, name) for s in among}) > 1]
    return " ".join(differing) if differing else f"{start.ranks} ranks {start.tiles} {start.size}"


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def study_tables(starts: Sequence[Start], keys: Sequence[str], results: Sequence[Result]) -> list[Table]:
    """Tables of one study; seconds, and behind them the share of limit (1: as fast). Local."""
    several = len({result.dir for result in results}) > 1
    rows = dict.fromkeys(
        _row(result, several) for result in sorted(results, key=lambda r: r.operation != "write")
    )
    cells: dict[tuple, list[float]] = {}
    joins: dict[tuple, list[float]] = {}
    for result in results:
        cells.setdefault((result.start, result.dir, *_row(result, several)), []).append(
            result.seconds["total"]
        )
        if result.seconds.get("join"):
            joins.setdefault((result.start, result.dir, *_row(result, several)), []).append(
                result.seconds["join"]
            )
    limits = {}
    for (start, where, operation, method, *_), seconds in cells.items():
        if method == _limit:
            limits[start, where, operation] = median(seconds)

    def cell(key: str, row: tuple) -> str:
        found = [
            (where, s) for (start, where, *own), s in cells.items() if start == key and tuple(own) == row
        ]
        if not found:
            return ""
        where, seconds = found[0]
        middle, limit = median(seconds), limits.get((key, where, row[0]))
        text = _seconds(middle)
        if limit is not None and row[1] != _limit and middle:
            text += f" ({limit / middle:.2f})"
        joined = joins.get((key, where, *row))
        return f"{text} + {_seconds(median(joined))}" if joined else text

    pairs = [(start, key) for start, key in zip(starts, keys) if any(r.start == key for r in results)]
    tables = []
    for first in range(0, len(pairs), _columns):
        part = pairs[first : first + _columns]
        head = starts[0]
        title = f"{head.experiment}, {head.study}: median seconds" + (" (share of limit)" if limits else "")
        title += " + joining" if joins else ""
        table = Table(title=title if first == 0 else None, title_justify="left")
        for heading in ("operation", "method", "format", *(["dir"] if several else [])):
            table.add_column(heading, overflow="fold")
        for start, _ in part:
            table.add_column(escape(_heading(start, starts)), justify="right")
        last = None
        for row in rows:
            if last is not None and row[0] != last:
                table.add_section()
            last = row[0]
            table.add_row(*map(escape, row), *(cell(key, row) for _, key in part))
        tables.append(table)
    return tables


def show(out: Console, starts: Sequence[Start], keys: Sequence[str], results: Sequence[Result]) -> None:
    """All studies that have results. Local."""
    studies: dict[tuple[str, str], list[tuple[Start, str]]] = {}
    for start, key in zip(starts, keys):
        studies.setdefault((start.experiment, start.study), []).append((start, key))
    for pairs in studies.values():
        own = {key for _, key in pairs}
        found = [result for result in results if result.start in own and result.whole_round]
        if found:
            for table in study_tables([s for s, _ in pairs], [k for _, k in pairs], found):
                out.print(table)
