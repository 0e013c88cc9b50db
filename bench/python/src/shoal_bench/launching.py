# SPDX-License-Identifier: BSD-3-Clause
"""What MPI has to be told before a start is measured on this machine."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

from shoal.cli.mpi_launch import Launcher

# Two processes, of which one reads the memory of the other, as ranks of a node do. (The runner itself has
# threads, and must not fork.)
_reading = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
class Piece(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("length", ctypes.c_size_t)]
there, here = ctypes.create_string_buffer(b"shoal"), ctypes.create_string_buffer(5)
ready, done = os.pipe(), os.pipe()
read_of = os.fork()
if read_of == 0:
    os.close(done[1])
    libc.prctl(0x59616D61, ctypes.c_ulong(-1 % 2**64), 0, 0, 0)  # as Open MPI does: any process may
    os.write(ready[1], b"x")
    os.read(done[0], 1)
    os._exit(0)
os.read(ready[0], 1)
reader = os.fork()
if reader == 0:
    own, other = Piece(ctypes.addressof(here), 5), Piece(ctypes.addressof(there), 5)
    got = libc.process_vm_readv(read_of, ctypes.byref(own), 1, ctypes.byref(other), 1, 0)
    os._exit(0 if got == 5 and here.raw == b"shoal" else 1)
status = os.waitpid(reader, 0)[1]
os.close(done[1])
os.waitpid(read_of, 0)
sys.exit(0 if status == 0 else 1)
"""


@functools.lru_cache(maxsize=1)
def ranks_may_read_each_other() -> bool:
    """Whether a process may copy from the memory of one beside it (process_vm_readv); containers often
    refuse it, and Open MPI then fails unless it is told so. Local."""
    try:
        done = subprocess.run([sys.executable, "-I", "-c", _reading], capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def needed_settings(launcher: Launcher | None, ranks_on_node: int, cores: int) -> dict[str, str]:
    """Settings to add to the environment of a start that is measured: no more than MPI cannot do without on
    this machine, and nothing that the environment says already. Local.

    Ranks are not bound to a core each, since threads beside a rank would have to share its core; they leave
    the core to others while they wait, where there are more of them than cores."""
    found = {}
    if launcher is not None and launcher.flavour == "openmpi":
        found["OMPI_MCA_hwloc_base_binding_policy"] = "none"
        if ranks_on_node > cores:
            found["OMPI_MCA_mpi_yield_when_idle"] = "1"
        if not ranks_may_read_each_other():
            found["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
    return {key: value for key, value in found.items() if key not in os.environ}
