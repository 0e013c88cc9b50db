# SPDX-License-Identifier: BSD-3-Clause
"""E5 seven-ways: three pairs of pictures: all ways, without the serial ones, the fastest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .. import published
from ..compare import Contest, Entry, distinct
from ..drawing import Sheet, XAxis
from ..results import Place
from .common import (
    About,
    Picture,
    draw_contests,
    grouped,
    label_space,
    operation_title,
    panel_height,
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
    for place, group, (shape, _) in grouped(contests, names, "shape", "records"):
        operations, fast = distinct(c.key.what for c in group), fastest_methods(group)
        elements = math.prod(shape)
        chosen = (
            ("all ways", lambda entry: True),
            ("without the serial ones", lambda entry: not is_serial(entry)),
            ("the fastest", lambda entry, fast=fast: (entry.method, entry.format) in fast),
        )
        sheet = Sheet(
            f"{elements:,} doubles, shared by all ranks: seconds against ranks",
            subtitle(place, group),
            published.seven_ways_source,
            rows=len(chosen),
            columns=len(operations),
            panel_height=panel_height(group),
            right=label_space(group, True),
        )
        ranks = sorted({c.key.ranks for c in group})
        limits = (ranks[0] / 1.15, ranks[-1] * 1.08)
        axis = XAxis(ranks, [str(n) for n in ranks], "ranks (log axis)", limits, log=True)
        for row, (words, wanted) in zip(sheet.axes, chosen):
            for panel, what in zip(row, operations):
                points = {c.key.ranks: list(filter(wanted, c.entries)) for c in group if c.key.what == what}
                draw_contests(panel, f"{operation_title(what)}, {words}", points, axis, with_format=True)
        caption = f"Three pairs of pictures as in the study, {elements:,} doubles, {place}."
        pictures.append(Picture(slug("seven-ways", place, group[0].key.size), caption, sheet.figure))
    return pictures
