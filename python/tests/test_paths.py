# SPDX-License-Identifier: BSD-3-Clause
"""Names of files: all that the file system takes, and nothing that it would cut off."""

import os
import pathlib

import numpy as np
import pytest

import shoal


def write(path, **settings):
    with shoal.create(path, **settings) as file:
        file.def_dim("x", 3)
        file.def_var("v", "f8", "x")
        file.put("v", np.arange(3.0))
    return file


def values(path):
    with shoal.open(path) as file:
        return file.get("v").tolist()


@pytest.mark.parametrize("form", [lambda raw: raw, os.fsdecode, lambda raw: pathlib.Path(os.fsdecode(raw))])
@pytest.mark.parametrize("name", [b"latin-\xe9.nc", "déjà.nc".encode(), b"plain.nc", b"a b,c.nc"])
@pytest.mark.parametrize("format", ["cdf5", "netcdf4"])
def test_any_name(tmp_path, name, form, format):
    raw = os.path.join(os.fsencode(tmp_path), name)
    try:
        open(raw, "wb").close()
    except OSError:
        pytest.skip("the file system takes text alone")
    os.remove(raw)
    file = write(form(raw), format=format)
    assert os.listdir(os.fsencode(tmp_path)) == [name]
    assert os.fsencode(file.path) == raw
    assert values(form(raw)) == [0, 1, 2]
    with shoal.open(form(raw), report=raw + b".json") as file:
        assert (file.format, file.writable, len(file.dimensions)) == (format, False, 1)
        assert os.fsencode(file.report["file"]) == raw
        assert os.fsencode(tmp_path) in os.fsencode(file.settings)


def test_name_in_error(tmp_path):
    raw = os.path.join(os.fsencode(tmp_path), b"no-\xff", b"x.nc")
    with pytest.raises(shoal.NoSuchFileError) as info:
        shoal.open(raw)
    assert "no-\udcff" in str(info.value)


def test_decomposition_in_such_a_file(tmp_path):
    raw = os.path.join(os.fsencode(tmp_path), b"cut-\xe9.nc")
    cut = shoal.Decomposition.map(None, (4,), np.arange(4))
    cut.save(raw)
    assert tuple(shoal.Decomposition.load(None, raw).global_shape) == (4,)


@pytest.mark.parametrize("name", ["x.nc\0y", b"x.nc\0y", "\0"])
def test_zero_byte(tmp_path, name):
    folder = os.fsencode(tmp_path)
    write(os.path.join(folder, b"x.nc"))
    path = os.path.join(folder if isinstance(name, bytes) else os.fsdecode(folder), name)
    with pytest.raises(shoal.InvalidArgumentError, match="zero byte"):
        shoal.open(path)
    with pytest.raises(shoal.InvalidArgumentError, match="zero byte"):
        shoal.create(path)
    with pytest.raises(shoal.InvalidArgumentError, match="zero byte"):
        shoal.recover(path)
    with pytest.raises(shoal.InvalidArgumentError, match="zero byte"):
        shoal.namelist(path)
    with pytest.raises(shoal.InvalidArgumentError, match="report=.*zero byte"):
        shoal.create(os.path.join(folder, b"y.nc"), report="a\0b")
    assert os.listdir(tmp_path) == ["x.nc"]


def test_zero_byte_in_other_names(tmp_path):
    with shoal.create(tmp_path / "x.nc") as file:
        with pytest.raises(shoal.InvalidArgumentError, match="zero byte"):
            file.def_dim("x\0y", 3)
        file.def_dim("x", 3)
        with pytest.raises(shoal.InvalidArgumentError, match="zero byte"):
            file.def_var("v\0w", "f8", "x")
        file.def_var("v", "f8", "x")
    with pytest.raises(shoal.InvalidArgumentError, match="zero byte"):
        shoal.write_reference(tmp_path / "x.nc", os.fspath(tmp_path) + "/out\0.json")


@pytest.mark.parametrize("path", [None, 3, ["x.nc"]])
def test_what_is_no_path(path):
    with pytest.raises(shoal.TypeMismatchError, match="give a str, bytes or a pathlib.Path"):
        shoal.open(path)


def test_report_beside_such_a_file(tmp_path):
    raw = os.path.join(os.fsencode(tmp_path), b"report-\xe9.json")
    write(tmp_path / "x.nc", report=raw)
    assert os.path.exists(raw)


def test_old_file_while_the_new_one_is_written(tmp_path):
    path = tmp_path / "x.nc"
    write(path)
    with shoal.create(path) as file:
        file.def_dim("x", 3)
        file.def_var("v", "f8", "x")
        file.put("v", np.full(3, 7.0))
        assert values(path) == [0, 1, 2]
        file.sync()
        assert values(path) == [7, 7, 7]
        with pytest.raises(shoal.StateError, match="open for writing already"):
            shoal.open(path, mode="a")
    assert os.listdir(tmp_path) == ["x.nc"]
    shoal.open(path, mode="a").close()


@pytest.mark.parametrize("reader", ["netCDF4", "h5py"])
def test_readers_of_others_while_it_is_written(tmp_path, reader):
    library = pytest.importorskip(reader)
    path = tmp_path / "x.nc"
    with shoal.create(path, format="netcdf4") as file:
        file.def_dim("x", 3)
        file.def_var("v", "f8", "x")
        file.put("v", np.arange(3.0))
        file.sync()
        with (library.Dataset if reader == "netCDF4" else library.File)(path, "r") as other:
            assert other["v"][:].tolist() == [0, 1, 2]
        file.put("v", np.arange(3.0))
