# SPDX-License-Identifier: BSD-3-Clause
"""Streams: a model sends fields, a file in TOML says what becomes of them (docs/guide/streams_programs.md).

with shoal.Streams.open("output.toml", comm, calendar="noleap", start="1850-01-01") as streams:
    streams.axis("lev", depths, attrs={"units": "m"})
    streams.grid("ocean", tiles)
    temp_field = streams.field("temp", "f4", ("lev", "lat", "lon"), grid="ocean", attrs={"units": "K"})
    for step in range(1, steps + 1):
        ...  # compute the step
        streams.advance(step * dt)  # the clock: a step ends here
        streams.send(temp_field, temp)  # what the fields are at its end
"""

from __future__ import annotations

import contextlib
import datetime
import difflib
import functools
import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from . import _shoal
from ._definitions import names_in, text_of_names
from ._ending import Ending
from ._library import communicator
from ._names import ByName
from ._paths import Path, path_bytes
from ._refusals import call_plainly, in_own_kind, plain_text, refuse_on_comm, refused_by_all, taking_part
from .decomposition import Decomposition
from .errors import Error, InvalidArgumentError, NotFoundError, StateError, TypeMismatchError, no_such_file
from .inventory import put_attribute
from .types import memory_type, to_numbers, type_number

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import ArrayLike, DTypeLike

_Method = TypeVar("_Method", bound=Callable[..., Any])

_few = 8  # names that a message lists
_holds = {"instant": _shoal.AT_INSTANT, "step": _shoal.FOR_STEP}


def _described(method: _Method) -> _Method:
    """A method of Streams that describes something. What fails on this rank alone the others learn of where
    ranks meet."""

    @functools.wraps(method)
    def describe(streams: Streams, *args: Any, **kwargs: Any) -> Any:
        streams._need_open()
        try:
            return method(streams, *args, **kwargs)
        except Exception as problem:
            error = in_own_kind(problem)
            code = error.code if isinstance(error, Error) else InvalidArgumentError.code
            streams._raw.refuse(-1, code, _message_of(error))
            if error is problem:
                raise
            raise error from problem

    return describe  # type: ignore[return-value]


def _refuse_description(given: Mapping[str, Any], error: TypeError) -> None:
    """For taking_part: others learn of it where ranks meet."""
    given["self"]._raw.refuse(-1, TypeMismatchError.code, _message_of(error))


def _message_of(error: Exception) -> str:
    text = error.message if isinstance(error, Error) else str(error)
    return text.encode(errors="replace").decode().replace("\0", "?")


def _seconds_of(time: Any) -> float:
    """Of datetime's or numpy's timedelta, too."""
    if isinstance(time, datetime.timedelta):
        return time / datetime.timedelta(seconds=1)
    if isinstance(time, np.timedelta64):
        return float(time / np.timedelta64(1, "s"))
    return float(time)


def _array_of(values: ArrayLike, what: str, fill: Callable[[], Any]) -> tuple[np.ndarray, int]:
    """values as an array that the library reads in place, and its type."""
    array = to_numbers(values, fill)
    number = memory_type(array)
    if array.ndim > _shoal.MAX_DIMS:
        raise InvalidArgumentError(
            f"{what} has {array.ndim} dimensions; at most {_shoal.MAX_DIMS} are possible."
        )
    return (array.view("u1") if array.dtype.kind == "b" else array), number


def _no_masked_cells(what: str) -> Callable[[], Any]:
    def refuse() -> Any:
        raise InvalidArgumentError(
            f"{what} has masked cells, and there is no value for them: give the field a _FillValue."
        )

    return refuse


class Streams(Ending):
    """The fields of a run, and the files that a configuration makes of them; made by Streams.open().

    Descriptions (axis, grid, coordinate, area, field, put_att) are Local, the same on all ranks, and come
    before the first advance. What is wrong with the array of send, and descriptions that differ between
    ranks, come out of the next call in which ranks meet (advance where a window ends, checkpoint, close), on
    all ranks alike; on a single rank at once.

    As a context manager they are closed at the end. When an exception of Shoal, which all ranks get alike,
    leaves the block, they are closed too; when any other exception leaves it on more than one rank's
    communicator, this rank drops them at once instead of waiting for ranks that may know nothing of it.
    """

    _when_unused = "when they were no longer used"

    def __init__(self, raw: _shoal.Streams, comm: MPI.Comm):
        # Made by open().
        self._raw = raw
        self._comm = comm
        self._fields: dict[str, int] = ByName()
        self._missing: dict[int, Any] = {}
        self._begin()

    @classmethod
    @taking_part(refuse_on_comm)
    def open(
        cls,
        configuration: Path | Mapping[str, Any],
        comm: MPI.Comm | None = None,
        *,
        start: str,
        calendar: str = "standard",
        now: str | None = None,
    ) -> Streams:
        """Begin a run. Collective.

        configuration  path of a TOML file, or its text if there is a newline in it, or what the file says as
                       a dict: {"file": [{"name": ..., "every": "1 day", "fields": ["temp"]}]}, where lengths
                       of time may be timedeltas, and dates date or datetime; rank 0 reads it. The
                       environment's SHOAL_STREAMS, a path, replaces it
        comm           communicator of mpi4py, None for this process alone
        start          "YYYY-MM-DD hh:mm:ss", or an object whose str() is that (datetime, cftime): where
                       seconds count from; the time may be left out: midnight
        calendar       "standard" ("gregorian"), "proleptic_gregorian", "julian", "noleap" ("365_day"),
                       "all_leap" ("366_day") or "360_day"
        now            time of this job, which goes on with the run: of the same form, or how long after the
                       start ("43200.5 s", "36 h"); None: start

        Raises NoSuchFileError; SettingError for the configuration, with file, line and key;
        InvalidArgumentError for a calendar or date.
        """
        comm = communicator(comm)
        with refused_by_all(comm):
            if isinstance(configuration, Mapping):
                from .streams_import.toml_text import configuration_text  # nothing that each rank needs

                configuration = configuration_text(configuration)
            if isinstance(configuration, str) and "\n" in configuration:
                text = plain_text(configuration, "configuration").encode()
                if b"\0" in text:
                    raise InvalidArgumentError("The text of the configuration has a zero byte inside.")
            else:
                text = path_bytes(configuration)
            times = [plain_text(str(time), "a date") for time in (start, "" if now is None else now)]
            plain_text(calendar, "calendar")
        try:
            raw = _shoal.Streams.open(comm.py2f(), text, calendar, *times)
        except NotFoundError as error:
            raise no_such_file(error) from None
        return cls(raw, comm)

    # ---- Descriptions

    @_described
    def axis(
        self,
        name: str,
        values: ArrayLike | None = None,
        bounds: ArrayLike | None = None,
        *,
        length: int | None = None,
        attrs: Mapping[str, object] | None = None,
    ) -> None:
        """A dimension, and the variable of its coordinate. Local.

        values  shape (cells,), one value a cell; or length=, for a dimension without a variable
        bounds  shape (cells, 2), both ends of each cell; they also give the thickness of cells for weighted
                means
        attrs   attributes of the variable
        """
        if (values is None) == (length is None):
            raise InvalidArgumentError(f"Axis '{name}': give either values or length=.")
        cells, of_cells, ends, of_ends = None, _shoal.DOUBLE, None, _shoal.DOUBLE
        if values is not None:
            what = f"Axis '{name}'"
            cells, of_cells = _array_of(values, what, _no_masked_cells(what))
        if bounds is not None:
            what = f"Axis '{name}': bounds"
            ends, of_ends = _array_of(bounds, what, _no_masked_cells(what))
        if cells is None and ends is not None:
            raise InvalidArgumentError(f"Axis '{name}' has bounds and no values.")
        self._raw.axis(name, 0 if length is None else int(length), cells, of_cells, ends, of_ends)
        self._put_attributes(name, attrs)

    @_described
    def grid(
        self,
        name: str,
        dims: str | Sequence[str] | Decomposition,
        decomposition: Decomposition | None = None,
    ) -> None:
        """A horizontal grid, or one of all dimensions. Local.

        dims           names of the decomposition's dimensions, slowest first, which may be axes, too, of the
                       same length; or a Decomposition with named dimensions
        decomposition  block or map, if dims are names; its mask says which cells are not looked at
        """
        if isinstance(dims, Decomposition):
            if decomposition is not None:
                raise InvalidArgumentError(f"Grid '{name}': two decompositions were given.")
            decomposition = dims
            if dims.dims is None:
                raise InvalidArgumentError(
                    f"Grid '{name}': the decomposition has no names; give dims, or make it with a dict of "
                    "names and lengths."
                )
            dims = dims.dims
        if not isinstance(decomposition, Decomposition):
            raise TypeMismatchError(
                f"Grid '{name}': decomposition is a {type(decomposition).__name__}; give a "
                "shoal.Decomposition."
            )
        names = names_in(dims) if isinstance(dims, str) else [str(dim) for dim in dims]
        self._raw.grid(name, text_of_names(names), decomposition._raw)

    @_described
    def coordinate(
        self, grid: str, name: str, values: ArrayLike, *, attrs: Mapping[str, object] | None = None
    ) -> None:
        """A coordinate that is cut as the grid is (of curvilinear grids), or another field that does not
        change. Fields of the grid name it in `coordinates`. Local.

        values  the tile, with or without halo, or the list of a map, as in Dataset.write
        """
        self._grid_values(False, grid, name, values, attrs)

    @_described
    def area(
        self, grid: str, name: str, values: ArrayLike, *, attrs: Mapping[str, object] | None = None
    ) -> None:
        """The area of the grid's cells, all >= 0, for weighted means. Fields of the grid name it in
        `cell_measures`. values: as of coordinate. Local."""
        self._grid_values(True, grid, name, values, attrs)

    def _grid_values(self, is_area: bool, grid: str, name: str, values, attrs) -> None:
        array, number = _array_of(values, f"'{name}'", _no_masked_cells(f"'{name}'"))
        self._raw.grid_values(is_area, grid, name, array, number)
        self._put_attributes(name, attrs)

    @_described
    def field(
        self,
        name: str,
        dtype: DTypeLike,
        dims: str | Sequence[str] = (),
        grid: str | None = None,
        group: str | None = None,
        holds: str = "instant",
        *,
        attrs: Mapping[str, object] | None = None,
    ) -> int:
        """A field that may be sent; returns its number (0, 1, ...), for wants and send. Local.

        dtype  "f4", "f8", "i1" ... "u8"; files have it so, unless the configuration says another one
        dims   names, slowest first, as a list or as text with blanks between; the last are those of the grid;
               () is a scalar
        grid   None: the same on every rank; rank 0's values count
        group  a name by which the configuration may choose many fields
        holds  "instant": values are for the end of the step, a state; "step": for the whole step that ended
               (a flux, rain)
        attrs  attributes; _FillValue or missing_value is the value of cells that count in no operation, and
               of masked cells of numpy's masked arrays
        """
        if holds not in _holds:
            raise InvalidArgumentError(
                f"Field '{name}': holds is {holds!r}; allowed are 'instant' and 'step'."
            )
        names = names_in(dims) if isinstance(dims, str) else [str(dim) for dim in dims]
        number = self._raw.field(
            name, type_number(dtype), text_of_names(names), grid or "", group or "", _holds[holds]
        )
        self._fields[name] = number
        self._put_attributes(name, attrs)
        return number

    @_described
    def put_att(self, of: str | None, name: str, value: object) -> None:
        """An attribute of an axis, coordinate, area or field; of None: of all files. Replaces one of the
        name. value: text, a number, or numbers of shape (n,). Local."""
        put_attribute(self._raw, of or "", name, value)
        if of in self._fields and name in ("_FillValue", "missing_value"):
            self._missing[self._fields[of]] = value

    def _put_attributes(self, of: str, attrs: Mapping[str, object] | None) -> None:
        for name, value in (attrs or {}).items():
            self.put_att(of, name, value)

    # ---- The run

    def wants(self, field: int | str) -> bool:
        """Whether some file needs the field in this step; if not, sending it does nothing. Where no step goes
        on (before the first advance, after a checkpoint) True: sending then is an error, which a model that
        asks first is to get, too. field: its number, or its name. Local."""
        self._need_open()
        return self._raw.wants(self._number(field))

    @taking_part(_refuse_description)
    def send(self, field: int | str, array: ArrayLike | None) -> None:
        """A field at the end of the step (holds="step": during it). Local.

        field  its number, or its name
        array  of the field's dimensions, with the tile's own cells, with or without halo, in those of the
               grid; of a map, the length of the list stands for these. Any strides, any object with
               __array__, or __dlpack__ in the host's memory (JAX, PyTorch); arrays of numbers in this
               machine's byte order are read in place. None on a rank without cells

        The array may be used again afterwards. Of a field that nobody wants in this step it is not looked at.
        Where no step goes on, as before the first advance, a StateError, which comes as other errors of send.
        """
        self._need_open()
        number = self._number(field)
        values, of_values = None, _shoal.BYTE
        try:
            if array is not None and self._raw.wants(number):
                what = f"Field '{self._name_of(number)}': the array"
                fill = self._missing.get(number)
                values, of_values = _array_of(
                    array, what, _no_masked_cells(what) if fill is None else lambda: fill
                )
        except Exception as problem:
            error = in_own_kind(problem)
            if not isinstance(error, Error):
                raise
            # On several ranks all get it where they meet next, as what the library finds wrong.
            if self._raw.refuse(number, error.code, _message_of(error)) != 0:
                raise error from problem
            return
        self._raw.send(number, values, of_values)

    @taking_part(call_plainly("advance", math.nan))
    def advance(self, seconds: float | datetime.timedelta) -> None:
        """The clock: a step begins that ends at this time, seconds since the start, or a timedelta since it,
        rounded to microseconds; more than before. The step before is complete. Waits for other ranks where
        windows end. The first advance of a job that resumes nothing may be to `now` itself: what is sent then
        is the state at the start. Files have a record of it that hold nothing but instants of states, and
        have a window which ends there. Collective.

        Raises, the first time, NotFoundError and SettingError for what the configuration names and there is
        not; InvalidArgumentError for a wrong time, which changes nothing; StateError for a field that was
        not sent, or twice; OutOfStepError for other times than other ranks have; errors of the files.
        """
        self._advance(self._raw.advance, lambda: _seconds_of(seconds), math.nan)

    @taking_part(call_plainly("advance_to", ""))
    def advance_to(self, date: str) -> None:
        """The same by date, of the form of `start`. Collective."""
        self._advance(self._raw.advance_to, lambda: plain_text(str(date), "date"), "")

    def _advance(self, call: Callable[[Any], None], time: Callable[[], Any], wrong: Any) -> None:
        self._need_open()
        try:
            to = time()
        except Exception:
            with contextlib.suppress(Error):
                call(wrong)  # the others must not wait in vain
            raise
        call(to)

    @taking_part(call_plainly("checkpoint", None))
    def checkpoint(self, path: Path) -> None:
        """Complete the step, and save the windows that are not finished in a NetCDF file, which is replaced
        if it exists. Files are stored and committed. The run may go on. Collective."""
        self._with_path(self._raw.checkpoint, path)

    @taking_part(call_plainly("resume", None))
    def resume(self, path: Path) -> None:
        """Take the windows of a checkpoint, of the same configuration and `now`, on any number of ranks.
        After the descriptions, before the first advance. Collective.

        Raises NoSuchFileError; InvalidArgumentError where it is of another time, calendar or start;
        FormatError where it is damaged, or none.
        """
        try:
            self._with_path(self._raw.resume, path)
        except NotFoundError as error:
            raise (error if os.path.exists(path) else no_such_file(error)) from None

    def _with_path(self, call: Callable[[bytes | None], None], path: Path) -> None:
        self._need_open()
        try:
            name = path_bytes(path)
        except Error:
            with contextlib.suppress(Error):
                call(None)  # the others must not wait in vain
            raise
        call(name)

    @property
    def report(self) -> dict:
        """What was described, which files, records and accumulators there are (docs/reference/streams.md).
        Local."""
        self._need_open()
        return json.loads(self._raw.report())

    # ---- Closing

    @taking_part(lambda given, error: given["self"].close())
    def close(self) -> None:
        """Complete the step and close all files, also on error. Windows that are not finished are dropped
        with a warning, or written as they are, as each file's `unfinished` says. A second close does nothing.
        What is open at the end of a program that does not fail is closed there, with a warning.
        Collective."""
        if self._raw.is_open():
            try:
                self._raw.close()
            finally:
                self._forget()

    def abandon(self) -> None:
        """Drop all without waiting for other ranks. Local."""
        self._raw.abandon()
        self._forget()

    def _called(self) -> str:
        return "the streams"

    def _drop(self, when: str) -> None:
        if self._raw.is_open():
            warnings.warn(
                f"Streams were not closed; dropped {when}, with what was not written yet. Call close(), or "
                "use 'with'.",
                RuntimeWarning if self._comm.rank == 0 else ResourceWarning,
                stacklevel=3,
            )
            self.abandon()

    def _need_open(self) -> None:
        if not self._raw.is_open():
            raise StateError("the streams are closed")

    def _number(self, field: int | str) -> int:
        if not isinstance(field, str):
            return int(field)
        if field not in self._fields:
            near = difflib.get_close_matches(field, self._fields, 1)
            few = ", ".join(self._fields) if 0 < len(self._fields) <= _few else f"{len(self._fields)} others"
            hint = f"did you mean '{near[0]}'?" if near else f"the model described {few}."
            raise NotFoundError(f"There is no field '{field}'; {hint}")
        return self._fields[field]

    def _name_of(self, number: int) -> str:
        return next((name for name, of_name in self._fields.items() if of_name == number), str(number))

    def __repr__(self) -> str:
        state = f"{len(self._fields)} fields" if self._raw.is_open() else "closed"
        return f"<shoal.Streams, {state}>"
