# SPDX-License-Identifier: BSD-3-Clause
"""E3 roms-ranks: seconds against ranks, with the longest contiguous write of a tiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import published
from ..compare import Contest, distinct, times, work_words
from ..drawing import Sheet, XAxis
from ..results import Place
from .common import (
    About,
    Picture,
    chosen,
    draw_contests,
    formats_of,
    grouped,
    label_space,
    operation_title,
    panel_height,
    slug,
    subtitle,
)

ABOUT = About(
    "roms-ranks",
    "The same bytes at every point: a level line is a method whose cost does not grow with ranks. Below "
    "each number of ranks stand its tiles, and the longest contiguous piece of one rank in a field, in "
    "elements.",
    "With more ranks than cores, ranks wait for each other's cores: the right part of the picture then "
    "shows that, and not what the same number of ranks does on as many cores.",
    published.roms_ranks_source,
)


def longest_run(tiles: Sequence[int], shape: Sequence[int]) -> int:
    """Elements of the longest contiguous piece of one rank in a field (xi, eta, s), xi fastest."""
    xi, eta = tiles[0], tiles[1] if len(tiles) > 1 else 1
    columns = -(-shape[0] // xi)
    if xi > 1 or len(shape) < 2:
        return columns
    rows = -(-shape[1] // eta)
    return columns * rows * (shape[2] if eta == 1 and len(shape) > 2 else 1)


def draw(contests: Sequence[Contest], names: Mapping[Place, str]) -> list[Picture]:
    """A sheet for each place, size and format."""
    pictures = []
    for place, group, (shape, records) in grouped(contests, names, "shape", "records"):
        operations = distinct(c.key.what for c in group)
        tilings = {c.key.ranks: c.key.tiles for c in group}
        texts = {n: f"{n}\n{times(t)}\n{longest_run(t, shape):,}" for n, t in sorted(tilings.items())}
        title = "ranks (log axis); tiles; elements of the longest contiguous piece"
        limits = (min(texts) / 1.25, max(texts) * 1.1)
        axis = XAxis(list(texts), list(texts.values()), title, limits, log=True)
        for format in formats_of(group):
            some = [c for c in group if c.of_format(format)]
            sheet = Sheet(
                f"ROMS history file, {work_words(some[0].key)}, {format}: seconds against ranks",
                subtitle(place, some),
                published.roms_ranks_source,
                columns=len(operations),
                foot=0.95,
                panel_height=panel_height(some, 2.9),
                right=label_space(some),
            )
            for panel, what in zip(sheet.axes[0], operations):
                points = {c.key.ranks: chosen(c, format) for c in some if c.key.what == what}
                draw_contests(panel, operation_title(what), points, axis)
            name = slug("roms-ranks", place, times(shape), f"{records}r", format)
            caption = f"Seconds against ranks, {times(shape)}, {format}, {place}."
            pictures.append(Picture(name, caption, sheet.figure))
    return pictures
