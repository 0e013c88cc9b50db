# SPDX-License-Identifier: BSD-3-Clause
"""One dataset into another: definitions, then the data, record by record, in steps of bounded memory. What
`shoal combine` and `shoal convert` share."""

from __future__ import annotations

import math
import os
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Optional

import numpy as np

from ._library import start_mpi
from ._names import group_of, outwards
from ._paths import path_text
from ._steps import Cuts, Reader, Step, item_bytes, most_cut, steps
from ._stores import has_chunks, has_groups, zarr_formats
from .errors import InvalidArgumentError, NotSupportedError, StateError, TypeMismatchError
from .inventory import Attributes, Dimension, Variable, split_readable, unread_attributes
from .types import ALL_RECORDS

memory_default = 256 * 2**20
# More at a time does not make it faster.
_most_block = 16 * 2**20
_stage, _stage_of_chunks = 4 * 2**20, 16 * 2**20
# Between two reports of progress, where data does not come through here.
_copied = 64 * 2**20


@dataclass
class Copied:
    """What was done; the same on all ranks.

    bytes   of data, before compression
    memory  bytes: the most that each rank had resident, all ranks together; what ranks share counts each time
    warnings  what the output has not as the input, or nobody uses there; rank 0 says so on standard error
    left_out  variables that Shoal cannot read, and why; rank 0 says so, too
    left_out_attributes  the same, of the others, of groups and the file: "temp:kind", "ocean/:kind", ":kind"
    """

    path: str
    format: str
    variables: int
    records: int
    bytes: int
    memory: int = 0
    warnings: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    left_out_attributes: dict[str, str] = field(default_factory=dict)


def source_of(inputs) -> str:
    if isinstance(inputs, (str, bytes, os.PathLike)):
        return path_text(inputs)
    paths = [path_text(path) for path in inputs]
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


def check_whole(file, source: str) -> None:
    """One file of a set is not the set."""
    if os.path.isfile(source):
        total = file.attributes.get("NumFilesInSet", 1)
        if np.ndim(total) == 0 and isinstance(total, np.integer) and total > 1:
            raise StateError(
                f"{source} is one file of a set of {total}; name them all, or the set by what its names "
                "have in common ('his.nc' for his.nc.0000, his.nc.0001, ...)."
            )


def with_thread(comm, options: Mapping[str, object], compressed: bool) -> dict[str, object]:
    """Settings of an output, and unless they or the environment say otherwise: a thread of each rank stores
    what is copied while the next part is read. Collective."""
    added: dict[str, object] = {}
    if options.get("driver", "native") == "native":
        mpi = start_mpi()
        if not has_chunks(str(options["format"])):
            # Little work for a core that a rank needs itself; it waits in memory that a core's cache holds.
            added = {"background": "auto", "stage_bytes": _stage}
        elif comm.allreduce(mpi.Query_thread(), mpi.MIN) >= mpi.THREAD_FUNNELED:
            # Reading is collective; a rank that still compresses would keep all cores but its own waiting:
            # two ranks on two cores work for 2.5 s so, in place of 4.4.
            added = {"background": "thread", "stage_bytes": _stage_of_chunks}
    # Rank 0's environment counts, as for all settings.
    set_there = comm.bcast([key for key in (*added, "compression") if f"SHOAL_{key.upper()}" in os.environ])
    if compressed or "compression" in set_there or "compression" in options:
        added.pop("stage_bytes", None)  # the stage holds whole chunks: the library knows how many bytes
    return {**{key: value for key, value in added.items() if key not in set_there}, **options}


# They say how a dataset is read; the others are of the one that is written.
_of_reading = ("missing_tiles", "missing_fill", "read_masked", "external_files")


def settings_of_input(options: dict[str, object]) -> dict[str, object]:
    """Those of the input among the settings of a copy, which the output need not have. Local."""
    return {key: options.pop(key) for key in _of_reading if key in options}


def check_empty_dims(
    where: str,
    format: str,
    unlimited: Sequence[str],
    empty: Sequence[str],
    of_variables: Iterable[Sequence[str]],
) -> None:
    """In a NetCDF file a dimension of length 0 is an unlimited one without records, as other writers make it.
    Raises NotSupportedError where the format cannot have it so. Local.

    unlimited, empty  dimensions; of_variables  those of each variable, slowest first"""
    if not empty or format in ("netcdf4", "raw", "ascii", *zarr_formats):
        return
    later = [name for dims in of_variables for name in dims[1:] if name in empty]
    if later or len(unlimited) + len(empty) > 1:
        names = ", ".join(f"'{name}'" for name in (later[:1] or empty))
        raise NotSupportedError(
            f"{where}: dimension {names} has length 0, which format {format} can only have in its one "
            "unlimited dimension, the first of a variable; write format netcdf4, or leave out the variables "
            "that have it."
        )


class Copy:
    """Copies variables of an open dataset into a new one.

    cut_all    every variable that has cells gets a decomposition, so that settings for these (compression,
               chunks, quantize) hold for small ones too; else only those that are worth cutting
    define     called with each variable after it is defined
    asked      names that the user gave: a variable of these that Shoal cannot read is an error, others are
               left out
    """

    def __init__(
        self,
        file,
        made,
        comm,
        variables: Iterable[Variable],
        *,
        memory: int = memory_default,
        cut_all: bool = False,
        define: Optional[Callable[[Variable], None]] = None,
        asked: Optional[Iterable[str]] = None,
        progress=None,
    ):
        self._file, self._made, self._comm = file, made, comm
        self._reader = Reader(file)
        self._cuts = Cuts(comm)
        node = comm.Split_type(start_mpi().COMM_TYPE_SHARED)
        # What is copied needs no memory here.
        self._copies = file.copies and made.driver == "native"
        self._block = _copied if self._copies else max(64 * 1024, min(memory // node.size, _most_block))
        node.Free()
        self._progress = progress if comm.rank == 0 else None
        remedy = "leave it out with shoal convert --exclude"
        self._variables, self._left_out = split_readable(file.path, variables, asked, remedy)
        for variable in self._variables:
            if "/" in variable.name and not has_groups(made.format):
                raise NotSupportedError(
                    f"{file.path}: variable '{variable.name}' is in a group, and format {made.format} has no "
                    f"groups; write format netcdf4 or zarr, or {remedy}."
                )
        self._cut_all, self._define_more = cut_all, define
        self._total = sum(math.prod(v.shape) * item_bytes(v) for v in self._variables)
        self._done = 0
        self._warnings: list[str] = []
        self._left_out_attributes: dict[str, str] = {}
        for name, why in self._left_out.items():
            self._say(f"{file.path}: variable '{name}' is left out: it {why}")

    def run(self) -> Copied:
        self._define()
        for variable in self._variables:
            if not variable.has_record:
                self._copy(variable, None)
        growing = [variable for variable in self._variables if variable.has_record]
        records = max((variable.shape[0] for variable in growing), default=0)
        together = {variable.name: self._records_together(variable) for variable in growing}
        for record in range(records):
            for variable in growing:
                if record < variable.shape[0] and record % together[variable.name] == 0:
                    end = min(record + together[variable.name], variable.shape[0])
                    self._copy(variable, range(record, end))
        memory = self._comm.allreduce(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        return Copied(
            "",
            self._made.format,
            len(self._variables),
            records,
            self._total,
            memory,
            self._warnings,
            self._left_out,
            self._left_out_attributes,
        )

    def _define(self) -> None:
        used = {name for variable in self._variables for name in variable.dims}
        every = len(self._variables) + len(self._left_out) == len(self._file.variables)
        # Those of groups, which no variable has, have no place in a format without groups.
        groups = has_groups(self._made.format)
        chosen = [
            d
            for d in self._file.dimensions.values()
            if d.name in used or (every and (groups or "/" not in d.name))
        ]
        growing = [d.name for d in chosen if d.unlimited]
        empty = [d.name for d in chosen if d.length == 0 and not d.unlimited]
        check_empty_dims(
            self._file.path,
            self._made.format,
            growing,
            empty,
            [variable.dims for variable in self._variables],
        )
        self._define_groups(every, chosen)
        for dimension in chosen:
            self._made.def_dim(dimension.name, None if dimension.unlimited else dimension.length or None)
        for name in self._file.attributes:
            self._made.copy_att(None, name, self._file)
        self._leave_out("", self._file.attributes)
        for variable in self._variables:
            name, logical = variable.name, variable.dtype == np.dtype(bool)
            dims = [f"/{dim}" for dim in variable.dims]  # from the root
            self._made.def_var(name, variable.dtype, dims, self._cut_of(variable))
            # A logical variable brings these with it.
            brought = ("_FillValue", "flag_values", "flag_meanings") if logical else ()
            for attribute in variable.attributes:
                if attribute not in brought:
                    self._copy_attribute(variable, attribute)
            self._leave_out(name, variable.attributes)
            if self._define_more is not None:
                self._define_more(variable)
        self._made.end_define()
        self._quanta = {
            variable.name: _quantum(self._made.variables[variable.name]) for variable in self._variables
        }

    def _define_groups(self, every: bool, dimensions: Iterable[Dimension]) -> None:
        """All, or those of what is copied, with their attributes."""
        used = {group for d in dimensions for group in outwards(group_of(d.name))}
        used |= {group for v in self._variables for group in outwards(group_of(v.name))}
        for name, group in self._file.groups.items():
            if not every and name not in used:
                continue
            if not has_groups(self._made.format):
                self._warn(
                    f"{self._file.path}: group '{name}' is left out: format {self._made.format} has none"
                )
                continue
            self._made.def_group(name)
            for attribute in group.attributes:
                self._made.copy_att(name + "/", attribute, self._file)
            self._leave_out(name + "/", group.attributes)

    def _copy_attribute(self, variable: Variable, name: str) -> None:
        fault = variable.fill_fault if name == "_FillValue" else ""
        kept = "kept as it is"
        try:
            self._made.copy_att(variable.name, name, self._file)
        except (NotSupportedError, TypeMismatchError):
            if not fault:
                raise
            kept = (
                f"left out, as format {self._made.format} or driver {self._made.driver} has no such attribute"
            )
        if fault:
            self._warn(
                f"{self._file.path}: variable '{variable.name}': {fault}: it is {kept}, and cells that "
                "nobody wrote have NetCDF's default"
            )

    def _leave_out(self, where: str, attributes: Attributes) -> None:
        for name, why in unread_attributes(where, attributes).items():
            self._left_out_attributes[name] = why
            self._say(f"{self._file.path}: attribute '{name}' is left out: it {why}")

    def _warn(self, text: str) -> None:
        self._warnings.append(text)
        self._say(text)

    def _say(self, text: str) -> None:
        if self._comm.rank == 0:
            print(f"shoal: {text}", file=sys.stderr)

    def _cut_of(self, variable: Variable):
        """How the variable is cut; None: it is replicated."""
        shape = variable.section_shape
        if self._cut_all and variable.dtype is not str and shape and 0 not in shape:
            cut = shape[-most_cut:]
            return self._cuts.along(cut, 0, 0, cut[0])
        first = next(steps(self._cuts, variable, self._block, writing=True), None)
        return None if first is None else first.cut

    def _records_together(self, variable: Variable) -> int:
        """Records that one compressed chunk holds."""
        made = self._made.variables[variable.name]
        return made.chunks[0] if made.storage == "compressed" else 1

    def _steps(self, variable: Variable, records: Optional[range]) -> Iterator[Step]:
        quantum = self._quanta[variable.name]
        how = {"writing": True, "quantum": quantum}
        if records is None:
            yield from steps(self._cuts, variable, self._block, **how)
            return
        # All records of a section, and then the next section: chunks of several records are soon whole.
        for step in steps(self._cuts, variable, self._block, records[:1], **how):
            if step.record == ALL_RECORDS:
                yield step
                continue
            for record in records:
                yield replace(step, record=record, origin=(record, *step.origin[1:]))

    def _copy(self, variable: Variable, records: Optional[range]) -> None:
        for step in self._steps(variable, records):
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


def _quantum(variable: Variable) -> Optional[Sequence[int]]:
    """Steps of compressed variables are whole chunks: each is encoded once. None: any steps do."""
    if variable.storage != "compressed" or variable.chunks is None:
        return None
    return variable.chunks[1:] if variable.has_record else variable.chunks
