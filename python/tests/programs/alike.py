"""What programs here share: errors that all ranks get."""

from mpi4py import MPI

import shoal

comm = MPI.COMM_WORLD


def all_raise(kind, call):
    """call() raises on every rank, `kind` on the last one."""
    try:
        call()
        caught = None
    except shoal.Error as error:
        caught = error
    found = comm.allgather(str(caught))
    assert isinstance(caught, kind if comm.rank == comm.size - 1 else shoal.Error), found
    return str(caught)
