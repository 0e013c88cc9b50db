# SPDX-License-Identifier: BSD-3-Clause
"""Files that all ranks of a communicator have open."""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from . import _shoal
from ._boxes import Boxes
from ._definitions import Definitions
from ._ending import Ending
from ._names import ByName, group_of, seen_from
from ._part import Part
from ._refusals import call_plainly, definition, plain_text, taking_part
from .decomposition import Decomposition
from .errors import (
    InvalidArgumentError,
    NotFoundError,
    StateError,
    TypeMismatchError,
)
from .inventory import Attributes, Cells, Dimensions, Groups, Variables
from .types import (
    ALL_RECORDS,
    RecordWord,
    characters_of,
    default_fill,
    is_text,
    memory_type,
    strings_of,
    to_numbers,
)

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import ArrayLike, DTypeLike

_Call = TypeVar("_Call", bound=Callable[..., Any])


def _decomposition_second(read: _Call) -> _Call:
    """read(name, decomposition) of 0.1 still works, with a warning."""

    @functools.wraps(read)
    def either(self: Dataset, *args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and isinstance(args[1], Decomposition):
            warnings.warn(
                "read(name, decomposition) is now called read(name, record, decomposition=...)",
                DeprecationWarning,
                stacklevel=2,
            )
            kwargs["decomposition"], args = args[1], (args[0], *args[2:])
        return read(self, *args, **kwargs)

    return either  # type: ignore[return-value]


def _refuse_data(verb: int) -> Callable[[Mapping[str, Any], TypeError], object]:
    """For taking_part: of a call with data."""

    def refuse(given: Mapping[str, Any], error: TypeError) -> None:
        dataset, name = given["self"], given.get("name", given.get("variable"))
        about = [given.get(key) for key in ("decomposition", "record", "start", "count", "records")]
        if dataset.is_open:
            dataset._part(verb, name, *about).refuse(error)

    return refuse


class Dataset(Definitions, Boxes, Ending):
    """A file that all ranks of a communicator have open; made by shoal.create() and shoal.open().

    As a context manager it is closed at the end. When an exception of Shoal, which all ranks get
    alike, leaves the block, the file is closed too, with what was written so far; when any other
    exception leaves it on more than one rank's communicator, this rank drops the file at once
    instead of waiting for ranks that may know nothing of it.
    """

    def __init__(self, raw, path: str, comm):
        # Made by create() and open().
        self._raw = raw
        self._path = path
        self._comm = comm
        self._decompositions: dict[str, Decomposition] = ByName()
        self._numbers: dict[str, int] = {}  # of variables that were written or read since the last definition
        self._begin()

    # ---- Closing

    @taking_part(call_plainly("sync", False))
    def sync(self, durable: bool = False) -> None:
        """Store all that was written, agree on errors, commit: it is in the file even if the job is
        killed now. durable: wait until the device has it. Collective."""
        self._need_open()
        self._numbers.clear()  # definitions that ranks do not agree on are dropped
        self._raw.sync(bool(durable))

    @taking_part(lambda given, error: given["self"].close())
    def close(self, durable: bool = False) -> None:
        """sync, report, close. A second close does nothing. Collective."""
        if self._raw.is_open():
            try:
                self._raw.close(bool(durable))
            finally:
                self._forget()

    def abandon(self) -> None:
        """Drop the file without storing what was not committed, without waiting for other ranks. Local."""
        self._raw.abandon()
        self._forget()

    def _called(self) -> str:
        return self._path

    def _stores(self) -> bool:
        return self.writable

    def _drop(self, when: str) -> None:
        if self._raw.is_open():
            # Python shows no ResourceWarning unless it is asked to, and data may be lost. One rank warns.
            loses = self._comm.rank == 0 and self.writable
            warnings.warn(
                f"{self._path} was not closed; dropped {when} without what was not committed. "
                "Call close(), or use 'with'.",
                RuntimeWarning if loses else ResourceWarning,
                stacklevel=3,
            )
            self.abandon()

    def _forget(self) -> None:
        self._decompositions.clear()
        super()._forget()

    def _need_open(self) -> None:
        if not self._raw.is_open():
            raise StateError(f"the dataset '{self._path}' is closed")

    @taking_part(call_plainly("end_define"))
    def end_define(self) -> None:
        """Finish the define phase and write the header; implicit at the first write or put. Collective."""
        self._need_open()
        self._numbers.clear()
        self._raw.end_define()

    def _number_of(self, name: str) -> int:
        """The number of a variable, which the compiled part takes. Raises NotFoundError. Local."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = self._raw.find_var(name)
        return number

    def begin_step(self) -> int:
        """A time step begins: returns the index of its record, the one after the last, which shoal.NEXT is
        for all variables until the next step begins, also where one is written again, or not at all. A step
        in which nothing is written leaves no record; after an error at sync() no step is begun. Local; every
        rank begins the same steps.

        Raises InvalidArgumentError where the file has no record dimension, or several."""
        self._need_open()
        return self._raw.begin_step()

    # ---- Definitions that take another dataset

    @definition
    def copy_att(
        self, variable: str | None, name: str, source: Dataset, source_variable: str | None = None
    ) -> None:
        """An attribute as another dataset has it, type and values; one string is text where the format has no
        strings. So is a _FillValue of another type than its variable, or of several values, which nothing
        uses. Local.

        variable         None: of the file
        source_variable  there; None: of the same name

        Raises NotSupportedError: such a _FillValue, where the driver's library takes none.
        """
        self._need_open()
        there = variable if source_variable is None else source_variable
        self._raw.copy_att(variable or "", str(name), source._raw, there or "")

    # ---- Data

    @taking_part(_refuse_data(_shoal.VERB_WRITE))
    def write(
        self,
        name: str,
        array: ArrayLike | None,
        record: int | None = None,
        *,
        start: Sequence[int] | None = None,
        count: Sequence[int] | None = None,
        decomposition: Decomposition | None = None,
    ) -> None:
        """Write this rank's cells of a distributed variable. Collective in order, without waiting.

        array   the tile, with or without halo, in any strides; None where the tile is empty. Arrays of
                numbers in this machine's byte order are read in place; others are copied first.
        record  index of the record, or shoal.NEXT, the record of this time step (after the last, or begun by
                another variable); None for a variable without record dimension
        start, count  a section, one number for each dimension but the record dimension
        decomposition  how the array is cut; None: as given before

        Errors of the data come out at sync() or close(), on all ranks alike.
        """
        self._need_open()
        with self._part(_shoal.VERB_WRITE, name, decomposition, record, start, count) as part:
            values = None if array is None else to_numbers(array, lambda: self.variables[name].fill_value)
            part.go(values)

    @taking_part(_refuse_data(_shoal.VERB_WRITE))
    def copy(
        self,
        name: str,
        source: Dataset,
        record: int | None = None,
        *,
        source_name: str | None = None,
        start: Sequence[int] | None = None,
        count: Sequence[int] | None = None,
        decomposition: Decomposition | None = None,
    ) -> None:
        """write, with the cells at the same place of a variable of another dataset. Collective as write.

        source       a set of files that is open for reading on the same ranks (source.copies)
        source_name  the variable there; None: of the same name

        Cells go part by part, with no array of them all. Errors come out at sync() or close().
        """
        self._need_open()
        with self._part(_shoal.VERB_WRITE, name, decomposition, record, start, count) as part:
            if not isinstance(source, Dataset):
                raise TypeMismatchError(f"source is a {type(source).__name__}; give a shoal.Dataset.")
            part.copy(source, name if source_name is None else source_name)

    @property
    def copies(self) -> bool:
        """Can others copy from this one? Local."""
        self._need_open()
        return self._raw.copies()

    @taking_part(_refuse_data(_shoal.VERB_READ))
    @_decomposition_second
    def read(
        self,
        name: str,
        record: int | None = None,
        *,
        start: Sequence[int] | None = None,
        count: Sequence[int] | None = None,
        decomposition: Decomposition | None = None,
        out: np.ndarray | None = None,
        halo: bool = False,
        dtype: DTypeLike | None = None,
    ) -> np.ndarray:
        """Read this rank's cells of a variable; returns the array. Collective.

        record  index of the record, negative ones from the end (-1: the last); None for a variable without
                record dimension
        start, count  a section, one number for each dimension but the record dimension
        decomposition  how to cut the variable; None: as given before
        out     array to fill, of the tile's extents, or with halo; made if it is None
        halo    make an array with halo. Halo cells inside of the global shape are filled from the file;
                those outside, holes of a map, and land of a mask have the variable's fill value in an array
                that is made (in out= they are left alone, unless read_masked="fill")
        dtype   of the array that is made; the variable's own by default, float64 of one that is packed
        """
        self._need_open()
        with self._part(_shoal.VERB_READ, name, decomposition, record, start, count) as part:
            if out is None:
                variable = self.variables[name]
                shape = self._tile_shape(variable, part.decomposition, halo, count)
                wanted = np.dtype(dtype if dtype is not None else variable.array_dtype)
                cut = part.decomposition
                surplus = halo or cut.is_map or cut._may_have_mask  # cells that are not read
                if surplus and wanted.kind in "iuf":
                    out = np.full(shape, self._fill_in(variable, wanted), wanted)
                else:
                    out = np.zeros(shape, wanted)
            elif not isinstance(out, np.ndarray):
                raise TypeMismatchError(f"out= is a {type(out).__name__}; give a numpy array.")
            part.go(out)
        return out

    @staticmethod
    def _fill_in(variable, wanted: np.dtype):
        """The variable's fill value for an array, or that of the array's type where it does not fit."""
        fill = variable.fill_value
        if variable.dtype in (str, bool) or isinstance(fill, bytes):
            return 0
        if variable.packed and wanted.kind == "f":
            return np.nan
        if wanted.kind == "f" or (
            float(fill).is_integer() and np.iinfo(wanted).min <= int(fill) <= np.iinfo(wanted).max
        ):
            return fill
        return default_fill(memory_type(np.empty(0, wanted)))

    @taking_part(_refuse_data(_shoal.VERB_PUT))
    def put(
        self,
        name: str,
        values: ArrayLike | None,
        record: int | None = None,
        *,
        start: Sequence[int] | None = None,
        count: Sequence[int] | None = None,
        records: int | None = None,
    ) -> None:
        """Put a replicated variable: rank 0's values go to the file. Collective.

        values  numbers or text of the variable's shape (or the section's); other ranks may give None
        record  index of the record, or shoal.NEXT, as in write; None with a record dimension: values has one
                for each record
        records  so many, from record on: values has one for each of them, 1 too
        """
        self._need_open()
        if record is None:
            record = self._all_records(name)
        with self._part(_shoal.VERB_PUT, name, None, record, start, count, records) as part:
            if values is None:
                if self._comm.rank == 0:
                    raise InvalidArgumentError(
                        f"{self._path}: variable '{name}': rank 0 must give the values."
                    )
                part.go(None)
                return
            variable = self.variables[name]
            if variable.number == _shoal.STRING:
                strings, shape = strings_of(values)
                if "\0" in plain_text("".join(strings), "text"):
                    raise InvalidArgumentError("A string has a zero byte inside, where it would end.")
                part.call(self._raw.put_strings, strings, shape)
                return
            if variable.number == _shoal.CHAR and is_text(values):
                width = (
                    count[-1]
                    if count is not None and len(count)
                    else variable.shape[-1]
                    if variable.shape
                    else 1
                )
                values = characters_of(values, int(width))
                if not variable.dims:
                    values = values.reshape(())
            if is_text(values):
                raise TypeMismatchError(
                    f"{self._path}: variable '{name}': its type is {variable.dtype}, and the values are "
                    "text; give numbers."
                )
            part.go(to_numbers(values, lambda: variable.fill_value))

    @taking_part(_refuse_data(_shoal.VERB_GET))
    def get(
        self,
        name: str,
        record: int | None = None,
        *,
        start: Sequence[int] | None = None,
        count: Sequence[int] | None = None,
        records: int | None = None,
        out: np.ndarray | None = None,
        dtype: DTypeLike | None = None,
    ) -> np.ndarray:
        """Get the same values on every rank; returns the array. Collective.

        record  index of the record, negative ones from the end (-1: the last); None with a record dimension:
                all records
        records  so many, from record on: the array has one for each of them, 1 too
        start, count  a section, one number for each dimension but the record dimension
        out     array to fill; made if it is None
        Text comes as 'S1' (shoal.text() joins it), strings as an array of str.
        """
        self._need_open()
        if record is None:
            record = self._all_records(name)
        with self._part(_shoal.VERB_GET, name, None, record, start, count, records) as part:
            variable = self.variables[name]
            shape = tuple(int(n) for n in count) if count is not None else variable.section_shape
            if isinstance(record, RecordWord) and record == ALL_RECORDS:
                shape = (variable.shape[0], *shape)
            elif records is not None:
                shape = (part.several(), *shape)
            if variable.number == _shoal.STRING:
                strings = part.call(self._raw.get_strings, list(shape))
                result = np.empty(len(strings), dtype=object)
                result[:] = strings
                result = result.reshape(shape)
                if out is None:
                    return result
                out[...] = result
                return out
            if out is None:
                out = np.empty(shape, np.dtype(dtype if dtype is not None else variable.array_dtype))
            elif not isinstance(out, np.ndarray):
                raise TypeMismatchError(f"out= is a {type(out).__name__}; give a numpy array.")
            part.go(out)
        return out

    def _all_records(self, name: str) -> int | None:
        try:
            return ALL_RECORDS if self.variables[name].has_record else None
        except Exception:
            return None  # the collective call says what is wrong with it, on all ranks

    def _part(
        self, verb: int, name: str, decomposition, record, start=None, count=None, records: int | None = None
    ) -> Part:
        return Part(self, verb, name, decomposition, record, start, count, records)

    def _tile_shape(self, variable, decomposition, halo: bool, count) -> tuple[int, ...]:
        if decomposition is None:
            raise InvalidArgumentError(
                f"{self._path}: variable '{variable.name}': give a decomposition to read with, or use get()."
            )
        section = tuple(int(n) for n in count) if count is not None else variable.section_shape
        section = self._on_grid(variable, section, decomposition)
        if decomposition.ndim > len(section):
            raise InvalidArgumentError(
                f"{self._path}: variable '{variable.name}': it has {len(section)} dimensions a record, the "
                f"decomposition {decomposition.ndim}."
            )
        cut = len(section) - decomposition.ndim
        return section[:cut] + self._part_of_tile(decomposition, halo, section[cut:])

    @staticmethod
    def _part_of_tile(decomposition, halo: bool, section: tuple[int, ...]) -> tuple[int, ...]:
        """The tile's shape in a section: along dimensions that the section cuts it has the section's length,
        and no halo."""
        if decomposition.is_map:
            uncut = decomposition.ndim - decomposition.uncut
            return decomposition.shape[:1] + section[uncut:]
        tile = decomposition.halo_shape if halo else decomposition.shape
        lengths = zip(section, decomposition.global_shape, tile)
        return tuple(own if n == length else n for n, length, own in lengths)

    def _on_grid(self, variable, section, decomposition) -> tuple[int, ...]:
        """The shape with the lengths of the grid in place of a gathered dimension, if the decomposition is of
        the grid."""
        if section[-decomposition.ndim :] == decomposition.global_shape:
            return section
        names = variable.dims[-len(section) :] if section else ()
        for place, name in enumerate(names):
            if name in self.variables and name != variable.name:
                grid = self.variables[name].attributes.get("compress")
                found = [seen_from(self.dimensions, group_of(name), dim) for dim in str(grid).split()]
                if isinstance(grid, str) and None not in found:
                    lengths = tuple(self.dimensions[dim].length for dim in found)
                    return section[:place] + lengths + section[place + 1 :]
        return section

    def __getitem__(self, name: str) -> Cells:
        """The variable to read from: file["temp"][0, 3:5, ...]. Local; reading is Collective."""
        self._need_open()
        try:
            self.variables[name]
        except NotFoundError as error:
            error._at(file=self._path)
            raise
        return Cells(self, name)

    def __contains__(self, name: object) -> bool:
        """Whether there is a variable of the name. Local."""
        return name in self.variables

    def __iter__(self) -> Iterator[str]:
        """Names of the variables. Local."""
        return iter(self.variables)

    # ---- What is in the file

    @property
    def path(self) -> str:
        """Where the file is, as it was given to create or open; also after close. Local."""
        return self._path

    @property
    def comm(self) -> MPI.Comm:
        """The communicator that it was made with, MPI.COMM_SELF for None; also after close. Local."""
        return self._comm

    @property
    def format(self) -> str:
        """ "cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic", "zarr", "zarr2" (read only), "raw" or
        "ascii". Raises StateError after close. Local."""
        self._need_open()
        return self._raw.inq_file()[1]

    @property
    def driver(self) -> str:
        """Who moves the bytes: "native", "pnetcdf", "netcdf", "mpiio" or "gather". Raises StateError after
        close. Local."""
        self._need_open()
        return self._raw.inq_file()[2]

    @property
    def writable(self) -> bool:
        """Whether it was created, or opened to change it. Raises StateError after close. Local."""
        self._need_open()
        return self._raw.inq_file()[3]

    @property
    def num_records(self) -> int:
        """Records of the file's record dimension so far, written ones included, 0 without one; so also the
        index of the record after the last. The same on all ranks that made the same calls. Local.

        Raises InvalidArgumentError where variables have different record dimensions: take
        variables[name].shape; StateError between a put of all records on several ranks and sync."""
        self._need_open()
        return self._raw.num_records()

    @property
    def dimensions(self) -> Dimensions:
        """Mapping of name to shoal.Dimension. Local."""
        self._need_open()
        return Dimensions(self._raw, self)

    @property
    def variables(self) -> Variables:
        """Mapping of name to shoal.Variable. Local."""
        self._need_open()
        return Variables(self._raw, self)

    @property
    def groups(self) -> Groups:
        """Mapping of path to shoal.Group: groups of names, which netcdf4 and zarr have. Dimensions and
        variables in them are in the mappings of the file, by their paths. Local."""
        self._need_open()
        return Groups(self._raw, self)

    @property
    def attributes(self) -> Attributes:
        """Mapping of the file's attributes. Local."""
        self._need_open()
        return Attributes(self._raw, "", self)

    @property
    def settings(self) -> str:
        """Every setting, its value and where it came from, one a line. Local."""
        self._need_open()
        return self._raw.settings()

    @property
    def report(self) -> dict:
        """Times, bytes and calls of this rank so far. Local."""
        self._need_open()
        return json.loads(self._raw.report())

    def __repr__(self) -> str:
        if not self._raw.is_open():
            return f"<shoal.Dataset {self._path!r}, closed>"
        return f"<shoal.Dataset {self._path!r}, {self.format}, {len(self.variables)} variables>"
