"""Run the Python examples as a reader would, on one rank and on several."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LAUNCHER = HERE.parent / "tools" / "mpirun.sh"


@pytest.mark.parametrize("ranks", [1, 4])
def test_first_program(ranks, tmp_path):
    result = subprocess.run(
        [LAUNCHER, str(ranks), sys.executable, HERE / "first" / "first_python.py"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert (tmp_path / "first_python.nc").stat().st_size > 0
