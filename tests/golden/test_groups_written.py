# SPDX-License-Identifier: BSD-3-Clause
"""Groups: files of all drivers that have them are the same to ncdump; Shoal and netCDF add to each other."""

import numpy as np
import pytest

import shoal

netCDF4 = pytest.importorskip("netCDF4")
h5netcdf = pytest.importorskip("h5netcdf")


def write(path, driver):
    with shoal.create(path, format="netcdf4", driver=driver) as file:
        file.put_att(None, "title", "all")
        for name, length in (("time", None), ("x", 6), ("ocean/depth", 3), ("ocean/ice/cat", 2)):
            file.def_dim(name, length)
        file.def_var("x", "f8", "x")
        file.def_var("ocean/depth", "f4", "depth")
        file.def_var("ocean/temp", "f4", "time depth x", chunks=[1, 3, 6], attrs={"units": "degC"})
        file.def_var("ocean/ice/cat", "i4")  # has a dimension's name, and is no coordinate
        file.def_var("ocean/ice/conc", "f4", "time cat x", chunks=[1, 2, 6])
        file.def_var("ocean/ice/x", "f4", "x")  # of the file's dimension
        file.def_group("empty/one")
        file.put_att("ocean", "title", "water")
        file.put_att("empty/one", "n", np.int32(4))
        file.put("x", np.arange(6.0))
        file.put("ocean/depth", np.arange(3) * 10)
        file.put("ocean/temp", np.arange(36).reshape(2, 3, 6))
        file.put("ocean/ice/conc", np.arange(24).reshape(2, 2, 6))
        file.put("ocean/ice/cat", 7)
        file.put("ocean/ice/x", np.arange(6) + 0.5)


@pytest.fixture
def native(tmp_path):
    path = tmp_path / "native.nc"
    write(path, "native")
    return path


@pytest.mark.parametrize("driver", ["netcdf", "gather"])
def test_drivers_write_the_same(driver, native, tmp_path, tool):
    other = tmp_path / "other.nc"
    try:
        write(other, driver)
    except shoal.SettingError as error:
        pytest.skip(str(error))
    assert tool("ncdump", "-n", "f", native) == tool("ncdump", "-n", "f", other)


def test_others_read_them(native):
    with netCDF4.Dataset(native) as file:
        temp, x = file["ocean/temp"], file["ocean/ice/x"]
        assert [d.group().path for d in temp.get_dims()] == ["/", "/ocean", "/"]
        assert temp.dimensions == ("time", "depth", "x") and temp[1, 2].tolist() == list(range(30, 36))
        assert x[:].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5] and file["ocean/ice/cat"][...] == 7
        assert list(file.groups) == ["ocean", "empty"] and file["empty/one"].n == 4
        assert file["ocean"].title == "water" and file.dimensions["time"].isunlimited()
    with h5netcdf.File(native) as file:
        assert file["ocean/temp"].dimensions == ("time", "depth", "x")
        assert file["ocean/ice/conc"][1, 1].tolist() == list(range(18, 24))


def test_each_adds_to_what_the_other_made(native):
    with netCDF4.Dataset(native, "a") as file:
        file["ocean/temp"][2] = -1.0
        group = file["ocean/ice"].createGroup("new")
        group.createDimension("x", 2)
        group.createVariable("v", "i8", ("time", "x"))[:] = [[1, 2], [3, 4], [5, 6]]
        file["ocean"].renameAttribute("title", "name")
    with shoal.open(native, mode="r+") as file:
        assert file.variables["ocean/ice/new/v"].dims == ("time", "ocean/ice/new/x")
        assert file["ocean/temp"][2].tolist() == [[-1] * 6] * 3
        assert file["ocean/ice/conc"].shape == (3, 2, 6) and file.get_att("ocean", "name") == "water"
        file.def_var("ocean/ice/new/w", "f4", "time x")
        file.put("ocean/ice/new/v", [7, 8], 3)
        file.put("ocean/ice/new/w", [0.5, 1.5], 3)
        file.rename_var("ocean/temp", "t")
        file.rename_dim("ocean/ice/cat", "category")
        file.rename_dim("ocean/depth", "level")
        file.rename_var("ocean/depth", "level")
    with netCDF4.Dataset(native) as file:
        assert file["ocean/ice/new/v"][:].tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
        assert file["ocean/ice/new/w"][3].tolist() == [0.5, 1.5] and file["ocean/t"][2, 0, 0] == -1
        assert file["ocean/t"].dimensions == ("time", "level", "x") and file["ocean/ice/cat"][...] == 7
        assert file["ocean/ice/conc"].dimensions == ("time", "category", "x")
        assert file["ocean/level"][:].tolist() == [0, 10, 20]
        assert list(file["ocean"].variables) == ["level", "t"]
