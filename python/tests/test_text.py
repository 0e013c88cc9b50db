# SPDX-License-Identifier: BSD-3-Clause
"""Text, strings and attributes."""

import numpy as np
import pytest

import shoal


def test_characters(tmp_path, any_format):
    with shoal.create(tmp_path / "a.nc", format=any_format) as file:
        file.def_dim("station", 3)
        file.def_dim("length", 8)
        file.def_var("name", "S1", "station length")
        file.def_var("title", "S1", "length")
        file.put("name", ["Hilo", "Callao", "Miyako"])
        file.put("title", "tsunami")
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.variables["name"].dtype == np.dtype("S1")
        found = file.get("name")
        assert found.shape == (3, 8)
        assert shoal.text(found).tolist() == ["Hilo", "Callao", "Miyako"]
        assert shoal.text(file.get("title")) == "tsunami"


def test_text_that_is_too_long(tmp_path):
    with shoal.create(tmp_path / "a.nc") as file:
        file.def_dim("length", 4)
        file.def_var("title", "S1", "length")
        with pytest.raises(ValueError, match="does not fit the 4"):
            file.put("title", "tsunami")
        file.put("title", "wave")


def test_strings(tmp_path):
    names = np.array([["Hilo", "São Paulo"], ["", "Kōchi " * 50]], dtype=object)
    with shoal.create(tmp_path / "a.nc", format="netcdf4") as file:
        file.def_dim("a", 2)
        file.def_dim("b", 2)
        file.def_var("name", str, "a b")
        file.def_var("one", str)
        file.put("name", names)
        file.put("one", "a single one")
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.variables["name"].dtype is str
        assert file.get("name").tolist() == names.tolist()
        assert file.get("one").item() == "a single one"


def test_strings_need_netcdf4(tmp_path):
    with shoal.create(tmp_path / "a.nc", format="cdf5") as file:
        with pytest.raises(shoal.NotSupportedError, match="netcdf4"):
            file.def_var("name", str)


attributes = {
    "text": "Celsius",
    "unicode": "°C, naïve",
    "empty": "",
    "int": 3,
    "float": 2.5,
    "ints": [1, 2, 3],
    "f4": np.float32(1.5),
    "i2": np.array([1, -2], "i2"),
}


def test_attributes(tmp_path, any_format):
    with shoal.create(tmp_path / "a.nc", format=any_format) as file:
        file.def_var("v", "f4", attrs=attributes)
        for name, value in attributes.items():
            file.put_att(None, name, value)
        assert file.get_att("v", "text") == "Celsius"
    with shoal.open(tmp_path / "a.nc") as file:
        for found in (file.variables["v"].attributes, file.attributes):
            assert set(attributes) <= set(found)
            assert len(found) == len(list(found))
            for name, value in attributes.items():
                np.testing.assert_array_equal(found[name], value)
            assert found["int"].dtype == np.dtype("i4")
            assert found["i2"].dtype == np.dtype("i2")
            assert found["f4"].dtype == np.dtype("f4")
        with pytest.raises(KeyError, match="Celsius|units|txt|no attribute|text"):
            file.get_att("v", "txt")


def test_attributes_of_netcdf4_alone(tmp_path):
    with shoal.create(tmp_path / "a.nc", format="netcdf4") as file:
        file.put_att(None, "history", ["one", "two"])
        file.put_att(None, "big", 2**40)
        file.put_att(None, "u8", np.uint64(2**63))
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.get_att(None, "history") == ["one", "two"]
        assert file.get_att(None, "big") == 2**40
        assert file.get_att(None, "u8") == 2**63


def test_attributes_that_cannot_be(tmp_path):
    with shoal.create(tmp_path / "a.nc") as file:
        for value in ({"a": 1}, [[1, 2]], np.zeros(2, "c8"), None, ["a", 1.5 + 2j]):
            with pytest.raises((ValueError, TypeError)):
                file.put_att(None, "bad", value)
        assert "bad" not in file.attributes


def test_names_with_blanks_commas_and_quotes(tmp_path, any_format):
    names = ["time step", "sea level, m", 'a "b" \\c', "plain"]
    with shoal.create(tmp_path / "a.nc", format=any_format) as file:
        file.def_dim(names[0], None)
        for length, name in enumerate(names[1:], 2):
            file.def_dim(name, length)
        file.def_var("list", "i4", names)
        file.def_var("tuple", "i4", tuple(names[1:]), record=names[0])
        file.def_var("text", "i4", r'"time step", plain "a \"b\" \\c"')
        file.put("text", np.arange(12).reshape(4, 3), record=0)
        with pytest.raises(shoal.NotFoundError, match="'time'"):
            file.def_var("bad", "i4", "time step")
        for text in ['"time step', '"plain"x', r'"pl\ain"', 'plain "']:
            with pytest.raises(shoal.InvalidArgumentError, match="quote"):
                file.def_var("bad", "i4", text)
        with pytest.raises(shoal.NotFoundError):
            file.def_var("bad", "i4", ["plain", ""])
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.variables["list"].dims == file.variables["tuple"].dims == tuple(names)
        assert file.variables["text"].dims == ("time step", "plain", 'a "b" \\c')
        assert (file.get("text", record=0) == np.arange(12).reshape(4, 3)).all()


def test_a_file_with_such_names_is_converted(tmp_path, any_format):
    with shoal.create(tmp_path / "a.nc", format="cdf5") as file:
        file.def_dim("sea level, m", 3)
        file.def_var("height of, it", "f4", ["sea level, m"])
        file.put("height of, it", [1, 2, 3])
    from shoal.conversion import convert

    convert(tmp_path / "b.nc", [tmp_path / "a.nc"], format=any_format)
    with shoal.open(tmp_path / "b.nc") as file:
        assert file.variables["height of, it"].dims == ("sea level, m",)
        assert file.get("height of, it").tolist() == [1, 2, 3]
