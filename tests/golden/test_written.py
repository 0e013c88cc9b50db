# SPDX-License-Identifier: BSD-3-Clause
"""Files of Shoal, opened by the programs that people have, extended by them, and read again by Shoal."""

import numpy as np
import pytest

import shoal

netCDF4 = pytest.importorskip("netCDF4")
h5py = pytest.importorskip("h5py")
xr = pytest.importorskip("xarray")

shape = {"s_rho": 3, "eta_rho": 8, "xi_rho": 10}
records = 3
kinds = {"cdf1": "NETCDF3_CLASSIC", "cdf2": "NETCDF3_64BIT_OFFSET", "cdf5": "NETCDF3_64BIT_DATA"}
kinds |= {"netcdf4": "NETCDF4", "netcdf4-classic": "NETCDF4_CLASSIC"}
small_types = ["i1", "i2", "i4", "f4", "f8"]
all_types = [*small_types, "u1", "u2", "u4", "i8", "u8"]


def types_of(format):
    return all_types if format in ("cdf5", "netcdf4") else small_types


def values(dtype, record):
    cells = np.arange(240).reshape(3, 8, 10) % 90
    return (cells + record).astype(dtype)


@pytest.fixture
def history(tmp_path, any_format):
    """A history file with each type, records written out of order, text, bool and an unused variable."""
    path = tmp_path / f"his-{any_format}.nc"
    tile = shoal.Decomposition.block(None, shape)
    plane = shoal.Decomposition.block(None, {"eta_rho": 8, "xi_rho": 10})
    with shoal.create(path, format=any_format) as file:
        file.put_att(None, "Conventions", "CF-1.8")
        file.put_att(None, "title", "golden, naïve")
        file.put_att(None, "levels", np.array([1, 2, 3], "i4"))
        attrs = {
            "units": "days since 2000-01-01",
            "calendar": "gregorian",
            "axis": "T",
            "standard_name": "time",
        }
        file.def_var("ocean_time", "f8", record="ocean_time", attrs=attrs)
        for name, unit, axis in (("xi_rho", "degrees_east", "X"), ("eta_rho", "degrees_north", "Y")):
            file.def_dim(name, shape[name])
            standard = {"X": "longitude", "Y": "latitude"}[axis]
            file.def_var(name, "f8", name, attrs={"units": unit, "axis": axis, "standard_name": standard})
        file.def_dim("length", 6)
        file.def_var("name", "S1", "length")
        file.def_var("dt", "f8")
        file.def_var("mask", bool, plane)
        file.def_var("never_written", "f4", plane, record="ocean_time")
        for dtype in types_of(any_format):
            file.def_var(
                f"v_{dtype}", dtype, tile, record="ocean_time", attrs={"units": "m", "f": np.float32(2)}
            )
        file.put("xi_rho", np.arange(10.0))
        file.put("eta_rho", np.arange(8.0) * 2)
        file.put("name", "shoal")
        file.put("dt", 0.5)
        file.write("mask", np.eye(8, 10) > 0)
        for record in (1, 0, 2):
            file.put("ocean_time", float(record), record)
            for dtype in types_of(any_format):
                file.write(f"v_{dtype}", values(dtype, record), record)
    return path


def check_with_shoal(path, format, records=records):
    with shoal.open(path) as file:
        assert file.dimensions["ocean_time"].length == records
        for dtype in types_of(format):
            for record in range(records):
                np.testing.assert_array_equal(file.get(f"v_{dtype}", record), values(dtype, record))
        assert file.get("ocean_time").tolist() == list(range(records))


def test_netcdf4_python(history, any_format):
    with netCDF4.Dataset(history) as file:
        assert file.data_model == kinds[any_format]
        assert file.title == "golden, naïve" and list(file.levels) == [1, 2, 3]
        assert file.dimensions["ocean_time"].isunlimited() and len(file.dimensions["ocean_time"]) == records
        assert list(file.variables)[:3] == ["ocean_time", "xi_rho", "eta_rho"]
        for dtype in types_of(any_format):
            variable = file[f"v_{dtype}"]
            assert variable.dimensions == ("ocean_time", "s_rho", "eta_rho", "xi_rho")
            assert variable.dtype == np.dtype(dtype) and variable.units == "m"
            for record in range(records):
                np.testing.assert_array_equal(variable[record], values(dtype, record))
        assert file["name"][:].tobytes().rstrip(b"\0") == b"shoal"
        np.testing.assert_array_equal(file["mask"][:], np.eye(8, 10))
        assert file["never_written"][:].mask.all()
        assert file["dt"][:] == 0.5


def test_xarray(history, any_format):
    for engine in ("netcdf4", "shoal"):
        with xr.open_dataset(history, engine=engine) as ds:
            assert ds.sizes["ocean_time"] == records
            np.testing.assert_array_equal(ds["v_f8"].values[2], values("f8", 2))
            assert str(ds.ocean_time.values[1]).startswith("2000-01-02")


def test_h5py(history, any_format):
    if not any_format.startswith("netcdf4"):
        pytest.skip("no HDF5 file")
    with h5py.File(history) as file:
        np.testing.assert_array_equal(file["v_i4"][1], values("i4", 1))
        assert file["v_i4"].dims[3].keys() or file["xi_rho"].is_scale
        assert file["xi_rho"].is_scale and "_NCProperties" in file.attrs
        for name in file:
            file[name][()]


def test_ncdump(history, any_format, tool):
    header = tool("ncdump", "-h", history)
    for line in (
        "ocean_time = UNLIMITED ; // (3 currently)",
        "float v_f4(ocean_time, s_rho, eta_rho, xi_rho) ;",
        'v_f4:units = "m" ;',
        'title = "golden, naïve" ;',
        "v_f4:f = 2.f ;",
    ):
        assert line in header
    assert (
        tool("ncdump", "-k", history).strip()
        in (
            {"cdf1": ["classic"], "cdf2": ["64-bit offset"], "cdf5": ["cdf5"]}
            | {"netcdf4": ["netCDF-4"], "netcdf4-classic": ["netCDF-4 classic model"]}
        )[any_format]
    )
    tool("ncdump", history)


def test_nccopy_and_back(history, any_format, tool, tmp_path):
    wide = any_format in ("cdf5", "netcdf4")
    for kind in ("5", "nc4") if wide else ("1", "2", "5", "nc4", "nc7"):
        copy = tmp_path / f"copy-{kind}.nc"
        tool(
            "nccopy", "-k", {"1": "classic", "2": "64-bit offset", "5": "cdf5"}.get(kind, kind), history, copy
        )
        check_with_shoal(copy, any_format)
    if any_format.startswith("netcdf4"):
        copy = tmp_path / "deflated.nc"
        tool("nccopy", "-d1", "-s", history, copy)
        check_with_shoal(copy, any_format)


def test_cdo(history, any_format, tool):
    if any_format == "cdf5":
        names = tool("cdo", "-s", "showname", history)
    else:
        names = tool("cdo", "-s", "showname", history)
        tool("cdo", "-s", "diff", history, history)
    assert "v_f4" in names.split()
    # The mean of a field over the grid, by a program that knows nothing of us.
    mean = float(
        tool(
            "cdo", "-s", "output", "-vertmean", "-fldmean", "-seltimestep,3", "-selname,v_f8", history
        ).split()[0]
    )
    weights = np.cos(np.deg2rad(np.arange(8.0) * 2))[:, None] * np.ones((8, 10))
    expected = np.average(values("f8", 2).mean(axis=0), weights=weights)
    assert abs(mean - expected) < 0.5


def test_extended_by_netcdf4_python(history, any_format):
    with netCDF4.Dataset(history, "a") as file:
        for record in (3, 4):
            file["ocean_time"][record] = record
            for dtype in types_of(any_format):
                file[f"v_{dtype}"][record] = values(dtype, record)
        file.note = "two records more"
        file.createVariable("extra", "f8", ("ocean_time", "xi_rho"))[:] = np.arange(50.0).reshape(5, 10)
    check_with_shoal(history, any_format, 5)
    with shoal.open(history, mode="r+") as file:
        assert file.get_att(None, "note") == "two records more"
        np.testing.assert_array_equal(file.get("extra"), np.arange(50.0).reshape(5, 10))
        tile = shoal.Decomposition.block(None, shape)
        file.put("ocean_time", 5.0, 5)
        for dtype in types_of(any_format):
            file.write(f"v_{dtype}", values(dtype, 5), 5, decomposition=tile)
    check_with_shoal(history, any_format, 6)
    with netCDF4.Dataset(history) as file:
        np.testing.assert_array_equal(file["v_i2"][5], values("i2", 5))
        assert file["extra"].shape == (6, 10)


def test_extended_by_h5py(history, any_format):
    if not any_format.startswith("netcdf4"):
        pytest.skip("no HDF5 file")
    with h5py.File(history, "a") as file:
        file["v_f8"].attrs["comment"] = "by h5py"
        file["v_f8"][0] = values("f8", 0)
    check_with_shoal(history, any_format)
    with shoal.open(history) as file:
        assert file.get_att("v_f8", "comment") == "by h5py"


def test_nco(history, any_format, tool, tmp_path):
    tool("ncatted", "-O", "-h", "-a", "units,v_f4,m,c,cm", "-a", "added,global,c,c,by NCO", history)
    check_with_shoal(history, any_format)
    with shoal.open(history) as file:
        assert file.get_att("v_f4", "units") == "cm" and file.get_att(None, "added") == "by NCO"
    cut = tmp_path / "cut.nc"
    tool("ncks", "-O", "-h", "-d", "ocean_time,1,2", "-v", "v_f8", history, cut)
    with shoal.open(cut) as file:
        np.testing.assert_array_equal(file.get("v_f8"), np.stack([values("f8", 1), values("f8", 2)]))
    both = tmp_path / "both.nc"
    tool("ncrcat", "-O", "-h", history, history, both)
    with shoal.open(both) as file:
        assert file.dimensions["ocean_time"].length == 2 * records
        np.testing.assert_array_equal(file.get("v_f8", 4), values("f8", 1))


def test_variables_added_later(history, any_format, tool):
    """By Shoal, after data was written; then everybody still reads all of it."""
    tile = shoal.Decomposition.block(None, shape)
    with shoal.open(history, mode="r+") as file:
        file.def_var("later_fixed", "f8", tile)
        file.def_var("later", "f4", tile, record="ocean_time", attrs={"units": "s"})
        file.write("later", values("f4", 7), 1)
        file.write("later_fixed", values("f8", 8))
    check_with_shoal(history, any_format)
    with netCDF4.Dataset(history) as file:
        np.testing.assert_array_equal(file["later_fixed"][:], values("f8", 8))
        np.testing.assert_array_equal(file["later"][1], values("f4", 7))
        assert file["later"][0].mask.all()
    assert "later_fixed" in tool("ncdump", "-h", history)


def test_strings_chunks_and_several_unlimited(tmp_path, tool):
    path = tmp_path / "a.nc"
    tile = shoal.Decomposition.block(None, {"y": 6, "x": 7})
    with shoal.create(path, format="netcdf4") as file:
        file.def_dim("time", None)
        file.def_dim("station", None)
        file.def_dim("n", 3)
        file.def_var("label", str, "n")
        file.def_var("v", "f4", tile, record="time", chunks=(1, 4, 7), fill=-5)
        file.def_var("s", "i4", "station")
        file.put_att(None, "strings", ["a", "bé", ""])
        file.put("label", ["Hilo", "Kōchi", ""])
        file.write("v", np.arange(42.0).reshape(6, 7), 1)
        file.put("s", [5, 6, 7, 8])
    with netCDF4.Dataset(path) as file:
        assert file["label"][:].tolist() == ["Hilo", "Kōchi", ""]
        assert file.strings == ["a", "bé", ""]
        assert file["v"].chunking() == [1, 4, 7]
        assert file["v"][0].mask.all()
        np.testing.assert_array_equal(file["v"][1], np.arange(42.0).reshape(6, 7))
        assert file["s"][:].tolist() == [5, 6, 7, 8]
        assert file.dimensions["station"].isunlimited() and len(file.dimensions["station"]) == 4
    assert 'label = "Hilo", "Kōchi", _ ;' in tool("ncdump", "-v", "label", path)


@pytest.mark.parametrize("driver", ["native", "gather", "mpiio", "pnetcdf"])
@pytest.mark.parametrize("record", ["time", None])
def test_padding_of_what_lies_last(tmp_path, driver, record):
    """scipy takes a file without it for a truncated one."""
    scipy_io = pytest.importorskip("scipy.io")
    if driver not in shoal.build_info()["drivers"].split():
        pytest.skip(f"no driver {driver} in this build")
    path = tmp_path / "a.nc"
    dims = ("time",) if record else ()
    with shoal.create(path, format="cdf1", driver=driver, header_reserve=0, alignment=4) as file:
        file.def_dim("time", None)
        file.def_dim("x", 3)
        file.def_var("a", "i2", dims)
        file.def_var("b", "i1", (*dims, "x"))
        for n in range(3 if record else 1):
            file.put("a", np.int16(n), record=n if record else None)
            file.put("b", np.arange(3, dtype="i1"), record=n if record else None)
            file.sync()
    assert path.stat().st_size % 4 == 0
    with scipy_io.netcdf_file(path, mmap=False) as file:
        last = file.variables["b"][:]
        assert (last[-1] if record else last).tolist() == [0, 1, 2]
