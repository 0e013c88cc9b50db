# SPDX-License-Identifier: BSD-3-Clause
"""How what all ranks have open ends: by its with block, or because nothing uses it any more."""

from __future__ import annotations

import abc
import sys
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import Error

if TYPE_CHECKING:
    from mpi4py import MPI

_Self = TypeVar("_Self", bound="Ending")


class Ending(abc.ABC):
    """Base of what all ranks of a communicator have open."""

    _when_unused = "when it was no longer used"
    _raw: Any  # of the binding, with is_open()
    _comm: MPI.Comm

    @property
    def is_open(self) -> bool:
        """Whether it can be used: not yet closed, abandoned or left by its with block. Local."""
        return self._raw.is_open()

    @abc.abstractmethod
    def close(self) -> None: ...

    @abc.abstractmethod
    def abandon(self) -> None: ...

    @abc.abstractmethod
    def _drop(self, when: str) -> None:
        """abandon, with a warning that has `when` in it. Local."""

    @abc.abstractmethod
    def _called(self) -> str:
        """What messages call it."""

    def _is_left_to_the_end(self, caller: FrameType | None) -> bool:
        """Whether its end is put off to that of the program, when nothing uses it any more. caller: where
        that happened. Local."""
        return False

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        elif isinstance(error, Error) or self._comm.size == 1:
            try:
                self.close()
            except Error as second:
                # The first error is the one to report.
                if hasattr(error, "add_note"):
                    error.add_note(f"Closing {self._called()} failed too: {second}")
        else:
            self.abandon()

    def __del__(self):
        # During the interpreter's shutdown, and after a failed __init__, there may be nothing left.
        if getattr(self, "_raw", None) is None or not self._raw.is_open():
            return
        if not self._is_left_to_the_end(sys._getframe().f_back):
            self._drop(self._when_unused)
