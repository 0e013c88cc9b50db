"""Run the Python examples as a reader would, on one rank and on several."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import shoal

HERE = Path(__file__).resolve().parent
LAUNCHER = HERE.parent / "tools" / "mpirun.sh"
TUTORIALS = sorted(path.stem for path in (HERE / "tutorials").glob("*.py"))


def run(program: Path | str, ranks: int, folder: Path, *arguments: str, **environment: str) -> str:
    result = subprocess.run(
        [LAUNCHER, str(ranks), sys.executable, program, *arguments],
        cwd=folder,
        # without what MPI adds to that of this process, once it runs in here
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("ranks", [1, 4])
def test_first_program(ranks, tmp_path):
    run(HERE / "first" / "first_python.py", ranks, tmp_path)
    assert (tmp_path / "first_python.nc").stat().st_size > 0


@pytest.mark.parametrize("ranks", [1, 4])
def test_first_program_of_streams(ranks, tmp_path):
    run(HERE / "first" / "first_streams_python.py", ranks, tmp_path)
    assert (tmp_path / "first_streams_python.nc").stat().st_size > 0


@pytest.mark.parametrize("name", TUTORIALS)
def test_programs_of_the_tutorials(name, tmp_path):
    """On 4 ranks, then on 3: some go on from the file of the first run."""
    if "deflate" not in shoal.build_info()["filters"] and name.startswith("background"):
        pytest.skip("this build has no deflate")
    first = run(HERE / "tutorials" / f"{name}.py", 4, tmp_path)
    second = run(HERE / "tutorials" / f"{name}.py", 3, tmp_path)
    if name.startswith("append"):
        assert "2 records" in first and "4 records" in second
    if name.startswith("streams"):
        assert "day 20 on 4 ranks" in first and "day 40 on 3 ranks" in second
    if name.startswith("restart"):
        assert "step 1 on 4 ranks" in first and "step 2 on 3 ranks" in second
