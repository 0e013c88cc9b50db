# SPDX-License-Identifier: BSD-3-Clause
"""E1 roms-size: seconds against the number of records, a row of panels for each size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import published
from ..compare import Contest, distinct
from ..drawing import Sheet, XAxis, grey, normal, small, text_inches
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
    "roms-size",
    "Lower is better. The slope of a line is the time of one more record; where it meets the axis is what "
    "opening, defining and closing cost. For small grids that is most of it.",
    "One node and its page cache show what the library costs, not what a parallel file system gains.",
    published.roms_size_source,
)


def draw(contests: Sequence[Contest], names: Mapping[Place, str]) -> list[Picture]:
    """A sheet for each place and format: sizes from top to bottom, operations side by side."""
    pictures = []
    for place, here, _ in grouped(contests, names):
        operations, shapes = (distinct(getattr(c.key, key) for c in here) for key in ("what", "shape"))
        shapes.sort()
        for format in formats_of(here):
            some = [c for c in here if c.of_format(format)]
            compressed = any(entry.compression for c in some for entry in c.entries)
            sheet = Sheet(
                f"ROMS history file, {format}{', compressed' if compressed else ''}: seconds against records",
                subtitle(place, some),
                "" if compressed else published.roms_size_source,
                rows=len(shapes),
                columns=len(operations),
                panel_height=panel_height(some, 2.3),
                right=label_space(some),
            )
            cells = [(row, what) for row in range(len(shapes)) for what in operations]
            for (row, what), panel in zip(cells, sum(sheet.axes, [])):
                group = [c for c in some if c.key.shape == shapes[row] and c.key.what == what]
                size = group[0].key.size if group else ""
                title = f"{operation_title(what)} {size}"
                if what == "write" and size in published.roms_size and not compressed:
                    # Behind the heading, as panels may be narrow.
                    panel.annotate(
                        published.roms_size[size],
                        (0, 1),
                        (72 * (text_inches(title, normal) + 0.15), 7),
                        xycoords="axes fraction",
                        textcoords="offset points",
                        color=grey,
                        fontsize=small,
                        style="italic",
                    )
                records = sorted({c.key.records for c in group})
                last = max(records, default=1)
                axis = XAxis(records, [str(n) for n in records], "records", (0, last * 1.03))
                draw_contests(panel, title, {c.key.records: chosen(c, format) for c in group}, axis)
            kind = f"{format}, compressed" if compressed else format
            caption = f"Seconds against records, {kind}, {place}."
            pictures.append(Picture(slug("roms-size", place, format), caption, sheet.figure))
    return pictures
