# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns of real runs: ranks that are killed, disks that are full, writes that fail."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import crash_pool
from crash_log import read_state
from crash_runs import Run, Table, Workload, execute

HOWS = {"ENOSPC": errno.ENOSPC, "EDQUOT": errno.EDQUOT, "EIO": errno.EIO, "short": 0}


def changes_of(workload: Workload, folder: Path) -> int:
    """How many changes a whole run makes. RuntimeError: it fails."""
    run = execute(workload, folder, log=False)
    if run.code != 0:
        raise RuntimeError(f"{workload.name}: code {run.code}\n{run.output}")
    return read_state(folder / "state")["changes"]


def _kind(run: Run) -> str:
    begun = [p for p in run.promises if "begin" in p]
    return max(begun, key=lambda p: p["begin"])["kind"] if begun else "define"


def kill(workload: Workload, count: int, folder: Path, table: Table, seed: int) -> None:
    """So many runs that die at a random change: one rank or all of them, before a write or amid it."""
    choice = random.Random(f"{seed} {workload.name}")
    counts = table.row(f"kill {workload.name}")
    changes = changes_of(workload, folder / "whole")
    asked = []
    for n in range(count):
        orders = {
            "kill_at": choice.randrange(1, changes + 1),
            "kill_all": choice.randrange(2),
            "kill_torn": choice.randrange(2),
        }
        run = execute(workload, folder / f"kill{n}", log=False, **orders)
        counts["kills"] += 1
        if run.code == 0:
            counts["too late"] += 1  # other ranks wrote more this time, or fewer
        if run.promised is None:
            counts["early"] += 1
            run.remove()
        else:
            asked.append((run, orders))
    answers = crash_pool.check_folders(
        [(run.folder / "files", run.promised, workload.scenario != "domains") for run, _ in asked]
    )
    for (run, orders), answer in zip(asked, answers):
        counts["checked"] += 1
        state = answer["state"]
        if state == "healed" and (workload.is_store or _kind(run) == "append" and not workload.durable):
            state = "healed!"
        if answer.get("append"):
            state = "bad"
        counts[state] += 1
        if state in ("bad", "healed!"):
            table.bad.append(f"kill {workload.name} {orders} ({state}): {answer}")
        run.remove()


class Failures:
    """Runs in which something failed. The copies taken then are those of the last commit, for everybody; and
    the run goes on and ends well. All are looked at together, at the end."""

    def __init__(self, name: str, table: Table, may_be_healed: bool = False):
        self._may_be_healed = may_be_healed
        self.counts = table.row(name)
        self._name = name
        self._table = table
        self._asked: list[tuple[str, Path, dict]] = []

    def add(self, run: Run, what: str) -> None:
        self.counts["runs"] += 1
        self.counts["injected"] += read_state(run.folder / "state")["failed"]
        promise = None
        for reported in run.promises:
            if "promise" in reported:
                promise = reported
            elif "failed" in reported:
                self.counts["failures"] += 1
                if promise is None:
                    self.counts["early"] += 1
                else:
                    self._asked.append((f"{what}: copy", run.folder / "copies" / reported["copy"], promise))
        odd = [line for line in run.output.splitlines() if line.startswith(("LOST", "DISAGREE"))]
        if run.code != 0 or odd or promise is None:
            self.counts["bad run"] += 1
            done = promise and promise["promise"]
            self._bad(f"{what}: code {run.code} after {done} commits: {run.output[-600:]}")
        else:
            shutil.copytree(run.folder / "files", run.folder / "end", symlinks=False)
            self._asked.append((f"{what}: end", run.folder / "end", promise))

    def judge(self) -> None:
        answers = crash_pool.check_folders([(folder, promise, False) for _, folder, promise in self._asked])
        for (what, folder, _), answer in zip(self._asked, answers):
            at_end = folder.name == "end"
            self.counts["ends" if at_end else "copies"] += 1
            if answer["state"] == "ok":
                continue
            self.counts["bad end" if at_end else f"{answer['state']} copy"] += 1
            if answer["state"] == "healed" and self._may_be_healed and not at_end:
                continue
            self._bad(f"{what}: {answer}")

    def _bad(self, what: str) -> None:
        self._table.bad.append(f"{self._name}, {what}")


def inject(
    workload: Workload, places: list[int], how: str, lasting: bool, folder: Path, table: Table, what: int = 1
) -> None:
    """A change (or fsync: what=2) of each of these numbers fails, alone or with all after it, until the
    commit has failed. Where there is no space, what needs none goes on. Of a device that fails for good
    nothing can be taken back: then Shoal must be able to finish what is there."""
    name = f"{how}{' from there on' if lasting else ' once'}{' of fsync' if what == 2 else ''}"
    dead = lasting and how == "EIO"
    failures = Failures(f"{name} {workload.name}", table, may_be_healed=dead)
    for place in places:
        here = folder / f"inject{place}"
        run = execute(
            workload,
            here,
            log=False,
            env={"CRASH_COPY": str(here / "copies")},
            fail_at=place,
            fail_how=HOWS[how],
            fail_on=0 if not lasting else 1 if dead or how == "short" else 2,
            fail_what=what,
        )
        failures.add(run, f"fail_at={place}")
    failures.judge()


@contextlib.contextmanager
def mounted(folder: Path, *command: str) -> Iterator[Path]:
    """A file system that is mounted there meanwhile. PermissionError: this user, or system, cannot."""
    folder.mkdir(parents=True, exist_ok=True)
    result = subprocess.run(["mount", *command, str(folder)], capture_output=True, text=True)
    if result.returncode != 0:
        raise PermissionError(result.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def full_tmpfs(workload: Workload, sizes: list[int], folder: Path, table: Table) -> None:
    """Disks of so many bytes; when one is full, and the files were copied, it grows."""
    failures = Failures(f"tmpfs {workload.name}", table)
    for size in sizes:
        with mounted(folder / "disk", "-t", "tmpfs", "-o", f"size={size}", "tmpfs") as disk:
            here = folder / f"full{size}"
            env = {"CRASH_COPY": str(here / "copies"), "CRASH_SPACE": "64m"}
            failures.add(execute(workload, here, log=False, files=disk, env=env), f"size={size}")
    failures.judge()


def full_ext4(workload: Workload, room: list[int], folder: Path, table: Table) -> None:
    """A small ext4 on a loop device, filled up but for so many bytes; what fills it goes when it failed."""
    failures = Failures(f"ext4 {workload.name}", table)
    device = folder / "device"
    for free in room:
        with open(device, "wb") as file:
            file.truncate(8 << 20)
        subprocess.run(
            ["mkfs.ext4", "-q", "-O", "^has_journal", str(device)], check=True, capture_output=True
        )
        with mounted(folder / "disk", "-o", "loop", str(device)) as disk:
            filler = disk / "filler"
            with open(filler, "wb", buffering=0) as file:
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(4096))
                os.fsync(file.fileno())
                file.truncate(max(0, file.tell() - free))
            here = folder / f"full{free}"
            env = {"CRASH_COPY": str(here / "copies"), "CRASH_SPACE": str(filler)}
            (disk / "files").mkdir()
            failures.add(execute(workload, here, log=False, files=disk / "files", env=env), f"free={free}")
    failures.judge()
