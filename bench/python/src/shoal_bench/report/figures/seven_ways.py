# SPDX-License-Identifier: BSD-3-Clause
"""E5 seven-ways: three pairs of pictures: all ways, without the serial ones, the fastest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import published
from ..compare import Contest, Entry, distinct
from ..drawing import Sheet, draw_lines, heading, nothing_here, ticks
from ..results import Place
from .common import (
    About,
    Picture,
    label_space,
    lines,
    operation_title,
    panel_height,
    places_of,
    slug,
    subtitle,
)

ABOUT = About(
    "seven-ways",
    "Each row of panels leaves out the slowest of the one above, as the study does, so that those that "
    "are left can be distinguished. The last row has the ways within twice the time of the fastest on the "
    "largest number of ranks, in writing or in reading. Where ways differ much, seconds have a log axis.",
    "Text (ASCII) formats spend their time in printing numbers, not in the file system.",
    published.seven_ways_source,
)


def is_serial(entry: Entry) -> bool:
    """Rank 0 does all of it."""
    return entry.base in ("serial-ascii", "gather")


def fastest_methods(contests: Sequence[Contest]) -> set[tuple[str, str]]:
    """Ways within twice the time of the best but limit, at the largest number of ranks, in any operation."""
    ways = set()
    for what in distinct(c.key.what for c in contests):
        last = max((c for c in contests if c.key.what == what), key=lambda c: c.key.ranks)
        if last.winner is not None:
            bound = 2 * last.winner.seconds.middle
            ways |= {(e.method, e.format) for e in last.entries if e.seconds.middle <= bound}
    return ways


def draw(contests: Sequence[Contest], names: Mapping[Place, str]) -> list[Picture]:
    """A sheet for each place and size."""
    pictures = []
    for place, here in places_of(contests):
        for shape, records in distinct((c.key.shape, c.key.records) for c in here):
            group = [c for c in here if (c.key.shape, c.key.records) == (shape, records)]
            operations, fast = distinct(c.key.what for c in group), fastest_methods(group)
            elements = 1
            for length in shape:
                elements *= length
            chosen = (
                ("all ways", lambda entry: True),
                ("without the serial ones", lambda entry: not is_serial(entry)),
                ("the fastest", lambda entry, fast=fast: (entry.method, entry.format) in fast),
            )
            sheet = Sheet(
                f"{elements:,} doubles, shared by all ranks: seconds against ranks",
                subtitle(names[place], group),
                published.seven_ways_source,
                rows=len(chosen),
                columns=len(operations),
                panel_height=panel_height(group),
                right=label_space(group, True),
            )
            ranks = sorted({c.key.ranks for c in group})
            for row, (words, wanted) in enumerate(chosen):
                for panel, what in zip(sheet.axes[row], operations):
                    found = {
                        c.key.ranks: list(filter(wanted, c.entries)) for c in group if c.key.what == what
                    }
                    if not any(found.values()):
                        nothing_here(panel)
                        continue
                    heading(panel, f"{operation_title(what)}, {words}")
                    panel.set_xscale("log", base=2)
                    ticks(panel, ranks, [str(n) for n in ranks], "ranks (log axis)")
                    panel.set_xlim(ranks[0] / 1.15, ranks[-1] * 1.08)
                    draw_lines(panel, lines(found, with_format=True), "seconds")
            caption = f"Three pairs of pictures as in the study, {elements:,} doubles, {names[place]}."
            pictures.append(
                Picture(slug("seven-ways", names[place], group[0].key.size), caption, sheet.figure)
            )
    return pictures
