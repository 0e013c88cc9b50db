# SPDX-License-Identifier: BSD-3-Clause
"""Packed values: what Shoal writes, others unpack to the same values, and the other way round."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from mpi4py import MPI

import shoal
from shoal.conversion import convert

xr = pytest.importorskip("xarray")
netCDF4 = pytest.importorskip("netCDF4")

LEAST, MOST = -2.0, 35.0


def grid(**lengths: int) -> shoal.Decomposition:
    return shoal.Decomposition.block(MPI.COMM_SELF, lengths or {"y": 20, "x": 30})


def values(record: int, dtype: str = "f4") -> np.ndarray:
    field = np.random.default_rng(record).uniform(LEAST, MOST, (20, 30))
    field[3, 4:9] = np.nan
    return field.astype(dtype)


def write(path, format_: str, mode: str = "create") -> None:
    with (
        shoal.create(path, format=format_)
        if mode == "create"
        else shoal.open(path, mode="r+", pack="attributes") as file
    ):
        if mode == "create":
            file.def_dim("time", None)
            cut = grid()
            file.def_var(
                "temp", "f4", cut, record="time", pack=f"short({LEAST}, {MOST})", attrs={"units": "degC"}
            )
            file.def_var("depth", "f8", ("y", "x"), pack="uint(0, 6000)", fill=-1.0)
        record = 0 if mode == "create" else 1
        file.write("temp", values(record), record=record, decomposition=grid())
        if mode == "create":
            depth = np.linspace(0, 6000, 600).reshape(20, 30)
            depth[0, 0] = -1
            file.put("depth", depth)


@pytest.mark.parametrize("format_", ["cdf5", "netcdf4"])
def test_others_unpack_to_the_same_values(tmp_path, format_):
    path = str(tmp_path / "packed.nc")
    write(path, format_)
    write(path, format_, "append")
    with shoal.open(path, pack="attributes") as file:
        temp, depth = file.get("temp"), file["depth"][...]
        assert temp.dtype == np.float64 and file.variables["temp"].packed
        raw = file.get("temp", dtype="i2")
    assert raw.dtype == np.int16 and (raw[np.isnan(temp)] == -32767).all()
    for record in (0, 1):
        assert np.nanmax(np.abs(temp[record] - values(record))) <= (MOST - LEAST) / 65533 / 2 * 1.0001
        assert np.array_equal(np.isnan(temp[record]), np.isnan(values(record)))
    assert np.isnan(depth[0, 0]) and np.nanmax(np.abs(depth[1] - np.linspace(0, 6000, 600)[30:60])) < 1e-6
    with xr.open_dataset(path, engine="netcdf4") as theirs:
        np.testing.assert_array_equal(theirs["temp"].values, temp)
        np.testing.assert_array_equal(theirs["depth"].values, depth)
    with xr.open_dataset(path, engine="shoal") as ours, xr.open_dataset(path, engine="netcdf4") as theirs:
        xr.testing.assert_identical(ours.load(), theirs.load())
    with netCDF4.Dataset(path) as theirs:
        np.testing.assert_array_equal(np.ma.filled(theirs["temp"][:], np.nan), temp)
        assert theirs["temp"].dtype == np.int16 and theirs["temp"].units == "degC"
    commands = {"ncpdq": ["ncpdq", "-O", "-U"], "cdo": ["cdo", "-s", "-b", "F64", "copy"]}
    for tool, command in commands.items():
        if shutil.which(tool) is None:
            continue
        out = str(tmp_path / f"{tool}.nc")
        subprocess.run([*command, path, out], check=True, capture_output=True, timeout=120)
        with netCDF4.Dataset(out) as theirs:
            assert theirs["temp"].dtype.kind == "f"
            np.testing.assert_array_equal(np.ma.filled(theirs["temp"][:], np.nan), temp)


def test_what_others_packed(tmp_path):
    path = str(tmp_path / "theirs.nc")
    data = xr.Dataset({"temp": (("y", "x"), values(0, "f8"))})
    encoding = {"dtype": "int16", "scale_factor": 0.001, "add_offset": 17.0, "_FillValue": np.int16(-9999)}
    data.to_netcdf(path, encoding={"temp": encoding})
    with shoal.open(path, pack="temp=attributes") as file, xr.open_dataset(path, engine="netcdf4") as theirs:
        np.testing.assert_array_equal(file.get("temp", dtype="f8"), theirs["temp"].values)
    with shoal.open(path) as file:
        assert file.get("temp", dtype="f8")[3, 4] == -9999


def test_missing_value_of_a_file_is_missing(tmp_path):
    path = str(tmp_path / "era.nc")
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 5)
        v = file.createVariable("t", "i2", ("x",), fill_value=-32767)
        v.set_auto_maskandscale(False)
        v.scale_factor, v.add_offset, v.missing_value = 0.5, 100.0, np.int16(-32766)
        v[:] = [-32767, -32766, 0, 1, 2]
    with shoal.open(path, pack="attributes") as file, xr.open_dataset(path, engine="netcdf4") as theirs:
        np.testing.assert_array_equal(file.get("t", dtype="f8"), theirs["t"].values)
    with netCDF4.Dataset(path, "a") as file:
        file["t"].setncattr("_Unsigned", "true")
    with pytest.raises(shoal.NotSupportedError, match="era.nc.*'t'.*_Unsigned"):
        shoal.open(path, pack="t=attributes")
    with shoal.open(path, pack="attributes") as file:
        assert file.get("t", dtype="f8")[2] == 0


def test_out_of_range_is_counted_and_said(tmp_path, capfd):
    path = str(tmp_path / "out.nc")
    with shoal.create(path, pack="byte(0, 10)", report=str(tmp_path / "report.json")) as file:
        file.def_var("v", "f4", grid(x=6))
        file.write("v", np.array([0, 5, 10, 11.5, -3, np.nan], "f4"))
    assert "variable 'v': 2 values, from -3 to 11.5, are out of the range" in capfd.readouterr().err
    text = (tmp_path / "report.json").read_text()
    assert '"values_out_of_range": {"v": {"count": 2, "lowest": -3, "highest": 11.5}}' in text
    assert "v: 2 values, from -3 to 11.5" in (tmp_path / "report.txt").read_text()
    with pytest.raises(shoal.RangeError, match=r"'v'.*11\.5.*0 to 10.*nor do 1 more"):
        with shoal.create(path, pack="byte(0, 10)", pack_out_of_range="error") as file:
            file.def_var("v", "f4", grid(x=6))
            file.write("v", np.array([0, 5, 10, 11.5, -3, np.nan], "f4"))


def test_convert_packs(tmp_path):
    plain, out = str(tmp_path / "plain.nc"), str(tmp_path / "out.nc")
    data = xr.Dataset({"temp": (("y", "x"), values(0))}, {"y": np.linspace(0, 1, 20)})
    data.to_netcdf(plain)
    convert(out, plain, settings={"pack": f"short({LEAST}, {MOST})"})
    with xr.open_dataset(out) as packed:
        assert packed["temp"].encoding["dtype"] == np.int16 and packed["y"].encoding["dtype"] == np.float64
        np.testing.assert_allclose(packed["temp"].values, values(0), atol=37 / 65533)
    with pytest.raises(shoal.InvalidArgumentError, match="verify"):
        convert(out, plain, verify=True, overwrite=True, settings={"pack": "temp=short(0, 1)"})


def test_settings_files_and_lists(tmp_path, monkeypatch):
    path = str(tmp_path / "s.nc")
    (tmp_path / "shoal.toml").write_text('pack = "v=short(-2, 35); none"\nexists = "replace"\n')
    monkeypatch.setenv("SHOAL_SETTINGS", str(tmp_path / "shoal.toml"))
    with shoal.create(path) as file:
        file.def_var("v", "f4", grid(x=3))
        file.write("v", np.array([1, 2, 3], "f4"))
    with shoal.open(path, pack="attributes") as file:
        assert file.variables["v"].dtype == np.int16
        holes = file.read("v", decomposition=shoal.Decomposition.map(MPI.COMM_SELF, {"x": 3}, [0, -1, 2]))
        assert np.isnan(holes[1]) and abs(holes[2] - 3) < 0.001
