# SPDX-License-Identifier: BSD-3-Clause
"""What a rank does in a collective call before the compiled part takes over."""

from __future__ import annotations

from types import TracebackType

import numpy as np

from . import _shoal
from ._open_file import OpenFile
from ._refusals import in_own_kind, plain_text
from .decomposition import Decomposition
from .errors import Error, InvalidArgumentError, NotFoundError, TypeMismatchError, from_code
from .types import RecordWord, memory_type


class Part:
    """This rank's part in one collective call. What fails before the call is raised only after the
    library heard of it in place of the call: the other ranks must not wait for us in vain."""

    def __init__(self, dataset: OpenFile, verb: int, name: str, decomposition, record, start, count, records):
        self._dataset = dataset
        self._verb = verb
        self._name = name
        self._given: Decomposition | None = None
        self._taken = False
        self.decomposition = decomposition
        self.record = record
        self.start = start
        self.count = count
        self.records = records

    def __enter__(self) -> Part:
        try:
            self._look_at_arguments()
        except Exception as error:
            self._refuse(error)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self._dataset._numbers.clear()  # the call may have dropped definitions
        if isinstance(error, Exception) and not self._taken:
            self._refuse(error)

    def _look_at_arguments(self) -> None:
        known = self._dataset._decompositions
        if isinstance(self.decomposition, Decomposition):
            self._given = self.decomposition
        elif self.decomposition is not None:
            kind = type(self.decomposition).__name__
            raise TypeMismatchError(f"decomposition is a {kind}; give a shoal.Decomposition.")
        plain_text(self._name, "the name of the variable")
        # The raw decomposition goes to C only if the caller gave one; for shapes we know the last one.
        if self._given is None:
            self.decomposition = known.get(self._name)
        else:
            known[self._name] = self._given

    def refuse(self, problem: Exception) -> None:
        """Others hear of what was wrong before there was a call. Collective as the call."""
        if isinstance(self.decomposition, Decomposition):
            self._given = self.decomposition
        self._refuse(problem)

    def _refuse(self, problem: Exception) -> None:
        """All ranks get one code; what is wrong here is said in this rank's own words. Returns where the
        problem itself is to be raised."""
        self._taken = True
        error = in_own_kind(problem)
        if isinstance(error, Error):
            error._at(None, self._dataset.path, self._name if isinstance(self._name, str) else None)
        try:
            number = self._dataset._number_of(plain_text(self._name, ""))
        except Error:
            number = -1
        try:
            section = self.section()
        except Exception:
            section = None
        own = isinstance(error, Error)
        code = error.code if own else InvalidArgumentError.code
        message = plain_text(f"{error.message if own else error}".encode(errors="replace").decode(), "")
        # The library says them, too.
        message = message.removeprefix(f"{self._dataset.path}: ").removeprefix(f"variable '{self._name}': ")
        agreed, theirs = self._dataset._raw.take_part(
            self._verb, number, self._raw_decomposition(), section, code, message
        )
        if own and agreed not in (0, code):
            both = f"{error.message} (All ranks get: {theirs})"
            raise from_code(agreed, both, error.rank, error.file, error.variable) from problem
        if error is not problem:
            raise error from problem

    def _raw_decomposition(self):
        return self._given._raw if self._given is not None else None

    @staticmethod
    def list(values) -> list[int] | None:
        return None if values is None else [int(np.int64(int(n))) for n in values]

    def section(self) -> tuple[int, list[int] | None, list[int] | None, int]:
        """Record, start, count and records, as the compiled part takes them."""
        start, count = self.list(self.start), self.list(self.count)
        if (start is None) != (count is None):
            raise InvalidArgumentError(f"Variable '{self._name}': give both start and count, or neither.")
        return self._index(), start, count, self.several()

    def several(self) -> int:
        """How many records are meant, 0: one, without a dimension for it."""
        if self.records is None:
            return 0
        number = int(np.int64(int(self.records)))
        if number < 1:
            raise InvalidArgumentError(
                f"records is {number}; give 1 or more, or leave it out for one record."
            )
        return number

    def _index(self) -> int:
        if self.record is None:
            return _shoal.NO_RECORD
        index = int(np.int64(int(self.record)))  # raises where it does not fit
        return index if index >= 0 or isinstance(self.record, RecordWord) else self._from_end(index)

    def _from_end(self, record: int) -> int:
        if self._verb in (_shoal.VERB_WRITE, _shoal.VERB_PUT):
            raise InvalidArgumentError(
                f"record is {record}: records to write count from 0; shoal.NEXT is the one after the last."
            )
        variable = self._dataset.variables[self._name]
        if not variable.has_record:
            raise InvalidArgumentError(f"record is {record}, but the variable has no record dimension.")
        length = variable.shape[0]
        if record < -length:
            raise NotFoundError(
                f"there is no record {record}; dimension '{variable.dims[0]}' has {length} records."
            )
        return record + length

    def call(self, transfer, *values):
        """One of the library's calls, which sees to it from there on that this rank takes part."""
        number, section = self._dataset._number_of(self._name), self.section()
        self._taken = True
        return transfer(number, *values, section)

    def copy(self, source: OpenFile, source_name: str) -> None:
        there = source._number_of(plain_text(source_name, "source_name"))
        number, section = self._dataset._number_of(self._name), self.section()
        self._taken = True
        self._dataset._raw.copy(number, self._raw_decomposition(), source._raw, there, section)

    def go(self, array: np.ndarray | None) -> None:
        number = self._dataset._number_of(self._name)
        kind = _shoal.BYTE
        if array is not None:
            kind = memory_type(array)
            if array.ndim > _shoal.MAX_DIMS:
                raise InvalidArgumentError(
                    f"The array has {array.ndim} dimensions; at most {_shoal.MAX_DIMS} are possible."
                )
            if array.dtype.kind == "b":
                array = array.view("u1")
            if not array.flags.writeable and self._verb in (_shoal.VERB_READ, _shoal.VERB_GET):
                raise InvalidArgumentError("out= is a read-only array.")
        section = self.section()
        # From here on the compiled part sees to it that this rank takes part.
        self._taken = True
        self._dataset._raw.transfer(self._verb, number, self._raw_decomposition(), array, kind, section)
