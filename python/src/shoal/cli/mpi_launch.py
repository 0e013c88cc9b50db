# SPDX-License-Identifier: BSD-3-Clause
"""Starting a program on several ranks, with the launcher of the MPI that libshoal was linked with."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass

# What launchers tell the processes that they start.
_marks = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS")


def inside_mpi() -> bool:
    """Whether this process was started by an MPI launcher. Local."""
    return any(mark in os.environ for mark in _marks)


@dataclass
class Launcher:
    path: str
    flavour: str  # "openmpi" or "mpich"

    def command(self, ranks: int) -> list[str]:
        """What to put in front of a program. Local."""
        options = []
        if self.flavour == "openmpi":
            options = ["--oversubscribe"]
            if os.geteuid() == 0:
                options.append("--allow-run-as-root")
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
