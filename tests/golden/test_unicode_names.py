# SPDX-License-Identifier: BSD-3-Clause
"""Names that are not ASCII: other programs find them in the form in which NetCDF stores names."""

import shutil
import subprocess

import h5py
import netCDF4
import numpy as np
import pytest
import xarray

import shoal

composed, apart = "caf\u00e9", "cafe\u0301"
drivers = shoal.build_info()["drivers"].split()
ways = [
    (driver, kind)
    for driver, kinds in {
        "native": ("cdf1", "cdf5", "netcdf4", "netcdf4-classic"),
        "gather": ("cdf5", "netcdf4"),
        "pnetcdf": ("cdf5",),
        "mpiio": ("cdf5",),
        "netcdf": ("netcdf4",),
    }.items()
    for kind in kinds
    if driver in drivers
]


@pytest.mark.parametrize("driver, kind", ways)
def test_names_are_stored_composed(tmp_path, driver, kind):
    path = tmp_path / "names.nc"
    with shoal.create(path, driver=driver, format=kind) as file:
        file.def_dim(apart, 2)
        file.def_var(apart, "f4", apart, attrs={apart: "of the variable"})
        file.put_att(None, apart, "of the file")
        file.put_att(composed, apart, "again")  # in the place of the first
        with pytest.raises(shoal.ExistsError):
            file.def_var(composed, "f4", composed)
        file.put(apart, [1.0, 2.0])
    with netCDF4.Dataset(path) as file:
        assert list(file.dimensions) == list(file.variables) == file.ncattrs() == [composed]
        variable = file.variables[composed]
        assert (variable.getncattr(composed), file.getncattr(composed)) == ("again", "of the file")
        assert list(variable[:]) == [1, 2]
    with xarray.open_dataset(path, engine="netcdf4") as found:
        assert list(found.variables) == [composed]
    if shutil.which("ncdump"):
        subprocess.run(["ncdump", path], check=True, capture_output=True)
    with shoal.open(path) as file:
        for name in (composed, apart):
            assert name in file.variables and name in file.dimensions and name in file.attributes
            assert name in file.variables[name].attributes
            assert list(file.get(name)) == [1, 2]
            assert file.variables[name].attributes[name] == "again"
        assert "cafe" not in file.variables


def of_before(path, kind):
    """As Shoal 0.1 wrote it, with names in the other form."""
    if kind == "netcdf4":
        with h5py.File(path, "w", track_order=True) as file:
            data = file.create_dataset(apart, data=np.array([1, 2], "f4"), track_order=True)
            data.make_scale(apart)
            data.attrs[apart] = np.bytes_("old")
            file.attrs[apart] = np.bytes_("old")
        return
    stand_in = "caf-ABC"[: len(apart.encode())].replace("-", "x")
    assert len(stand_in) == len(apart.encode())
    with shoal.create(path, format=kind) as file:
        file.def_dim(stand_in, 2)
        file.def_var(stand_in, "f4", stand_in, attrs={stand_in: "old"})
        file.put_att(None, stand_in, "old")
        file.put(stand_in, [1.0, 2.0])
    path.write_bytes(path.read_bytes().replace(stand_in.encode(), apart.encode()))


@pytest.mark.parametrize("driver", [driver for driver, kind in ways if kind == "netcdf4"])
@pytest.mark.parametrize("given", [composed, apart])
def test_what_is_added_to_a_group_goes_to_the_one_that_is_there(tmp_path, driver, given):
    path, inner = tmp_path / "groups.nc", f"{apart}/in/{apart}"
    with h5py.File(path, "w", track_order=True) as file:
        file.create_dataset("x", data=np.arange(2.0)).make_scale("x")
        file.create_group(inner, track_order=True).attrs["there"] = 1
    with shoal.open(path, mode="r+", driver=driver) as file:
        file.def_group(f"{given}/in/{given}/")
        file.def_group(f"{given}/in/{given}/new")
        file.def_dim(f"{given}/in/{given}/{given}", 3)
        file.def_var(f"/{given}/in/{given}/v", "f4", f"x {given}")
        file.def_var(f"{given}/w", "i4", "x")
        file.put_att(given, "a", "of the outer")
        file.put_att(f"{given}/in/{given}/", "a", "of the inner")
        file.put_att(f"{given}/in/{given}/v", "a", "of the variable")
        for name in (f"{given}/w", f"{given}/in/{given}/v"):
            with pytest.raises(shoal.ExistsError):
                file.def_var(name, "f4", "x")
        with pytest.raises(shoal.ExistsError, match="a group"):
            file.def_var(f"{given}/in/{given}", "f4", "x")
        file.rename_var(f"{given}/w", f"/{given}/u")
        for other in (composed, apart):
            file.put(f"{other}/in/{other}/v", np.full((2, 3), 7.0))
            file.put(f"{other}/u", [1, 2])
    with h5py.File(path) as file:
        assert list(file) == ["x", apart] and list(file[apart]) == ["in", "u"]
        assert sorted(file[inner]) == [composed, "new", "v"] and file[inner].attrs["there"] == 1
        assert file[inner]["v"][1, 2] == 7 and list(file[apart]["u"]) == [1, 2]
        assert file[inner]["v"].dims[1][0] == file[inner][composed]
        found = [file[name].attrs["a"] for name in (apart, inner, f"{inner}/v")]
        assert found == [b"of the outer", b"of the inner", b"of the variable"]
    with shoal.open(path) as file:
        assert list(file.groups) == [apart, f"{apart}/in", inner, f"{inner}/new"]
        for other in (composed, apart):
            assert file.variables[f"{other}/in/{other}/v"].dims == ("x", f"{inner}/{composed}")
    if driver != "native":
        return
    with shoal.open(path, mode="r+") as file:
        file.rename_group(given, composed)
        assert list(file.groups)[0] == composed and f"{apart}/u" in file.variables
    with netCDF4.Dataset(path) as file:
        assert list(file.groups) == [composed] and list(file[composed]["u"][:]) == [1, 2]


@pytest.mark.parametrize("kind", ["cdf5", "netcdf4"])
def test_files_of_before(tmp_path, kind):
    path = tmp_path / "old.nc"
    of_before(path, kind)
    with shoal.open(path, mode="r+") as file:
        assert list(file.variables) == list(file.dimensions) == [apart]  # as it is
        for name in (composed, apart):
            assert name in file.variables and list(file.get(name)) == [1, 2]
            assert file.attributes[name] == file.variables[name].attributes[name]
            with pytest.raises(shoal.ExistsError):
                file.def_dim(name, 2)
            file.put_att(None, name, "new")
            file.put_att(name, name, "new")
            file.put(name, [1.0, 2.0])
        assert len(file.attributes) == 1
    with shoal.open(path) as file:
        assert file.attributes[composed] == file.variables[composed].attributes[composed] == "new"
    # A rename makes it a file that others read.
    with shoal.open(path, mode="r+") as file:
        file.rename_att(None, composed, composed)
        file.rename_att(composed, composed, composed)
        file.rename_dim(composed, composed)
        file.rename_var(composed, composed)
    with netCDF4.Dataset(path) as file:
        assert list(file.dimensions) == list(file.variables) == file.ncattrs() == [composed]
        assert file.getncattr(composed) == file.variables[composed].getncattr(composed) == "new"
        assert list(file.variables[composed][:]) == [1, 2]
