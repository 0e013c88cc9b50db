# SPDX-License-Identifier: BSD-3-Clause
"""shoal.to_netcdf: what is read back is what xarray's own to_netcdf of the gathered Dataset gives."""

import warnings

import numpy as np
import pytest

import shoal

xr = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

ranks = [1, 3, 4]


@pytest.mark.parametrize("n", ranks)
def test_reads_back_as_of_xarray(tmp_path, mpirun_each, n):
    formats = ["cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"]
    for format in formats:
        (tmp_path / format).mkdir()
    mpirun_each(n, "to_netcdf.py", [[tmp_path / format, format] for format in formats])


@pytest.mark.parametrize("n", [1, 3])
def test_appending(tmp_path, mpirun, n):
    mpirun(n, "to_netcdf_append.py", tmp_path)


@pytest.mark.parametrize("n", [2, 3])
def test_what_is_refused_is_refused_by_all(tmp_path, mpirun, n):
    mpirun(n, "to_netcdf_refused.py", tmp_path)


def test_records_that_are_split_over_one_rank(tmp_path):
    ds = xr.Dataset({"v": ("time", np.arange(3.0))})
    shoal.to_netcdf(ds, tmp_path / "a.nc", split="time", unlimited_dims=["time"])
    xr.testing.assert_identical(xr.load_dataset(tmp_path / "a.nc"), ds)


def test_alone(tmp_path):
    ds = xr.Dataset({"v": ("x", np.arange(4.0))}, {"time": np.datetime64("2020-01-01", "ns")}, {"title": "t"})
    shoal.to_netcdf(ds, tmp_path / "a.nc")
    ds.to_netcdf(tmp_path / "b.nc")
    xr.testing.assert_identical(xr.load_dataset(tmp_path / "a.nc"), xr.load_dataset(tmp_path / "b.nc"))
    with shoal.open(tmp_path / "a.nc") as file:
        assert file.format == "netcdf4" and file.variables["v"].fill_value != file.variables["v"].fill_value


storage = [
    {"zlib": True, "complevel": 2},
    {"zlib": True, "shuffle": False},
    {"compression": "zlib", "fletcher32": True, "chunksizes": (3, 8)},
    {"compression": "zstd", "complevel": 3},
    {"zlib": False},
    {"significant_digits": 3, "quantize_mode": "GranularBitRound"},
]


@pytest.mark.parametrize("encoding", storage, ids=str)
def test_storage(tmp_path, encoding):
    ds = xr.Dataset({"v": (("y", "x"), np.random.default_rng(1).random((6, 16)).astype("f4"))})
    shoal.to_netcdf(ds, tmp_path / "a.nc", encoding={"v": encoding})
    with xr.open_dataset(tmp_path / "a.nc") as found, shoal.open(tmp_path / "a.nc") as file:
        filters = file.variables["v"].filters
        if "significant_digits" in encoding:
            assert np.allclose(found.v, ds.v, rtol=1e-2) and not np.array_equal(found.v, ds.v)
            return
        assert np.array_equal(found.v, ds.v)
        kind = encoding.get("compression", "zlib" if encoding.get("zlib") else None)
        assert found.v.encoding.get("zlib", False) == (kind == "zlib")
        assert found.v.encoding.get("zstd", False) == (kind == "zstd")
        if kind:
            assert found.v.encoding["complevel"] == encoding.get("complevel", 4)
            assert found.v.encoding["shuffle"] == encoding.get("shuffle", True)
        assert ("fletcher32" in filters) == encoding.get("fletcher32", False)
        if "chunksizes" in encoding:
            assert file.variables["v"].chunks == (3, 8)


refused = [
    ({"encoding": {"v": {"zlip": True}}}, ValueError, "zlip"),
    ({"encoding": {"w": {}}}, ValueError, "'w'"),
    ({"encoding": {"v": {"compression": "szip"}}}, NotImplementedError, "szip"),
    ({"encoding": {"v": {"least_significant_digit": 2}}}, NotImplementedError, "least_significant_digit"),
    ({"encoding": {"v": {"significant_digits": 2}}}, NotImplementedError, "BitGroom"),
    ({"encoding": {"v": {"zlib": True}}, "format": "cdf5"}, NotImplementedError, "cdf5"),
    ({"encoding": {"v": {"endian": "big"}}}, NotImplementedError, "endian"),
    ({"engine": "netcdf4"}, NotImplementedError, "engine"),
    ({"compute": False}, NotImplementedError, "compute"),
    ({"group": "a", "format": "cdf5"}, NotImplementedError, "cdf5 has no groups"),
    ({"mode": "a"}, NotImplementedError, "append_dim"),
    ({"mode": "r"}, ValueError, "'r'"),
    ({"format": "NETCDF5"}, ValueError, "(?i)netcdf5"),
    ({"unlimited_dims": ["t"]}, ValueError, "'t'"),
    ({"append_dim": "t"}, ValueError, "'t'"),
    ({"split": ("x", "y")}, ValueError, "split"),
    ({"split": "z"}, ValueError, "'z'"),
    ({"decomposition": 3}, ValueError, "Decomposition"),
    ({"stage_byte": 1}, ValueError, "stage_byte"),
]


@pytest.mark.parametrize(("arguments", "kind", "word"), refused, ids=lambda value: str(value)[:40])
def test_refused(tmp_path, arguments, kind, word):
    ds = xr.Dataset({"v": (("y", "x"), np.zeros((2, 3), "f4"))})
    (tmp_path / "a.nc").write_text("as before")
    with pytest.raises(kind, match=word):
        shoal.to_netcdf(ds, tmp_path / "a.nc", **arguments)
    assert (tmp_path / "a.nc").read_text() == "as before"
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]


def test_refused_datasets(tmp_path):
    path = tmp_path / "a.nc"
    with pytest.raises(ValueError, match="to_dataset"):
        shoal.to_netcdf(xr.DataArray([1.0], dims="x"), path)
    with pytest.raises(NotImplementedError, match="complex128"):
        shoal.to_netcdf(xr.Dataset({"v": ("x", np.zeros(2, "c16"))}), path)
    with pytest.raises(NotImplementedError, match="length 0"):
        shoal.to_netcdf(xr.Dataset({"v": (("y", "x"), np.zeros((1, 0)))}), path, format="cdf5")
    with pytest.raises(TypeError, match="attr"):
        shoal.to_netcdf(xr.Dataset({"v": ("x", np.zeros(2), {"a": {}})}), path)
    with pytest.raises(ValueError):
        shoal.to_netcdf(xr.Dataset({"v": ("x", np.array([2**40]))}), path, format="cdf1")
    assert not path.exists()


def test_groups_of_files_as_a_whole(tmp_path):
    path = tmp_path / "a.nc"
    xr.Dataset({"v": ("x", np.arange(2.0))}).to_netcdf(path)
    with pytest.raises(shoal.NotFoundError, match="no group 'inner"):
        xr.open_dataset(path, engine="shoal", group="inner")
    with pytest.raises(NotImplementedError, match="names in groups are paths"):
        shoal.open(path, group="inner")
    with pytest.raises(NotImplementedError, match="names in groups are paths"):
        shoal.create(tmp_path / "b.nc", group="inner")
    with shoal.open(path, group="/") as file, xr.open_dataset(path, engine="shoal", group=None) as ds:
        assert "v" in file and "v" in ds


def test_encoding_of_times_that_does_not_go_on(tmp_path):
    path = tmp_path / "a.nc"
    day = xr.Dataset({"v": ("time", [1.0])}, {"time": np.array(["2020-01-01"], "M8[ns]")})
    day.time.encoding = {"units": "days since 2020-01-01", "dtype": "i4"}
    shoal.to_netcdf(day, path, append_dim="time")
    hour = xr.Dataset({"v": ("time", [1.0])}, {"time": np.array(["2020-01-02T03:00"], "M8[ns]")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="time"):
            shoal.to_netcdf(hour, path, append_dim="time")
    assert xr.load_dataset(path).sizes["time"] == 1
