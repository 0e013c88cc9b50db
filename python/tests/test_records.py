# SPDX-License-Identifier: BSD-3-Clause
"""Records: the one after the last, those from the end, and how many there are."""

import gc
import pickle

import numpy as np
import pytest

import shoal


@pytest.fixture(params=["cdf5", "netcdf4"])
def path(request, tmp_path):
    path = tmp_path / "a.nc"
    tile = shoal.Decomposition.block(None, {"x": 3})
    with shoal.create(path, format=request.param) as file:
        file.def_var("time", "f8", record="time", attrs={"units": "s"})
        file.def_var("v", "f4", tile, record="time")
        file.def_var("depth", "f4", "x")
        assert file.num_records == 0
        for step in range(2):
            file.put("time", 10.0 * step, shoal.NEXT)
            file.write("v", np.full(3, step), shoal.NEXT)
            assert file.num_records == step + 1
    return path


def test_append_in_one_line(path):
    with shoal.open(path, mode="a") as file:
        tile = shoal.Decomposition.block(None, {"x": 3})
        assert file.num_records == 2
        for step in range(2, 4):
            file.put("time", 10.0 * step, record=shoal.NEXT)
            file.write("v", np.full(3, step), record=shoal.NEXT, decomposition=tile)
    with shoal.open(path) as file:
        assert file.num_records == 4
        assert (file.get("time") == [0, 10, 20, 30]).all()
        assert (file["v"][:, 0] == [0, 1, 2, 3]).all()


def test_negative_records_are_read_from_the_end(path):
    tile = shoal.Decomposition.block(None, {"x": 3})
    with shoal.open(path) as file:
        assert file.get("time", -1) == 10 and file.get("time", record=-2) == 0
        assert (file.read("v", record=-1, decomposition=tile) == 1).all()
        for call in (file.get, lambda *a: file.read(*a, decomposition=tile)):
            with pytest.raises(IndexError, match="no record -3.*2 records"):
                call("v", -3)
        with pytest.raises(ValueError, match="no record dimension"):
            file.get("depth", -1)
        with pytest.raises(ValueError, match=r"SHOAL_NEXT"):
            file.get("time", shoal.NEXT)
        assert file.get("time", shoal.ALL_RECORDS).shape == (2,)


def test_negative_records_are_not_written(path):
    tile = shoal.Decomposition.block(None, {"x": 3})
    with shoal.open(path, mode="r+") as file:
        for record in (-1, -2, -3):
            with pytest.raises(ValueError, match=r"shoal\.NEXT is the one after the last"):
                file.put("time", 1.0, record)
            with pytest.raises(ValueError, match=r"shoal\.NEXT"):
                file.write("v", np.ones(3), record, decomposition=tile)
        with pytest.raises(ValueError, match="SHOAL_NEXT"):
            file.put("depth", np.ones(3), shoal.NEXT)
        # What was refused has not begun a step.
        file.put("time", 20.0, shoal.NEXT)
        with pytest.raises(ValueError):
            file.write("v", np.ones(4), shoal.NEXT)
        file.write("v", np.full(3, 2), shoal.NEXT)
        assert file.num_records == 3 and (file["v"][2] == 2).all()


def test_words_of_records():
    assert repr(shoal.NEXT) == "shoal.NEXT" and repr(shoal.ALL_RECORDS) == "shoal.ALL_RECORDS"
    assert pickle.loads(pickle.dumps(shoal.NEXT)) is shoal.NEXT


def test_several_record_dimensions(tmp_path):
    with shoal.create(tmp_path / "a.nc", format="netcdf4") as file:
        file.def_var("a", "f8", record="t")
        file.def_var("b", "f8", record="day")
        file.put("a", 1.0, shoal.NEXT)
        with pytest.raises(ValueError, match="'t', 'day'"):
            file.num_records  # noqa: B018
        assert file.variables["a"].shape == (1,)


def test_a_variable_keeps_its_file_open(path):
    variable = shoal.open(path).variables["v"]
    gc.collect()
    assert variable.shape == (2, 3) and (variable[-1] == 1).all()
    assert np.asarray(variable).shape == (2, 3) and len(variable) == 2
    assert [row[0] for row in variable] == [0, 1]
    attributes = shoal.open(path).variables["time"].attributes
    dimensions, variables, cells = (
        shoal.open(path).dimensions,
        shoal.open(path).variables,
        shoal.open(path)["v"],
    )
    gc.collect()
    assert attributes["units"] == "s" and dimensions["x"].length == 3 and "v" in variables
    assert (cells[0] == 0).all()
    assert (shoal.open(path).variables["v"][1] == 1).all() and shoal.open(path)["v"][1, 0] == 1


def test_what_nobody_holds_is_closed(path):
    with pytest.warns(ResourceWarning, match="was not closed"):
        variable = shoal.open(path).variables["v"]
        del variable
        gc.collect()


@pytest.mark.parametrize("ranks", [2, 4])
def test_on_several_ranks(tmp_path, mpirun, ranks):
    mpirun(ranks, "next_records.py", tmp_path / "a.nc")


@pytest.mark.parametrize("format", ["cdf5", "netcdf4"])
def test_the_decomposition_comes_with_the_write(tmp_path, format):
    path = tmp_path / "later.nc"
    compression = {"compression": "shuffle+deflate:1"} if format == "netcdf4" else {}
    with shoal.create(path, format=format, fill="written", attributes="rank0", **compression) as file:
        file.def_dim("time", None)
        file.def_dim("x", 4)
        for name in ("v", "w"):
            file.def_var(name, "f4", "time x")
        file.def_cut("v")
        with pytest.raises(shoal.NotFoundError, match="did you mean"):
            file.def_cut("vv")
        with pytest.raises(shoal.InvalidArgumentError, match="record"):
            file.def_var("times", "f8", "time")
            file.def_cut("times")
        file.end_define()
        with pytest.raises(shoal.StateError, match="'w'|w:"):
            file.def_cut("w")
        tile = shoal.Decomposition.block(None, {"x": 4}, first=[0], count=[3])
        for value in (1, 2):  # again: nothing stays
            file.write("v", np.full(3, value), record=0, decomposition=tile)
    with shoal.open(path) as file:
        assert file.get("v", 0)[:3].tolist() == [2, 2, 2]
        assert file.get("v", 0)[3] == file.variables["v"].attributes["_FillValue"]
        assert file.variables["v"].filters == compression.get("compression", "none")
        assert file.variables["w"].filters == "none"


@pytest.mark.parametrize("ranks", [1, 3])
def test_definitions_in_classic_files_without_free_space(tmp_path, mpirun, ranks):
    mpirun(ranks, "moved.py", tmp_path)


def test_steps_that_a_program_begins(path):
    with shoal.open(path, mode="a") as file:
        tile = shoal.Decomposition.block(None, {"x": 3})
        for step in range(2, 5):
            assert file.begin_step() == file.begin_step() == step
            if step != 3:
                file.write("v", np.full(3, step), shoal.NEXT, decomposition=tile)
            file.put("time", 10.0 * step, shoal.NEXT)
            file.put("time", 10.0 * step + 1, shoal.NEXT)  # once more
        assert file.num_records == 5
    with shoal.open(path) as file:
        assert (file.get("time") == [0, 10, 21, 31, 41]).all()
        assert (file["v"][:, 0] == [0, 1, 2, file.variables["v"].fill_value, 4]).all()
        with pytest.raises(shoal.StateError):
            file.begin_step()


def test_numbers_of_variables_follow_their_names(tmp_path):
    with shoal.create(tmp_path / "n.nc") as file:
        for name in ("a", "b"):
            file.def_var(name, "i4")
        file.put("a", 1)
        file.put("b", 2)
        file.rename_var("a", "c")
        file.rename_var("b", "a")
        assert (file.get("c"), file.get("a")) == (1, 2)
        with pytest.raises(shoal.NotFoundError, match="b"):
            file.get("b")
