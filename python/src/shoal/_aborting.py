# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions that nobody catches end all ranks, and are printed once."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING

from . import _shoal
from ._library import communicator, start_mpi
from ._serving import wait
from .errors import Error

if TYPE_CHECKING:
    from types import TracebackType

    from mpi4py import MPI


def _text_of(kind: type[BaseException], error: BaseException, place: TracebackType | None) -> str:
    """What is wrong in the first line, which ranks compare and count, then where."""
    what = str(error)
    if not isinstance(error, Error):  # whose code names the kind
        what = f"{kind.__name__}: {what}" if what else kind.__name__
    return what + "\n" + "".join(traceback.format_exception(kind, error, place)).rstrip()


def abort_on_error(comm: MPI.Comm | None = None) -> None:
    """From now on an exception that nobody catches, of Shoal or not, is printed once for all ranks of comm
    that have it, with their number and one traceback, and stops all ranks, with its code as exit status (1:
    not of Shoal). By itself each rank prints it, and ranks without it may wait for ever.

    comm: a communicator of mpi4py that is not freed; None: MPI.COMM_WORLD. Sets sys.excepthook, so SystemExit
    and exceptions of threads end nothing. Raises MPIError where mpi4py has another MPI than libshoal,
    WaitTimeoutError where a rank does not come. Collective over comm."""
    comm = communicator(start_mpi().COMM_WORLD if comm is None else comm)
    wait(comm)  # its ranks can tell each other from now on

    def stop(kind: type[BaseException], error: BaseException, place: TracebackType | None) -> None:
        sys.stdout.flush()
        code = error.code if isinstance(error, Error) else 0
        _shoal.abort(comm.py2f(), code, _text_of(kind, error, place).encode(errors="backslashreplace"))

    sys.excepthook = stop
