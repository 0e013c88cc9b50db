# SPDX-License-Identifier: BSD-3-Clause
"""E3 roms-ranks: seconds against ranks, with the longest contiguous write of a tiling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .. import published
from ..compare import Contest, times
from ..drawing import XAxis
from ..results import Place
from .common import About, Picture, lines_by_format

ABOUT = About(
    "roms-ranks",
    "The same bytes at every point: a level line is a method whose cost does not grow with ranks. Below "
    "each number of ranks stand its tiles, and the longest contiguous piece of one rank in a field, in "
    "elements.",
    "With more ranks than cores, ranks wait for each other's cores: the right part of the picture then "
    "shows that, and not what the same number of ranks does on as many cores.",
    published.roms_ranks_source,
)


def longest_run(tiles: Sequence[int], shape: Sequence[int]) -> int:
    """Elements of the longest contiguous piece of one rank in a field (xi, eta, s), xi fastest."""
    xi, eta = tiles[0], tiles[1] if len(tiles) > 1 else 1
    columns = -(-shape[0] // xi)
    if xi > 1 or len(shape) < 2:
        return columns
    rows = -(-shape[1] // eta)
    return columns * rows * (shape[2] if eta == 1 and len(shape) > 2 else 1)


def _axis(contests: Sequence[Contest]) -> tuple[XAxis, Callable[[Contest], float]]:
    tilings = {c.key.ranks: c.key.tiles for c in contests}
    shape = contests[0].key.shape
    texts = {n: f"{n}\n{times(t)}\n{longest_run(t, shape):,}" for n, t in sorted(tilings.items())}
    title = "ranks (log axis); tiles; elements of the longest contiguous piece"
    limits = (min(texts) / 1.25, max(texts) * 1.1)
    return XAxis(list(texts), list(texts.values()), title, limits, log=True), lambda c: c.key.ranks


def draw(contests: Sequence[Contest], names: Mapping[Place, str]) -> list[Picture]:
    """A sheet for each place, size and format."""
    return lines_by_format(contests, names, "ranks", ("shape", "records"), _axis, foot=0.95, least=2.9)
