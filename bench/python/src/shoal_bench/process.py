# SPDX-License-Identifier: BSD-3-Clause
"""One start of the engine under mpiexec: its events, its end, and the files it leaves when it is ended."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from shoal.cli.mpi_launch import Launcher

from .engine import Engine, EngineError, settings_for, settings_in_environment
from .lab import Labfs, mounts_of_a_start
from .signals import held_back
from .study import Start

_patience = 10.0  # seconds for mpiexec to end its ranks when it is asked to
_shown_lines = 12


def is_prefix(prefix: str, experiment: str) -> bool:
    """Whether the engine begins the names of an experiment's files like this: with the host, the process and
    when it began. Anything shorter would take files of others along. Local."""
    return re.fullmatch(rf"shoal-bench-{re.escape(experiment)}-[\w.-]+-\d[\w.]*-", prefix, re.A) is not None


def remove_files(prefix: str, experiment: str, folders: Sequence[str]) -> list[str]:
    """Remove what the engine made in these folders: files that begin with the prefix of its `begin` event.
    Returns what was removed; nothing where it is no such prefix. Local."""
    removed = []
    for folder in folders if is_prefix(prefix, experiment) else ():
        for path in glob.glob(os.path.join(glob.escape(folder), glob.escape(prefix) + "*")):
            with contextlib.suppress(OSError):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    os.unlink(path)
                    removed.append(path)
    return removed


def _session_members(session: int) -> list[psutil.Process]:
    """Processes of a session: mpiexec, its helpers and ranks, which have process groups of their own.

    (Not the children of mpiexec: those whose parent is gone are no longer among them.)"""
    members = []
    for process in psutil.process_iter(["status"]):
        with contextlib.suppress(OSError):
            if os.getsid(process.pid) == session and process.info["status"] != psutil.STATUS_ZOMBIE:
                members.append(process)
    return members


def _in_words(mpiexec: Sequence[str], chosen: dict[str, str]) -> str:
    """ "mpiexec --oversubscribe; mpi_yield_when_idle=1": all that changes how ranks run. Local."""
    options = list(mpiexec[1:])
    del options[options.index("-n") : options.index("-n") + 2]
    reported = {**settings_in_environment(), **chosen}
    settings = [
        f"{name.removeprefix('OMPI_MCA_')}={value}"
        for name, value in sorted(reported.items())
        if not name.startswith("SHOAL_")
    ]
    return "; ".join([" ".join([os.path.basename(mpiexec[0]), *options]), *settings])


class Run:
    """A start that runs. Use it with `with`: leaving it ends what still runs and removes its files.

    begin    the `begin` event, once it came
    prefix   of its files
    launch   how it was launched, in words: options of mpiexec, settings of MPI
    """

    def __init__(
        self,
        engine: Engine,
        start: Start,
        first_round: int,
        launcher: Launcher | None,
        labfs: Labfs | None = None,
        mounts: Path | None = None,
    ):
        """mounts: where labfs serves its file system; None: in a folder of this start alone."""
        if launcher is None:
            raise EngineError(
                "no mpiexec of the MPI of libshoal was found; add it to PATH or set MPIRUN_LAUNCHER."
            )
        if start.mpi_io not in ("default", "romio") and launcher.flavour != "openmpi":
            raise EngineError(
                f"--mpi-io {start.mpi_io} chooses a component of Open MPI; this is another MPI."
            )
        mounts = mounts or mounts_of_a_start()
        if start.lab is not None:
            start = replace(start, dirs=(str(mounts / "here"),))
        self.start = start
        self.begin: dict = {}
        arguments = [*start.arguments(), "--stream"]
        if start.lab is not None and engine.capabilities().checks_in_other_folder(start.experiment):
            # Past the model, which would make the check several times as slow as what is measured.
            arguments += ["--check-in", str(mounts / "bytes")]
        if first_round > 1:
            arguments += ["--first-round", str(first_round)]
        mpiexec = launcher.command(start.ranks, start.ranks_per_node)
        program = [str(engine.path), *arguments]
        self.command = [*mpiexec, *program]
        # Files without names, which nobody has to remove.
        self._lab_report = tempfile.TemporaryFile("w+", errors="replace")
        if start.lab is not None and labfs is not None:
            report = f"/dev/fd/{self._lab_report.fileno()}"
            self.command = labfs.command(start.lab, mounts, report, mpiexec, program)
        chosen = settings_for(start, launcher)
        self.launch = _in_words(mpiexec, chosen)
        # To a file, since nobody reads a second pipe while the first is waited for.
        self._said = tempfile.TemporaryFile("w+", errors="replace")
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            errors="replace",
            # The interpreter of methods that call Python packages (zarr-python, xarray): this one.
            env={"BENCH_PYTHON": sys.executable, **os.environ, **chosen},
            pass_fds=[self._lab_report.fileno()],
            start_new_session=True,  # Ctrl-C in the terminal is for the runner alone
        )

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_) -> None:
        with held_back():
            ended = self._process.poll() is None
            self._end()
            if ended or self._process.returncode != 0:
                remove_files(self.prefix, self.start.experiment, self.start.dirs)
            self._process.stdout.close()
            self._said.close()
            self._lab_report.close()

    @property
    def prefix(self) -> str:
        return str(self.begin.get("files", "")).rstrip("*")

    def events(self) -> Iterator[dict]:
        """What it says, until it ends. Lines that are no events go to nowhere but the log of a failure.
        EngineError where it would make files that could not be distinguished from others."""
        for line in self._process.stdout:
            try:
                event = json.loads(line)
                kind = event.get("event")
            except (ValueError, AttributeError):
                self._said.write(line)
                continue
            if kind == "begin":
                self.begin = event
                if not is_prefix(self.prefix, self.start.experiment):
                    raise EngineError(
                        f"it is of another version: '{self.prefix}' begins no names of its files"
                    )
            yield event

    def finish(self) -> tuple[int, list[str]]:
        """Its exit code, and the last lines that it said, its own words first. Local."""
        code = self._process.wait()
        self._said.seek(0)
        lines = [line.rstrip() for line in self._said if line.strip()]
        own = [line for line in lines if line.startswith("shoal-bench")]
        return code, own or list(deque(lines, _shown_lines))

    def stop(self) -> None:
        """Ask it to end; its events then end, too. Local."""
        with contextlib.suppress(OSError):
            self._process.terminate()

    def lab_report(self) -> dict:
        """What labfs said when it ended; {} where it was killed, or there is none. Local."""
        self._lab_report.seek(0)
        try:
            return json.loads(self._lab_report.read())
        except ValueError:
            return {}

    def _end(self) -> None:
        """End mpiexec and its ranks: asked first, since it knows its ranks on other nodes; then made to."""
        if self._process.poll() is None:
            self.stop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_patience)
        until = time.monotonic() + _patience
        while (members := _session_members(self._process.pid)) and time.monotonic() < until:
            for member in members:
                with contextlib.suppress(psutil.Error):
                    member.kill()
            time.sleep(0.02)  # not psutil.wait_procs, which would take the exit code of mpiexec
        self._process.wait()
