# SPDX-License-Identifier: BSD-3-Clause
"""Runs of crash_workload: recorded, killed, and on disks that are full or broken."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from crash_log import Change, Promises, lines_of, write_state

TOP = Path(__file__).resolve().parents[2]
LIMIT = 240  # seconds, for what hangs


def build_folder() -> Path:
    return Path(os.environ.get("TEST_BUILD_DIR", TOP / "build" / "release"))


def alone() -> dict[str, str]:
    """What one process without a launcher needs; with one it changes nothing."""
    return {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}


@dataclass(frozen=True)
class Workload:
    scenario: str
    format: str
    ranks: int = 2
    records: int = 10
    durable: bool = False
    more: tuple[str, ...] = ()
    # "netcdf", "pnetcdf": by this library's calls, which a door takes to Shoal.
    door: str = ""
    node: int = 0  # ranks of a node; 0: all are on one

    @property
    def name(self) -> str:
        parts = [self.door, self.scenario] if self.door else [self.scenario]
        parts += [self.format, f"{self.ranks}r", f"{self.records}rec"]
        parts += ["durable"] * self.durable + [f"{self.node}rnode"] * (self.node > 0)
        return "-".join(parts + [m.replace("=", "") for m in self.more])

    @property
    def is_store(self) -> bool:
        """Its file is a folder."""
        return self.format == "zarr"

    @property
    def file_name(self) -> str:
        return "his.zarr" if self.is_store else "his.nc"

    def program(self) -> Path:
        return build_folder() / "tests" / "_".join(filter(None, ("crash_workload", self.door)))

    def preloaded(self) -> list[Path]:
        """The recorder, then the door."""
        doors = build_folder() / "lib" / "shoal" / "doors"
        return [build_folder() / "tests" / "libcrash_recorder.so"] + [
            doors / f"libshoal_{self.door}.so"
        ] * bool(self.door)

    def command(self, path: Path) -> list[str]:
        program = self.program()
        options = [f"records={self.records}", f"durable={int(self.durable)}", *self.more]
        return [str(program), self.scenario, self.format, str(path), *options]


@dataclass
class Run:
    """The folder of a run: files/, log/, promise, state, copies/."""

    folder: Path
    workload: Workload
    code: int = 0
    output: str = ""

    @property
    def path(self) -> Path:
        return self.folder / "files" / self.workload.file_name

    @property
    def promises(self) -> list[dict]:
        """What was said, without the line that a kill cut short."""
        path = self.folder / "promise"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return lines_of(lines)

    @property
    def promised(self) -> dict | None:
        done = [p for p in self.promises if "promise" in p]
        return max(done, key=lambda p: p["promise"]) if done else None

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def execute(
    workload: Workload,
    folder: Path,
    log: bool = True,
    files: Path | None = None,
    base: Path | None = None,
    env: dict[str, str] | None = None,
    **orders: int,
) -> Run:
    """Run a workload under the recorder.

    files   a folder for its files, elsewhere
    base    a folder of files that are there already
    orders  kill_at=, fail_at=, ...: see recorder.c
    """
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("files", "log", "copies"):
        (folder / name).mkdir(parents=True)
    if files is not None:  # a file system of their own
        (folder / "files").rmdir()
        (folder / "files").symlink_to(files)
    if base is not None:
        shutil.copytree(base, folder / "files", dirs_exist_ok=True)
    write_state(folder / "state", names=int(workload.is_store), **orders)
    inside = {
        "LD_PRELOAD": ":".join(map(str, workload.preloaded())),
        "CRASH_FOLDER": str(files or folder / "files"),
        "CRASH_PROMISE": str(folder / "promise"),
        "CRASH_STATE": str(folder / "state"),
        "SHOAL_DOORS_REPORT": str(folder / "report"),
        **({"CRASH_LOG": str(folder / "log")} if log else {}),
        **({"SHOAL_RANKS_PER_NODE": str(workload.node)} if workload.node else {}),
        **(env or {}),
    }
    command = [str(TOP / "tools" / "mpirun.sh"), str(workload.ranks)] if workload.ranks > 1 else []
    command += ["env", *(f"{key}={value}" for key, value in {**alone(), **inside}.items())]
    command += workload.command((files or folder / "files") / workload.file_name)
    run = Run(folder, workload)
    run.code, run.output = run_program(command)
    if run.code == 0 and workload.door and "served by Shoal" not in (folder / "report").read_text():
        raise RuntimeError(f"{workload.name}: the door did not serve it\n{run.output}")
    return run


def run_program(command: list[str]) -> tuple[int, str]:
    """Code and output; -1: it hung."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={k: v for k, v in os.environ.items() if not k.startswith("CRASH_")},
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return -1, f"did not end within {LIMIT} s\n{output}"
    return process.returncode, output


def files_in(folder: Path, name: str = "") -> dict[str, bytes]:
    """The bytes of all files of a folder, by their paths; an empty folder has the path "name/"."""
    files = {}
    for path in sorted((folder / name).iterdir()):
        below = path.relative_to(folder).as_posix()
        if path.is_dir():
            files |= files_in(folder, below) or {below + "/": b""}
        else:
            files[below] = path.read_bytes()
    return files


def lay_out(folder: Path, files: dict[str, bytes]) -> None:
    """Writes files by their paths, as files_in gives them."""
    made = set()
    for name, data in files.items():
        path = folder / name
        inner = path if name.endswith("/") else path.parent
        if inner not in made:
            inner.mkdir(parents=True, exist_ok=True)
            made.add(inner)
        if path is not inner:
            path.write_bytes(data)


def record(workload: Workload, folder: Path) -> Run:
    """A run that goes well. RuntimeError: it did not."""
    run = execute(workload, folder)
    if run.code != 0:
        raise RuntimeError(f"{workload.name}: code {run.code}\n{run.output}")
    return run


def first_promise(changes: list[Change]) -> int:
    """The first place at which something is promised."""
    promises = Promises(changes)
    return next(place for place in range(len(changes) + 1) if promises.at(place))


class Table:
    """Counts of a campaign: rows, and a line for each bad image that says how to see it again."""

    def __init__(self):
        self.rows: list[tuple[str, Counter]] = []
        self.bad: list[str] = []

    def row(self, name: str) -> Counter:
        self.rows.append((name, Counter()))
        return self.rows[-1][1]

    def text(self) -> str:
        columns = sorted({key for _, counts in self.rows for key in counts})
        width = max([len(name) for name, _ in self.rows] + [8])
        lines = [" ".join(["workload".ljust(width), *(c.rjust(max(8, len(c))) for c in columns)])]
        total: Counter = Counter()
        for _, counts in self.rows:
            total.update(counts)
        for name, counts in [*self.rows, ("all", total)]:
            cells = (str(counts[c]).rjust(max(8, len(c))) for c in columns)
            lines.append(" ".join([name.ljust(width), *cells]))
        return "\n".join(lines)

    def save(self, path: Path) -> None:
        reported = {"rows": [{"workload": n, **c} for n, c in self.rows], "bad": self.bad}
        path.write_text(json.dumps(reported, indent=1) + "\n")
