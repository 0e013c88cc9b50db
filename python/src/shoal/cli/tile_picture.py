# SPDX-License-Identifier: BSD-3-Clause
"""The picture of `shoal explain layout --plot`: the tiles, and where they lie in the file."""

from __future__ import annotations

import math
from itertools import islice

from ..errors import InvalidArgumentError, NotSupportedError
from ..explanation import Explanation, Tiles
from .parallel import bytes_text

# Where more ranks than this would each get a lane of their own, nothing could be seen.
_most_ranks = 64
# In the magnified part of the file there are about so many runs.
_runs_to_show = 14
_grey = "#666666"


def _colours(ranks: int) -> list[tuple[float, float, float]]:
    """One a rank: different in lightness for neighbours, whatever the eyes that look at them."""
    from matplotlib import colormaps

    stride = next(n for n in range(max(1, round(0.382 * ranks)), 2 * ranks + 2) if math.gcd(n, ranks) == 1)
    return [
        colormaps["viridis"](0.08 + 0.9 * ((r * stride) % ranks) / max(ranks - 1, 1))[:3]
        for r in range(ranks)
    ]


def _ink(colour) -> str:
    return "black" if 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2] > 0.5 else "white"


def _draw_tiles(axes, tiles: Tiles, colours) -> None:
    from matplotlib.patches import Rectangle

    lengths = (*tiles.shape, 1)[:2]
    for rank in range(tiles.ranks):
        i, j = (*tiles.tile(rank), range(1))[:2]
        if not len(i) or not len(j):
            continue
        axes.add_patch(
            Rectangle((i.start, j.start), len(i), len(j), facecolor=colours[rank], edgecolor="white", lw=1)
        )
        middle = (i.start + len(i) / 2, j.start + len(j) / 2)
        small = tiles.ranks > 36 or len(j) / lengths[1] < 0.045
        axes.text(
            *middle,
            str(rank),
            ha="center",
            va="center",
            color=_ink(colours[rank]),
            fontsize=6 if small else 9,
        )
    axes.set_xlim(0, lengths[0])
    axes.set_ylim(0, lengths[1])
    axes.set_xlabel("1st dimension (fastest on disk), cells")
    axes.set_ylabel("2nd dimension, cells" if len(tiles.shape) > 1 else "")
    axes.set_title("Tiles, by rank", loc="left", fontsize=10)
    if len(tiles.shape) > 1 and 0.2 < lengths[0] / lengths[1] < 5:
        axes.set_aspect("equal")


def _unit(span: int) -> tuple[float, str]:
    for size, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if span >= 1.5 * size:
            return size, name
    return 1, "bytes"


def _draw_lanes(axes, plan: Explanation, colours) -> None:
    tiles = plan.tiles
    unit, name = _unit(tiles.field_bytes)
    blended = False
    for rank in range(tiles.ranks):
        for offset, length, share in tiles.spans(rank, tiles.field_bytes / 1500):
            blended = blended or share < 0.995
            # Runs too fine to be drawn become one bar, whose height is their share of the bytes there.
            height = 0.84 * max(share, 0.12)
            axes.barh(
                rank,
                length / unit,
                left=offset / unit,
                height=height,
                color=colours[rank],
                linewidth=0,
                align="center",
            )
    axes.set_ylim(tiles.ranks - 0.4, -0.6)
    axes.set_xlim(0, tiles.field_bytes / unit)
    step = max(1, math.ceil(tiles.ranks / 20))
    axes.set_yticks(range(0, tiles.ranks, step))
    axes.tick_params(axis="y", length=0, labelsize=8 if tiles.ranks <= 20 else 7)
    axes.set_ylabel("rank")
    axes.set_xlabel(f"place in the field's {bytes_text(tiles.field_bytes)} on disk, {name}")
    title = "Where each rank's cells lie in the file"
    if blended:
        title += "  (thin bar: runs too fine to be drawn; height = the rank's share of the bytes there)"
    axes.set_title(title, loc="left", fontsize=10)


def _draw_strip(axes, plan: Explanation, colours) -> None:
    """The first bytes of the field, magnified until single runs are seen."""
    tiles = plan.tiles
    lengths = sorted(length for rank in range(tiles.ranks) for _, length in islice(tiles.extents(rank), 1))
    window = min(tiles.field_bytes, _runs_to_show * lengths[len(lengths) // 2])
    unit, name = _unit(window)
    for rank in range(tiles.ranks):
        for offset, length in tiles.extents(rank):
            if offset >= window:
                break
            axes.barh(
                0,
                length / unit,
                left=offset / unit,
                height=1,
                color=colours[rank],
                edgecolor="white",
                linewidth=0.8,
            )
            if min(offset + length, window) - offset > window / 60:
                middle = (offset + min(offset + length, window)) / 2
                axes.text(
                    middle / unit,
                    0,
                    str(rank),
                    ha="center",
                    va="center",
                    color=_ink(colours[rank]),
                    fontsize=9,
                )
    axes.set_xlim(0, window / unit)
    axes.set_ylim(-0.5, 0.5)
    axes.set_yticks([])
    axes.set_xlabel(f"{name} from the field's first byte")
    whole = "" if window == tiles.field_bytes else f"The first {bytes_text(window)} of it, magnified: "
    axes.set_title(f"{whole}contiguous runs, by rank", loc="left", fontsize=10)


def _draw_writes(axes, plan: Explanation) -> None:
    """What is really written, with the native driver on one node: full slots, whoever's the cells are."""
    unit, name = _unit(plan.tiles.field_bytes)
    total, (lengths,) = plan.tiles.field_bytes, plan.generations
    begin = 0
    for n, length in enumerate(lengths):
        axes.barh(
            0, length / unit, left=begin / unit, height=1, color="#dddddd", edgecolor="white", linewidth=0.8
        )
        if length > total / 55:
            axes.text((begin + length / 2) / unit, 0, str(n), ha="center", va="center", fontsize=7)
        begin += length
    axes.set_xlim(0, total / unit)
    axes.set_ylim(-0.5, 0.5)
    axes.set_yticks([])
    axes.set_xlabel(f"{name}, as above")
    axes.set_title(
        f"What is written: {len(lengths)} slot generations of at most {bytes_text(plan.slot)}, "
        "whatever the tiles",
        loc="left",
        fontsize=10,
    )


def _draw_boxes(axes, plan: Explanation, colours) -> None:
    """The boxes that I/O ranks store, at their places in the file."""
    tiles = plan.tiles
    unit, name = _unit(tiles.field_bytes)
    for lane, box in enumerate(plan.boxes):
        for offset, length, share in tiles.spans_of(box.cells, tiles.field_bytes / 1500):
            axes.barh(
                lane,
                length / unit,
                left=offset / unit,
                height=0.84 * max(share, 0.12),
                color=colours[box.rank],
                linewidth=0,
            )
    axes.set_ylim(len(plan.boxes) - 0.4, -0.6)
    axes.set_xlim(0, tiles.field_bytes / unit)
    step = max(1, math.ceil(len(plan.boxes) / 12))
    axes.set_yticks(range(0, len(plan.boxes), step), [str(box.rank) for box in plan.boxes[::step]])
    axes.tick_params(axis="y", length=0, labelsize=7)
    axes.set_ylabel("I/O rank")
    axes.set_xlabel(f"{name}, as above")
    axes.set_title("What is stored: an even box by each I/O rank", loc="left", fontsize=10)


def draw(plan: Explanation, path: str) -> None:
    """Write the picture; the ending of path says in which format. Local.

    Errors: NotSupportedError without Matplotlib; InvalidArgumentError for more ranks than can be shown."""
    tiles = plan.tiles
    if tiles.ranks > _most_ranks:
        raise InvalidArgumentError(
            f"A picture of {tiles.ranks} ranks would show nothing; at most {_most_ranks} can be drawn. "
            "Leave --plot out."
        )
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NotSupportedError(f"--plot needs Matplotlib ({error}): pip install matplotlib") from None

    with_writes = (
        plan.options.driver == "native"
        and len(plan.nodes) == 1
        and plan.slot * 200 > tiles.field_bytes
        and not plan.boxes
    )
    between = 3.0 if plan.boxes else 1.0 if with_writes else 0.0
    heights = [5, between, 1] if between else [5, 1]
    rows = len(heights)
    figure = Figure(figsize=(13.5, 5.4 + 0.8 * between), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(rows, 2, width_ratios=[1, 2.3], height_ratios=heights)
    colours = _colours(tiles.ranks)
    _draw_tiles(figure.add_subplot(grid[:, 0]), tiles, colours)
    lanes = figure.add_subplot(grid[0, 1])
    _draw_lanes(lanes, plan, colours)
    if plan.boxes:
        _draw_boxes(figure.add_subplot(grid[1, 1]), plan, colours)
    if with_writes:
        _draw_writes(figure.add_subplot(grid[1, 1]), plan)
    _draw_strip(figure.add_subplot(grid[rows - 1, 1]), plan, colours)
    for axes in figure.axes:
        for side in ("top", "right", "left") if axes is not figure.axes[0] else ():
            axes.spines[side].set_visible(False)
        axes.tick_params(colors=_grey)
    shape = " x ".join(map(str, tiles.shape))
    cut = " x ".join(map(str, tiles.grid[: max(2, _last_cut(tiles) + 1)]))
    runs, length = plan.rank_runs(0)
    figure.suptitle(
        f"{shape} cells of {tiles.size} bytes in {cut} tiles: {runs:,} contiguous "
        f"run{'s' if runs != 1 else ''} of {bytes_text(length)} on rank 0",
        x=0.01,
        ha="left",
        fontsize=12,
    )
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(f"--plot {path}: {error}") from None


def _last_cut(tiles: Tiles) -> int:
    return max((axis for axis, parts in enumerate(tiles.grid) if parts > 1), default=0)
