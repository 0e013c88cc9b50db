# SPDX-License-Identifier: BSD-3-Clause
"""Random runs of streams: calendars, steps, windows, operations, masks, missing values, parts, reductions,
restarts on other numbers of ranks; compared with numpy, cftime and xarray; the same bits on any ranks.
TEST_ALL=1 runs 2,400. A run that fails prints its seed: programs/streams_cases.py FOLDER SEED 1."""

import os

import numpy as np
import pytest

import shoal

_all = os.environ.get("TEST_ALL", "").upper() in ("1", "ON", "TRUE")
_count = 600 if _all else 25
_ranks = (1, 2, 3, 4)


def test_random_runs(tmp_path, mpirun, monkeypatch):
    pytest.importorskip("cftime")
    pytest.importorskip("xarray")
    monkeypatch.delenv("SHOAL_STREAMS", raising=False)
    try:
        shoal.Streams.open("[[file]]\n", start="2001-01-01")
    except shoal.NotSupportedError:
        pytest.skip("this build has no toml++")
    except shoal.SettingError:
        pass
    for ranks in _ranks:
        folder = tmp_path / str(ranks)
        folder.mkdir()
        mpirun(ranks, "streams_cases.py", folder, 1, _count, seconds=7200 if _all else 300)
    for seed in range(1, 1 + _count):
        first, *others = (np.load(tmp_path / str(ranks) / f"{seed}.npy") for ranks in _ranks)
        for other in others:
            assert first.tobytes() == other.tobytes(), f"seed {seed}: other bits on other numbers of ranks"
