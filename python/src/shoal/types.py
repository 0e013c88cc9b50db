# SPDX-License-Identifier: BSD-3-Clause
"""Element types: numpy's on one side, those of the file on the other."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from . import _shoal
from .errors import InvalidArgumentError, TypeMismatchError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

UNLIMITED = None  #: length of a dimension that grows


class RecordWord(int):
    """A word for record=, which no index is taken for."""

    _name: str

    def __new__(cls, number: int, name: str) -> RecordWord:
        word = super().__new__(cls, number)
        word._name = name
        return word

    def __repr__(self) -> str:
        return f"shoal.{self._name}"

    __str__ = __repr__

    def __reduce__(self):
        return self._name


ALL_RECORDS = RecordWord(_shoal.ALL_RECORDS, "ALL_RECORDS")  #: record= of put and get: every record there is
#: record= of write, put and copy: the record of the time step that is being written. It is the last one, if
#: that was begun since the file was opened and the variable is not in it yet; otherwise the one after it.
NEXT = RecordWord(_shoal.NEXT, "NEXT")


class _NoFill:
    def __repr__(self) -> str:
        return "shoal.NO_FILL"


NO_FILL = _NoFill()  #: fill= of def_var: cells that nobody writes stay undefined

_numbers = {
    _shoal.BYTE: "i1",
    _shoal.SHORT: "i2",
    _shoal.INT: "i4",
    _shoal.INT64: "i8",
    _shoal.UBYTE: "u1",
    _shoal.USHORT: "u2",
    _shoal.UINT: "u4",
    _shoal.UINT64: "u8",
    _shoal.FLOAT: "f4",
    _shoal.DOUBLE: "f8",
}
_type_of_dtype = {np.dtype(name): number for number, name in _numbers.items()}
_type_of_dtype[np.dtype(bool)] = _shoal.LOGICAL

_default_fill = {
    _shoal.BYTE: -127,
    _shoal.SHORT: -32767,
    _shoal.INT: -2147483647,
    _shoal.INT64: -9223372036854775806,
    _shoal.UBYTE: 255,
    _shoal.USHORT: 65535,
    _shoal.UINT: 4294967295,
    _shoal.UINT64: 18446744073709551614,
    _shoal.FLOAT: 9.9692099683868690e36,
    _shoal.DOUBLE: 9.9692099683868690e36,
}

_allowed = "float32, float64, signed and unsigned integers of 8 to 64 bits, bool, 'S1' (text) and str"


def default_fill(number: int):
    """NetCDF's fill value of a type, for variables without _FillValue. Local."""
    if number == _shoal.CHAR:
        return b"\0"
    return _default_fill.get(number, 0)


def type_number(dtype) -> int:
    """The SHOAL_* number for the dtype of a new variable. Local."""
    if dtype is str:
        return _shoal.STRING
    if isinstance(dtype, str) and dtype in ("char", "text"):
        return _shoal.CHAR
    try:
        wanted = np.dtype(dtype)
    except TypeError as error:
        raise TypeMismatchError(f"dtype {dtype!r} is none; allowed are {_allowed}.") from error
    if wanted.kind in "UOT":
        return _shoal.STRING
    if wanted.kind == "S":
        if wanted.itemsize > 1:
            raise TypeMismatchError(
                f"dtype {wanted} has no length in a file: use 'S1' with one more dimension for the length of "
                "the text, or str (netcdf4, zarr)."
            )
        return _shoal.CHAR
    number = _type_of_dtype.get(wanted.newbyteorder("="))
    if number is None:
        raise TypeMismatchError(f"dtype {wanted} cannot be stored; allowed are {_allowed}.")
    return number


def dtype_of(number: int, logical: bool = False):
    """The numpy dtype that arrays of a variable get; str for strings, None for a type that Shoal cannot read
    (compound, enum, ...). Local."""
    if logical or number == _shoal.LOGICAL:
        return np.dtype(bool)
    if number == _shoal.STRING:
        return str
    if number == _shoal.CHAR:
        return np.dtype("S1")
    return np.dtype(_numbers[number]) if number in _numbers else None


def memory_type(array: np.ndarray) -> int:
    """The SHOAL_* number of an array in memory, which must be in the byte order of this machine. Local."""
    if array.dtype.kind == "S" and array.dtype.itemsize == 1:
        return _shoal.CHAR
    number = _type_of_dtype.get(array.dtype) if array.dtype.isnative else None
    if number is None:
        if not array.dtype.isnative:
            raise TypeMismatchError(
                f"The array is of dtype {array.dtype}, not in this machine's byte order; reading needs an "
                f"array of dtype {array.dtype.newbyteorder('=')}."
            )
        raise TypeMismatchError(f"Arrays of dtype {array.dtype} cannot be stored; allowed are {_allowed}.")
    return number


def is_text(values) -> bool:
    """Whether values are Python text: str, bytes, or arrays of them that are not single bytes. Local."""
    if isinstance(values, (str, bytes)):
        return True
    kind = np.asarray(values).dtype
    return kind.kind in "UOT" or (kind.kind == "S" and kind.itemsize > 1)


def to_numbers(values, fill) -> np.ndarray:
    """values as an array that Shoal can read in place, copied only if it must be. Local.

    Copied are lists, arrays of the other byte order, and masked arrays (fill() at masked cells). Arrays of
    other libraries come by __array__, or by __dlpack__ if they have that alone."""
    masked = sys.modules.get("numpy.ma")  # there where somebody has a masked array; to import it takes time
    if masked is not None and isinstance(values, masked.MaskedArray):
        values = values.filled(fill()) if masked.is_masked(values) else values.data
    by_dlpack = hasattr(values, "__dlpack__") and not hasattr(values, "__array__")
    array = _from_dlpack(values) if by_dlpack else np.asarray(values)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def _from_dlpack(values) -> np.ndarray:
    try:
        return np.from_dlpack(values)
    except (AttributeError, BufferError, RuntimeError, TypeError) as error:  # numpy 1.22 has no from_dlpack
        raise TypeMismatchError(
            f"A {type(values).__name__} cannot be read where it lies ({error}); give an array in the host's "
            "memory."
        ) from error


def strings_of(values) -> tuple[list[str], list[int]]:
    """A list of str and its shape, from text of any shape. Local."""
    array = np.asarray(values, dtype=object)
    flat = []
    for item in array.ravel():
        if isinstance(item, bytes):
            item = item.decode("utf-8")
        if not isinstance(item, str):
            raise TypeMismatchError(f"A variable of strings needs str; got {type(item).__name__}.")
        if "\0" in item:
            raise InvalidArgumentError(
                f"The string {item!r} has a zero byte inside, which ends strings in files."
            )
        flat.append(item)
    return flat, list(array.shape)


def characters_of(values, width: int) -> np.ndarray:
    """Text as an 'S1' array whose last dimension has `width` bytes, zeros at the end. Local."""
    array = np.asarray(values)
    if array.dtype.kind != "S":
        flat = [item.encode("utf-8") if isinstance(item, str) else bytes(item) for item in array.ravel()]
        shape = array.shape
    else:
        flat, shape = [bytes(item) for item in array.ravel()], array.shape
    longest = max((len(item) for item in flat), default=0)
    if longest > width:
        raise InvalidArgumentError(
            f"A text of {longest} bytes does not fit the {width} of the variable's last dimension."
        )
    packed = np.frombuffer(b"".join(item.ljust(width, b"\0") for item in flat), dtype="S1")
    return packed.reshape((*shape, width))


def text(characters: ArrayLike) -> str | np.ndarray:
    """Join the last dimension of an 'S1' array: a str, or an array of str. Local."""
    array = np.asarray(characters)
    if array.dtype.kind != "S" or array.dtype.itemsize != 1 or array.ndim == 0:
        raise TypeMismatchError(
            f"text() joins arrays of dtype 'S1' with at least one dimension, not {array.dtype}."
        )
    width = array.shape[-1]
    raw = np.ascontiguousarray(array).tobytes()
    rows = [
        raw[i : i + width].rstrip(b"\0").decode("utf-8", "surrogateescape")
        for i in range(0, len(raw), width or 1)
    ]
    if array.ndim == 1:
        return rows[0] if rows else ""
    return np.array(rows, dtype=object).reshape(array.shape[:-1])
