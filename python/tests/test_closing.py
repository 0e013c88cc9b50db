# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a file that nobody closes: a warning, no hang, and what was committed stays; if the program
ends well, all."""

import gc

import pytest

import shoal

forgetful = """
import sys
import shoal
file = shoal.create(sys.argv[1])
file.def_var("v", "f8")
file.put("v", 1.0)
file.sync()
file.put("v", 2.0)
"""


def test_end_of_the_program(tmp_path, python):
    result = python(forgetful, tmp_path / "a.nc")
    assert "a.nc: the dataset was not closed before MPI_Finalize; it is closed now" in result.stderr
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.get("v") == 2


def test_end_of_a_program_that_does_not_end_mpi(tmp_path, python):
    result = python("import mpi4py\nmpi4py.rc.finalize = False\n" + forgetful, tmp_path / "a.nc")
    assert "RuntimeWarning" in result.stderr and "was not closed; dropped" in result.stderr


def test_an_exception_at_the_end_of_the_program(tmp_path, python):
    result = python(forgetful + "raise KeyError('bug')", tmp_path / "a.nc", expect=1)
    assert "bug" in result.stderr and "Segmentation" not in result.stderr
    assert "was not closed; dropped" in result.stderr
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.get("v") in (1, 2)


def test_no_longer_used(tmp_path):
    file = shoal.create(tmp_path / "a.nc")
    with pytest.warns(RuntimeWarning, match=r"a\.nc was not closed"):
        del file
        gc.collect()
    with shoal.create(tmp_path / "a.nc"):
        pass
    file = shoal.open(tmp_path / "a.nc")
    with pytest.warns(ResourceWarning, match=r"a\.nc was not closed"):
        del file
        gc.collect()


def test_abandon(tmp_path):
    file = shoal.create(tmp_path / "a.nc")
    file.abandon()
    file.abandon()
    file.close()
    assert not file.is_open


def test_an_exception_in_the_block_closes_the_file(tmp_path):
    with pytest.raises(ZeroDivisionError), shoal.create(tmp_path / "a.nc") as file:
        file.def_var("v", "f8")
        file.put("v", 5.0)
        raise ZeroDivisionError
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.get("v") == 5


def test_a_bug_on_one_rank_ends_the_program(tmp_path, mpirun):
    """Python's `-m mpi4py` ends all ranks when one raises; dropping the file must not wait."""
    result = mpirun(3, "one_rank_raises.py", tmp_path / "a.nc", expect=None)
    assert result.returncode != 0
    assert "bug on rank 1" in result.stderr


def test_forgotten_on_several_ranks(tmp_path, mpirun):
    result = mpirun(3, "forgotten.py", tmp_path / "a.nc")
    assert result.stderr.count("it is closed now, and whole") == 1
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.get("v", 0).sum() == 12 * 7
        assert file.get("v", 1).sum() == 12 * 8


def test_wait(tmp_path):
    settings = {"background": "thread", "background_close": True}
    file = shoal.create(tmp_path / "a.nc", **settings)
    file.def_var("v", "f8")
    file.put("v", 5.0)
    file.close()
    shoal.wait(None)
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.get("v") == 5
    shoal.wait(None)
    with pytest.raises(shoal.InvalidArgumentError, match="communicator"):
        shoal.wait(3)
