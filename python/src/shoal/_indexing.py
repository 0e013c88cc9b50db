# SPDX-License-Identifier: BSD-3-Clause
"""file["temp"][...]: cells of a variable by NumPy's basic indices."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _shoal
from .errors import NotFoundError, TypeMismatchError
from .inventory import Attributes, Variable

if TYPE_CHECKING:
    from .dataset import Dataset

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


class Cells:
    """A variable of a file to read from: file["temp"][0, 3:5, ...].

    Whole numbers, slices with a step of 1 or more, and ... choose cells as in NumPy; negative numbers count
    from the end. All ranks give the same index, and all get the cells. Of a step of more than 1, what lies
    between is read, too. Collective, as Dataset.get; the rest is Local."""

    def __init__(self, dataset: Dataset, name: str):
        self._dataset = dataset
        self.name = name

    @property
    def variable(self) -> Variable:
        """What is known of it now, as in dataset.variables. Local."""
        return self._dataset.variables[self.name]

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dimensions now, records so far included. Local."""
        return self.variable.shape

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions, the record dimension first. Local."""
        return self.variable.dims

    @property
    def dtype(self) -> Any:
        """As Variable.dtype: numpy's, str for strings, bool for logical values. Local."""
        return self.variable.dtype

    @property
    def ndim(self) -> int:
        """How many dimensions, the record dimension included; 0 is one value. Local."""
        return self.variable.ndim

    @property
    def attributes(self) -> Attributes:
        """Mapping of the variable's attributes. Local."""
        return self.variable.attributes

    def __getitem__(self, key: object) -> Any:
        dataset, name = self._dataset, self.name
        # What is wrong with the index here the other ranks learn of.
        with dataset._part(_shoal.VERB_GET, name, None, None):
            variable = self.variable
            parts = along_dims(key, variable.shape, variable.dims)
        found = self._read(variable, parts)
        steps = tuple(0 if part.drop else slice(None, None, part.step) for part in parts)
        found = found[(*steps, ...)]  # an array, also where no dimension is left
        keeps = key is Ellipsis or (isinstance(key, tuple) and any(item is Ellipsis for item in key))
        return found if keeps or found.ndim else found[()]

    def _read(self, variable: Variable, parts: list[Along]) -> np.ndarray:
        """The cells from the first to the last of each dimension; of records, only those that are chosen."""
        cells = parts[1:] if variable.has_record else parts
        start, count = [part.first for part in cells], [part.extent for part in cells]
        get = self._dataset.get
        if not variable.has_record:
            return get(self.name, start=start, count=count)
        records = parts[0]
        chosen = range(records.first, records.first + records.extent, records.step)
        # Records lie one after the other now.
        records.first, records.step = 0, 1
        if len(chosen) == variable.shape[0] and len(chosen) > 1:
            return get(self.name, start=start, count=count)
        if not chosen:
            return np.empty((0, *count), object if variable.dtype is str else np.dtype(variable.dtype))  # type: ignore
        return np.stack([get(self.name, record, start=start, count=count) for record in chosen])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("The cells are in a file: an array of them is a copy.")
        return np.asarray(self[...], dtype=dtype)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeMismatchError(f"Variable '{self.name}' is one value, and has no length.")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return repr(self.variable)
