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


def tiles_of():
    return shoal.Decomposition.block(None, {"x": 4}, split="x")


def groups_in(path):
    with shoal.create(path, format="netcdf4") as file:
        file.def_dim("x", 4)
        file.def_dim("time", None)
        tiles = tiles_of()
        for name in ("a/v", "a/in/v", "b/v", "c/v", "v"):
            file.def_var(name, "f4", tiles, record="time" if name == "a/v" else None)
        file.def_dim("a/z", 2)
        file.def_var("a/in/z", "f4", ["z"])
        file.put_att("a", "title", "the first")
        for i, name in enumerate(("a/v", "a/in/v", "b/v", "c/v", "v")):
            file.write(name, np.arange(4.0) + 10 * i, record=0 if name == "a/v" else None)
        file.put("a/in/z", [1, 2])


def test_groups_of_a_file_with_data_get_other_names(tmp_path):
    path = tmp_path / "a.nc"
    groups_in(path)
    with shoal.open(path, mode="r+") as file:
        before = list(file.variables)
        file.rename_group("a", "first")
        assert list(file.groups) == ["first", "first/in", "b", "c"]
        file.rename_var("first/v", "w")
        file.rename_group("/first/in", "/first/inner")
        file.rename_dim("first/z", "levels")
        file.rename_group("b", "swap")
        file.rename_group("c", "b")
        file.rename_group("swap", "c")
        file.def_var("first/inner/new", "f4", ["levels", "x"])
        file.put_att("first", "title", "renamed")
        file.def_group("a/again")
        file.write("first/w", np.arange(4.0) + 50, record=1, decomposition=tiles_of())
        after = [*before, "first/inner/new"]
        for name, to in (
            ("a/in/", "first/inner/"),
            ("a/", "first/"),
            ("b/", "C/"),
            ("c/", "b/"),
            ("C/", "c/"),
        ):
            after = [to + path[len(name) :] if path.startswith(name) else path for path in after]
        assert list(file.variables) == [name if name != "first/v" else "first/w" for name in after]
        np.testing.assert_array_equal(file.get("first/inner/v"), np.arange(4.0) + 10)
    with shoal.open(path) as file:
        assert list(file.groups) == ["first", "first/inner", "c", "b", "a", "a/again"]
        assert file.variables["first/inner/z"].dims == ("first/levels",)
        assert file.variables["first/inner/new"].dims == ("first/levels", "x")
        assert dict(file.groups["first"].attributes) == {"title": "renamed"}
        for name, first in (("first/inner/v", 10), ("c/v", 20), ("b/v", 30), ("v", 40)):
            np.testing.assert_array_equal(file.get(name), np.arange(4.0) + first)
        np.testing.assert_array_equal(file.get("first/w"), [np.arange(4.0), np.arange(4.0) + 50])
    netCDF4 = pytest.importorskip("netCDF4")
    with netCDF4.Dataset(path) as file:
        assert list(file.groups) == ["first", "c", "b", "a"] and list(file["first"].groups) == ["inner"]
        np.testing.assert_array_equal(file["first/inner/z"][:], [1, 2])
        assert file["first/inner/z"].dimensions == ("levels",) and list(file["first"].dimensions) == [
            "levels"
        ]


def test_groups_that_cannot_be_renamed(tmp_path):
    path = tmp_path / "a.nc"
    groups_in(path)
    with shoal.open(path, mode="r+") as file:
        for name, to, kind, words in (
            ("a", "b", shoal.ExistsError, "there is a group 'b'"),
            ("a", "v", shoal.ExistsError, "there is a variable 'v'"),
            ("a/in", "z", shoal.ExistsError, "there is a dimension 'a/z'"),
            ("a/in", "/in", shoal.InvalidArgumentError, "in another group"),
            ("a", "", shoal.InvalidArgumentError, "empty"),
            ("/", "b", shoal.NotFoundError, "the file itself"),
            ("A", "b", shoal.NotFoundError, "did you mean 'a'"),
        ):
            with pytest.raises(kind, match=words):
                file.rename_group(name, to)
        file.rename_var("v", "w")
        file.rename_group("b", "v")
        with pytest.raises(
            shoal.NotSupportedError, match="'b' cannot be renamed to 'v' in the same define phase"
        ):
            file.end_define()
        assert list(file.groups) == ["a", "a/in", "b", "c"] and "v" in file.variables
        np.testing.assert_array_equal(file.read("a/in/v", decomposition=tiles_of()), np.arange(4.0) + 10)
    for driver in ("netcdf", "gather"):
        try:
            file = shoal.open(path, mode="r+", driver=driver)
        except shoal.SettingError:
            continue
        file.rename_group("a", "first")
        with pytest.raises(shoal.NotSupportedError, match="driver native"):
            file.end_define()
        assert list(file.groups)[0] == "a" and "a/v" in file.variables
        file.close()


@pytest.mark.parametrize("layout", ["one", "process"])
def test_a_new_group_is_renamed(tmp_path, layout):
    with shoal.create(tmp_path / "a.nc", format="netcdf4", layout=layout) as file:
        file.def_var("g/v", "f4", tiles_of())
        file.rename_group("g", "h")
        file.write("h/v", np.arange(4.0))
        file.rename_group("h", "i")  # with data that wait
        if layout == "one":
            assert file.read("i/v").tolist() == [0, 1, 2, 3]
        file.def_var("i/w", "f4", tiles_of())
        file.write("i/w", np.arange(4.0) + 10)
    with shoal.open(tmp_path / "a.nc") as file:
        assert list(file.groups) == ["i"] and file.get("i/v").tolist() == [0, 1, 2, 3]
        assert file.get("i/w").tolist() == [10, 11, 12, 13]


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
