# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that store for others, and the end of what threads store after close."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _shoal
from ._library import communicator, start_mpi
from ._refusals import refuse_on_comm, taking_part

if TYPE_CHECKING:
    from mpi4py import MPI


@taking_part(refuse_on_comm)
def wait(comm: MPI.Comm | None) -> None:
    """Finish what close left to threads (setting background_close): all files that were closed, and whose
    ranks are all in comm, are whole; with MPI.COMM_WORLD that is every one.

    Raises the first failure, after all were tried, on all ranks. comm: a communicator of mpi4py; None: the
    files of this process alone. Collective over comm."""
    _shoal.wait(communicator(comm).py2f())


def serve(comm: MPI.Comm | None, n: int) -> MPI.Comm | None:
    """Let the last n ranks of each node compute nothing and store for the others (background="ranks").

    There it returns None when the others are done (stop_serving, or the end of the program). On these it
    returns their communicator at once: datasets with background="ranks" are made on it. n 0: nobody serves.
    Raises StateError where ranks serve already, InvalidArgumentError where no rank of a node could compute.
    Collective over comm, a communicator of mpi4py."""
    comm = communicator(comm)
    computing = start_mpi().Comm.f2py(_shoal.serve(comm.py2f(), n))
    return None if computing == start_mpi().COMM_NULL else computing


def serve_components(comm: MPI.Comm | None, component: int | None) -> MPI.Comm | None:
    """The same where each rank says what it does: it computes in a component (0, 1, ...), or, with None, it
    serves.

    The servers of a node are dealt out to the components with ranks there, in order, and each serves one of
    them: there it returns None when that one is done. On computing ranks it returns the communicator of their
    component at once, in the order of comm; each component lets its servers go by itself (stop_serving).
    Raises StateError where ranks serve already, InvalidArgumentError for a component below 0 and where a node
    has fewer servers than components. Collective over comm, a communicator of mpi4py."""
    comm = communicator(comm)
    if component is None:
        component = _shoal.SERVES
    elif component < 0:
        component = _shoal.SERVES - 1  # which the library refuses, on all ranks
    computing = start_mpi().Comm.f2py(_shoal.serve_components(comm.py2f(), component))
    return None if computing == start_mpi().COMM_NULL else computing


def stop_serving() -> None:
    """Let the ranks go that serve; the end of the program does it, too. Collective over the computing ranks
    of a component.

    What close left to them is finished first. Raises StateError while datasets with background="ranks" are
    open."""
    _shoal.stop_serving()
