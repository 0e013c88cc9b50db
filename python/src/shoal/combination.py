# SPDX-License-Identifier: BSD-3-Clause
"""One file out of many: what `shoal combine` does.

    shoal.combination.combine("his.nc", ["his.nc.????"], MPI.COMM_WORLD, format="netcdf4")

Reading and writing go through Shoal, so the input may be anything that shoal.open() takes, a set of files or
one file, of any format, and the output any format. Data goes record by record, in steps of bounded memory.
"""

from __future__ import annotations

import os
import resource
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Optional

import numpy as np

from . import _shoal, dataset
from ._library import communicator, start_mpi
from ._steps import Cuts, Reader, Step, item_bytes, steps
from .errors import Error, ExistsError, InvalidArgumentError, StateError, StoreError
from .inventory import Attributes, Variable
from .types import ALL_RECORDS

memory_default = 256 * 2**20
# More at a time does not make it faster.
_most_block = 16 * 2**20
# Between two reports of progress, where data does not come through here.
_copied = 64 * 2**20
_header_suffix = ".json"  # of formats whose header is a file of its own


@dataclass
class Combined:
    """What was done; the same on all ranks.

    bytes   of data, as it lies in the file
    memory  bytes: the most that each rank had resident, all ranks together; what ranks share counts each time
    """

    path: str
    format: str
    variables: int
    records: int
    bytes: int
    memory: int = 0


def combine(
    out,
    inputs,
    comm=None,
    *,
    format: Optional[str] = None,
    overwrite: bool = False,
    allow_missing: bool = False,
    drop_made_axes: bool = False,
    memory: int = memory_default,
    settings: Optional[Mapping[str, object]] = None,
    progress=None,
) -> Combined:
    """Write one file with all that the input has. Collective.

    out        path; made under another name in the same folder, and renamed when it is whole
    inputs     a path, or a list of the files of a set
    format     of the output; None: that of the input
    overwrite  replace a file `out` that exists
    allow_missing   cells of tiles that are missing get the fill value
    drop_made_axes  leave out coordinates that were made up when the set was written
    memory     bytes of all ranks of a node together for data on its way, about
    settings   of the output (driver=..., chunk_bytes=...)
    progress   called on rank 0 as progress(bytes done, bytes in all)

    Raises ExistsError, FileMissingError (an input, or tiles of the set), FormatError, NotSupportedError (the
    output format cannot hold it), ... on all ranks; then there is no output.
    """
    comm = communicator(comm)
    out, source = os.fspath(out), _source(inputs)
    options = {"format": format, **(settings or {})}
    if options.get("layout", "one") != "one":
        raise InvalidArgumentError(f"layout={options['layout']}: combine makes one file.")
    _on_root(comm, lambda: _check_target(out, overwrite))
    reading = {"missing_tiles": "fill"} if allow_missing else {}
    with dataset.open(source, comm, **reading) as file:
        _on_root(comm, lambda: _check_whole(file, source))
        options["format"] = options["format"] or file.format
        with _partial(comm, out) as path:
            made = dataset.create(path, comm, **{"layout": "one", **options})
            try:
                result = _Copy(file, made, comm, memory, drop_made_axes, progress).run()
            except BaseException:
                made.abandon()
                raise
            made.close()
        result.path = out
        result.memory = comm.allreduce(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        return result


def _source(inputs) -> str:
    if isinstance(inputs, (str, os.PathLike)):
        return os.fspath(inputs)
    paths = [os.fspath(path) for path in inputs]
    if not paths:
        raise InvalidArgumentError("There is no input; give a path, or the files of a set.")
    if len(paths) > 1:
        for path in paths:
            if any(c.isspace() for c in path):
                raise InvalidArgumentError(
                    f"'{path}' has a blank in its name, which ends names in a list of files: "
                    "give the set as one name ('his.nc' for his.nc.0000, his.nc.0001, ...)."
                )
    return " ".join(paths)


def _on_root(comm, check) -> None:
    """Rank 0 checks; what it raises is raised on all ranks. Collective."""
    problem = None
    if comm.rank == 0:
        try:
            check()
        except Error as error:
            problem = error
    problem = comm.bcast(problem)
    if problem is not None:
        raise problem


def _check_target(out: str, overwrite: bool) -> None:
    if os.path.isdir(out):
        raise ExistsError(f"{out} is a folder; name the file to write.")
    if not overwrite and os.path.lexists(out):
        raise ExistsError(
            f"{out} exists; remove it, name another file, or allow it to be replaced (--overwrite)."
        )


def _check_whole(file, source: str) -> None:
    """One file of a set is not the set."""
    if os.path.isfile(source):
        total = file.attributes.get("NumFilesInSet", 1)
        if np.ndim(total) == 0 and isinstance(total, np.integer) and total > 1:
            raise StateError(
                f"{source} is one file of a set of {total}; name them all, or the set by what its names "
                "have in common ('his.nc' for his.nc.0000, his.nc.0001, ...)."
            )


# ---- The file under another name


def _remove(path: str) -> None:
    for name in (path, path + _header_suffix):
        try:
            os.unlink(name)
        except FileNotFoundError:
            pass


class _Signals:
    """SIGINT and SIGTERM remove the file and end the process, also while it waits inside of the library,
    where Python's own handlers do not run: what C does at once is to write a byte, and a thread waits for it.
    Elsewhere than on the main thread, which alone may do this, nothing is done."""

    _which = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, path: str):
        self._active = threading.current_thread() is threading.main_thread()
        if not self._active:
            return
        self._path = path
        self._end, self._begin = os.pipe()
        os.set_blocking(self._begin, False)
        self._fd_before = signal.set_wakeup_fd(self._begin, warn_on_full_buffer=False)
        self._before = {which: signal.signal(which, lambda *_: None) for which in self._which}
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        while True:
            number = os.read(self._end, 1)[0]
            if number == 0:
                return
            if number in self._which:
                _remove(self._path)
                os._exit(128 + number)

    def end(self) -> None:
        if not self._active:
            return
        for which, handler in self._before.items():
            signal.signal(which, handler)
        signal.set_wakeup_fd(self._fd_before)
        os.write(self._begin, b"\0")
        self._thread.join()
        os.close(self._begin)
        os.close(self._end)


@contextmanager
def _partial(comm, out: str) -> Iterator[str]:
    """A name beside `out`; renamed to it at the end, removed after an exception. Collective."""
    path = comm.bcast(f"{out}.partial-{os.getpid()}")
    guard = _Signals(path) if comm.rank == 0 else None
    try:
        yield path
        _on_root(comm, lambda: _rename(path, out))
    except BaseException:
        if comm.rank == 0:
            _remove(path)
        raise
    finally:
        if guard is not None:
            guard.end()


def _rename(path: str, out: str) -> None:
    try:
        if os.path.exists(path + _header_suffix):
            os.replace(path + _header_suffix, out + _header_suffix)
        os.replace(path, out)
    except OSError as error:
        raise StoreError(f"{path} cannot be renamed to {out}: {error.strerror}") from None


# ---- Definitions and data


def copy_attributes(file, made, variable: str, skip: Sequence[str] = ()) -> None:
    """Attributes of a variable, or of the file for "", with their types. Local."""
    source, target = file._raw, made._raw
    strings_fit = made.format == "netcdf4"
    for name in Attributes(source, variable):
        if name in skip:
            continue
        _, number, count = source.inq_att(variable, source.find_att(variable, name))
        if number == _shoal.STRING:
            strings = source.get_att_strings(variable, name)
            if strings_fit or len(strings) != 1:
                target.put_att_strings(variable, name, strings)
            else:
                target.put_att(variable, name, _shoal.CHAR, strings[0].encode("utf-8", "surrogateescape"))
        elif number == _shoal.CHAR:
            text = source.get_att_text(variable, name)
            target.put_att(variable, name, _shoal.CHAR, text.encode("utf-8", "surrogateescape"))
        else:
            values = np.atleast_1d(np.asarray(Attributes(source, variable)[name]))
            target.put_att(variable, name, number, np.ascontiguousarray(values))


class _Copy:
    """Copies an open dataset into a new one."""

    def __init__(self, file, made, comm, memory: int, drop_made_axes: bool, progress):
        self._file, self._made, self._comm = file, made, comm
        self._reader = Reader(file)
        self._cuts = Cuts(comm)
        node = comm.Split_type(start_mpi().COMM_TYPE_SHARED)
        # What is copied needs no memory here.
        self._copies = file.copies and made.driver == "native"
        self._block = _copied if self._copies else max(64 * 1024, min(memory // node.size, _most_block))
        node.Free()
        self._progress = progress if comm.rank == 0 else None
        self._variables = [
            variable
            for variable in file.variables.values()
            if not (drop_made_axes and variable.attributes.get("shoal_axis") == "made")
        ]
        self._total = sum(int(np.prod(v.shape, dtype="f8")) * item_bytes(v) for v in self._variables)
        self._done = 0

    def run(self) -> Combined:
        self._define()
        for variable in self._variables:
            if not variable.has_record:
                self._copy(variable, None)
        growing = [variable for variable in self._variables if variable.has_record]
        records = max((variable.shape[0] for variable in growing), default=0)
        for record in range(records):
            for variable in growing:
                if record < variable.shape[0]:
                    self._copy(variable, range(record, record + 1))
        return Combined("", self._made.format, len(self._variables), records, self._total)

    def _define(self) -> None:
        for dimension in self._file.dimensions.values():
            self._made.def_dim(dimension.name, None if dimension.unlimited else dimension.length)
        copy_attributes(self._file, self._made, "")
        for variable in self._variables:
            name, logical = variable.name, variable.dtype == np.dtype(bool)
            first = next(steps(self._cuts, variable, self._block, writing=True), None)
            self._made.def_var(
                name, variable.dtype, list(variable.dims), None if first is None else first.cut
            )
            # A logical variable brings these with it.
            skip = ["_FillValue", "flag_values", "flag_meanings"] if logical else ["_FillValue"]
            copy_attributes(self._file, self._made, name, skip)
            if not logical and "_FillValue" in variable.attributes:
                self._made.def_fill(name, variable.attributes["_FillValue"])
        self._made.end_define()

    def _copy(self, variable: Variable, records: Optional[range]) -> None:
        for step in steps(self._cuts, variable, self._block, records, writing=True):
            if self._copies and step.cut is not None:
                self._made.copy(
                    variable.name,
                    self._file,
                    step.record,
                    start=step.start or None,
                    count=step.count or None,
                    decomposition=step.cut,
                )
            else:
                self._write(variable, step, self._reader.read(variable, step))
            self._done += step.region_cells * item_bytes(variable)
            if self._progress is not None:
                self._progress(min(self._done, self._total), self._total)

    def _write(self, variable: Variable, step: Step, values: np.ndarray) -> None:
        section = {"start": step.start, "count": step.count} if step.count else {}
        record = step.record
        if record == ALL_RECORDS:
            section = {}
        elif record is not None:
            values = values[0, ...]
        if step.cut is None:
            self._made.put(variable.name, values, record, **section)
        else:
            self._made.write(variable.name, values, record, decomposition=step.cut, **section)
