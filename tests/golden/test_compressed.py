# SPDX-License-Identifier: BSD-3-Clause
"""Compressed variables of Shoal in other readers, and theirs in Shoal."""

import numpy as np
import pytest

import shoal

netCDF4 = pytest.importorskip("netCDF4")
h5py = pytest.importorskip("h5py")
xr = pytest.importorskip("xarray")

shape = {"z": 3, "y": 20, "x": 31}
filter_lists = ["shuffle+deflate:1", "deflate:12", "shuffle+deflate:9+fletcher32", "fletcher32", "shuffle"]


def values(dtype, record):
    cells = np.arange(3 * 20 * 31).reshape(3, 20, 31) // 7 % 90
    return (cells + record).astype(dtype)


def noise(dtype):
    return (
        np.random.default_rng(1)
        .integers(0, 256, 3 * 20 * 31 * dtype.itemsize, "u1")
        .view(dtype)
        .reshape(3, 20, 31)
    )


def write(path, filters_asked, chunks=None):
    tile = shoal.Decomposition.block(None, shape)
    with shoal.create(path, format="netcdf4") as file:
        for dtype in ("f4", "f8", "i2", "u1"):
            file.def_var(dtype, dtype, tile, record="time", chunks=chunks, compression=filters_asked)
        file.def_var("noise", "i4", tile, chunks=chunks and chunks[1:], compression=filters_asked)
        for record in (0, 2, 1):
            for dtype in ("f4", "f8", "i2", "u1"):
                file.write(dtype, values(dtype, record), record=record)
        file.write("noise", noise(np.dtype("i4")))


@pytest.mark.parametrize("chunks", [None, (1, 2, 7, 8)])
@pytest.mark.parametrize("filters_asked", filter_lists)
def test_others_read_it(tmp_path, filters_asked, chunks):
    path = tmp_path / "c.nc"
    write(path, filters_asked, chunks)
    with netCDF4.Dataset(path) as file:
        filters = file["f4"].filters()
        assert filters["shuffle"] == ("shuffle" in filters_asked) and filters["zlib"] == (
            "deflate" in filters_asked
        )
        assert filters["fletcher32"] == ("fletcher32" in filters_asked)
        file.set_auto_mask(False)
        for dtype in ("f4", "f8", "i2", "u1"):
            for record in range(3):
                np.testing.assert_array_equal(file[dtype][record], values(dtype, record))
        np.testing.assert_array_equal(file["noise"][:], noise(np.dtype("i4")))
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["f8"][1], values("f8", 1))
        np.testing.assert_array_equal(file["noise"][:], noise(np.dtype("i4")))
    with xr.open_dataset(path) as data:
        np.testing.assert_array_equal(data["i2"][2], values("i2", 2))


def test_zstd_in_netcdf4_python(tmp_path):
    path = tmp_path / "z.nc"
    write(path, "shuffle+zstd:3")
    with netCDF4.Dataset(path) as file:
        if not file.has_zstd_filter():
            pytest.skip("this netCDF4 has no zstd")
        np.testing.assert_array_equal(file["f4"][1], values("f4", 1))
        np.testing.assert_array_equal(file["noise"][:], noise(np.dtype("i4")))


@pytest.mark.parametrize(
    "options",
    [
        {"zlib": True, "complevel": 5},
        {"zlib": True, "shuffle": True, "fletcher32": True},
        {"fletcher32": True},
    ],
)
def test_files_of_others_are_read_and_extended(tmp_path, options):
    path = tmp_path / "o.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        for name, n in shape.items():
            file.createDimension(name, n)
        v = file.createVariable("v", "f4", ("time", *shape), chunksizes=(1, 2, 7, 31), **options)
        v[0] = values("f4", 0)
    tile = shoal.Decomposition.block(None, shape)
    with shoal.open(path, mode="r+") as file:
        np.testing.assert_array_equal(file.read("v", decomposition=tile, record=0), values("f4", 0))
        file.write("v", values("f4", 1), decomposition=tile, record=1)
        np.testing.assert_array_equal(file.read("v", decomposition=tile, record=1), values("f4", 1))
    with netCDF4.Dataset(path) as file:
        for record in (0, 1):
            np.testing.assert_array_equal(file["v"][record], values("f4", record))
