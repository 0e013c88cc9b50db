# SPDX-License-Identifier: BSD-3-Clause
"""What the Python tests share: running a program on several ranks, with a time limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_top = Path(__file__).resolve().parents[2]
_programs = Path(__file__).resolve().parent / "programs"
_seconds = 300  # a limit for what hangs, far from what it takes

# Jobs that a shell starts in the background ignore it, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def clean_environment(**extra: str) -> dict[str, str]:
    """The environment of this process as it was started: MPI, once it runs in here, adds to it what
    would make a child believe that it belongs to this job."""
    return {**os.environ, **extra}


def run_program(command: list[str], seconds: int = _seconds, **options) -> subprocess.CompletedProcess:
    """Run a program; when it takes too long, end it and everything that it started, and fail."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(**options.pop("env", {})),
        start_new_session=True,
        **options,
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        pytest.fail(f"{command} did not end within {seconds} s\n{out}\n{err}")
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def run_ranks(ranks: int, program: str, *args, expect: int | None = 0, seconds: int = _seconds):
    """A program of tests/programs on so many ranks; it must succeed.

    An exception on one rank ends them all."""
    command = [
        str(_top / "tools" / "mpirun.sh"),
        str(ranks),
        sys.executable,
        "-m",
        "mpi4py",
        str(_programs / program),
        *map(str, args),
    ]
    result = run_program(command, seconds)
    if expect is not None:
        assert result.returncode == expect, f"{command}\n{result.stdout}\n{result.stderr}"
    return result


@pytest.fixture
def mpirun():
    """run_ranks(ranks, "program.py", args...)"""
    return run_ranks


@pytest.fixture
def mpirun_each(mpirun):
    """mpirun_each(ranks, "program.py", [[argument, ...], ...]): as mpirun, for each list of arguments, in one
    start of the ranks."""

    def run(ranks: int, program: str, lists):
        mpirun(ranks, "each.py", _programs / program, json.dumps([[*map(str, each)] for each in lists]))

    return run


@pytest.fixture
def python():
    """python(code): run code in a new interpreter, in which nothing was imported yet; it must succeed."""

    def run(code: str, *args, expect: int = 0, cwd=None):
        result = run_program([sys.executable, "-c", code, *map(str, args)], cwd=cwd)
        assert result.returncode == expect, f"{result.stdout}\n{result.stderr}"
        return result

    return run


@pytest.fixture
def with_streams(monkeypatch):
    """With no configuration of the environment."""
    monkeypatch.delenv("SHOAL_STREAMS", raising=False)


@pytest.fixture(params=["cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"])
def any_format(request):
    return request.param
