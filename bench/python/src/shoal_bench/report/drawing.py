# SPDX-License-Identifier: BSD-3-Clause
"""What all pictures share: colours of methods, sheets of panels, labels that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Optional, Union

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from .compare import Spread

width = 11.4  # inches of a sheet
small, normal, large = 8.5, 9.5, 12.5  # points
ink, grey, light = "#222222", "#6b6b6b", "#bdbdbd"
_dots = 72  # points an inch

# Okabe and Ito's colours, distinguished by nearly all eyes; the same method has the same colour everywhere.
_colours = {
    "native": "#0072B2",
    "gather": "#E69F00",
    "serial": "#E69F00",
    "pnetcdf": "#D55E00",
    "netcdf": "#009E73",
    "mpiio": "#CC79A7",
    "binary": "#56B4E9",
    "ascii": "#56B4E9",
    "limit": "#000000",
    "pio": "#F0E442",
}
_markers = {
    "independent": "s",
    "nonblocking": "^",
    "process": "D",
    "domain": "P",
    "node": "X",
    "box": "s",
    "subset": "^",
}
# Of variants that compress, whose colour is the driver's.
_dashes_of_codecs = {"deflate": (5, 2), "zstd": (1, 1.5)}
_dashes = {"independent": (4, 2), "nonblocking": (1, 1.5), "process": (6, 2, 1, 2), "domain": (6, 2, 1, 2)}


@dataclass(frozen=True)
class Look:
    """How a method is drawn: its colour, mark and line."""

    colour: str
    marker: str
    dashes: Optional[tuple[float, ...]]
    filled: bool
    width: float

    @property
    def text(self) -> tuple[float, float, float]:
        """The colour for words, dark enough to be read on white."""
        red, green, blue = to_rgb(self.colour)
        lightness = 0.3 * red + 0.59 * green + 0.11 * blue
        scale = min(1.0, 0.42 / max(lightness, 0.01))
        return (red * scale, green * scale, blue * scale)


def look(method: str) -> Look:
    """Colour by driver, line and mark by access and layout; hollow marks: bare calls, variants."""
    base = method.split("+", 1)[0]
    bare = base.startswith("bare-")
    words = base[5:].split("-") if bare else base.split("-")
    colour = _colours.get(words[0], "#7a7a7a")
    kind = next((word for word in reversed(words) if word in _markers), "")
    dashes = _dashes.get(kind)
    codec = next((name for name in _dashes_of_codecs if f"+{name}" in method), None)
    if codec is not None and dashes is None:
        dashes = _dashes_of_codecs[codec]
    if words[0] in ("limit", "ascii"):
        dashes = (2, 2)
    thick = 2.4 if base == "native" else 1.2 if base == "limit" else 1.6
    return Look(colour, _markers.get(kind, "o"), dashes, not bare and "+" not in method, thick)


@lru_cache(maxsize=4096)
def text_inches(text: str, size: float = small, bold: bool = False) -> float:
    """How wide one line of text is."""
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    # Vertices, and not extents, which would take every curve's extremes and a hundred times as long.
    across = TextPath((0, 0), text or ".", prop=font).vertices[:, 0]
    return float(across.max()) / _dots + 0.02


def widest(texts: Iterable[str], size: float = small) -> float:
    """Inches of the longest of some lines."""
    return max((text_inches(text, size) for text in texts), default=0.0)


def wrapped(text: str, inches: float, size: float = small, bold: bool = False) -> str:
    """Text with line breaks, so that no line is wider."""
    lines: list[str] = []
    gap, used = text_inches("n n", size, bold) - text_inches("nn", size, bold), 0.0
    for word in text.split():
        wide = text_inches(word, size, bold)
        if lines and used + gap + wide <= inches:
            lines[-1] += f" {word}"
            used += gap + wide
        else:
            lines.append(word)
            used = wide
    return "\n".join(lines)


class Sheet:
    """A figure of rows and columns of panels. Lengths are inches, so that there is room for labels."""

    def __init__(
        self,
        title: str,
        subtitle: str,
        note: str = "",
        *,
        rows: int = 1,
        columns: int = 1,
        panel_height: float = 2.7,
        left: Union[float, Sequence[float]] = 0.75,
        right: float = 0.25,
        panel_heights: Optional[Sequence[float]] = None,
        shares: Optional[Sequence[float]] = None,
        gap: float = 0.95,
        foot: float = 0.62,
    ) -> None:
        """left, right: beside each panel (left: or those of each column), for ticks and labels. foot: below
        the last row, for ticks and the name of the axis. shares: relative widths of columns."""
        heights = list(panel_heights or [panel_height] * rows)
        lefts = [left] * columns if isinstance(left, (int, float)) else list(left)
        total = max(width, sum(lefts) + columns * (right + 1.9))
        room = total - 0.1
        parts = [(wrapped(title, room, large, True), large, "bold", ink)]
        parts.append((wrapped(subtitle, room, small), small, "normal", grey))
        note = wrapped(note, room, small)
        head = sum((text.count("\n") + 1) * size * 1.35 / _dots for text, size, *_ in parts) + 0.42
        foot += (note.count("\n") + 1) * small * 1.3 / _dots + 0.08 if note else 0
        height = head + sum(heights) + gap * (rows - 1) + foot
        self.figure = Figure(figsize=(total, height), dpi=110)
        FigureCanvasAgg(self.figure)
        y = 0.06
        for text, size, weight, colour in parts:
            self.figure.text(
                0.05 / total, 1 - y / height, text, size=size, weight=weight, color=colour, va="top"
            )
            y += (text.count("\n") + 1) * size * 1.35 / _dots + 0.03
        if note:
            self.figure.text(0.05 / total, 0.06 / height, note, size=small, color=grey, va="bottom")
        weights = list(shares or [1.0] * columns)
        free = total - sum(lefts) - columns * right
        self.axes: list[list[Axes]] = []
        y = head
        for row in range(rows):
            x, line = 0.0, []
            for column in range(columns):
                wide = free * weights[column] / sum(weights)
                box = (
                    (x + lefts[column]) / total,
                    1 - (y + heights[row]) / height,
                    wide / total,
                    heights[row] / height,
                )
                line.append(_plain(self.figure.add_axes(box)))
                x += lefts[column] + wide + right
            y += heights[row] + gap
            self.axes.append(line)


def _plain(axes: Axes) -> Axes:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(light)
    axes.tick_params(colors=grey, labelsize=small, length=3, color=light)
    axes.grid(axis="y", color="#ececec", linewidth=0.8)
    axes.set_axisbelow(True)
    return axes


def heading(axes: Axes, text: str, colour: str = ink) -> None:
    """The heading of one panel."""
    axes.set_title(text, loc="left", fontsize=normal, color=colour, pad=7)


def number(value: float) -> str:
    """A number with at most three digits that count and no exponent: "0.0123", "1,230"."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "-"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def scale(
    axes: Axes, unit: str, values: Sequence[float], which: str = "y", log: Optional[bool] = None
) -> None:
    """An axis of amounts from zero; a log axis where they differ by more than 25 times. It says so."""
    positive = [value for value in values if value > 0]
    if log is None:
        log = bool(positive) and max(positive) > 25 * min(positive)
    axis = axes.yaxis if which == "y" else axes.xaxis
    limits = axes.set_ylim if which == "y" else axes.set_xlim
    top = max(positive, default=1.0)
    if log and positive:
        (axes.set_yscale if which == "y" else axes.set_xscale)("log")
        low = min(positive)
        limits(low / 1.35, top * 1.35)
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if top < 1000 * low else (1.0,), numticks=12))
        axis.set_minor_formatter(NullFormatter())
        axis.set_minor_locator(NullLocator())
    else:
        limits(0, top * 1.08)
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axis.set_label_text(unit + (" (log axis)" if log and positive else ""), fontsize=small, color=grey)


def spread_labels(wanted: Sequence[float], height: float, low: float, high: float) -> list[float]:
    """Places of labels of one height, as near as can be to the wanted ones, none over another. Local.

    Labels in a crowd share their displacement (least squares). Where they do not fit between low and high
    they go beyond high, rather than over each other."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[list[float]] = []  # [sum of wanted places less those of the labels below, count]
    for place, i in enumerate(order):
        blocks.append([wanted[i] - place * height, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    bases = [total / count for total, count in blocks for _ in range(int(count))]
    last = max(low, high - (len(order) - 1) * height)
    places = [0.0] * len(wanted)
    for place, i in enumerate(order):
        places[i] = min(max(bases[place], low), last) + place * height
    return places


@dataclass(frozen=True)
class Series:
    """A line of a picture: places on the x axis, and minimum, median and maximum at each."""

    label: str
    look: Look
    points: Sequence[tuple[float, Spread]]


def label_ends(axes: Axes, series: Sequence[Series]) -> None:
    """Write the name of each line beside its last point. Limits and scales of the axes must be final."""
    drawn = [line for line in series if line.points]
    if not drawn:
        return
    box = axes.get_window_extent()
    dpi = axes.figure.dpi
    ends = [axes.transData.transform((line.points[-1][0], line.points[-1][1].middle)) for line in drawn]
    step = small * 1.36 * dpi / _dots
    places = spread_labels([end[1] for end in ends], step, box.y0 + step / 2, box.y1 - step / 2)
    x = box.x1 + 0.16 * dpi
    back = axes.transAxes.inverted()
    for line, end, y in zip(drawn, ends, places):
        start, stop = back.transform(end), back.transform((x, y))
        axes.plot(
            [start[0], stop[0] - 0.004],
            [start[1], stop[1]],
            transform=axes.transAxes,
            color=line.look.colour,
            lw=0.6,
            alpha=0.7,
            clip_on=False,
            zorder=1,
        )
        weight = "bold" if line.look.width > 2 else "normal"
        axes.text(
            *stop,
            line.label,
            transform=axes.transAxes,
            va="center_baseline",
            fontsize=small,
            color=line.look.text,
            weight=weight,
        )


def draw_lines(axes: Axes, series: Sequence[Series], unit: str, log: Optional[bool] = None) -> None:
    """Lines through medians, whiskers from minimum to maximum, an axis for them, labels at their ends.

    The x axis must be set before."""
    for line in series:
        xs = [x for x, _ in line.points]
        spreads = [spread for _, spread in line.points]
        colour, face = line.look.colour, line.look.colour if line.look.filled else "white"
        axes.vlines(xs, [s.low for s in spreads], [s.high for s in spreads], color=colour, lw=1.1, alpha=0.75)
        (drawn,) = axes.plot(
            xs,
            [s.middle for s in spreads],
            color=colour,
            lw=line.look.width,
            marker=line.look.marker,
            ms=5,
            mfc=face,
            mew=1.1,
        )
        if line.look.dashes:
            drawn.set_dashes(line.look.dashes)
    values = [value for line in series for _, spread in line.points for value in (spread.low, spread.high)]
    if log is None:
        # By what the picture is about: neither outliers nor the limit decide.
        medians = [spread.middle for line in series if line.label != "limit" for _, spread in line.points]
        log = bool(medians) and max(medians) > 25 * max(min(medians), 1e-12)
    scale(axes, unit, values, log=log)
    label_ends(axes, series)


class XAxis(NamedTuple):
    """Marks at these places alone, and where the axis ends. log: of base 2, which the title says."""

    places: Sequence[float]
    texts: Sequence[str]
    title: str
    limits: tuple[float, float]
    log: bool = False

    def put(self, axes: Axes) -> None:
        if self.log:
            axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(list(self.places)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(list(self.places), list(self.texts))
        axes.set_xlabel(self.title, fontsize=small, color=grey)
        axes.set_xlim(*self.limits)


def rows_axis(axes: Axes, places: Sequence[float], texts: Sequence[str], low: float, high: float) -> None:
    """A y axis of rows, from top to bottom, with words and without lines."""
    axes.set_yticks(list(places), list(texts))
    axes.set_ylim(low, high)
    axes.grid(False)
    axes.tick_params(axis="y", length=0)


def behind(axes: Axes, text: str, x: float, y: float, colour: object, gap: float = 6) -> None:
    """Words behind the end of a row."""
    axes.annotate(
        text, (x, y), (gap, 0), textcoords="offset points", va="center", fontsize=small, color=colour
    )


def dot(axes: Axes, y: float, spread: Spread, style: Look, words: str, colour: object) -> None:
    """A row: a mark at the median, a whisker from minimum to maximum, words behind it."""
    axes.plot([0, spread.middle], [y, y], color=light, lw=0.6, zorder=1)
    axes.hlines(y, spread.low, spread.high, color=style.colour, lw=1.4)
    axes.plot(spread.middle, y, style.marker, color=style.colour, ms=6)
    behind(axes, words, spread.high, y, colour)


def nothing_here(axes: Axes, text: str = "not measured") -> None:
    """Say in an empty panel that it is empty."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=grey, fontsize=small)
