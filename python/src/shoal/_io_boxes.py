# SPDX-License-Identifier: BSD-3-Clause
"""Which ranks store for others, and which even boxes of a field: by the library's rules, in its order of
dimensions (the slowest first)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Optional

from .errors import InvalidArgumentError

# Of a node, where no setting says how many.
_usual_of_node = 8
# Bytes; shorter runs are better sent than stored, where boxes make so many times fewer.
_short_run = 16 * 1024
_fewer = 4


def io_ranks(ranks: int, count: int = 0, stride: int = 0, base: int = 0) -> list[int]:
    """base, base + stride, ...; 0: without a stride as far apart as they can be, without a count as many as
    fit. InvalidArgumentError for what does not fit. Local."""
    room = ranks - base
    if room < 1:
        raise InvalidArgumentError(f"io_base is {base}, but there are {ranks} ranks.")
    if count > room:
        raise InvalidArgumentError(f"io_ranks is {count}, but from rank {base} on there are {room} ranks.")
    if not count:
        count = room if not stride else (room - 1) // stride + 1
    stride = stride or room // count
    if (count - 1) * stride > room - 1:
        raise InvalidArgumentError(
            f"io_ranks={count} with io_stride={stride} from rank {base} on needs more ranks than there are "
            f"({ranks})."
        )
    return [base + i * stride for i in range(count)]


def io_ranks_of_nodes(nodes: Sequence[range], each: int = 0, stride: int = 0, base: int = 0) -> list[int]:
    """So many of each node; 0: a few, as far apart as they can be. Local."""
    chosen = []
    for node in nodes:
        count = each or min(len(node), _usual_of_node)
        chosen += [node.start + r for r in io_ranks(len(node), count, stride, base)]
    return chosen


def rearranging_is_cheaper(runs: int, total: int, in_boxes: int) -> bool:
    """Is it better that I/O ranks store so many runs than that nodes store theirs, of total bytes in all?
    Local."""
    return total < _short_run * runs and runs >= _fewer * in_boxes


def even_boxes(shape: Sequence[int], parts: int, align: Optional[Sequence[int]] = None) -> list[list[range]]:
    """The whole shape in boxes along its slowest dimension that has enough, or else along the longest; some
    are empty then. align: borders are at multiples of these, where that can be. Local."""
    dim, step = _cut(shape, parts, align)
    units = math.ceil(shape[dim] / step)
    each, more = divmod(units, parts)
    borders = [min(shape[dim], (part * each + min(part, more)) * step) for part in range(parts + 1)]
    boxes = []
    for first, end in zip(borders, borders[1:]):
        box = [range(n) for n in shape]
        box[dim] = range(first, end)
        boxes.append(box)
    return boxes


def _cut(shape: Sequence[int], parts: int, align: Optional[Sequence[int]]) -> tuple[int, int]:
    for steps in (align, [1] * len(shape)):
        for dim, step in enumerate(steps or ()):
            if math.ceil(shape[dim] / step) >= parts:
                return dim, step
    return max(range(len(shape)), key=lambda dim: (shape[dim], -dim)), 1


def runs_of(box: Sequence[range], shape: Sequence[int]) -> int:
    """Contiguous runs of a box in a row-major field. Local."""
    if any(len(cells) == 0 for cells in box):
        return 0
    cut = len(shape) - 1
    while cut > 0 and len(box[cut]) == shape[cut]:
        cut -= 1
    return math.prod(len(cells) for cells in box[:cut])
