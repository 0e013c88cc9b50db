# SPDX-License-Identifier: BSD-3-Clause
"""Settings that were varied: a row of dots for each value, methods below each other."""

from __future__ import annotations

from collections.abc import Sequence

from ..compare import Contest, Entry, times
from ..drawing import Sheet, heading, light, look, nothing_here, number, scale, small, widest
from .common import Picture, distinct, operation_title, slug, subtitle, work_words


def pooled(contests: Sequence[Contest]) -> list[Entry]:
    """Entries of several studies, where the same work under the same options was measured, put together."""
    groups: dict[tuple[str, str, str], list[Entry]] = {}
    for contest in contests:
        for entry in contest.entries:
            own = str(sorted(settings_of(entry).items()))
            groups.setdefault((entry.method, entry.format, own), []).append(entry)
    return [Entry(entries[0].key, [run for e in entries for run in e.runs]) for entries in groups.values()]


def is_sweep(contests: Sequence[Contest]) -> bool:
    """Whether contests of one study vary a setting: by options, or by several variants of one method."""
    variants: dict[tuple[str, str, str], set[str]] = {}
    for contest in contests:
        for entry in contest.entries:
            variants.setdefault((entry.base, entry.format, contest.key.what), set()).add(entry.method)
    return any(c.key.options for c in contests) or any(
        sum("+" in name for name in names) > 1 for names in variants.values()
    )


def not_swept(contests: Sequence[Contest]) -> list[Contest]:
    """Contests of studies that compare methods, and not settings of methods."""
    studies = distinct(c.key.study for c in contests)
    groups = ([c for c in contests if c.key.study == study] for study in studies)
    return [contest for group in groups if not is_sweep(group) for contest in group]


def settings_of(entry: Entry) -> dict[str, str]:
    """All that is set for an entry, by options or in the name of the method: {"hints": "cb_nodes=1"}."""
    found = {}
    for key in ("hints", "io_layout"):
        value = entry.first.settings.get(key, "")
        if value and key not in entry.first.variant:
            found[key] = value
    found.update(entry.first.variant)
    return found


def sweeps_of(entries: Sequence[Entry]) -> dict[str, dict[tuple[str, str], list[tuple[str, Entry]]]]:
    """What was varied while nothing else was: {setting: {(method, format): [(value, entry)]}}.

    There are two values at least; that of an entry with no settings is "not set"."""
    plain = {(e.base, e.format): e for e in entries if not settings_of(e)}
    found: dict[str, dict[tuple[str, str], list[tuple[str, Entry]]]] = {}
    for entry in entries:
        settings = settings_of(entry)
        if len(settings) == 1:
            ((key, value),) = settings.items()
            found.setdefault(key, {}).setdefault((entry.base, entry.format), []).append((value, entry))
    for key, methods in list(found.items()):
        for way, values in list(methods.items()):
            values.sort(key=lambda pair: pair[0])
            if way in plain:
                values.insert(0, ("not set", plain[way]))
            if len(values) < 2:
                del methods[way]
        if not methods:
            del found[key]
    return found


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
        key = contests[0].key
        sheet = Sheet(
            f"{work_words(key)}, {times(key.tiles)} tiles: seconds against {setting}",
            subtitle(place, contests),
            columns=len(used),
            panel_height=0.2 * rows + 0.2,
            left=widest(texts) + 0.3,
            right=0.65,
        )
        for panel, (what, methods) in zip(sheet.axes[0], used.items()):
            if not methods:
                nothing_here(panel)
                continue
            heading(panel, operation_title(what))
            _dots(panel, methods)
        caption = f"Seconds against {setting}, {place}."
        pictures.append(Picture(slug(experiment, setting, *base), caption, sheet.figure))
    return pictures


def _dots(panel, methods: dict[tuple[str, str], list[tuple[str, Entry]]]) -> None:
    y, places, texts, bold, highs = 0.0, [], [], [], []
    for (method, format), values in methods.items():
        style = look(method)
        places.append(y)
        texts.append(f"{method} ({format})")
        bold.append(style.text)
        for row, (value, entry) in enumerate(values, 1):
            spread = entry.seconds
            panel.plot([0, spread.middle], [y + row] * 2, color=light, lw=0.6, zorder=1)
            panel.hlines(y + row, spread.low, spread.high, color=style.colour, lw=1.4)
            panel.plot(spread.middle, y + row, style.marker, color=style.colour, ms=6)
            panel.annotate(
                number(spread.middle),
                (spread.high, y + row),
                (6, 0),
                textcoords="offset points",
                va="center",
                fontsize=small,
                color=style.text,
            )
            places.append(y + row)
            texts.append(value)
            bold.append(None)
            highs.append(spread.high)
        y += len(values) + 1.25
    panel.set_yticks(places, texts)
    for tick, colour in zip(panel.get_yticklabels(), bold):
        if colour is not None:
            tick.set(color=colour, weight="bold")
    panel.set_ylim(y - 0.7, -0.7)
    scale(panel, "seconds", highs, "x", log=False)
    panel.grid(False)
    panel.tick_params(axis="y", length=0)
