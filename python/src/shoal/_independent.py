# SPDX-License-Identifier: BSD-3-Clause
"""Cells that one rank writes or reads alone."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from . import _shoal
from ._indexing import Along, along_dims, with_named_records
from ._refusals import plain_text
from .errors import Error, InvalidArgumentError, NotSupportedError, TypeMismatchError
from .types import characters_of, is_text, memory_type, to_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike


_Call = TypeVar("_Call", bound=Callable[..., Any])


def _alone(call: _Call) -> _Call:
    """Errors of the call are those of this rank: nobody waits for the others when one leaves a with block."""

    @functools.wraps(call)
    def marked(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except Error as error:
            error._of_one_rank = True
            raise

    return marked  # type: ignore[return-value]


def _in_all_dims(array: np.ndarray, along: Sequence[Along]) -> np.ndarray:
    """A view that has a dimension of length 1 for each that the key dropped."""
    return array[tuple(np.newaxis if item.drop else slice(None) for item in along)]


class Independent:
    """The data calls of a rank alone, of a dataset."""

    _raw: Any
    _path: str

    @_alone
    def write_independent(self, name: str, values: ArrayLike, key: Any = ...) -> None:
        """Write cells of a variable on this rank alone, without the other ranks, which may be anywhere in
        their program. They see the cells after the next sync() of all ranks. Not of compressed variables, nor
        of strings; records that are there (write and put add some). Local.

        values  numbers or text of the key's shape, or one value for all cells
        key     which cells, as numpy's basic indices, from 0: numpy.s_[3, 10:20, ::2]; ...: all of them

        Raises StateError: definitions are not finished (end_define), or too much waits in memory for a sync
        (see def_independent); NotFoundError: cells that are not there, records too; RangeError: values do not
        fit, all others were written; NotSupportedError: another driver than native, several files, a
        compressed variable.
        """
        variable, along = self._cells_alone(name, key)
        self._move_alone(False, name, along, self._values_of(variable, along, values))

    def _values_of(self, variable: Any, along: Sequence[Along], values: ArrayLike) -> np.ndarray:
        """The values as an array of the cells' shape. Local."""
        shape = tuple(item.count for item in along if not item.drop)
        name = variable.name
        if variable.number == _shoal.CHAR and is_text(values):
            width = along[-1].count if along else 1
            values = characters_of(values, width)
            values = values.reshape(shape) if values.size == np.prod(shape, dtype=int) else values
        if is_text(values):
            raise TypeMismatchError(
                f"{self._path}: variable '{name}': its type is {variable.dtype}, and the values are text; "
                "give numbers."
            )
        array = to_numbers(values, lambda: variable.fill_value)
        try:
            return np.broadcast_to(array, shape)
        except ValueError:
            raise InvalidArgumentError(
                f"{self._path}: variable '{name}': the values have the shape {array.shape}, the "
                f"cells {shape}."
            ) from None

    @_alone
    def read_independent(
        self, name: str, key: Any = ..., *, out: np.ndarray | None = None, dtype: DTypeLike | None = None
    ) -> np.ndarray:
        """Read cells of a variable on this rank alone; returns the array. What this rank wrote alone is
        there, what others wrote once all ranks have called sync(). Compressed variables, and sets of files,
        can be read, too. Local.

        key    which cells, as of write_independent
        out    array to fill; made if it is None
        dtype  of the array that is made; the variable's own by default, float64 of one that is packed

        Raises StateError, too, where all ranks together have written or put the variable since the last sync.
        """
        variable, along = self._cells_alone(name, key)
        shape = tuple(item.count for item in along if not item.drop)
        if out is None:
            out = np.empty(shape, np.dtype(dtype if dtype is not None else variable.array_dtype))
        elif not isinstance(out, np.ndarray):
            raise TypeMismatchError(f"out= is a {type(out).__name__}; give a numpy array.")
        elif out.shape != shape:
            raise InvalidArgumentError(
                f"{self._path}: variable '{name}': out= has the shape {out.shape}, the cells {shape}."
            )
        elif not out.flags.writeable:
            raise InvalidArgumentError("out= is a read-only array.")
        self._move_alone(True, name, along, out)
        return out

    def _cells_alone(self, name: str, key: Any, grows: bool = False) -> tuple[Any, list[Along]]:
        """grows: new records may be named. Local."""
        self._need_open()  # type: ignore[attr-defined]
        variable = self.variables[plain_text(name, "the name of the variable")]  # type: ignore[attr-defined]
        if variable.number == _shoal.STRING:
            raise NotSupportedError(
                f"{self._path}: variable '{name}': strings are not written or read by a rank alone; use put "
                "and get."
            )
        try:
            shape = variable.shape
            if grows and shape and self.dimensions[variable.dims[0]].unlimited:  # type: ignore[attr-defined]
                shape = with_named_records(key, shape)
            return variable, along_dims(key, shape, variable.dims)
        except Error as error:
            error._at(None, self._path, name)
            raise

    def _move_alone(self, reads: bool, name: str, along: Sequence[Along], array: np.ndarray) -> None:
        self._raw.move_independent(reads, *self._box(name, along, array))

    def _box(self, name: str, along: Sequence[Along], array: np.ndarray) -> tuple[Any, ...]:
        """The box as the compiled part takes it. Local."""
        kind = memory_type(array)
        full = _in_all_dims(array, along)
        if full.dtype.kind == "b":
            full = full.view("u1")
        number = self._number_of(name)  # type: ignore[attr-defined]
        numbers = [[getattr(item, part) for item in along] for part in ("first", "count", "step")]
        return (number, full, kind, *numbers)
