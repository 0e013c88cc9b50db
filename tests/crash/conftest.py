# SPDX-License-Identifier: BSD-3-Clause
"""The table of all that was counted comes at the end, and as JSON beside the build."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from crash_runs import Table, build_folder

_table = Table()


@pytest.fixture
def table():
    """Counts what a test checks; what is bad fails the test, with how to see it again."""
    before = len(_table.bad)
    yield _table
    new = _table.bad[before:]
    assert not new, f"{len(new)} are bad:\n" + "\n".join(new[:20])


@pytest.fixture
def scratch():
    """A folder in memory: thousands of images are written there."""
    folder = Path(tempfile.mkdtemp(prefix="crash-", dir="/dev/shm"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def pytest_terminal_summary(terminalreporter):
    if not _table.rows:
        return
    terminalreporter.section("states after a crash")
    terminalreporter.write_line(_table.text())
    _table.save(build_folder() / "tests" / "crash.json")
