# SPDX-License-Identifier: BSD-3-Clause
"""Other people's programs, and the two directions: from Shoal and to Shoal."""

from __future__ import annotations

import shutil
import subprocess

import pytest

FORMATS = ["cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"]


@pytest.fixture(params=FORMATS)
def any_format(request):
    return request.param


@pytest.fixture
def tool():
    """tool("ncdump", "-h", path): run a program that must succeed; returns what it prints."""

    def run(name: str, *args, input: str | None = None) -> str:
        path = shutil.which(name)
        if path is None:
            pytest.skip(f"{name} is not installed")
        given = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
        result = subprocess.run([path, *map(str, args)], capture_output=True, text=True, timeout=300, **given)
        assert result.returncode == 0, f"{name} {args}\n{result.stdout}\n{result.stderr}"
        return result.stdout

    return run
