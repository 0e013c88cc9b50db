# SPDX-License-Identifier: BSD-3-Clause
"""How the tools walk over a variable: step by step, in bounded memory, each rank its part.

A step is one collective read (or write): of one record, of some indices of the leading dimensions, and of
all of the trailing dimensions, which are cut over the ranks. Sections of dimensions that are cut are not
possible when writing, so memory is bounded through the leading ones. Indices start at 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .decomposition import Decomposition, balanced_tile
from .inventory import Variable
from .types import ALL_RECORDS

# What is smaller is read by one rank for all: less than a collective read costs.
_small_bytes = 1024 * 1024
# Compressing costs more than a collective call, also of so little.
_small_bytes_compressed = 64 * 1024
# A decomposition has no more dimensions; what is in front goes in sections.
most_cut = 7
# Records of so few bytes are not worth a call each.
_tiny_record = 4096
_bytes_of_a_string = 64


@dataclass
class Step:
    """One collective call.

    record        index of the record, ALL_RECORDS, None for a variable without records
    start, count  section of the dimensions but the record dimension
    cut           how the trailing dimensions are cut; None: every rank gets the same (get, put)
    origin        where this rank's array begins in the variable, record dimension included
    shape         of this rank's array, record dimension included
    partial       the tiles of `cut` together do not cover the dimensions: for reading only
    """

    record: int | None
    start: list[int]
    count: list[int]
    cut: Decomposition | None
    origin: tuple[int, ...]
    shape: tuple[int, ...]
    partial: bool = False

    @property
    def cells(self) -> int:
        """Of this rank's array."""
        return math.prod(self.shape)

    @property
    def region_cells(self) -> int:
        """Of all ranks together, if the step is not partial."""
        return math.prod(self.count)


class Cuts:
    """Decompositions that were made for steps: the same again for each record."""

    def __init__(self, comm):
        self.comm = comm
        self._made: dict[tuple, Decomposition] = {}

    def along(self, shape: Sequence[int], axis: int, begin: int, end: int) -> Decomposition:
        """Cells begin to end of an axis in balanced parts, one a rank. Collective."""
        key = (tuple(shape), axis, begin, end)
        if key not in self._made:
            (first,), (count,) = balanced_tile(self.comm.rank, [self.comm.size], [end - begin])
            firsts, counts = [0] * len(shape), list(shape)
            firsts[axis], counts[axis] = begin + first, count
            self._made[key] = Decomposition.block(self.comm, shape, firsts, counts)
        return self._made[key]


def item_bytes(variable: Variable) -> int:
    return _bytes_of_a_string if variable.dtype is str else np.dtype(variable.dtype).itemsize


def is_small(variable: Variable, quantum: Sequence[int] | None = None) -> bool:
    """Whether a variable is moved by one rank: strings, and what is not worth cutting. Local."""
    compressed = quantum is not None or variable.storage == "compressed"
    most = _small_bytes_compressed if compressed else _small_bytes
    return variable.dtype is str or math.prod(variable.section_shape) * item_bytes(variable) <= most


def steps(
    cuts: Cuts,
    variable: Variable,
    block_bytes: int,
    records: range | None = None,
    *,
    writing: bool = False,
    quantum: Sequence[int] | None = None,
) -> Iterator[Step]:
    """The steps of a variable, the same on all ranks; about block_bytes a rank at a time. Collective.

    records  which ones; None: all. Nothing is given for variables without cells.
    writing  no partial steps: what would need them is moved by one rank
    quantum  of each dimension but the record's, of which steps have a multiple where they have not all, also
             if that is more than block_bytes; None: any number"""
    if math.prod(variable.shape) == 0:
        return
    if not variable.has_record:
        yield from _section_steps(cuts, variable, block_bytes, None, writing, quantum)
        return
    chosen = range(variable.shape[0]) if records is None else records
    row = math.prod(variable.section_shape) * item_bytes(variable)
    together = variable.shape[0] * row
    small = is_small(variable, quantum) and (
        together <= _small_bytes or (row <= _tiny_record and together <= block_bytes)
    )
    if small and len(chosen) == variable.shape[0]:
        section = list(variable.section_shape)
        yield Step(
            ALL_RECORDS, [0] * len(section), section, None, (0,) * variable.ndim, tuple(variable.shape)
        )
        return
    for record in chosen:
        yield from _section_steps(cuts, variable, block_bytes, record, writing, quantum)


def _lead(shape: Sequence[int], size: int, budget: int, most: int, quantum: Sequence[int]) -> tuple[int, int]:
    """How many leading dimensions, at most so many, go in sections, and how many indices of the last of them
    at once."""
    lead = 0 if most == len(shape) else max(len(shape) - most_cut, 0)
    while lead < most and math.prod(shape[lead:]) * math.prod(quantum[:lead]) * size > budget:
        lead += 1
    if lead == 0:
        return 0, 1
    axis = lead - 1
    group = budget // (math.prod(shape[lead:]) * math.prod(quantum[:axis]) * size)
    return lead, min(shape[axis], max(1, group // quantum[axis]) * quantum[axis])


def _axis_to_cut(shape: Sequence[int], ranks: int) -> int:
    """The slowest dimension that gives every rank something, else the longest."""
    for axis, length in enumerate(shape):
        if length >= ranks:
            return axis
    return max(range(len(shape)), key=lambda axis: shape[axis])


def _section_steps(
    cuts: Cuts,
    variable: Variable,
    block_bytes: int,
    record: int | None,
    writing: bool,
    quantum: Sequence[int] | None,
) -> Iterator[Step]:
    shape, size = list(variable.section_shape), item_bytes(variable)
    small = is_small(variable, quantum)
    quantum = [min(n, length) for n, length in zip(quantum or [1] * len(shape), shape)]
    prefix = () if record is None else (record,)
    whole = () if record is None else (1,)
    ranks = cuts.comm.size
    alone = small or (writing and shape[-1] * size > block_bytes * ranks)
    budget = block_bytes * (1 if alone else ranks)
    lead, group = _lead(shape, size, budget, len(shape) - (0 if alone else 1), quantum)
    outer = max(lead - 1, 0)
    for place in np.ndindex(*(-(-n // q) for n, q in zip(shape[:outer], quantum))):
        for begin in range(0, shape[lead - 1] if lead else 1, group):
            start, count = [0] * len(shape), list(shape)
            for axis, index in enumerate(place):
                start[axis] = index * quantum[axis]
                count[axis] = min(quantum[axis], shape[axis] - start[axis])
            if lead:
                start[lead - 1], count[lead - 1] = begin, min(group, shape[lead - 1] - begin)
            if alone:
                yield Step(record, start, count, None, (*prefix, *start), (*whole, *count))
                continue
            inner = shape[lead:]
            axis = _axis_to_cut(inner, ranks)
            # A last dimension that is too long for the memory of all ranks is cut into pieces as well.
            pieces = -(-math.prod(inner) * size // budget)
            for piece in range(pieces):
                low, high = (inner[axis] * p // pieces for p in (piece, piece + 1))
                cut = cuts.along(inner, axis, low, high)
                yield Step(
                    record,
                    start,
                    count,
                    cut,
                    (*prefix, *start[:lead], *cut.first),
                    (*whole, *count[:lead], *cut.shape),
                    pieces > 1,
                )


class Reader:
    """Reads steps of one dataset, into memory that it uses again."""

    def __init__(self, dataset):
        self.dataset = dataset
        self._memory = np.empty(0, "u1")

    def read(self, variable: Variable, step: Step) -> np.ndarray:
        """This rank's array of a step, of shape step.shape; good until the next call. Collective."""
        name = variable.name
        everything = {} if step.record == ALL_RECORDS or not step.count else self._section(step)
        if variable.dtype is str:
            return self.dataset.get(name, step.record, **everything).reshape(step.shape)
        dtype = np.dtype(variable.dtype)
        needed = step.cells * dtype.itemsize
        if self._memory.size < needed:
            self._memory = np.empty(needed, "u1")
        out = self._memory[:needed].view(dtype).reshape(step.shape)
        inner = out[0, ...] if step.record is not None and step.record != ALL_RECORDS else out
        if step.cut is None:
            self.dataset.get(name, step.record, out=inner, **everything)
        else:
            self.dataset.read(name, record=step.record, out=inner, decomposition=step.cut, **everything)
        return out

    @staticmethod
    def _section(step: Step) -> dict[str, list[int]]:
        return {"start": step.start, "count": step.count}
