# SPDX-License-Identifier: BSD-3-Clause
"""shoal.abort_on_error: what nobody catches is printed once for all ranks that have it, and ends all."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import run_program

import shoal

top = Path(__file__).resolve().parents[2]


def run(what: str, folder: Path, ranks: int) -> subprocess.CompletedProcess:
    program = Path(__file__).parent / "programs/uncaught.py"
    launcher = [str(top / "tools/mpirun.sh"), str(ranks)]
    return run_program([*launcher, sys.executable, str(program), what, str(folder)], 120)


@pytest.mark.parametrize("ranks", [1, 3])
def test_an_error_of_shoal(tmp_path, ranks):
    result = run("shoal", tmp_path, ranks)
    lines = [line for line in result.stderr.splitlines() if line.startswith("shoal: ")]
    where = "(told on 3 ranks)" if ranks == 3 else "(on rank 0)"  # the message has the rank
    assert result.returncode == shoal.NotFoundError.code
    assert len(lines) == 1 and lines[0].startswith(f"shoal: SHOAL_NOT_FOUND: {tmp_path}/no_such.nc: ")
    assert lines[0].endswith(where)
    assert result.stderr.count("Traceback (most recent call last):") == 1
    assert result.stderr.count("shoal.errors.NoSuchFileError: ") == 1


def test_an_error_of_the_program_on_all_ranks(tmp_path):
    result = run("own", tmp_path, 3)
    assert result.returncode == 1
    assert (
        "shoal: ValueError: the grid has no cells (on rank 0 and 2 other ranks)\nin grid.nc\n"
        in result.stderr
    )
    assert result.stderr.count("Traceback (most recent call last):") == 1


def test_an_error_of_one_rank_ends_those_that_wait(tmp_path):
    result = run("one", tmp_path, 3)
    assert result.returncode == 1
    assert result.stderr.count("shoal: ValueError: the grid has no cells (on rank 2)\n") == 1
    assert result.stderr.count("Traceback (most recent call last):") == 1


def test_exit_is_no_error(tmp_path):
    result = run("exit", tmp_path, 2)
    assert result.returncode == 1
    assert result.stderr.count("all is said") == 2 and "shoal: " not in result.stderr


def test_of_what_is_no_communicator(python):
    code = """
import sys, shoal
before = sys.excepthook
try:
    shoal.abort_on_error(3)
except shoal.InvalidArgumentError as error:
    print(error)
print(sys.excepthook is before)
"""
    out = python(code).stdout
    assert "comm is a int" in out and out.endswith("True\n")
