# SPDX-License-Identifier: BSD-3-Clause
"""Files of netCDF4-python, read by Shoal: whole, in tiles, and in sections."""

import numpy as np
import pytest

import shoal

netCDF4 = pytest.importorskip("netCDF4")

kinds = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4", "NETCDF4_CLASSIC"]
wide = ("NETCDF3_64BIT_DATA", "NETCDF4")
storages = {
    "contiguous": {"contiguous": True},
    "chunked": {"chunksizes": (3, 5)},
    "deflate": {"zlib": True, "complevel": 4, "shuffle": False},
    "deflate and shuffle": {"zlib": True, "shuffle": True, "chunksizes": (4, 7)},
    "fletcher32": {"fletcher32": True, "chunksizes": (5, 5)},
    "all filters": {"zlib": True, "shuffle": True, "fletcher32": True, "chunksizes": (2, 3)},
}


def random(dtype, shape, seed=5):
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return generator.random(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("kind", kinds)
def test_every_type(tmp_path, kind):
    path = tmp_path / "a.nc"
    types = ["i1", "i2", "i4", "f4", "f8"] + (["u1", "u2", "u4", "i8", "u8"] if kind in wide else [])
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.createDimension("time", None)
        file.createDimension("y", 4)
        file.createDimension("x", 5)
        file.createDimension("length", 3)
        for dtype in types:
            file.createVariable(f"r_{dtype}", dtype, ("time", "y", "x"))[:] = random(dtype, (3, 4, 5))
            file.createVariable(f"f_{dtype}", dtype, ("y", "x"))[:] = random(dtype, (4, 5))
            file[f"f_{dtype}"].setncattr("one", np.dtype(dtype).type(7))
            file[f"f_{dtype}"].setncattr("many", np.arange(3).astype(dtype))
        file.createVariable("c", "S1", ("y", "length"))[:] = netCDF4.stringtochar(
            np.array(["ab", "c", "def", ""], "S3")
        )
        file.createVariable("scalar", "f8", ())[...] = 2.5
        file.title = "theirs"
    tile = shoal.Decomposition.block(None, {"y": 4, "x": 5})
    with shoal.open(path) as file:
        assert set(file.dimensions) == {"time", "y", "x", "length"}
        assert file.attributes["title"] == "theirs"
        for dtype in types:
            assert file.variables[f"r_{dtype}"].dtype == np.dtype(dtype)
            np.testing.assert_array_equal(file.get(f"r_{dtype}"), random(dtype, (3, 4, 5)))
            np.testing.assert_array_equal(
                file.read(f"r_{dtype}", decomposition=tile, record=1), random(dtype, (3, 4, 5))[1]
            )
            np.testing.assert_array_equal(file.read(f"f_{dtype}", decomposition=tile), random(dtype, (4, 5)))
            found = file.variables[f"f_{dtype}"].attributes
            assert found["one"] == 7 and found["one"].dtype == np.dtype(dtype)
            np.testing.assert_array_equal(found["many"], [0, 1, 2])
        assert shoal.text(file.get("c")).tolist() == ["ab", "c", "def", ""]
        assert file.get("scalar") == 2.5


@pytest.mark.parametrize("storage", storages)
@pytest.mark.parametrize("endian", ["little", "big"])
def test_storage(tmp_path, storage, endian):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("y", 11)
        file.createDimension("x", 13)
        for dtype in ("i2", "f4", "f8"):
            order = {"little": "<", "big": ">"}[endian]
            variable = file.createVariable(
                dtype, order + dtype, ("y", "x"), endian=endian, **storages[storage]
            )
            variable[:] = random(dtype, (11, 13))
    with shoal.open(path) as file:
        for dtype in ("i2", "f4", "f8"):
            whole = random(dtype, (11, 13))
            np.testing.assert_array_equal(file.get(dtype), whole)
            np.testing.assert_array_equal(file.get(dtype, start=(3, 4), count=(5, 6)), whole[3:8, 4:10])
            for first, count in (((0, 0), (6, 13)), ((6, 2), (5, 7)), ((10, 12), (1, 1))):
                tile = shoal.Decomposition.block(
                    None, (11, 13), first, count, halo_low=(1, 1), halo_high=(1, 1)
                )
                found = file.read(dtype, decomposition=tile, halo=True)
                np.testing.assert_array_equal(found[tile.inner], whole[tile.slices])


def test_chunks_that_nobody_wrote(tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("y", 8)
        file.createDimension("x", 8)
        variable = file.createVariable(
            "v", "f4", ("time", "y", "x"), chunksizes=(2, 4, 4), fill_value=-7, zlib=True
        )
        variable[2, 5:, :2] = 1
    expected = np.full((3, 8, 8), -7, "f4")
    expected[2, 5:, :2] = 1
    tile = shoal.Decomposition.block(None, {"y": 8, "x": 8})
    with shoal.open(path) as file:
        np.testing.assert_array_equal(file.get("v"), expected)
        np.testing.assert_array_equal(file.read("v", decomposition=tile, record=2), expected[2])
        np.testing.assert_array_equal(file.read("v", decomposition=tile, record=0), expected[0])


def test_strings(tmp_path):
    path = tmp_path / "a.nc"
    names = np.array([["Hilo", "Kōchi"], ["", "x" * 1000]], dtype=object)
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("a", 2)
        file.createDimension("b", 2)
        file.createVariable("s", str, ("a", "b"))[:] = names
        file.setncattr_string("one", "a string")
        file.setncattr("many", ["a", "b", "é"])
    with shoal.open(path) as file:
        assert file.get("s").tolist() == names.tolist()
        assert file.attributes["one"] == "a string" and file.attributes["many"] == ["a", "b", "é"]


def test_several_unlimited_dimensions(tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("station", None)
        file.createDimension("x", 3)
        file.createVariable("v", "f8", ("time", "station", "x"))[:] = random("f8", (4, 5, 3))
        file.createVariable("w", "f8", ("x", "time"))[:] = random("f8", (3, 4))
        file.createVariable("s", "f8", ("station",))[:] = np.arange(5.0)
    with shoal.open(path) as file:
        assert file.dimensions["station"] == shoal.Dimension("station", 5, True)
        np.testing.assert_array_equal(file.get("v"), random("f8", (4, 5, 3)))
        np.testing.assert_array_equal(file.get("w"), random("f8", (3, 4)))
        assert file.get("s").tolist() == [0, 1, 2, 3, 4]


def test_groups(tmp_path):
    """Variables of groups are read by their path, and groups survive changes."""
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3)
        file.createVariable("v", "f8", ("x",))[:] = [1, 2, 3]
        group = file.createGroup("inner")
        group.createDimension("y", 2)
        group.createVariable("w", "i4", ("y",))[:] = [4, 5]
    with shoal.open(path) as file:
        assert list(file.variables) == ["v", "inner/w"]
        assert file.get("v").tolist() == [1, 2, 3]
        assert file.get("inner/w").tolist() == [4, 5]
        with pytest.raises(KeyError):
            file.get("w")
    with shoal.open(path, mode="r+") as file:
        file.put("v", [7, 8, 9])
    with netCDF4.Dataset(path) as file:
        assert file["inner/w"][:].tolist() == [4, 5]
        assert file["v"][:].tolist() == [7, 8, 9]


def test_old_logicals(tmp_path):
    """Files of models that wrote T and F as text read as bool."""
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("n", 3)
        file.createVariable("spherical", "S1", ())[...] = b"T"
        file.createVariable("flags", "S1", ("n",))[:] = [b"T", b"F", b"T"]
        file.createVariable("bits", "i4", ("n",))[:] = [1, 0, 1]
    with shoal.open(path) as file:
        assert file.get("spherical", dtype=bool).item() is True
        assert file.get("flags", dtype=bool).tolist() == [True, False, True]
        assert file.get("bits", dtype=bool).tolist() == [True, False, True]


def test_compressed_files_can_be_appended_to_or_say_why_not(tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("y", 6)
        file.createDimension("x", 7)
        file.createVariable("v", "f4", ("time", "y", "x"), zlib=True)[:] = random("f4", (2, 6, 7))
    tile = shoal.Decomposition.block(None, {"y": 6, "x": 7})
    refused = False
    file = shoal.open(path, mode="r+")
    try:
        file.write("v", random("f4", (6, 7), 9), 2, decomposition=tile)
        file.close()
    except shoal.NotSupportedError as error:
        refused = True
        assert "compress" in str(error)
        file.abandon()
    with netCDF4.Dataset(path) as check:
        np.testing.assert_array_equal(check["v"][:2], random("f4", (2, 6, 7)))
        if not refused:
            np.testing.assert_array_equal(check["v"][2], random("f4", (6, 7), 9))


def test_a_scalar_over_a_record_is_refused(tmp_path):
    """scipy.io writes a scalar that is defined behind a record variable over record 1 of that."""
    scipy_io = pytest.importorskip("scipy.io")
    path = tmp_path / "a.nc"
    with scipy_io.netcdf_file(path, "w") as file:
        file.createDimension("t", None)
        records = file.createVariable("r", "i4", ("t",))
        records[0], records[1] = 8, 9
        file.createVariable("s", "i4", ()).data[...] = 3
    for mode in ("r", "r+"):
        with pytest.raises(shoal.FormatError, match="'s'.*also bytes of variable 'r'"):
            shoal.open(path, mode=mode)
