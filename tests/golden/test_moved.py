# SPDX-License-Identifier: BSD-3-Clause
"""Classic files of other programs, without free space, get attributes and variables by Shoal: their data
move, and the other programs read all of it."""

import numpy as np
import pytest

import shoal

netCDF4 = pytest.importorskip("netCDF4")
scipy_io = pytest.importorskip("scipy.io")

KINDS = {"NETCDF3_CLASSIC": "cdf1", "NETCDF3_64BIT_OFFSET": "cdf2", "NETCDF3_64BIT_DATA": "cdf5"}
RECORDS, Y, X = 5, 40, 30
TEMP = np.arange(RECORDS * Y * X, dtype="f4").reshape(RECORDS, Y, X)
FLAG = np.arange(RECORDS, dtype="i1")
DEPTH = np.arange(Y * X, dtype="f8").reshape(Y, X)
FILL = {"f4": 9.969209968386869e36, "i2": -32767}


def by_netcdf4(path, kind):
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.createDimension("time", None)
        file.createDimension("y", Y)
        file.createDimension("x", X)
        file.createVariable("depth", "f8", ("y", "x"))[:] = DEPTH
        file.createVariable("flag", "i1", ("time",))[:] = FLAG
        file.createVariable("temp", "f4", ("time", "y", "x"))[:] = TEMP
        file["temp"].units = "K"


def by_scipy(path, kind):
    with scipy_io.netcdf_file(path, "w", version=1 if kind == "NETCDF3_CLASSIC" else 2) as file:
        file.createDimension("time", None)
        file.createDimension("y", Y)
        file.createDimension("x", X)
        file.createVariable("depth", "f8", ("y", "x"))[:] = DEPTH
        flag = file.createVariable("flag", "i1", ("time",))
        temp = file.createVariable("temp", "f4", ("time", "y", "x"))
        flag[:] = FLAG
        temp[:] = TEMP
        temp.units = "K"


def check(path, kind, more):
    readers = [netCDF4.Dataset(path)]
    readers[0].set_auto_mask(False)
    if kind != "NETCDF3_64BIT_DATA":
        readers.append(scipy_io.netcdf_file(path, mmap=False))
    for file in readers:
        np.testing.assert_array_equal(file.variables["depth"][:], DEPTH)
        np.testing.assert_array_equal(file.variables["flag"][:], FLAG)
        np.testing.assert_array_equal(file.variables["temp"][:], TEMP)
        for name, values in more.items():
            np.testing.assert_array_equal(file.variables[name][:], values)
        file.close()


@pytest.mark.parametrize("driver", ["native", "mpiio", "pnetcdf", "gather"])
@pytest.mark.parametrize("write", [by_netcdf4, by_scipy])
@pytest.mark.parametrize("kind", KINDS)
def test_definitions_of_a_foreign_file(tmp_path, kind, write, driver):
    if write is by_scipy and kind == "NETCDF3_64BIT_DATA":
        return  # scipy has no such files
    if driver not in shoal.build_info()["drivers"].split():
        pytest.skip(f"no driver {driver} in this build")
    path = tmp_path / "his.nc"
    write(path, kind)
    with shoal.open(path, mode="r+", driver=driver) as file:
        file.put_att(None, "note", "text")
        file.put_att("temp", "long_name", "temperature of the water")
        file.end_define()
        assert file.report["counts"]["bytes_moved"] == TEMP.nbytes + FLAG.nbytes + DEPTH.nbytes
        np.testing.assert_array_equal(file.get("temp"), TEMP)
        file.def_var("salt", "f4", ("time", "y", "x"))
        file.def_var("count", "i2", ("time",))
        file.put_att(None, "history", "h" * 100_000)
        file.put("salt", TEMP[2], record=2)
    assert [p.name for p in tmp_path.iterdir()] == ["his.nc"]
    salt = np.full_like(TEMP, FILL["f4"])
    salt[2] = TEMP[2]
    check(path, kind, {"salt": salt, "count": np.full(RECORDS, FILL["i2"], "i2")})
    with netCDF4.Dataset(path) as file:
        assert (file.note, len(file.history)) == ("text", 100_000)
        assert file["temp"].long_name == "temperature of the water"
    # The next attribute has a place.
    with shoal.open(path, mode="r+", driver=driver) as file:
        file.put_att(None, "more", "text")
        file.end_define()
        assert file.report["counts"]["bytes_moved"] == 0


def test_what_moves_much_is_said_before(tmp_path, capfd):
    """Holes stay holes, so that a file of two gigabytes costs nothing here."""
    path = tmp_path / "large.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.set_fill_off()
        file.createDimension("x", 300_000_000)
        file.createVariable("a", "f8", ("x",))[-1] = 3.5
    stored = path.stat().st_blocks
    if stored > 100_000:
        pytest.skip("this file system makes no holes")
    with shoal.open(path, mode="r+") as file:
        file.put_att(None, "note", "text")
    assert "2.2 GiB of data move" in capfd.readouterr().err
    assert path.stat().st_blocks <= stored + 5000
    with netCDF4.Dataset(path) as file:
        assert file["a"][-1] == 3.5
        assert file.note == "text"
