# SPDX-License-Identifier: BSD-3-Clause
"""Cores and ranks: what `shoal doctor` says of them, and of the job script."""

from __future__ import annotations

import os
import shutil
import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .mpi_launch import Launcher


def cores_of_process() -> frozenset[int]:
    """The cores that this process may run on. Local."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


@dataclass(frozen=True)
class Place:
    """Where a rank runs."""

    host: str
    cores: frozenset[int]
    of_node: int  # cores that the node has


def place_of_process() -> Place:
    return Place(socket.gethostname(), cores_of_process(), os.cpu_count() or 1)


@dataclass
class Ranks:
    """What the places of all ranks say. advice: what is wrong with it, and what to do; "" if nothing is."""

    found: str
    binding: str
    advice: str = ""


def _numbers(lowest: int, highest: int) -> str:
    return str(lowest) if lowest == highest else f"{lowest} to {highest}"


def examine(places: Sequence[Place]) -> Ranks:
    by_host: dict[str, list[Place]] = {}
    for place in places:
        by_host.setdefault(place.host, []).append(place)
    ranks = [len(of_host) for of_host in by_host.values()]
    cores = [len(frozenset().union(*(p.cores for p in of_host))) for of_host in by_host.values()]
    nodes = f"{len(by_host)} node{'s' if len(by_host) > 1 else ''}"
    found = (
        f"{len(places)} on {nodes}: {_numbers(min(ranks), max(ranks))} a node, on "
        f"{_numbers(min(cores), max(cores))} core{'s' if max(cores) > 1 else ''}"
    )
    own = [len(place.cores) for place in places]
    bound = any(place.cores < frozenset().union(*(p.cores for p in by_host[place.host])) for place in places)
    each = _numbers(min(own), max(own))
    binding = f"each rank to {each} core{'s' if max(own) > 1 else ''}" if bound else "none: ranks may move"
    advice = ""
    shared = [
        (host, most)
        for host, of_host in by_host.items()
        for most in [max(Counter(p.cores for p in of_host if len(p.cores) == 1).values(), default=0)]
        if most > 1
    ]
    if shared:
        host, most = shared[0]
        advice = (
            f"{most} ranks of {host} are bound to the same core, and wait for each other all the time: ask "
            "for one core a rank (see the job script below), or bind to none (Open MPI: --bind-to none)."
        )
    elif any(r > c for r, c in zip(ranks, cores)):
        advice = (
            "More ranks than cores on a node: ranks wait for each other's time slices, and figures of speed "
            "mean nothing. Fine to try things; measure with one core a rank at least."
        )
    return Ranks(found, binding, advice)


def cores_text() -> str:
    """Of this machine, for a process that no launcher started. Local."""
    own, all_of_node = len(cores_of_process()), os.cpu_count() or 1
    limited = f" (of {all_of_node} of the node)" if own < all_of_node else ""
    return f"{own}{limited}; more ranks than that on this node wait for each other"


def batch_system() -> str:
    """ "slurm", "pbs" or "". Local."""
    if "SLURM_JOB_ID" in os.environ or shutil.which("sbatch"):
        return "slurm"
    if "PBS_JOBID" in os.environ or shutil.which("qsub"):
        return "pbs"
    return ""


def job_script(launcher: Launcher | None, system: str) -> str:
    """Lines of a job script for 2 nodes of 64 cores, one rank a core. Local."""
    openmpi = launcher is None or launcher.flavour == "openmpi"
    slurm = "#SBATCH --nodes=2 --ntasks-per-node=64 --cpus-per-task=1, then: srun --cpu-bind=cores ./model"
    start = "mpiexec --bind-to core -n 128" if openmpi else "mpiexec -bind-to core -n 128"
    pbs = f"#PBS -l select=2:ncpus=64:mpiprocs=64, then: {start} ./model"
    texts = {"slurm": slurm, "pbs": pbs}
    chosen = [texts[system]] if system else [f"Slurm: {slurm}", f"PBS: {pbs}"]
    return "2 nodes of 64 cores, one rank a core: " + "; ".join(chosen)
