# SPDX-License-Identifier: BSD-3-Clause
"""E2 roms-tiles: seconds against the tiling, with the contiguous runs that it makes on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .. import published
from ..compare import Contest, times
from ..drawing import XAxis
from ..results import Place
from .common import About, Picture, lines_by_format

ABOUT = About(
    "roms-tiles",
    "Level lines are methods that do not care how the model is cut. Below each tiling stands in how many "
    "contiguous runs all ranks' cells of one level of a field are on disk.",
    "Neighbours in the file are on one node here; where they are not, short runs cost more.",
    published.roms_tiles_source,
)


def runs_of(tiles: Sequence[int], shape: Sequence[int]) -> int:
    """Contiguous runs on disk of all ranks' cells of one level of a field (xi, eta, s), xi fastest."""
    xi, eta = tiles[0], tiles[1] if len(tiles) > 1 else 1
    rows = shape[1] if len(shape) > 1 else 1
    return xi * rows if xi > 1 else min(eta, rows)


def _axis(contests: Sequence[Contest]) -> tuple[XAxis, Callable[[Contest], float]]:
    tilings = sorted({c.key.tiles for c in contests})
    texts = [f"{times(t)}\n{runs_of(t, contests[0].key.shape):,} runs" for t in tilings]
    title = "tiles in xi x eta; contiguous runs of all ranks on a level"
    limits = (-0.25, len(tilings) - 0.85)
    return XAxis(range(len(tilings)), texts, title, limits), lambda c: tilings.index(c.key.tiles)


def draw(contests: Sequence[Contest], names: Mapping[Place, str]) -> list[Picture]:
    """A sheet for each place, size, number of ranks and format."""
    return lines_by_format(contests, names, "tiling", ("shape", "records", "ranks"), _axis)
