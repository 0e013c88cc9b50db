# SPDX-License-Identifier: BSD-3-Clause
"""What is in a file: dimensions, variables and attributes as mappings, and file["temp"][...]: cells of a
variable. All calls are Local, but those that read cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _shoal
from ._indexing import Along, along_dims
from ._names import composed, from_root
from ._open_file import OpenFile
from ._refusals import text_bytes
from .errors import InvalidArgumentError, NotSupportedError, TypeMismatchError
from .types import default_fill, dtype_of, memory_type

# Mappings and variables hold their dataset, so that shoal.open(path).variables["x"] keeps the file open.


class Dimension(NamedTuple):
    """A dimension of a file. length: records so far, if it is unlimited."""

    name: str
    length: int
    unlimited: bool


@dataclass(frozen=True)
class Variable:
    """A variable of a file, as it was when it was asked for. variable[0, 3:5, ...] reads cells of it, as
    file[name] does: Collective.

    dims        names of the dimensions, record dimension first
    shape       lengths now, records so far included
    dtype       numpy dtype; str for strings; bool for logical values; None: of a type that Shoal cannot read
                (compound, enum, ...)
    has_record  whether the first dimension is a record dimension
    chunks      chunk shape, None if the variable is not chunked
    storage     "contiguous", "chunked", "compressed", ...
    attributes  mapping of name to value
    filters     of its chunks: "none", "shuffle+deflate:1", ...
    packed      whether arrays of floating point hold its values, which are whole numbers in the file
    """

    name: str
    dtype: object
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    has_record: bool
    chunks: tuple[int, ...] | None
    storage: str
    attributes: Attributes
    number: int
    filters: str
    packed: bool = False
    dataset: Optional[OpenFile] = field(default=None, compare=False, repr=False)

    @property
    def array_dtype(self) -> object:
        """dtype of arrays that are made for its values: float64 if it is packed. Local."""
        return np.dtype(np.float64) if self.packed else self.dtype

    def __getitem__(self, key: object) -> Any:
        return self._cells()[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._cells().__array__(dtype, copy)

    def __len__(self) -> int:
        return len(self._cells())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cells())

    def __bool__(self) -> bool:
        return True  # it is there

    def _cells(self) -> Cells:
        if self.dataset is None:
            raise InvalidArgumentError(f"Variable '{self.name}' is of no open file.")
        return Cells(self.dataset, self.name)

    @property
    def ndim(self) -> int:
        """How many dimensions, the record dimension included; 0 is one value. Local."""
        return len(self.dims)

    @property
    def fill_value(self) -> Any:
        """_FillValue if there is one, else NetCDF's default for the type, which counts also where _FillValue
        is of another type or not one value. Local."""
        default = default_fill(self.number)
        return default if self.fill_fault else self.attributes.get("_FillValue", default)

    @property
    def fill_fault(self) -> str:
        """Why _FillValue is not used: it is of another type than the variable, or not one value; "": it is
        used, or there is none. Local."""
        if "_FillValue" not in self.attributes:
            return ""
        number, count = self.attributes.type_of("_FillValue")
        if number != self.number:
            kinds = {_shoal.CHAR: "text", _shoal.STRING: "a string"}
            kind, own = (kinds.get(type_, dtype_of(type_)) for type_ in (number, self.number))
            return f"_FillValue is {kind}, not {own}"
        return "" if count == 1 else f"_FillValue has {count} values"

    @property
    def section_shape(self) -> tuple[int, ...]:
        """The shape of one record, or of the variable if it has no records. Local."""
        return self.shape[1:] if self.has_record else self.shape

    def __repr__(self) -> str:
        dims = ", ".join(f"{n}={length}" for n, length in zip(self.dims, self.shape))
        kind = "str" if self.dtype is str else self.dtype
        return f"<shoal.Variable {self.name}({dims}) {kind}, {self.storage}>"


class Cells:
    """A variable of a file to read from: file["temp"][0, 3:5, ...].

    Whole numbers, slices with a step of 1 or more, and ... choose cells as in NumPy; negative numbers count
    from the end. All ranks give the same index, and all get the cells. Of a step of more than 1, what lies
    between is read, too. Collective, as Dataset.get; the rest is Local."""

    def __init__(self, dataset: OpenFile, name: str):
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


def why_unreadable(variable: Variable) -> str:
    """Why Shoal cannot read the variable, ""; it can. Local."""
    if variable.ndim > _shoal.MAX_DIMS:
        return f"has {variable.ndim} dimensions, of which Shoal reads up to {_shoal.MAX_DIMS}"
    if variable.dtype is None:
        return "is of a type that Shoal cannot read (compound, enum, opaque, ...)"
    return ""


def need_readable(path: str, variables: Iterable[Variable], remedy: str) -> None:
    """Raises NotSupportedError for a variable that Shoal cannot read. Local."""
    for variable in variables:
        if why := why_unreadable(variable):
            raise NotSupportedError(f"{path}: variable '{variable.name}' {why}; {remedy}.")


def split_readable(
    path: str, variables: Iterable[Variable], asked: Iterable[str] | None, remedy: str
) -> tuple[list[Variable], dict[str, str]]:
    """Variables that Shoal can read, and why it cannot read the others, which are left out. One that was
    asked for by its very name raises NotSupportedError. Local."""
    found = list(variables)
    wanted = {from_root(composed(name)) for name in asked or ()}
    need_readable(path, [v for v in found if composed(v.name) in wanted], remedy)
    left_out = {v.name: why for v in found if (why := why_unreadable(v))}
    return [v for v in found if v.name not in left_out], left_out


def unread_attributes(where: str, attributes: Attributes) -> dict[str, str]:
    """Attributes that Shoal cannot read, and why, by their names in CDL: "temp:kind", "ocean/:kind", ":kind"
    of the file. where: of whom they are, "temp". Local."""
    why = "is of a type that Shoal cannot read"
    return {f"{where}:{name}": f"{why} ({type_})" for name, type_ in attributes.unread.items()}


def _is_there(named: Mapping, name: object) -> bool:
    """By either form of Unicode, as the library finds names. Local."""
    return from_root(composed(name)) in map(composed, named)


class Dimensions(Mapping):
    """Dimensions by name."""

    def __init__(self, raw, dataset: Optional[OpenFile] = None):
        self._raw = raw
        self._dataset = dataset

    def at(self, index: int) -> Dimension:
        """The dimension of this number, from 0, in the order of the file. Raises NotFoundError. Local."""
        return Dimension(*self._raw.inq_dim(index))

    def __getitem__(self, name: str) -> Dimension:
        return self.at(self._raw.find_dim(name))

    def __len__(self) -> int:
        return self._raw.inq_file()[4]

    def __iter__(self) -> Iterator[str]:
        return iter([self.at(index).name for index in range(len(self))])

    def __contains__(self, name) -> bool:
        return _is_there(self, name)

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True)
class Group:
    """A group of names. name: its path, "ocean/ice"; attributes: mapping of name to value."""

    name: str
    attributes: Attributes


class Groups(Mapping):
    """Groups by path, each behind the one that it is in; the file itself is none of them."""

    def __init__(self, raw, dataset: Optional[OpenFile] = None):
        self._raw = raw
        self._dataset = dataset

    def at(self, index: int) -> Group:
        """The group of this number, from 0. Raises NotFoundError. Local."""
        name = self._raw.inq_group(index)[0]
        return Group(name, Attributes(self._raw, name + "/", self._dataset))

    def __getitem__(self, name: str) -> Group:
        return self.at(self._raw.find_group(name))

    def __len__(self) -> int:
        return self._raw.num_groups()

    def __iter__(self) -> Iterator[str]:
        return iter([self._raw.inq_group(index)[0] for index in range(len(self))])

    def __contains__(self, name) -> bool:
        return isinstance(name, str) and _is_there(self, name.rstrip("/"))

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self)) + "}"


class Variables(Mapping):
    """Variables by name."""

    def __init__(self, raw, dataset: Optional[OpenFile] = None):
        self._raw = raw
        self._dataset = dataset

    def at(self, index: int) -> Variable:
        """The variable of this number, from 0, in the order of the file. Raises NotFoundError. Local."""
        info = self._raw.inq_var(index)
        name, number, dims, has_record, _, logical, packed, chunks, storage, filters = info
        lengths = [self._raw.inq_dim(dim) for dim in dims]
        return Variable(
            name,
            dtype_of(number, logical),
            tuple(dim[0] for dim in lengths),
            tuple(dim[1] for dim in lengths),
            has_record,
            tuple(chunks) or None,
            storage,
            Attributes(self._raw, name, self._dataset),
            number,
            filters,
            packed,
            self._dataset,
        )

    def __getitem__(self, name: str) -> Variable:
        return self.at(self._raw.find_var(name))

    def __len__(self) -> int:
        return self._raw.inq_file()[5]

    def __iter__(self) -> Iterator[str]:
        return iter([self._raw.inq_var(index)[0] for index in range(len(self))])

    def __contains__(self, name) -> bool:
        return _is_there(self, name)

    def __repr__(self) -> str:
        return "{" + ", ".join(repr(variable) for variable in self.values()) + "}"


class Attributes(Mapping):
    """Attributes of a variable, of a group ("ocean/"), or of the file, by name.

    Text is str (a list of str if there are several strings), one number is a numpy scalar, several
    are an array. Those of types that Shoal cannot read are not among them: see unread."""

    def __init__(self, raw, variable: str, dataset: Optional[OpenFile] = None):
        self._raw = raw
        self._variable = variable
        self._dataset = dataset

    def __getitem__(self, name: str) -> Any:
        _, number, count = self._raw.inq_att(self._variable, self._raw.find_att(self._variable, name))
        if number == _shoal.CHAR:
            # Some programs store a final zero.
            return self._raw.get_att_text(self._variable, name).rstrip("\0")
        if number == _shoal.STRING:
            strings = self._raw.get_att_strings(self._variable, name)
            return strings[0] if len(strings) == 1 else strings
        values = np.empty(count, dtype=dtype_of(number))
        self._raw.get_att(self._variable, name, number, values)
        return values[0] if count == 1 else values

    @property
    def unread(self) -> dict[str, str]:
        """Attributes that the file has and Shoal cannot read, and what type they are of: "compound", "enum",
        "opaque", "variable length", ... Local."""
        return dict(self._raw.unread_atts(self._variable))

    def type_of(self, name: str) -> tuple[int, int]:
        """The number of its type, and how many values it has. Raises NotFoundError. Local."""
        return self._raw.inq_att(self._variable, self._raw.find_att(self._variable, name))[1:]

    def __len__(self) -> int:
        if not self._variable:
            return self._raw.inq_file()[6]
        if self._variable.endswith("/"):
            return self._raw.inq_group(self._raw.find_group(self._variable))[1]
        return self._raw.inq_var(self._raw.find_var(self._variable))[4]

    def __iter__(self) -> Iterator[str]:
        return iter([self._raw.inq_att(self._variable, index)[0] for index in range(len(self))])

    def __contains__(self, name) -> bool:
        return _is_there(self, name)

    def __repr__(self) -> str:
        return repr(dict(self))


def put_attribute(raw, variable: str, name: str, value) -> None:
    """Store a Python value as an attribute; raw: of a dataset or of streams. Local.

    int is stored as int (int64 where it does not fit), float as double, bool as byte, numpy values
    keep their type, str is text, a list of str is strings (netcdf4, zarr)."""
    if isinstance(value, (str, bytes)):
        data = text_bytes(value, f"Attribute '{name}':") if isinstance(value, str) else value
        raw.put_att(variable, name, _shoal.CHAR, data)
        return
    # numpy makes text of numbers beside text
    mixed = isinstance(value, (list, tuple)) and any(isinstance(item, (str, bytes)) for item in value)
    array = np.array(value, dtype=object) if mixed else np.asarray(value)
    if array.dtype.kind in "UOTS":
        items = [
            item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else item
            for item in array.ravel()
        ]
        known = array.dtype.kind in "UTS" or items  # an empty list of objects may be one of anything
        if not known or not all(isinstance(item, str) for item in items):
            raise TypeMismatchError(
                f"Attribute '{name}': a {type(value).__name__} cannot be stored; allowed are text, numbers "
                "and lists of them."
            )
        if any("\0" in item for item in items):
            raise InvalidArgumentError(
                f"Attribute '{name}': a string has a zero byte inside, where it would end."
            )
        raw.put_att_strings(variable, name, [text_bytes(item, f"Attribute '{name}':") for item in items])
        return
    if array.ndim > 1:
        raise InvalidArgumentError(
            f"Attribute '{name}' has {array.ndim} dimensions; attributes have one at most."
        )
    if array.dtype.kind == "i" and not isinstance(value, (np.ndarray, np.generic)):
        # Plain Python numbers: the type that every format knows, if they fit it.
        limits = np.iinfo("i4")
        if array.size == 0 or (array.min() >= limits.min and array.max() <= limits.max):
            array = array.astype("i4")
    if array.dtype.kind == "b":
        array = array.astype("i1")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    raw.put_att(variable, name, memory_type(array), np.ascontiguousarray(array.reshape(-1)))
