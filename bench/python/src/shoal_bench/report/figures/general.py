# SPDX-License-Identifier: BSD-3-Clause
"""Experiments without pictures of their own: medians with whiskers, a row for each method and format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..compare import Contest, times
from ..drawing import Sheet, heading, light, look, number, scale, small, widest
from ..results import Place
from .common import About, Picture, label, operation_title, places_of, slug, subtitle

ABOUT = About("", "Lower is better.")


def draw(contests: Sequence[Contest], names: Mapping[Place, str]) -> list[Picture]:
    """A sheet for each contest."""
    pictures = []
    for place, here in places_of(contests):
        for contest in here:
            key, entries = contest.key, contest.entries
            texts = [label(entry, True) for entry in entries]
            details = [key.size, f"{key.records} records" if key.records else "", key.options]
            title = ", ".join(filter(None, [f"{key.experiment}: {key.what}", *details]))
            sheet = Sheet(
                title,
                subtitle(names[place], [contest]),
                panel_height=0.24 * len(entries) + 0.2,
                left=widest(texts) + 0.25,
                right=0.7,
            )
            panel = sheet.axes[0][0]
            for y, entry in enumerate(entries):
                style, spread = look(entry.method), entry.seconds
                panel.plot([0, spread.middle], [y, y], color=light, lw=0.6, zorder=1)
                panel.hlines(y, spread.low, spread.high, color=style.colour, lw=1.4)
                panel.plot(spread.middle, y, style.marker, color=style.colour, ms=6)
                panel.annotate(
                    number(spread.middle),
                    (spread.high, y),
                    (6, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=small,
                    color=style.text,
                )
            panel.set_yticks(range(len(texts)), texts)
            panel.set_ylim(len(texts) - 0.4, -0.6)
            scale(panel, "seconds", [entry.seconds.high for entry in entries], "x", log=False)
            panel.grid(False)
            panel.tick_params(axis="y", length=0)
            heading(panel, operation_title(key.what))
            parts = (
                names[place],
                key.what,
                key.size,
                f"{key.records}r",
                f"{times(key.tiles)}tiles",
                key.options,
            )
            caption = f"Seconds of each method, {title}, {names[place]}."
            pictures.append(Picture(slug(key.experiment, *parts), caption, sheet.figure))
    return pictures
