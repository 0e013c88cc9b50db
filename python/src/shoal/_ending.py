# SPDX-License-Identifier: BSD-3-Clause
"""How what all ranks have open ends: by its with block, or because nothing uses it any more."""

from __future__ import annotations

import abc
import atexit
import sys
import weakref
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import mpi4py

from .errors import Error

if TYPE_CHECKING:
    from mpi4py import MPI

_Self = TypeVar("_Self", bound="Ending")


_open: weakref.WeakSet[Ending] = weakref.WeakSet()


# What nobody closed is closed in MPI_Finalize, which mpi4py calls later and where all ranks come together. A
# program that ends by an exception may have other ranks that never come there: it drops what it has open.
@atexit.register
def _leave_what_is_open() -> None:
    for one in list(_open):
        _leave_to_the_end(one)


def _leave_to_the_end(one: Ending) -> None:
    failed = getattr(sys, "last_type", None) is not None
    finalizes = mpi4py.rc.initialize if mpi4py.rc.finalize is None else mpi4py.rc.finalize
    if finalizes and not failed and one.is_open and one._stores():
        one._raw.leave()
        one._forget()
    else:
        one._drop("at the end of the program")


_runners = ("runpy", "mpi4py.run", "mpi4py.__main__")


def _script_is_over(caller: FrameType | None) -> bool:
    """Whether of the program only those are left that ran its script, as `python -m mpi4py` does, which
    forgets the script's variables before the program ends. caller: the frame to begin with. Local."""
    names = []
    while caller is not None:
        names.append(getattr(caller.f_globals.get("__spec__"), "name", ""))
        caller = caller.f_back
    return bool(names) and all(name in _runners for name in names)


class Ending(abc.ABC):
    """Base of what all ranks of a communicator have open."""

    _when_unused = "when it was no longer used"
    _raw: Any  # of the binding, with is_open() and leave()
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

    def _stores(self) -> bool:
        """Whether something is lost where nobody closes it. Local."""
        return True

    def _begin(self) -> None:
        _open.add(self)

    def _forget(self) -> None:
        _open.discard(self)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        elif (isinstance(error, Error) and not error._of_one_rank) or self._comm.size == 1:
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
        if _script_is_over(sys._getframe().f_back):
            _leave_to_the_end(self)
        else:
            self._drop(self._when_unused)
