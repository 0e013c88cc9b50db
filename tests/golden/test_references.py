# SPDX-License-Identifier: BSD-3-Clause
"""References (Kerchunk, Zarr) and virtual masters, read by xarray, netCDF4-python, ncdump and cdo."""

import json
import os

import numpy as np
import pytest
from sets import Whole, write, write_fms, write_nemo, write_roms

import shoal

netCDF4 = pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")

EVEN = [12, 12], [20, 20]
UNEVEN_ROWS = [4, 8, 12], [20, 20]
UNEVEN = [12, 12], [15, 25]
BIG = [4, 4], [2000, 1200]

kinds = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4", "NETCDF4_CLASSIC"]


def open_reference(path, **how):
    pytest.importorskip("kerchunk")
    pytest.importorskip("zarr")
    return xarray.open_dataset(str(path), engine="kerchunk", mask_and_scale=False, decode_times=False, **how)


def check_dataset(found, whole):
    for name, values in whole.values.items():
        assert found[name].dims == whole.dims[name]
        np.testing.assert_array_equal(found[name].values, values)
        assert found[name].attrs["long_name"] == name
    assert found.attrs["title"] == "a whole in parts"


@pytest.mark.parametrize("kind", kinds)
@pytest.mark.parametrize("cuts", [EVEN, UNEVEN_ROWS, UNEVEN])
def test_reference_of_a_set(tmp_path, kind, cuts):
    whole = Whole(*cuts, types=("f4", "i2"))
    write_fms(tmp_path / "his.nc", whole, kind)
    shoal.write_reference(tmp_path / "his.nc", tmp_path / "his.json")
    with open_reference(tmp_path / "his.json") as found:
        assert found["mask"].dtype == np.dtype("i2")
        check_dataset(found, whole)
    content = json.loads((tmp_path / "his.json").read_text())
    assert content["version"] == 1
    if cuts is not UNEVEN:  # given by address, not copied
        where = [v for k, v in content["refs"].items() if k.startswith("temp/") and isinstance(v, list)]
        assert sum(size for _, _, size in where) == whole.values["temp"].nbytes
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".tmp")] == []


@pytest.mark.parametrize("kind", kinds)
def test_reference_of_one_file(tmp_path, kind):
    whole = Whole([60], [70])
    write(tmp_path / "his.nc", whole, {}, kind).close()
    shoal.write_reference(tmp_path / "his.nc", tmp_path / "his.json")
    with open_reference(tmp_path / "his.json") as found:
        check_dataset(found, whole)
    with xarray.open_dataset(str(tmp_path / "his.json"), engine="kerchunk") as found:
        with xarray.open_dataset(tmp_path / "his.nc") as original:
            xarray.testing.assert_identical(found.load().drop_attrs(), original.load().drop_attrs())


filters = {
    "deflate": {"zlib": True, "shuffle": False},
    "deflate and shuffle": {"zlib": True, "shuffle": True},
    "zstd": {"compression": "zstd"},
    "fletcher32": {"fletcher32": True},
    "all": {"zlib": True, "shuffle": True, "fletcher32": True},
}


@pytest.mark.parametrize("name", filters)
def test_reference_of_compressed_files(tmp_path, name):
    whole = Whole(*EVEN, types=("f4" if name == "all" else "f8", "i4"))
    chunks = {"temp": (2, 1, 6, 10), "mask": (4, 20)}
    try:
        write_fms(tmp_path / "his.nc", whole, "NETCDF4", chunks=chunks, **filters[name])
    except RuntimeError as error:  # a plugin of HDF5 that netCDF4-python may not have
        pytest.skip(f"{name}: {error}")
    shoal.write_reference(tmp_path / "his.nc", tmp_path / "his.json")
    with open_reference(tmp_path / "his.json") as found:
        check_dataset(found, whole)
    # Tiles that end within a chunk, but where the whole ends too.
    chunks = {"temp": (1, 2, 30, 40), "mask": (30, 40)}
    whole = Whole([30, 7], [40, 15], types=("f4", "i2"))
    for number, tile in whole.tiles():
        spans = {d: (first, cells) for d, (_, first, cells) in tile.items()}
        # A tile that is shorter than a chunk has chunks that stick out only with an unlimited dimension.
        if spans["y"][1] == 30 and spans["x"][1] == 40:
            write(tmp_path / f"one.{number}", whole, spans, "NETCDF4", chunks=chunks, **filters[name]).close()
    shoal.write_reference(tmp_path / "one.0", tmp_path / "one.json")
    with open_reference(tmp_path / "one.json") as found:
        np.testing.assert_array_equal(found["temp"], whole.values["temp"][..., :30, :40])


def test_reference_that_cannot_be(tmp_path):
    whole = Whole(*BIG)
    write_fms(tmp_path / "his.nc", whole)
    message = r"variable 'temp'.*'x' is cut unevenly: .*his.nc.0000 has 2001 cells.*his.nc.0001 1200"
    # 400 cells divide both; with 1 there are too many chunks.
    shoal.write_reference(tmp_path / "his.nc", tmp_path / "his.json")
    with open_reference(tmp_path / "his.json") as found:
        check_dataset(found, whole)
    whole = Whole([4, 4], [2001, 1200])
    write_fms(tmp_path / "his.nc", whole)
    (tmp_path / "his.json").write_text("as it was")
    with pytest.raises(shoal.NotSupportedError, match=message):
        shoal.write_reference(tmp_path / "his.nc", tmp_path / "his.json")
    assert (tmp_path / "his.json").read_text() == "as it was"
    write_fms(tmp_path / "z.nc", Whole(*BIG), "NETCDF4", zlib=True)
    with pytest.raises(shoal.NotSupportedError, match=r"'x' is cut unevenly.*compressed blocks cannot be"):
        shoal.write_reference(tmp_path / "z.nc", tmp_path / "z.json")
    assert not (tmp_path / "z.json").exists()
    write_fms(tmp_path / "f.nc", Whole(*EVEN, types=("f8", "i4")), "NETCDF4", **filters["all"])
    with pytest.raises(shoal.NotSupportedError, match="variable 'temp'.*fletcher32 comes before shuffle"):
        shoal.write_reference(tmp_path / "f.nc", tmp_path / "f.json")
    with pytest.raises(shoal.Error, match="cannot create the file"):
        shoal.write_reference(tmp_path / "his.nc", tmp_path / "nowhere" / "his.json")


@pytest.mark.parametrize("style", ["ucla", "croco"])
def test_reference_of_roms(tmp_path, style):
    # Staggered dimensions are cut into 7 and 8.
    whole = Whole([6, 6], [8, 8], names=("eta_rho", "xi_rho"))
    write_roms(tmp_path / "his.nc", whole, style)
    shoal.write_reference(tmp_path / "his.nc", tmp_path / "his.json")
    with open_reference(tmp_path / "his.json") as found:
        check_dataset(found, whole)


@pytest.mark.parametrize("kind", ["NETCDF3_64BIT_OFFSET", "NETCDF4"])
def test_reference_leaves_halos_out(tmp_path, kind):
    whole = Whole(*EVEN)
    write_nemo(tmp_path / "restart.nc", whole, 2, kind=kind)
    shoal.write_reference(tmp_path / "restart.nc", tmp_path / "restart.json")
    with open_reference(tmp_path / "restart.json") as found:
        check_dataset(found, whole)


def test_reference_of_land(tmp_path):
    whole = Whole(*EVEN)
    write_nemo(tmp_path / "restart.nc", whole, 0, land=[3], kind="NETCDF3_64BIT_OFFSET")
    shoal.write_reference(tmp_path / "restart.nc", tmp_path / "restart.json")
    whole.values["temp"][..., 12:, 20:] = -99
    whole.values["mask"][12:, 20:] = np.iinfo("i4").min + 1
    with open_reference(tmp_path / "restart.json") as found:
        check_dataset(found, whole)
    shoal.write_reference(str(tmp_path / "restart_*.nc"), tmp_path / "restart.json")
    with open_reference(tmp_path / "restart.json") as found:
        check_dataset(found, whole)


def test_reference_of_texts_and_attributes(tmp_path):
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("name", 3)
        file.createDimension("letters", 5)
        file.createDimension("time", None)
        file.createVariable("s", str, ("name",))[:] = np.array(["ab", "", "größe {{u}}"], object)
        letters = netCDF4.stringtochar(np.array(["one", "three", ""], "S5"))
        file.createVariable("c", "S1", ("name", "letters"))[:] = letters
        never = file.createVariable("never", "f4", ("time", "name"), fill_value=7)
        never.note = '{{braces}} "quotes" \\ \n größe'
        never.numbers = np.array([1.5, np.nan, np.inf])
        file.createVariable("time", "f8", ("time",))[:] = [1, 2]
        unwritten = file.createVariable("unwritten", "i4", ("time", "name"), chunksizes=(1, 3))
        unwritten[1] = [1, 2, 3]
    shoal.write_reference(tmp_path / "a.nc", tmp_path / "a.json")
    with open_reference(tmp_path / "a.json", concat_characters=False) as found:
        assert found["s"].values.tolist() == ["ab", "", "größe {{u}}"]
        np.testing.assert_array_equal(found["c"].values, letters)
        assert found["never"].attrs["note"] == '{{braces}} "quotes" \\ \n größe'
        np.testing.assert_array_equal(found["never"].attrs["numbers"], [1.5, np.nan, np.inf])
        np.testing.assert_array_equal(found["never"].values, np.full((2, 3), 7))
        fill = netCDF4.default_fillvals["i4"]
        np.testing.assert_array_equal(found["unwritten"].values, [[fill] * 3, [1, 2, 3]])


def masters(path, whole, tool):
    """The master, read by everybody."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        assert file.dimensions["time"].isunlimited()
        for name, values in whole.values.items():
            assert file[name].dimensions == whole.dims[name]
            assert file[name].dtype == values.dtype
            np.testing.assert_array_equal(file[name][...], values)
            assert file[name].long_name == name
    with xarray.open_dataset(path, mask_and_scale=False, decode_times=False) as found:
        check_dataset(found, whole)
    assert f"time = UNLIMITED ; // ({whole.records} currently)" in tool("ncdump", "-h", path)
    tool("ncdump", path)


@pytest.mark.parametrize("kind", ["NETCDF4", "NETCDF4_CLASSIC"])
@pytest.mark.parametrize("cuts", [EVEN, UNEVEN_ROWS, UNEVEN])
def test_master(tmp_path, kind, cuts, tool):
    whole = Whole(*cuts)
    write_fms(tmp_path / "his.nc", whole, kind)
    shoal.write_master(tmp_path / "his.nc", tmp_path / "his.nc")
    masters(tmp_path / "his.nc", whole, tool)
    with shoal.open(tmp_path / "his.nc") as file:  # the master by itself is a file like others
        np.testing.assert_array_equal(file.get("temp"), whole.values["temp"])
    # The files may be moved together, and the master may lie elsewhere.
    (tmp_path / "his.nc").unlink()
    (tmp_path / "tiles").mkdir()
    for path in list(tmp_path.glob("his.nc.*")):
        path.rename(tmp_path / "tiles" / path.name)
    before = os.getcwd()
    os.chdir(tmp_path / "tiles")
    try:
        shoal.write_master("his.nc", "../all.nc")
    finally:
        os.chdir(before)
    tmp_path = tmp_path.rename(tmp_path.with_name(tmp_path.name + "moved"))
    masters(tmp_path / "all.nc", whole, tool)
    assert (tmp_path / "all.nc").stat().st_size < 60000


def test_cdo_reads_a_master_and_what_it_says(tmp_path, tool):
    whole = Whole(*UNEVEN)
    write_fms(tmp_path / "his.nc", whole, "NETCDF4")
    shoal.write_master(tmp_path / "his.nc", tmp_path / "all.nc")
    sums = tool("cdo", "-s", "outputf,%.9g", "-fldsum", "-selname,temp", tmp_path / "all.nc").split()
    expected = whole.values["temp"].astype("f8").sum(axis=(2, 3)).ravel()
    np.testing.assert_allclose([float(s) for s in sums], expected, rtol=1e-5)


def test_master_sees_records_added_later(tmp_path, tool):
    whole = Whole(*EVEN)
    write_fms(tmp_path / "his.nc", whole, "NETCDF4")
    shoal.write_master(tmp_path / "his.nc", tmp_path / "all.nc")
    new = np.random.default_rng(3).random((1, 2, 24, 40)).astype("f4")
    for number, tile in whole.tiles():
        (_, y, ny), (_, x, nx) = tile["y"], tile["x"]
        with netCDF4.Dataset(tmp_path / f"his.nc.{number:04}", "a") as file:
            file["temp"][3] = new[0, :, y : y + ny, x : x + nx]
            file["time"][3] = 5.0
    whole.records = 4
    whole.values["temp"] = np.concatenate([whole.values["temp"], new])
    whole.values["time"] = np.append(whole.values["time"], 5.0)
    masters(tmp_path / "all.nc", whole, tool)


def test_masters_that_cannot_be(tmp_path):
    write_fms(tmp_path / "his.nc", Whole(*EVEN), "NETCDF3_64BIT_OFFSET")
    with pytest.raises(shoal.NotSupportedError, match=r"his.nc.0000: .*netCDF-4 files.*reference"):
        shoal.write_master(tmp_path / "his.nc", tmp_path / "all.nc")
    assert not (tmp_path / "all.nc").exists()
    write_fms(tmp_path / "his.nc", Whole(*EVEN), "NETCDF4")
    (tmp_path / "his.nc.0002").unlink()
    with pytest.raises(shoal.NotFoundError, match="number 2"):
        shoal.write_master(tmp_path / "his.nc", tmp_path / "all.nc")


@pytest.mark.parametrize("command", ["reference", "master"])
def test_commands(tmp_path, tool, command):
    whole = Whole(*EVEN)
    write_fms(tmp_path / "his.nc", whole, "NETCDF4")
    out = tmp_path / "out"
    tool("python", "-m", "shoal.cli", command, tmp_path / "his.nc", out)
    with (
        open_reference(out)
        if command == "reference"
        else xarray.open_dataset(out, engine="netcdf4", mask_and_scale=False, decode_times=False) as found
    ):
        check_dataset(found, whole)
