# SPDX-License-Identifier: BSD-3-Clause
"""E4 roms-benchmark: bars of elapsed, blocked, user and system time of a run, beside the published pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import published
from ..compare import Contest, Entry
from ..drawing import Sheet, behind, grey, heading, ink, light, look, number, rows_axis, scale, widest
from ..results import Place
from .common import About, Picture, formats_of, grouped, label, slug, subtitle

ABOUT = About(
    "roms-benchmark",
    "Lower is better. Elapsed is what one waits for. Blocked is what of it the model does not compute: its "
    "calls of output. User and system are summed over all ranks, so they "
    "can be larger than elapsed; user time also has the model's arithmetic and ranks that wait without "
    "sleeping.",
    "With more ranks than cores, waiting ranks cost those that compute; elapsed time then says as much "
    "about the MPI library as about output.",
    published.roms_benchmark_source,
)
_kinds = (("elapsed", ""), ("blocked", "blocked"), ("user", "user"), ("system", "system"))
_step = len(_kinds) + 1  # from one method to the next


def _bars(panel, entries: Sequence[Entry], with_format: bool) -> None:
    """Bars for each method; elapsed full, the others lighter."""
    values, places, texts = [], [], []
    for row, entry in enumerate(entries):
        style = look(entry.method)
        for kind, (name, phase) in enumerate(_kinds):
            spread = entry.phase(phase) if phase else entry.seconds
            if spread is None:
                continue
            y = row * _step + kind
            panel.barh(y, spread.middle, height=0.86, color=style.colour, alpha=(1, 0.7, 0.45, 0.25)[kind])
            panel.hlines(y, spread.low, spread.high, color=ink, lw=1)
            values += [spread.high]
            places.append(y)
            texts.append(f"{label(entry, with_format)}  {name}" if kind == 0 else name)
            behind(panel, number(spread.middle), spread.high, y, ink if kind == 0 else grey, 5)
    rows_axis(panel, places, texts, len(entries) * _step - 0.6, -0.9)
    scale(panel, "seconds", [value * 1.12 for value in values], "x", log=False)


def _published(panel, rows: int) -> None:
    """The published pairs, in grey; bars as thick as those beside them, which are in rows."""
    y, places, texts = 0, [], []
    for target, pair in published.roms_benchmark.items():
        for way, seconds in pair.items():
            panel.barh(y, seconds, height=0.86, color=light)
            behind(panel, f"{seconds:.2f}", seconds, y, grey, 5)
            places.append(y)
            texts.append(f"{target}, {way}")
            y += 1
        y += 1
    rows_axis(panel, places, texts, max(y - 0.6, rows * _step - 0.6), -0.9)
    scale(panel, "seconds, own scale", [190], "x", log=False)


def draw(contests: Sequence[Contest], names: Mapping[Place, str]) -> list[Picture]:
    """A sheet for each place and size: what was measured, and what was published."""
    pictures = []
    for place, group, (_, ranks, _) in grouped(contests, names, "shape", "ranks", "tiles"):
        entries = [entry for contest in group for entry in contest.entries]
        several = len(formats_of(group)) > 1
        pairs = [f"{target}, {way}" for target, pair in published.roms_benchmark.items() for way in pair]
        texts = [f"{label(entry, several)}  elapsed" for entry in entries]
        sheet = Sheet(
            f"A whole run of the model, {group[0].key.size}: elapsed, blocked, user and system time",
            subtitle(place, group, hollow=False),
            "User and system time are those of all ranks together. Grey: elapsed seconds of another "
            f"machine and year, on a scale of its own. {published.roms_benchmark_source}",
            columns=2,
            panel_height=max(2.2, 0.17 * _step * len(entries)),
            left=(widest(texts) + 0.25, widest(pairs) + 0.25),
            right=0.3,
            shares=(2, 1),
        )
        ours, theirs = sheet.axes[0]
        heading(ours, "Measured here")
        heading(theirs, "Published, elapsed", grey)
        _bars(ours, entries, several)
        _published(theirs, len(entries))
        caption = f"Elapsed, blocked, user and system seconds of a whole run, {place}."
        name = slug("roms-benchmark", place, group[0].key.size, f"{ranks}ranks")
        pictures.append(Picture(name, caption, sheet.figure))
    return pictures
