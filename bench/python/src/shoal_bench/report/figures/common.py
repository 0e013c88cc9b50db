# SPDX-License-Identifier: BSD-3-Clause
"""What the files of this folder share: words about an experiment, pictures, lines out of contests."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Optional

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import published
from ..compare import Contest, Entry, Spread, distinct, times, work_words
from ..drawing import Series, Sheet, XAxis, draw_lines, heading, look, nothing_here, small, widest
from ..results import Place


@dataclass(frozen=True)
class About:
    """How to read the pictures of an experiment, what it cannot show, and the published source in words.

    Its question is with the studies, in shoal_bench.experiments."""

    name: str
    reading: str
    limits: str = ""
    published: str = ""
    # Whether each study has pictures of its own; else draw() gets the contests of all.
    by_study: bool = True


@dataclass
class Picture:
    """A figure, the name of its files, and what it shows in one sentence."""

    name: str
    caption: str
    figure: Figure

    @cached_property
    def svg(self) -> str:
        """The figure as SVG, letters as shapes, so that it looks alike wherever it is shown."""
        text = io.StringIO()
        with rc_context({"svg.fonttype": "path", "svg.hashsalt": "shoal"}):
            self.figure.savefig(text, format="svg", metadata={"Date": None})
        return text.getvalue()


def slug(*parts: str) -> str:
    """A name for files out of any words."""
    return "_".join(filter(None, (re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-.") for part in parts)))


def grouped(
    contests: Sequence[Contest], names: Mapping[Place, str], *keys: str
) -> Iterator[tuple[str, list[Contest], tuple]]:
    """Contests by place, and by these of their key: the name of the place, the contests, what they share."""

    def shared(contest: Contest) -> tuple:
        return tuple(getattr(contest.key, key) for key in keys)

    for place in distinct(contest.key.place for contest in contests):
        here = [contest for contest in contests if contest.key.place == place]
        for values in distinct(map(shared, here)):
            yield names[place], [contest for contest in here if shared(contest) == values], values


def formats_of(contests: Sequence[Contest]) -> list[str]:
    """All formats but that of limit."""
    return sorted({name for contest in contests for name in contest.formats})


def _range(values: Iterable[int], one: str, many: str) -> str:
    numbers = sorted(set(values))
    if len(numbers) == 1:
        return f"{numbers[0]} {one if numbers[0] == 1 else many}"
    return f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]} {many}"


def subtitle(name: str, contests: Sequence[Contest], hollow: bool = True, drawn: Sequence[Entry] = ()) -> str:
    """Where, on how many ranks, how often, and what the marks mean. hollow: whether some marks can be.
    drawn: what is in the picture, where that is not all of the contests."""
    entries = list(drawn) or [entry for contest in contests for entry in contest.entries]
    parts = [name, _range((contest.key.ranks for contest in contests), "rank", "ranks")]
    tiles = {times(contest.key.tiles) for contest in contests if contest.key.tiles}
    if len(tiles) == 1:
        parts.append(f"{tiles.pop()} tiles")
    parts.append(_range((entry.seconds.count for entry in entries), "run", "runs") + " of each")
    text = ", ".join(parts) + ". Marks are medians, whiskers go from minimum to maximum."
    if hollow and any(not look(entry.method).filled for entry in entries):
        text += " Hollow marks: bare calls of a library, or a method with settings of its own."
    return text + _crowded(entries)


def _crowded(entries: Sequence[Entry]) -> str:
    """Whether, and where, there were more ranks than cores."""
    crowded = {entry.key.ranks for entry in entries if entry.crowded}
    if not crowded:
        return ""
    cores = {entry.first.cores for entry in entries if entry.crowded and entry.first.cores}
    text = f" More ranks than cores ({cores.pop()})" if len(cores) == 1 else " More ranks than cores"
    if crowded == {entry.key.ranks for entry in entries}:
        return f"{text}."
    return f"{text}: {_range(crowded, '', '').strip()}."


def label(entry: Entry, with_format: bool) -> str:
    """The method, and the format where it is not clear from the picture."""
    if entry.base == "none":
        return "no output"
    return f"{entry.method} ({entry.format})" if with_format and entry.format else entry.method


def chosen(contest: Contest, format: str) -> list[Entry]:
    """Entries of one format, and limit beside them, which has a format of its own."""
    return [entry for entry in contest.entries if entry.format == format or entry.is_bound]


def lines(
    points: Mapping[float, Sequence[Entry]],
    with_format: bool = False,
    value: Callable[[Entry], Optional[Spread]] = lambda entry: entry.seconds,
) -> list[Series]:
    """A line for each method (and format) through entries at places of the x axis."""
    methods: dict[str, tuple[str, list[tuple[float, Spread]]]] = {}
    for x in sorted(points):
        for entry in points[x]:
            spread = value(entry)
            if spread is not None:
                found = methods.setdefault(label(entry, with_format), (entry.method, []))
                found[1].append((x, spread))
    return [Series(text, look(method), line) for text, (method, line) in methods.items()]


def draw_contests(
    panel: Axes, title: str, points: Mapping[float, Sequence[Entry]], axis: XAxis, with_format: bool = False
) -> None:
    """Seconds of entries at places of the x axis."""
    if not any(points.values()):
        nothing_here(panel)
        return
    heading(panel, title)
    axis.put(panel)
    draw_lines(panel, lines(points, with_format), "seconds")


def lines_by_format(
    contests: Sequence[Contest],
    names: Mapping[Place, str],
    against: str,
    keys: Sequence[str],
    axis_of: Callable[[Sequence[Contest]], tuple[XAxis, Callable[[Contest], float]]],
    **sizes: float,
) -> list[Picture]:
    """Seconds of a ROMS history against something: a sheet for each place, values of the keys and format,
    operations side by side. axis_of: the axis of contests, and where each of them is on it; sizes: those of
    Sheet."""
    pictures = []
    for place, group, _ in grouped(contests, names, *keys):
        axis, place_on = axis_of(group)
        operations, key = distinct(c.key.what for c in group), group[0].key
        for format in formats_of(group):
            some = [c for c in group if c.of_format(format)]
            sheet = Sheet(
                f"ROMS history file, {work_words(key)}, {format}: seconds against {against}",
                subtitle(place, some),
                published.sources[key.experiment],
                columns=len(operations),
                foot=sizes.get("foot", 0.78),
                panel_height=panel_height(some, sizes.get("least", 2.5)),
                right=label_space(some),
            )
            for panel, what in zip(sheet.axes[0], operations):
                points = {place_on(c): chosen(c, format) for c in some if c.key.what == what}
                draw_contests(panel, operation_title(what), points, axis)
            parts = [times(key.shape), f"{key.records}r", *([f"{key.ranks}ranks"] if "ranks" in keys else [])]
            name = slug(key.experiment, place, *parts, format)
            words = ", ".join([parts[0], *([f"{key.ranks} ranks"] if "ranks" in keys else []), format, place])
            pictures.append(Picture(name, f"Seconds against {against}, {words}.", sheet.figure))
    return pictures


def operation_title(what: str) -> str:
    """Headings of panels."""
    titles = {"write": "Writing", "read": "Reading", "cold read": "Reading, not cached"}
    return titles.get(what, what.capitalize())


def label_space(contests: Sequence[Contest], with_format: bool = False) -> float:
    """Inches that labels at the ends of lines take."""
    texts = {label(entry, with_format) for contest in contests for entry in contest.entries}
    return widest(texts, small + 0.6) + 0.3


def panel_height(contests: Sequence[Contest], least: float = 2.5) -> float:
    """Inches of a panel in which labels of all its lines can stand above each other."""
    most = max((len(contest.entries) for contest in contests), default=1)
    return max(least, 0.165 * most + 0.2)
