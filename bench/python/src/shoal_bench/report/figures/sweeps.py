# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of settings that were varied: a row of dots for each value, methods below each other."""

from __future__ import annotations

from collections.abc import Sequence

from ..compare import Contest, Entry, distinct, work_words
from ..drawing import Sheet, dot, heading, look, nothing_here, number, rows_axis, scale, widest
from ..sweeps import pooled, sweeps_of
from ..tables import megabytes
from .common import Picture, operation_title, slug, subtitle


def draw_sweeps(
    experiment: str, place: str, contests: Sequence[Contest], base: Sequence[str]
) -> list[Picture]:
    """A sheet for each setting that was varied, operations side by side."""
    operations = distinct(c.key.what for c in contests)
    by_operation = {
        what: sweeps_of(pooled([c for c in contests if c.key.what == what])) for what in operations
    }
    pictures = []
    for setting in sorted({key for found in by_operation.values() for key in found}):
        used = {what: found[setting] for what, found in by_operation.items() if setting in found}
        texts = [f"{v}" for methods in used.values() for values in methods.values() for v, _ in values]
        texts += [f"{m} ({f})" for methods in used.values() for m, f in methods]
        rows = max(sum(len(v) + 1.25 for v in methods.values()) for methods in used.values())
        drawn = [entry for methods in used.values() for values in methods.values() for _, entry in values]
        sizes = [_size(entry, setting) for entry in drawn]
        sheet = Sheet(
            f"{experiment}, {work_words(contests[0].key)}: seconds against {setting}",
            subtitle(place, contests, hollow=False, drawn=drawn),
            columns=len(used),
            panel_height=0.2 * rows + 0.2,
            left=widest(texts) + 0.3,
            right=0.65 + (widest(sizes) if any(sizes) else 0),
        )
        for panel, (what, methods) in zip(sheet.axes[0], used.items()):
            if not methods:
                nothing_here(panel)
                continue
            heading(panel, operation_title(what))
            _dots(panel, methods, setting)
        caption = f"Seconds against {setting}, {place}."
        pictures.append(Picture(slug(experiment, setting, *base), caption, sheet.figure))
    return pictures


def _size(entry: Entry, setting: str) -> str:
    """How large the file is, where that is what the setting is for."""
    written = entry.first.file_bytes
    return f"   ({megabytes(written)} MB)" if written and setting in ("compression", "quantize") else ""


def _dots(panel, methods: dict[tuple[str, str], list[tuple[str, Entry]]], setting: str) -> None:
    y, places, texts, bold, highs = 0.0, [], [], [], []
    for (method, format), values in methods.items():
        style = look(method)
        places.append(y)
        texts.append(f"{method} ({format})")
        bold.append(style.text)
        for row, (value, entry) in enumerate(values, 1):
            spread = entry.seconds
            dot(panel, y + row, spread, style, number(spread.middle) + _size(entry, setting), style.text)
            places.append(y + row)
            texts.append(value)
            bold.append(None)
            highs.append(spread.high)
        y += len(values) + 1.25
    rows_axis(panel, places, texts, y - 0.7, -0.7)
    for tick, colour in zip(panel.get_yticklabels(), bold):
        if colour is not None:
            tick.set(color=colour, weight="bold")
    joined = any(entry.phase("total_joined") for values in methods.values() for _, entry in values)
    scale(panel, "seconds, with joining" if joined else "seconds", highs, "x", log=False)
