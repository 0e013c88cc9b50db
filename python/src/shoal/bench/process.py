# SPDX-License-Identifier: BSD-3-Clause
"""One start of the engine under mpiexec: its events, its end, and the files it leaves when it is ended."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..cli.mpi_launch import find_launcher
from .engine import Engine, EngineError, engine_environment
from .study import Start

_patience = 10.0  # seconds for mpiexec to end its ranks when it is asked to
_shown_lines = 12
# A prefix as short as "a" would take files of others along.
_least_prefix = 8


class Interrupted(Exception):
    """Somebody asked for the end: Ctrl-C, or a signal."""


def remove_files(prefix: str, folders: Sequence[str]) -> list[str]:
    """Remove what the engine made in these folders: all that begins with the prefix of its `begin` event.
    Returns what was removed. Local."""
    prefix = os.path.basename(prefix.rstrip("*"))
    if len(prefix) < _least_prefix:
        return []
    removed = []
    for folder in folders:
        for path in glob.glob(os.path.join(glob.escape(folder), glob.escape(prefix) + "*")):
            with contextlib.suppress(OSError):
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path)
                else:
                    os.unlink(path)
                removed.append(path)
    return removed


def _session_members(session: int) -> list[int]:
    """Processes of a session: mpiexec, its helpers and ranks, which have process groups of their own."""
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # After the name in brackets: state, parent, group, session.
                told = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(told[3]) == session and told[0] != "Z":
                    members.append(int(entry.name))
    return members


class Run:
    """A start that runs. Use it with `with`: leaving it ends what still runs and removes its files.

    begin    the `begin` event, once it came
    prefix   of its files
    """

    def __init__(self, engine: Engine, start: Start, first_round: int):
        launcher = find_launcher()
        if launcher is None:
            raise EngineError(
                "no mpiexec of the MPI of libshoal was found; add it to PATH or set MPIRUN_LAUNCHER."
            )
        open_mpi = launcher.flavour == "openmpi"
        if start.mpi_io not in ("default", "romio") and not open_mpi:
            raise EngineError(
                f"--mpi-io {start.mpi_io} chooses a component of Open MPI; this is another MPI."
            )
        self.start = start
        self.begin: dict = {}
        arguments = [*start.arguments(), "--stream"]
        if first_round > 1:
            arguments += ["--first-round", str(first_round)]
        self.command = [*launcher.command(start.ranks), str(engine.path), *arguments]
        chosen = {}
        if open_mpi and start.mpi_io != "default":
            # ROMIO's component bears its version in its name: romio321, romio341.
            chosen["OMPI_MCA_io"] = "^ompio" if start.mpi_io == "romio" else start.mpi_io
        # To a file, since nobody reads a second pipe while the first is waited for.
        self._said = tempfile.TemporaryFile("w+", errors="replace")
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            errors="replace",
            env=engine_environment(chosen),
            start_new_session=True,  # Ctrl-C in the terminal is for the runner alone
        )

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_) -> None:
        ended = self._process.poll() is None
        self._end()
        if ended or self._process.returncode != 0:
            remove_files(self.prefix, self.start.dirs)
        self._process.stdout.close()
        self._said.close()

    @property
    def prefix(self) -> str:
        return str(self.begin.get("files", ""))

    def events(self) -> Iterator[dict]:
        """What it tells, until it ends. Lines that are no events go to nowhere but the log of a failure."""
        for line in self._process.stdout:
            try:
                event = json.loads(line)
                kind = event.get("event")
            except (ValueError, AttributeError):
                self._said.write(line)
                continue
            if kind == "begin":
                self.begin = event
            yield event

    def finish(self) -> tuple[int, list[str]]:
        """Its exit code, and the last lines that it said, its own words first. Local."""
        code = self._process.wait()
        self._said.seek(0)
        lines = [line.rstrip() for line in self._said if line.strip()]
        own = [line for line in lines if line.startswith("shoal-bench")]
        return code, own or list(deque(lines, _shown_lines))

    def _signal_all(self, number: int) -> None:
        for member in _session_members(self._process.pid):
            with contextlib.suppress(OSError):
                os.kill(member, number)

    def _end(self) -> None:
        """End mpiexec and its ranks: asked first, since it knows its ranks on other nodes; then made to."""
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_patience)
        until = time.monotonic() + _patience
        while _session_members(self._process.pid):
            self._signal_all(signal.SIGKILL)
            if time.monotonic() > until:
                break
            time.sleep(0.02)
        self._process.wait()


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise Interrupted in here, once: what is being put in order is not
    interrupted again."""
    asked = False

    def stop(number, frame) -> None:
        nonlocal asked
        if not asked:
            asked = True
            raise Interrupted(signal.Signals(number).name)

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    # What is ignored stays ignored: nohup.
    wanted = [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
