# SPDX-License-Identifier: BSD-3-Clause
"""Megabytes a second by the number of stripes, beside the published rates."""

from __future__ import annotations

from collections.abc import Sequence

from .. import published
from ..compare import Contest, Spread
from ..drawing import Series, Sheet, XAxis, draw_lines, heading, look
from ..sweeps import not_set, pooled, sweeps_of
from .common import Picture, label_space, panel_height, slug, subtitle


def _measured(contests: Sequence[Contest]) -> list[Series]:
    """A line for each method and format whose stripes were varied in writing."""
    found = []
    writing = [contest for contest in contests if contest.key.what == "write"]
    for (method, format), values in sweeps_of(pooled(writing)).get("stripes", {}).items():
        points = [(float(value), entry.rate()) for value, entry in values if value != not_set]
        found.append(
            Series(f"{method} ({format})", look(method), [(x, y) for x, y in points if y is not None])
        )
    return [line for line in found if line.points]


def _published() -> list[Series]:
    return [
        Series(
            method,
            look(method),
            [(float(count), Spread(rate, rate, rate, 1)) for count, rate in sorted(rates.items())],
        )
        for method, rates in published.restart_stripes.items()
    ]


def draw_stripes(place: str, contests: Sequence[Contest], base: Sequence[str]) -> list[Picture]:
    """A sheet, where stripes were varied: published on the left, measured on the right."""
    measured = _measured(contests)
    if not measured:
        return []
    sheet = Sheet(
        "A restart file: megabytes a second against stripes, published and measured",
        subtitle(place, contests, hollow=False),
        f"{published.restart_source} There the rate is that of the write alone, with 128 I/O tasks.",
        columns=2,
        panel_height=panel_height(contests, 2.9),
        right=label_space(contests, True),
    )
    for panel, title, lines in zip(sheet.axes[0], ("Published", "Measured"), (_published(), measured)):
        heading(panel, title)
        counts = sorted({int(x) for line in lines for x, _ in line.points})
        limits = (counts[0] / 1.3, counts[-1] * 1.3)
        XAxis(counts, [str(count) for count in counts], "stripes (log axis)", limits, log=True).put(panel)
        draw_lines(panel, lines, "megabytes (10^6 bytes) a second")
    caption = f"Megabytes a second against stripes, published and measured, {place}."
    return [Picture(slug("restart", "stripes", "published", *base), caption, sheet.figure)]
