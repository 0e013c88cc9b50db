# SPDX-License-Identifier: BSD-3-Clause
"""Starting a program on several ranks, with the launcher of the MPI that libshoal was linked with."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass

# Variables by which launchers tell a process that they started it.
_marks = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS")


def inside_mpi() -> bool:
    """Whether this process was started by an MPI launcher. Local."""
    return any(mark in os.environ for mark in _marks)


def expect_one_node() -> None:
    """Before MPI starts, in a process that starts no other ranks: where all ranks are on one node, or no
    launcher started it, Open MPI need not look for networks (0.2 s), and a single process needs no daemon
    (0.1 s); both take longer than joining a small set. What the environment says already counts. Local."""
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
