# SPDX-License-Identifier: BSD-3-Clause
"""Starting a program on several ranks, with the launcher of the MPI that libshoal was linked with."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

# Variables by which launchers tell a process that they started it.
_marks = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS")


def inside_mpi() -> bool:
    """Whether this process was started by an MPI launcher. Local."""
    return any(mark in os.environ for mark in _marks)


def expect_one_node() -> None:
    """Before MPI starts, in a process that starts no other ranks: where all ranks are on one node, or no
    launcher started it, Open MPI need not look for networks, and a single process needs no daemon; both take
    longer than joining a small set. What the environment says already counts. Local."""
    if not inside_mpi():
        found = {"ess_singleton_isolated": "1", "pml": "ob1", "btl": "self"}
    elif os.environ.get("OMPI_COMM_WORLD_SIZE", "") == os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE"):
        found = {"pml": "ob1"}
    else:
        return
    for key, value in found.items():
        os.environ.setdefault(f"OMPI_MCA_{key}", value)


@dataclass
class Launcher:
    path: str
    flavour: str  # "openmpi" or "mpich"

    def command(self, ranks: int, ranks_per_node: int = 0) -> list[str]:
        """What to put in front of a program. ranks_per_node: 0 as the launcher does it. Local."""
        options = []
        if self.flavour == "openmpi":
            options = ["--oversubscribe"]
            if os.geteuid() == 0:
                options.append("--allow-run-as-root")
            if ranks_per_node:
                options += ["--map-by", f"ppr:{ranks_per_node}:node"]
        elif ranks_per_node:
            options = ["-ppn", str(ranks_per_node)]
        return [self.path, *options, "-n", str(ranks)]


def _flavour_of(text: str) -> str | None:
    lowered = text.lower()
    if "open mpi" in lowered or "openrte" in lowered or "open-rte" in lowered or "openmpi" in lowered:
        return "openmpi"
    if "hydra" in lowered or "mpich" in lowered or "intel" in lowered:
        return "mpich"
    return None


def find_launcher() -> Launcher | None:
    """The mpiexec of the MPI in use, None if there is none. MPIRUN_LAUNCHER names one. Local."""
    from .. import _shoal

    wanted = _flavour_of(_shoal.mpi_library())
    for name in (os.environ.get("MPIRUN_LAUNCHER"), f"mpiexec.{wanted}", "mpiexec", "mpirun"):
        path = shutil.which(name) if name else None
        if path is None:
            continue
        try:
            shown = subprocess.run(
                [path, "--version"], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        flavour = _flavour_of(shown.stdout + shown.stderr)
        if wanted is None or flavour == wanted:
            return Launcher(path, flavour or "mpich")
    return None


def launch_environment(launcher: Launcher | None) -> dict[str, str]:
    """The environment for a started program: ranks that wait leave the core to others. Local."""
    environment = dict(os.environ)
    if launcher is not None and launcher.flavour == "openmpi":
        environment.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
        environment.setdefault("OMPI_MCA_btl_vader_single_copy_mechanism", "none")
        environment.setdefault("OMPI_MCA_hwloc_base_binding_policy", "none")
    return environment


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
