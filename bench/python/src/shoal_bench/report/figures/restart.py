# SPDX-License-Identifier: BSD-3-Clause
"""E6 restart: megabytes a second of the store phase alone and of the whole, above the published table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

from .. import published
from ..compare import Contest, Spread
from ..drawing import Look, Sheet, grey, heading, light, look, scale, widest
from ..results import Place
from ..sweeps import not_swept
from .common import About, Picture, grouped, label, operation_title, slug, subtitle
from .stripes import draw_stripes
from .sweeps import draw_sweeps

ABOUT = About(
    "restart",
    "Further right is better. The distance between the two marks is what rearranging, defining, opening "
    "and closing cost: the study's point is that a good rate of the write alone can hide a slow file.",
    "Columns are decomposed in blocks here, so they are less scattered than along a space-filling curve.",
    f"{published.restart_source} {published.restart_words}",
    by_study=False,
)


def _dots(panel, y: float, whole: Spread, store: Optional[Spread], colour: object, filled: object) -> None:
    """Hollow mark: the whole write; full mark: the store phase alone."""
    if store is not None:
        panel.plot([whole.middle, store.middle], [y, y], color=colour, lw=1.2, alpha=0.5)
        panel.plot([store.low, store.high], [y, y], color=colour, lw=3.2, alpha=0.45, solid_capstyle="butt")
        panel.plot(store.middle, y, "o", ms=6, color=filled)
    panel.plot([whole.low, whole.high], [y, y], color=colour, lw=3.2, alpha=0.45, solid_capstyle="butt")
    panel.plot(whole.middle, y, "o", ms=6, mfc="white", mec=colour, mew=1.4)


def _rows(contest: Contest) -> list[tuple[str, Spread, Optional[Spread], Look]]:
    """Label, rate of the whole, rate of moving the bytes alone if it can be believed, look."""
    rows = []
    for entry in contest.entries:
        whole = entry.rate()
        store = None if contest.beyond_limit(entry) else entry.rate(contest.moving)
        if whole is not None:
            rows.append((label(entry, True), whole, store, look(entry.method)))
    return rows


def _note(contest: Contest, writing: bool) -> str:
    """What is not drawn and why; what is grey."""
    beyond = [label(entry, True) for entry in contest.entries if contest.beyond_limit(entry)]
    parts = []
    if beyond:
        parts.append(
            f"No full mark for {' and '.join(beyond)}: by the {contest.moving} phase bytes would have moved "
            "clearly faster than limit's, so that it cannot be the time of all of them."
        )
    if writing:
        parts.append(f"Grey: other machines and years. {published.restart_source}")
    return " ".join(parts)


def _draw_published(panel, y: float) -> list[tuple[float, str, str]]:
    """The published table, in grey, from y on downwards. Returns places and texts of its rows."""
    texts = []
    for row in published.restart:
        whole, alone = (
            published.restart_megabytes / row.whole,
            row.rate or published.restart_megabytes / row.write,
        )
        _dots(panel, y, Spread(whole, whole, whole, 1), Spread(alone, alone, alone, 1), light, "#9a9a9a")
        texts.append((y, f"{row.machine}, {row.method} {row.ranks}", "published"))
        y += 1
    return texts


def draw(contests: Sequence[Contest], names: Mapping[Place, str]) -> list[Picture]:
    """A sheet for each place and cell; the published table below what was written here."""
    pictures = []
    for place, here, _ in grouped(contests, names):
        for contest in not_swept(here):
            key = contest.key
            rows = _rows(contest)
            if not rows:
                continue
            writing = key.what == "write"
            texts = [text for text, *_ in rows]
            texts += (
                [f"{row.machine}, {row.method} {row.ranks}" for row in published.restart] if writing else []
            )
            count = len(texts) + (1.6 if writing else 0)
            sheet = Sheet(
                f"{operation_title(key.what)} a restart file, {key.size}: megabytes a second",
                subtitle(place, [contest], hollow=False),
                _note(contest, writing),
                panel_height=0.205 * count + 0.35,
                left=widest(texts) + 0.25,
                right=0.35,
            )
            panel = sheet.axes[0][0]
            ticks, colours, values = [], [], []
            for y, (text, whole, store, style) in enumerate(rows):
                _dots(panel, y, whole, store, style.colour, style.colour)
                ticks.append((y, text))
                colours.append(style.text)
                values += [whole.low, whole.high] + ([store.low, store.high] if store else [])
            if writing:
                panel.axhline(len(rows) + 0.1, color=light, lw=0.8)
                ticks += [(y, text) for y, text, _ in _draw_published(panel, len(rows) + 1.1)]
                values += [published.restart_megabytes / row.whole for row in published.restart]
                values += [row.rate for row in published.restart if row.rate]
            panel.set_yticks([y for y, _ in ticks], [text for _, text in ticks])
            for tick, colour in zip(panel.get_yticklabels(), colours):
                tick.set_color(colour)
            panel.set_ylim(ticks[-1][0] + 0.8, -0.8)
            scale(panel, "megabytes (10^6 bytes) a second", values, "x", log=True)
            panel.grid(False, axis="y")
            panel.grid(True, axis="x", color="#ececec")
            panel.tick_params(axis="y", length=0)
            whole = "write" if writing else "read"
            words = f"Full marks: the {contest.moving} phase alone.  Hollow marks: the whole {whole}."
            heading(panel, words, grey)
            caption = f"Megabytes a second, counted twice, {place}."
            name = slug("restart", place, key.what, key.size, key.study, f"{key.ranks}ranks")
            pictures.append(Picture(name, caption, sheet.figure))
        for _, group, (size, _, ranks) in grouped(here, names, "size", "tiles", "ranks"):
            base = (place, size, f"{ranks}ranks")
            pictures += draw_sweeps("restart", place, group, base)
            pictures += draw_stripes(place, group, base)
    return pictures
