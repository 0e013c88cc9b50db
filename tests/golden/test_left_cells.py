# SPDX-License-Identifier: BSD-3-Clause
"""Cells that a decomposition leaves out (land): the mean over water is the model's in every program that
people have, though nobody defined a fill value."""

import warnings

import numpy as np
import pytest

import shoal

netCDF4 = pytest.importorskip("netCDF4")
xr = pytest.importorskip("xarray")

grid = {"lat": 8, "lon": 10}
records = 2
water = np.random.default_rng(5).random((8, 10)) > 0.4
water[:, :2] = False  # what tiles can leave out


def cut_of(kind: str):
    """A decomposition, and which cells have values of the model."""
    if kind == "mask":
        return shoal.Decomposition.block(None, grid).masked(water), water
    if kind == "tiles":
        columns = np.broadcast_to(np.arange(10) >= 2, (8, 10))
        return shoal.Decomposition.block(None, grid, first=(0, 2), count=(8, 8)), columns
    return shoal.Decomposition.map(None, grid, np.flatnonzero(water)), water


def cells_of(kind: str, field):
    """The array of the model, whose land is what it likes."""
    if kind == "mask":
        return np.where(water, field, np.float32(-1e30))
    return field[:, 2:] if kind == "tiles" else field[water]


def field(record: int):
    return (np.arange(80.0).reshape(8, 10) / 7 + 20 * record).astype("f4")


@pytest.fixture(params=["mask", "tiles", "map"])
def kind(request):
    return request.param


def write(path, kind: str, format: str, **settings):
    cut, _ = cut_of(kind)
    with shoal.create(path, format=format, **settings) as file:
        for name, unit, standard in (
            ("lat", "degrees_north", "latitude"),
            ("lon", "degrees_east", "longitude"),
        ):
            file.def_dim(name, grid[name])
            file.def_var(name, "f8", name, attrs={"units": unit, "standard_name": standard})
        file.def_var("time", "f8", record="time", attrs={"units": "days since 2000-01-01", "axis": "T"})
        file.def_var("zeta", "f4", ("time", *grid), cut)
        file.def_var("level", "i2", ("time", *grid), cut)
        file.put("lat", np.linspace(-35, 35, 8))
        file.put("lon", np.arange(0.0, 360, 36))
        for record in range(records):
            file.put("time", float(record), record)
            file.write("zeta", cells_of(kind, field(record)), record)
            file.write("level", cells_of(kind, field(record)).clip(-1000, 1000).astype("i2"), record)


def means_of(kind: str, name: str):
    _, there = cut_of(kind)
    fields = [field(record) if name == "zeta" else field(record).astype("i2") for record in range(records)]
    return [float(values[there].astype("f8").mean()) for values in fields]


@pytest.fixture
def history(tmp_path, any_format, kind):
    path = tmp_path / f"his-{any_format}-{kind}.nc"
    write(path, kind, any_format)
    return path


@pytest.mark.parametrize("name", ["zeta", "level"])
def test_the_mean_over_water_is_the_same_everywhere(history, kind, name, tool, tmp_path):
    expected = means_of(kind, name)
    _, there = cut_of(kind)
    with netCDF4.Dataset(history) as file:
        assert [file[name][r].mean(dtype="f8") for r in range(records)] == pytest.approx(expected)
        assert [int(file[name][r].count()) for r in range(records)] == [int(there.sum())] * records
    with xr.open_dataset(history, decode_times=False) as data:
        assert data[name].mean(("lat", "lon"), dtype="f8").values.tolist() == pytest.approx(expected)
    with xr.open_dataset(history, engine="shoal", decode_times=False) as data:
        assert data[name].mean(("lat", "lon"), dtype="f8").values.tolist() == pytest.approx(expected)
    sums = tool("cdo", "-s", "outputf,%.9g,1", "-fldsum", f"-selname,{name}", history).split()
    assert [float(s) / there.sum() for s in sums] == pytest.approx(expected, rel=1e-5)
    averaged = tmp_path / "averaged.nc"
    tool("ncwa", "-O", "--dbl", "-v", name, "-a", "lat,lon", history, averaged)
    with netCDF4.Dataset(averaged) as file:
        near = {"rel": 1e-5} if name == "zeta" else {"abs": 0.5}  # ncwa gives integers back as integers
        assert np.ma.filled(file[name][:], -9).tolist() == pytest.approx(expected, **near)


def test_a_model_finds_its_land_as_it_left_it(history, kind):
    cut, there = cut_of(kind)
    with shoal.open(history) as file:
        for record in range(records):
            mine = np.full(cut.shape, np.float32(3))
            file.read("zeta", decomposition=cut, record=record, out=mine)
            expected = np.where(there, field(record), np.float32(3))
            np.testing.assert_array_equal(mine, expected if kind == "mask" else cells_of(kind, field(record)))


@pytest.mark.parametrize(
    ("driver", "format"),
    [
        ("gather", "cdf2"),
        ("gather", "netcdf4"),
        ("pnetcdf", "cdf5"),
        ("mpiio", "cdf5"),
        ("netcdf", "netcdf4"),
    ],
)
def test_files_of_other_drivers_say_the_same(tmp_path, kind, driver, format):
    path = tmp_path / "his.nc"
    try:
        write(path, kind, format, driver=driver)
    except shoal.Error as error:
        if "not in this build" not in str(error):
            raise
        pytest.skip(str(error))
    with xr.open_dataset(path, decode_times=False) as data:
        assert data["zeta"].mean(("lat", "lon"), dtype="f8").values.tolist() == pytest.approx(
            means_of(kind, "zeta")
        )


def test_a_missing_value_of_the_program_stays_beside_it(tmp_path, any_format):
    path = tmp_path / "two.nc"
    cut, _ = cut_of("mask")
    values = field(0)
    values[water.nonzero()[0][0], water.nonzero()[1][0]] = -1
    with shoal.create(path, format=any_format) as file:
        file.def_var("zeta", "f4", cut, attrs={"missing_value": np.float32(-1)})
        file.write("zeta", np.where(water, values, np.nan))
    expected = float(values[water & (values != -1)].astype("f8").mean())
    with netCDF4.Dataset(path) as file:
        assert file["zeta"]._FillValue == np.float32(9.96921e36) and file["zeta"].missing_value == -1
        assert file["zeta"][:].mean(dtype="f8") == pytest.approx(expected)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xr.SerializationWarning)
        with xr.open_dataset(path) as data:
            assert float(data["zeta"].mean(dtype="f8")) == pytest.approx(expected)


def test_text_is_text_where_cells_are_left_out(tmp_path, any_format):
    path = tmp_path / "text.nc"
    rows = shoal.Decomposition.block(None, {"station": 3, "length": 4}, first=(0, 0), count=(2, 4))
    with shoal.create(path, format=any_format) as file:
        file.def_var("name", "S1", rows)
        file.write("name", np.array([[b"a", b"b", b"c", b"d"], [b"x", b"y", b"\0", b"\0"]], "S1"))
    with xr.open_dataset(path) as data:
        assert data["name"].values.tolist() == [b"abcd", b"xy", b""]


def test_quantized_fields_keep_their_land(tmp_path, any_format):
    path = tmp_path / "quantized.nc"
    cut, _ = cut_of("mask")
    with shoal.create(path, format=any_format, quantize="bitround:12") as file:
        file.def_var("zeta", "f4", cut)
        file.write("zeta", np.where(water, field(1), np.nan))
    with xr.open_dataset(path) as data:
        assert int(data["zeta"].count()) == int(water.sum())
        assert float(data["zeta"].mean(dtype="f8")) == pytest.approx(means_of("mask", "zeta")[1], rel=1e-3)


def test_a_decomposition_that_comes_with_the_write(tmp_path, any_format, tool):
    """Of a file that netCDF's own library made, whose header has no room for _FillValue: its data move."""
    path = tmp_path / "late.nc"
    cut, _ = cut_of("mask")
    kinds = {"cdf1": "NETCDF3_CLASSIC", "cdf2": "NETCDF3_64BIT_OFFSET", "cdf5": "NETCDF3_64BIT_DATA"}
    kinds |= {"netcdf4": "NETCDF4", "netcdf4-classic": "NETCDF4_CLASSIC"}
    with netCDF4.Dataset(path, "w", format=kinds[any_format]) as file:
        for name, length in grid.items():
            file.createDimension(name, length)
        file.createVariable("zeta", "f4", tuple(grid))[:] = 1
    with shoal.open(path, mode="r+", quiet=True) as file:
        file.write("zeta", np.where(water, field(1), np.nan), decomposition=cut)
        file.sync()
        assert not [w for w in file.report["warnings"] if "_FillValue" in w]
    assert "_FillValue" in tool("ncdump", "-h", path)
    with xr.open_dataset(path) as data:
        assert float(data["zeta"].mean(dtype="f8")) == pytest.approx(means_of("mask", "zeta")[1])
