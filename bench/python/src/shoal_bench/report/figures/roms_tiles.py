# SPDX-License-Identifier: BSD-3-Clause
"""E2 roms-tiles: seconds against the tiling, with the contiguous runs that it makes on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import published
from ..compare import Contest, distinct, times, work_words
from ..drawing import Sheet, draw_lines, heading, nothing_here, ticks
from ..results import Place
from .common import (
    About,
    Picture,
    chosen,
    formats_of,
    label_space,
    lines,
    operation_title,
    panel_height,
    places_of,
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
    for place, here in places_of(contests):
        for shape, records, ranks in distinct((c.key.shape, c.key.records, c.key.ranks) for c in here):
            group = [c for c in here if (c.key.shape, c.key.records, c.key.ranks) == (shape, records, ranks)]
            operations = distinct(c.key.what for c in group)
            tilings = sorted({c.key.tiles for c in group})
            texts = [f"{times(t)}\n{runs_of(t, shape):,} runs" for t in tilings]
            for format in formats_of(group):
                some = [c for c in group if c.of_format(format)]
                sheet = Sheet(
                    f"ROMS history file, {work_words(some[0].key)}, {format}: seconds against tiling",
                    subtitle(names[place], some),
                    published.roms_tiles_source,
                    columns=len(operations),
                    foot=0.78,
                    panel_height=panel_height(some),
                    right=label_space(some),
                )
                for panel, what in zip(sheet.axes[0], operations):
                    found = {tilings.index(c.key.tiles): c for c in some if c.key.what == what}
                    if not found:
                        nothing_here(panel)
                        continue
                    heading(panel, operation_title(what))
                    ticks(
                        panel,
                        range(len(tilings)),
                        texts,
                        "tiles in xi x eta; contiguous runs of all ranks on a level",
                    )
                    panel.set_xlim(-0.25, len(tilings) - 0.85)
                    draw_lines(panel, lines({x: chosen(c, format) for x, c in found.items()}), "seconds")
                name = slug("roms-tiles", names[place], times(shape), f"{records}r", f"{ranks}ranks", format)
                caption = f"Seconds against tiling, {times(shape)}, {ranks} ranks, {format}, {names[place]}."
                pictures.append(Picture(name, caption, sheet.figure))
    return pictures
