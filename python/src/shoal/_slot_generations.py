# SPDX-License-Identifier: BSD-3-Clause
"""How the native driver cuts a field into slot generations of its stage, and these into writes: the rules of
the driver, without a file. Boxes are lists of ranges, in C order (the last dimension is fastest)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_alignment = 8  # of a field in the stage
Box = Sequence[range]


def _cells(box: Box) -> int:
    return math.prod(len(cells) for cells in box)


def _cut(box: Box, most: int) -> Iterator[Box]:
    """Parts of at most so many cells, cut along the slowest dimensions."""
    cells = _cells(box)
    if cells <= most:
        if cells:
            yield box
        return
    d = next(d for d, part in enumerate(box) if len(part) > 1)
    step = max(1, most // (cells // len(box[d])))
    for at in range(box[d].start, box[d].stop, step):
        part = list(box)
        part[d] = range(at, min(at + step, box[d].stop))
        yield from _cut(part, most)


def _pieces(boxes: Sequence[Box], chunk: Sequence[int], most: int) -> Iterator[tuple[tuple[int, ...], Box]]:
    for box in boxes:
        if _cells(box) == 0:
            continue
        chunks = (range(part.start // n, (part.stop - 1) // n + 1) for part, n in zip(box, chunk))
        for index in itertools.product(*chunks):
            inside = [
                range(max(part.start, i * n), min(part.stop, (i + 1) * n))
                for part, i, n in zip(box, index, chunk)
            ]
            for piece in _cut(inside, most):
                yield index, piece


@dataclass
class SlotGeneration:
    """bytes used, and contiguous runs of the file in them."""

    used: int
    runs: int

    def writes(self, share: int) -> int:
        """Calls that store it, if shares of so many bytes are stored one by one."""
        return self.runs + -(-self.used // share) - 1


def generations(
    boxes: Sequence[Box], shape: Sequence[int], chunk: Sequence[int], size: int, slot: int
) -> list[SlotGeneration]:
    """The slot generations of one field of a node: boxes of cells of `size` bytes, in a stage whose slots
    have `slot` bytes. Chunks are taken to lie one after another in the file."""
    grid = [-(-n // c) for n, c in zip(shape, chunk)]
    made: list[SlotGeneration] = []
    end = None  # of the last run, in cells from the field's begin
    for index, piece in _pieces(boxes, chunk, slot // size):
        length = _cells(piece) * size
        if not made or made[-1].used + length + _alignment > slot:
            made.append(SlotGeneration(0, 0))
            end = None
        number = 0
        for i, n in zip(index, grid):
            number = number * n + i
        place = 0
        for part, i, n in zip(piece, index, chunk):
            place = place * n + part.start - i * n
        begin = number * math.prod(chunk) + place
        runs, span = _runs(piece, chunk)
        made[-1].runs += runs - (begin == end)
        made[-1].used += length
        end = begin + span
    return made


def runs_in_file(boxes: Sequence[Box], chunk: Sequence[int]) -> int:
    """Contiguous runs of boxes in the file; no run goes on in another chunk."""
    total, end = 0, None
    for index, piece in _pieces(boxes, chunk, math.prod(chunk)):
        place = 0
        for part, i, n in zip(piece, index, chunk):
            place = place * n + part.start - i * n
        runs, span = _runs(piece, chunk)
        total += runs - ((index, place) == end)
        end = (index, place + span)
    return total


def _runs(piece: Box, chunk: Sequence[int]) -> tuple[int, int]:
    """Contiguous runs of a piece in its chunk, and cells from its first to behind its last."""
    inner = len(piece)
    while inner > 0:
        inner -= 1
        if len(piece[inner]) != chunk[inner]:
            break
    runs = math.prod(len(part) for part in piece[:inner])
    span = 0
    for part, n in zip(piece, chunk):
        span = span * n + len(part) - 1
    return runs, span + 1
