# SPDX-License-Identifier: BSD-3-Clause
"""E2 roms-tiles: seconds against the tiling, with the contiguous runs that it makes on disk."""

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
    "roms-tiles",
    "Level lines are methods that do not care how the model is cut. Below each tiling stands in how many "
    "contiguous runs all ranks' cells of one level of a field are on disk.",
    "Neighbours in the file are on one node here; where they are not, short runs cost more.",
    published.roms_tiles_source,
)


def runs_of(tiles: Sequence[int], shape: Sequence[int]) -> int:
    """Contiguous runs on disk of all ranks' cells of one level of a field (xi, eta, s), xi fastest."""
    xi, eta = tiles[0], tiles[1] if len(tiles) > 1 else 1
    rows = shape[1] if len(shape) > 1 else 1
    return xi * rows if xi > 1 else min(eta, rows)


def draw(contests: Sequence[Contest], names: Mapping[Place, str]) -> list[Picture]:
    """A sheet for each place, size, number of ranks and format."""
    pictures = []
    for place, group, (shape, records, ranks) in grouped(contests, names, "shape", "records", "ranks"):
        operations = distinct(c.key.what for c in group)
        tilings = sorted({c.key.tiles for c in group})
        texts = [f"{times(t)}\n{runs_of(t, shape):,} runs" for t in tilings]
        title = "tiles in xi x eta; contiguous runs of all ranks on a level"
        axis = XAxis(range(len(tilings)), texts, title, (-0.25, len(tilings) - 0.85))
        for format in formats_of(group):
            some = [c for c in group if c.of_format(format)]
            sheet = Sheet(
                f"ROMS history file, {work_words(some[0].key)}, {format}: seconds against tiling",
                subtitle(place, some),
                published.roms_tiles_source,
                columns=len(operations),
                foot=0.78,
                panel_height=panel_height(some),
                right=label_space(some),
            )
            for panel, what in zip(sheet.axes[0], operations):
                points = {tilings.index(c.key.tiles): chosen(c, format) for c in some if c.key.what == what}
                draw_contests(panel, operation_title(what), points, axis)
            name = slug("roms-tiles", place, times(shape), f"{records}r", f"{ranks}ranks", format)
            caption = f"Seconds against tiling, {times(shape)}, {ranks} ranks, {format}, {place}."
            pictures.append(Picture(name, caption, sheet.figure))
    return pictures
