# SPDX-License-Identifier: BSD-3-Clause
"""E7 mom-output: phases stacked under the model's names, published ones in grey; sweeps as dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

from .. import published
from ..compare import Contest, Entry, distinct, times, work_words
from ..drawing import (
    Sheet,
    behind,
    grey,
    heading,
    ink,
    look,
    number,
    rows_axis,
    scale,
    small,
    text_inches,
    widest,
)
from ..results import Place, Run
from ..sweeps import not_swept, pooled
from .common import About, Picture, grouped, label, operation_title, slug, subtitle
from .sweeps import draw_sweeps

ABOUT = About(
    "mom-output",
    "Each bar is one way of writing, its parts are the phases by the model's names. All bars are seconds "
    "per GB (10^9 bytes) of fields, so that runs of different sizes can stand below each other. The "
    "number at the end is the total, with joining. A bar shows the run that was nearest to the median; "
    "flushing a file counts as closing it.",
    "Aggregators, their buffers and stripes are made for parallel file systems. On one node and a local disk "
    "their sweeps show what copying in memory costs.",
    f"{published.mom_output_source} {published.mom_output_advice}",
    by_study=False,
)

# The muted colours of Paul Tol: phases are not methods, and have colours that no method has.
phases = {
    "open": "#332288",
    "read_meta": "#88CCEE",
    "read": "#44AA99",
    "write_meta": "#AA4499",
    "write": "#999933",
    "write_3d": "#117733",
    "write_4d": "#DDCC77",
    "close": "#CC6677",
    "join": "#882255",
    "other": "#DDDDDD",
}
_greys = {
    "open": "#5c5c5c",
    "read_meta": "#e0e0e0",
    "read": "#777777",
    "write": "#a8a8a8",
    "write_3d": "#929292",
    "write_4d": "#c4c4c4",
    "close": "#3d3d3d",
    "other": "#efefef",
}


def parts_of(seconds: Mapping[str, float], total: float) -> dict[str, float]:
    """Seconds divided into phases that do not overlap; what none of them has is "other".

    "write" is what is neither of 3-D nor of 4-D fields. Phases are each the slowest rank's: where they add up
    to more than what they are parts of, all are shortened alike."""
    found = {name: seconds[name] for name in phases if seconds.get(name, 0) > 0}
    fields = [name for name in ("write_3d", "write_4d") if name in found]
    if fields and "write" in found:
        by_fields = sum(found[name] for name in fields)
        rest = found.pop("write") - by_fields
        for name in fields:
            found[name] *= min(1.0, 1 + rest / by_fields)
        if rest > 0.005 * total:
            found["write"] = rest
    parts = {name: found[name] for name in phases if name in found}
    too_much = sum(parts.values()) / total if total > 0 else 0
    if too_much > 1:
        parts = {name: value / too_much for name, value in parts.items()}
    rest = total - sum(parts.values())
    if rest > 0.005 * total:
        parts["other"] = rest
    return parts


def typical(entry: Entry) -> Run:
    """The run that is nearest to the median."""
    return min(entry.runs, key=lambda run: abs(run.time_to_compare - entry.seconds.middle))


def _stack(panel, rows: Sequence[tuple], colours: Mapping[str, str]) -> set[str]:
    """rows: (name, its colour, parts, total, its lowest and highest, words behind it). Returns phases."""
    used = set()
    for y, (_, _, parts, total, low, high, words) in enumerate(rows):
        x = 0.0
        for name, length in parts.items():
            panel.barh(y, length, left=x, height=0.74, color=colours[name], edgecolor="white", lw=0.5)
            used.add(name)
            x += length
        if high > low:
            panel.hlines(y, low, high, color=ink, lw=1)
        panel.plot([total, total], [y - 0.37, y + 0.37], color=ink, lw=1.4)
        end = max(x, high, total)
        behind(panel, words, end, y, grey)
    rows_axis(panel, range(len(rows)), [row[0] for row in rows], len(rows) - 0.4, -0.6)
    for tick, row in zip(panel.get_yticklabels(), rows):
        tick.set_color(row[1])
    ends = [max(sum(row[2].values()), row[3], row[5]) for row in rows]
    # Room for the words behind the longest bar.
    room = widest(row[6] for row in rows) + 0.2
    wide = panel.get_position().width * panel.figure.get_figwidth()
    scale(panel, "seconds per GB", [max(ends) / max(0.3, 1 - room / wide)], "x", log=False)
    return used


def _key(panel, names: Sequence[str], colours: Mapping[str, str], title: str) -> None:
    """The heading, and behind it the phases as coloured squares and words."""
    heading(panel, title)
    wide = panel.get_position().width * panel.figure.get_figwidth()
    dots = 7 + 3
    x = text_inches(title, 9.5) + 0.3
    for name in names:
        panel.annotate(
            "■", (x / wide, 1), (0, dots - 2.5), "axes fraction", "offset points", fontsize=9
        ).set_color(colours[name])
        panel.annotate(
            name,
            (x / wide, 1),
            (10, dots - 2.5),
            "axes fraction",
            "offset points",
            fontsize=small,
            color=grey,
        )
        x += text_inches(name) + 0.3


def _own_rows(entries: Sequence[Entry]) -> list[tuple]:
    rows = []
    for entry in sorted(entries, key=lambda e: e.seconds.middle):
        gigabytes = entry.first.bytes / 1e9
        total = entry.seconds
        run = typical(entry)
        shown = parts_of(run.by_model, run.time_to_compare)
        # With an even number of runs the median is between two.
        parts = {n: v / gigabytes * total.middle / run.time_to_compare for n, v in shown.items()}
        low, middle, high = (value / gigabytes for value in (total.low, total.middle, total.high))
        words = f"{number(middle)}   ({number(total.middle)} s)"
        rows.append((label(entry, True), look(entry.method).text, parts, middle, low, high, words))
    return rows


def _published_rows(table: Sequence[published.MomOutput]) -> list[tuple]:
    rows = []
    for run in table:
        total = run.seconds["total"] / run.gigabytes
        parts = {n: v / run.gigabytes for n, v in parts_of(run.seconds, run.seconds["total"]).items()}
        words = f"{number(total)}   ({number(run.seconds['total'])} s)"
        rows.append((run.name, grey, parts, total, total, total, words))
    return rows


def _phase_sheet(name: str, contests: Sequence[Contest]) -> Optional[Sheet]:
    """Writing and reading as measured, and the published tables below."""
    panels = []
    for what in distinct(c.key.what for c in contests):
        entries = [
            entry for entry in pooled([c for c in contests if c.key.what == what]) if entry.first.bytes
        ]
        if entries:
            panels.append((f"{operation_title(what)}, measured here", _own_rows(entries), phases))
    if not panels:
        return None
    panels.append(("Published: serial writing", _published_rows(published.mom_output_serial), _greys))
    panels.append(("Published: parallel writing", _published_rows(published.mom_output_parallel), _greys))
    key = contests[0].key
    sheet = Sheet(
        f"Output of MOM, {work_words(key)}: seconds per GB by phase",
        subtitle(name, contests, hollow=False),
        "Each panel has a scale of its own. Published seconds are divided by the volume of their runs: 70 "
        "GB (0.25°) and 2,700 GB (0.1°), measured ones by theirs. A black mark is the total. Phases that add "
        "up to more are shortened. "
        f"{published.mom_output_source}",
        rows=len(panels),
        panel_heights=[0.245 * len(rows) + 0.15 for _, rows, _ in panels],
        left=widest(row[0] for _, rows, _ in panels for row in rows) + 0.25,
        gap=0.98,
    )
    for (panel,), (title, rows, colours) in zip(sheet.axes, panels):
        used = _stack(panel, rows, colours)
        _key(panel, [phase for phase in colours if phase in used], colours, title)
    return sheet


def draw(contests: Sequence[Contest], names: Mapping[Place, str]) -> list[Picture]:
    """For each place, size and decomposition: phases, and a sheet for each setting that was varied."""
    pictures = []
    for place, group, work in grouped(contests, names, "shape", "records", "tiles", "ranks"):
        shape, records, tiles, ranks = work
        base = (place, times(shape), f"{records}r", f"{times(tiles)}tiles")
        sheet = _phase_sheet(place, not_swept(group))
        if sheet is not None:
            caption = f"Seconds per GB by phase, {times(shape)}, {ranks} ranks, {place}."
            pictures.append(Picture(slug("mom-output_phases", *base), caption, sheet.figure))
        pictures += draw_sweeps("mom-output", place, group, base)
    return pictures
