# SPDX-License-Identifier: BSD-3-Clause
"""What this machine has: memory that may still be taken, free bytes of a folder's file system."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import psutil

_in_memory = ("tmpfs", "ramfs")


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # "max": no limit
        return None


def _reclaimable(group: Path) -> int:
    """Bytes of files that the kernel drops when memory is needed; they count as used in a control group."""
    try:
        pairs = [line.split() for line in (group / "memory.stat").read_text().splitlines()]
    except OSError:
        return 0
    stat = {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}
    return stat.get("inactive_file", stat.get("total_inactive_file", 0))


def _group_memory(root: Path, own: str) -> list[int]:
    """What the control groups of this process leave: each one from its own to the topmost may have a limit.

    root: where the hierarchy is mounted; own: /proc/self/cgroup."""
    left = []
    for line in own.splitlines():
        _, controllers, place = line.split(":", 2)
        if controllers == "":
            top, names = root, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            top, names = root / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        group = top / place.strip("/")
        # In a container the place may be one that only the host can see; its files are then at the top.
        groups = [group, *group.parents] if group.is_dir() else [top]
        for folder in groups:
            limit, used = (_number(folder / name) for name in names)
            if limit is not None and limit < 2**60 and used is not None:
                left.append(max(0, limit - used + _reclaimable(folder)))
            if folder == top:
                break
    return left


def available_memory(
    meminfo: Path = Path("/proc/meminfo"),
    groups: Path = Path("/sys/fs/cgroup"),
    own: Path = Path("/proc/self/cgroup"),
) -> int | None:
    """Bytes that programs can take on this node, None if nobody says. Local."""
    found = []
    try:
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found.append(1024 * int(line.split()[1]))
    except (OSError, ValueError, IndexError):
        pass
    try:
        found += _group_memory(groups, own.read_text())
    except (OSError, ValueError):
        pass
    return min(found, default=None)


def usable_cores(quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """How many cores of this node programs may use, a container's quota counted. Local."""
    cores = len(os.sched_getaffinity(0))
    try:
        share, period = quota.read_text().split()
        cores = min(cores, -(-int(share) // int(period)))
    except (OSError, ValueError):  # "max": no quota
        pass
    return max(1, cores)


def nodes() -> int:
    """How many nodes the batch system gave to this job; 1 without one. Local."""
    for key in ("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NUM_NODES"):
        if os.environ.get(key, "").isdigit():
            return max(1, int(os.environ[key]))
    hosts = os.environ.get("PBS_NODEFILE") or os.environ.get("PE_HOSTFILE")
    try:
        return max(1, len({line.split()[0] for line in Path(hosts).read_text().splitlines() if line.strip()}))
    except (OSError, TypeError):
        return 1


@dataclass(frozen=True)
class Folder:
    """A folder to write to. in_memory: its files take memory (tmpfs)."""

    path: str
    free_bytes: int
    in_memory: bool


def _kind(path: str) -> str:
    """Of the file system that a folder is on, as the mounts name it; of several at one place, the last."""
    real = os.path.realpath(path)
    mounts = [
        mount
        for mount in reversed(psutil.disk_partitions(all=True))
        if os.path.commonpath([mount.mountpoint, real]) == mount.mountpoint
    ]
    return max(mounts, key=lambda mount: len(mount.mountpoint)).fstype if mounts else ""


def look_at(path: str) -> Folder:
    """OSError where it is none that can be written to. Local."""
    if not os.path.isdir(path):
        raise NotADirectoryError(f"{path} is no folder")
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(f"{path} is a folder that you may not write to")
    return Folder(path, shutil.disk_usage(path).free, _kind(path) in _in_memory)
