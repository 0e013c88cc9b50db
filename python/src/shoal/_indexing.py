# SPDX-License-Identifier: BSD-3-Clause
"""NumPy's basic indices: what one takes of each dimension."""

from __future__ import annotations

import operator

import numpy as np

from .errors import NotFoundError, TypeMismatchError

_allowed = "allowed are whole numbers, slices with a step of 1 or more, and one ..."


class Along:
    """What an index takes of one dimension: count cells from first, each step-th; drop: by one number."""

    def __init__(self, first: int, count: int, step: int = 1, drop: bool = False):
        self.first, self.count, self.step, self.drop = first, count, step, drop

    @property
    def extent(self) -> int:
        """Cells from the first to the last one."""
        return (self.count - 1) * self.step + 1 if self.count > 0 else 0


def _number_along(item: object, length: int, what: str) -> Along:
    if isinstance(item, (bool, np.bool_)):
        raise TypeMismatchError(f"{what} is {item}: masks are no index here; {_allowed}.")
    try:
        index = operator.index(item)  # type: ignore[arg-type]
    except TypeError:
        raise TypeMismatchError(f"{what} is a {type(item).__name__}; {_allowed}.") from None
    if not -length <= index < length:
        raise NotFoundError(f"{what} is {index}; the dimension has {length} cells.")
    return Along(index + length if index < 0 else index, 1, drop=True)


def _slice_along(item: slice, length: int, what: str) -> Along:
    try:
        first, last, step = item.indices(length)
    except (TypeError, ValueError) as error:
        raise TypeMismatchError(f"{what} is {item}: {error}; {_allowed}.") from None
    if step < 1:
        raise TypeMismatchError(f"{what} has the step {step}; {_allowed}.")
    return Along(first, len(range(first, last, step)), step)


def with_named_records(key: object, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with as many records in front as a key names: those of a write may be new. Local."""
    front = key[0] if isinstance(key, tuple) and key else key
    last = front.stop if isinstance(front, slice) else front
    if isinstance(front, slice) or isinstance(last, bool) or not isinstance(last, (int, np.integer)):
        records = last if isinstance(front, slice) and isinstance(last, (int, np.integer)) else 0
    else:
        records = int(last) + 1
    return (max(shape[0], int(records)), *shape[1:])


def along_dims(key: object, shape: tuple[int, ...], dims: tuple[str, ...]) -> list[Along]:
    """What a key takes of each dimension. Raises TypeMismatchError (a TypeError) for what is no basic index,
    NotFoundError (an IndexError) for what lies outside. Local."""
    items = list(key) if isinstance(key, tuple) else [key]
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise TypeMismatchError(f"The index has {len(dots)} ...; {_allowed}.")
    given = len(items) - len(dots)
    if given > len(shape):
        raise NotFoundError(f"The index has {given} parts, the variable {len(shape)} dimensions.")
    place = dots[0] if dots else len(items)
    items[place : place + 1] = [slice(None)] * (len(shape) - given)
    out = []
    for item, length, dim in zip(items, shape, dims):
        what = f"The index of dimension '{dim}'"
        along = _slice_along if isinstance(item, slice) else _number_along
        out.append(along(item, length, what))  # type: ignore[arg-type]
    return out
