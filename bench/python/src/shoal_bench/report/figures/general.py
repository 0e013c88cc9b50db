# SPDX-License-Identifier: BSD-3-Clause
"""Experiments without pictures of their own: medians with whiskers, a row for each method and format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..compare import Contest, times
from ..drawing import Sheet, dot, heading, look, number, rows_axis, scale, widest
from ..results import Place
from .common import About, Picture, grouped, label, operation_title, slug, subtitle

ABOUT = About("", "Lower is better.")


def draw(contests: Sequence[Contest], names: Mapping[Place, str]) -> list[Picture]:
    """A sheet for each contest."""
    pictures = []
    for place, here, _ in grouped(contests, names):
        for contest in here:
            key, entries = contest.key, contest.entries
            texts = [label(entry, True) for entry in entries]
            details = [key.size, f"{key.records} records" if key.records else "", key.options]
            title = ", ".join(filter(None, [f"{key.experiment}: {key.what}", *details]))
            sheet = Sheet(
                title,
                subtitle(place, [contest]),
                panel_height=0.24 * len(entries) + 0.2,
                left=widest(texts) + 0.25,
                right=0.7,
            )
            panel = sheet.axes[0][0]
            for y, entry in enumerate(entries):
                style, spread = look(entry.method), entry.seconds
                dot(panel, y, spread, style, number(spread.middle), style.text)
            rows_axis(panel, range(len(texts)), texts, len(texts) - 0.4, -0.6)
            scale(panel, "seconds", [entry.seconds.high for entry in entries], "x", log=False)
            heading(panel, operation_title(key.what))
            parts = (
                place,
                key.what,
                key.size,
                f"{key.records}r",
                f"{times(key.tiles)}tiles",
                key.options,
            )
            caption = f"Seconds of each method, {title}, {place}."
            pictures.append(Picture(slug(key.experiment, *parts), caption, sheet.figure))
    return pictures
