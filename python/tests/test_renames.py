# SPDX-License-Identifier: BSD-3-Clause
"""Other names, attributes that go, several records in one call, fill values in effect, maps made unique."""

import numpy as np
import pytest

import shoal


@pytest.mark.parametrize("format", ["cdf5", "netcdf4"])
def test_names_of_a_file_with_data_change(tmp_path, format):
    path = tmp_path / "a.nc"
    with shoal.create(path, format=format) as file:
        file.def_dim("a", 3)
        file.def_var("v", "i2", "a", attrs={"units": "m", "comment": "none"}, fill=7)
        file.put_att(None, "title", "a run")
        file.put("v", [1, 2, 3])
    with shoal.open(path, mode="r+") as file:
        file.rename_dim("a", "cells")
        file.rename_var("v", "values")
        file.rename_att("values", "units", "unit")
        file.delete_att("values", "comment")
        file.rename_att(None, "title", "name")
        with pytest.raises(shoal.NotFoundError, match="did you mean"):
            file.rename_var("value", "w")
        with pytest.raises(shoal.NotSupportedError, match="_FillValue"):
            file.delete_att("values", "_FillValue")
        assert list(file.variables) == ["values"]
    with shoal.open(path) as file:
        assert list(file.dimensions) == ["cells"]
        assert list(file.variables["values"].attributes) == ["_FillValue", "unit"]
        assert file.attributes["name"] == "a run"
        assert file.get("values").tolist() == [1, 2, 3]
        assert file.inq_fill("values") == 7


def test_a_variable_keeps_its_decomposition(tmp_path):
    tiles = shoal.Decomposition.block(None, {"x": 4}, split="x")
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_var("v", "f4", tiles)
        file.rename_var("v", "w")
        file.write("w", np.arange(4.0))
        assert file.read("w").tolist() == [0, 1, 2, 3]


def test_several_records(tmp_path):
    with shoal.create(tmp_path / "a.nc", format="netcdf4") as file:
        file.def_dim("x", 3)
        file.def_var("v", "f8", "x", record="time")
        file.def_var("s", str, "", record="time")
        values = np.arange(6.0).reshape(2, 3)
        file.put("v", values, record=1, records=2)
        file.put("s", ["one", "two"], record=1, records=2)
        assert file.get("v", record=1, records=2).tolist() == values.tolist()
        assert file.get("v", record=-1, records=1).shape == (1, 3)
        assert file.get("v", record=1, start=[1], count=[2], records=2).tolist() == [[1, 2], [4, 5]]
        assert file.get("s", record=1, records=2).tolist() == ["one", "two"]
        for wrong in (0, -1, 2**70):
            with pytest.raises((shoal.InvalidArgumentError, OverflowError)):
                file.get("v", record=0, records=wrong)
        with pytest.raises(shoal.NotFoundError, match="record 3"):
            file.get("v", record=1, records=3)
        with pytest.raises(shoal.InvalidArgumentError, match="extents"):
            file.put("v", values, record=1, records=1)


def test_fill_values_in_effect(tmp_path):
    with shoal.create(tmp_path / "a.nc", format="netcdf4") as file:
        file.def_var("default", "f4")
        file.def_var("none", "f4", fill=shoal.NO_FILL)
        file.def_var("text", str, fill="nothing")
        assert file.inq_fill("default") == np.float32(9.9692099683868690e36)
        assert file.inq_fill("none") is None
        assert file.inq_fill("text") == "nothing"
        with pytest.raises(shoal.NotFoundError):
            file.inq_fill("other")


def test_a_map_is_made_unique(tmp_path):
    twice = shoal.Decomposition.map(None, {"x": 5}, [3, 1, 3, -1, 1])
    assert twice.repeated == 1
    once = twice.unique()
    assert once.cells.tolist() == [-1, -1, 3, -1, 1] and once.repeated is None
    assert twice.cells.tolist() == [3, 1, 3, -1, 1]
    assert once.unique().cells.tolist() == once.cells.tolist()
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_var("v", "f8", once)
        file.write("v", [10.0, 11.0, 12.0, 13.0, 14.0])
        assert file.get("v")[[1, 3]].tolist() == [14, 12]
        assert file.read("v", decomposition=twice)[:3].tolist() == [12, 14, 12]
