# SPDX-License-Identifier: BSD-3-Clause
"""shoal tune: small files, and times that say nothing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import clean_environment, run_program

from shoal.programs import ProgramError, find_program

_top = Path(__file__).resolve().parents[2]
_launch = str(_top / "tools" / "mpirun.sh")
# Repeats of such small files differ, on a busy machine by any factor.
_small = ["--minutes", "0.1", "--writer-bytes", "1MiB", "--scatter", "1000"]


@pytest.fixture(scope="module")
def engine() -> str:
    try:
        return str(find_program("shoal-tune", "TUNE_ENGINE"))
    except ProgramError:
        pytest.skip("shoal-tune is not built (make build)")


_of_another_job = ".shoal_tune.123456789abcdef0.tmp3"


def run_tune(folder, *options, ranks=2, nodes=2, **extra):
    command = [_launch, str(ranks), sys.executable, "-m", "shoal", "tune", str(folder), *_small, *options]
    return run_program(command, env={"SHOAL_RANKS_PER_NODE": str(ranks // nodes)}, **extra)


@pytest.fixture(scope="module")
def tuned(engine, tmp_path_factory):
    """A folder that was measured, the machine file, and what was said."""
    folder = tmp_path_factory.mktemp("tuned")
    machine = folder / "machine.toml"
    (folder / "data").mkdir()
    left = folder / "data" / ".shoal_tune.0123456789abcdef.tmp3"
    left.write_text("of a killed job")
    os.utime(left, (1e9, 1e9))
    (folder / "data" / _of_another_job).write_text("that runs")
    done = run_tune(folder / "data", "--machine", str(machine))
    assert done.returncode == 0, done.stderr
    return folder, machine, done.stdout


def table(machine: Path, name: str) -> dict[str, list[float]]:
    text = machine.read_text().split(f"[file_system.{name}]\n")[1]
    rows = re.findall(r"^(\w+) = \[(.*)\]$", text.split("\n[")[0], re.M)
    return {key: [float(value) for value in values.split(",")] for key, values in rows}


def test_tables_of_two_nodes_are_whole_or_left_out(tuned):
    folder, machine, said = tuned
    sizes = [2**n for n in (14, 16, 18, 20, 22, 24)]
    kept = 0
    for name, first, rows in (
        ("write_by_writers", "writers", [1]),
        ("write_by_nodes", "nodes", [1, 2]),
        ("write_by_size", "write_bytes", sizes),
        ("write_unaligned", "write_bytes", sizes),
        ("write_in_turns", "turn_bytes", sizes),
        ("write_own_files", "nodes", [2]),
    ):
        if f"[file_system.{name}]" not in machine.read_text():
            assert f"{name}: there was no time for all of it" in said
            continue
        found = table(machine, name)
        assert found[first] == rows
        assert len(found["bytes_per_second"]) == len(rows)
        assert all(rate > 1e4 for rate in found["bytes_per_second"])
        kept += 1
    assert kept > 0
    assert "message_bytes_per_second" in machine.read_text()
    assert "Shoal will choose" in said


def test_what_was_measured_once_is_left_out(engine, tmp_path):
    done = run_tune(tmp_path, "--machine", str(tmp_path / "m.toml"), "--scatter", "0.9", "--minutes", "0.001")
    assert done.returncode == 0, done.stderr
    assert "write_by_writers: repeats differ by 100 %, or are fewer than three" in done.stdout
    assert "bytes_per_second = [" not in (tmp_path / "m.toml").read_text()


def test_no_file_is_left(tuned):
    folder, _, _ = tuned
    assert os.listdir(folder / "data") == [_of_another_job]


def test_no_file_is_left_by_a_killed_job(engine, tmp_path):
    command = [engine, str(tmp_path), "--minutes", "5", "--machine", str(tmp_path / "m.toml")]
    job = subprocess.Popen(command, env=clean_environment(), start_new_session=True)
    time.sleep(3)
    assert job.poll() is None
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()
    # The kill may have come between a create and its unlink: a run an hour later begins by removing it.
    assert len(os.listdir(tmp_path)) <= 1
    for left in tmp_path.iterdir():
        os.utime(left, (1e9, 1e9))
    done = run_tune(tmp_path, "--machine", str(tmp_path / "m.toml"), ranks=1, nodes=1)
    assert done.returncode == 0, done.stderr
    assert os.listdir(tmp_path) == ["m.toml"]


def test_time_is_kept(engine, tmp_path):
    start = time.monotonic()
    done = run_tune(tmp_path, "--machine", str(tmp_path / "m.toml"), ranks=1, nodes=1)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - start < 60  # far more than 1.2 seconds, for a busy machine


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--minutes", "0"], "--minutes is 0"),
        (["--writer-bytes", "1KiB"], "1MiB or more"),
        (["--writer-bytes", "lots"], "not a number of bytes"),
        (["--writer-bytes", "4000TiB"], "are needed"),
    ],
)
def test_what_cannot_be_is_refused(engine, tmp_path, options, says):
    done = run_tune(tmp_path, "--machine", str(tmp_path / "m.toml"), *options, ranks=1, nodes=1)
    assert done.returncode == 2
    assert says in done.stderr
    assert os.listdir(tmp_path) == []


def test_other_files_are_not_replaced(engine, tmp_path):
    other = tmp_path / "machine.toml"
    other.write_text("wheels = 4\n")
    done = run_tune(tmp_path, "--machine", str(other), ranks=1, nodes=1)
    assert done.returncode == 2
    assert "no machine file" in done.stderr
    assert other.read_text() == "wheels = 4\n"
    done = run_tune(tmp_path / "nowhere", "--machine", str(tmp_path / "m.toml"), ranks=1, nodes=1)
    assert done.returncode == 2
    assert "no such folder" in done.stderr
