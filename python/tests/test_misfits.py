# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that a call does not have, on one rank: the others do not wait for it."""

import pytest


@pytest.mark.parametrize("n", [2, 3])
def test_nobody_waits_for_a_rank_that_calls_with_other_arguments(tmp_path, mpirun, n):
    mpirun(n, "misfits.py", tmp_path, seconds=110)
