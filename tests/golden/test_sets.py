# SPDX-License-Identifier: BSD-3-Clause
"""Datasets in many files, as models write them, read by Shoal as if they were one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sets import Whole, write_fms, write_nemo, write_roms

import shoal
from shoal.combination import combine

EVEN = [3, 3], [4, 4]
UNEVEN = [2, 5, 1], [6, 3]


def check(path, whole, **settings):
    """All variables of the set have the values of the whole, got, and read in tiles and sections."""
    with shoal.open(path, **settings) as file:
        assert {n: d.length for n, d in file.dimensions.items()} == whole.lengths
        assert set(file.variables) == set(whole.values)
        for name, values in whole.values.items():
            assert file.variables[name].dtype == values.dtype
            np.testing.assert_array_equal(file.get(name), values)
            assert file.variables[name].attributes["long_name"] == name
        ny, nx = whole.lengths[whole.y], whole.lengths[whole.x]
        for first, count in [((0, 0), (ny, nx)), ((1, 2), (ny - 1, 3)), ((ny - 1, nx - 1), (1, 1))]:
            tile = shoal.Decomposition.block(
                None, {whole.y: ny, whole.x: nx}, first=list(first), count=list(count)
            )
            part = tuple(slice(f, f + c) for f, c in zip(first, count, strict=True))
            for record in range(whole.records):
                np.testing.assert_array_equal(
                    file.read("temp", decomposition=tile, record=record),
                    whole.values["temp"][record][(slice(None), *part)],
                )
            np.testing.assert_array_equal(file.read("mask", decomposition=tile), whole.values["mask"][part])


@pytest.mark.parametrize("kind", ["NETCDF3_64BIT_DATA", "NETCDF3_CLASSIC", "NETCDF4"])
@pytest.mark.parametrize("cuts", [EVEN, UNEVEN])
def test_fms(tmp_path, kind, cuts):
    whole = Whole(*cuts)
    write_fms(tmp_path / "his.nc", whole, kind)
    check(tmp_path / "his.nc", whole)
    check(f"{tmp_path}/his.nc.????", whole)
    check(" ".join(str(p) for p in tmp_path.iterdir()), whole)
    with shoal.open(tmp_path / "his.nc") as file:
        assert "NumFilesInSet" not in file.attributes
        assert "domain_decomposition" not in file.variables["x"].attributes


@pytest.mark.parametrize("cuts", [EVEN, UNEVEN, ([2, 5, 1], [9])])
def test_fms_with_points_that_neighbours_share(tmp_path, cuts):
    whole = Whole(*cuts)
    whole.make_symmetric()
    write_fms(tmp_path / "his.nc", whole)
    check(tmp_path / "his.nc", whole)
    (tmp_path / "his.nc.0001").unlink()
    with pytest.raises(shoal.NotFoundError, match="1 of . files are missing: number 1"):
        shoal.open(tmp_path / "his.nc")


@pytest.mark.parametrize("style", ["ucla", "croco"])
@pytest.mark.parametrize("cuts", [EVEN, UNEVEN])
def test_roms(tmp_path, style, cuts):
    whole = Whole(*cuts, names=("eta_rho", "xi_rho"))
    write_roms(tmp_path / "his.nc", whole, style)
    check(tmp_path / "his.nc", whole)
    check(tmp_path / "his.*.nc", whole)


@pytest.mark.parametrize("cuts", [EVEN, UNEVEN])
@pytest.mark.parametrize("halo", [0, 1, 2])
def test_nemo(tmp_path, cuts, halo):
    whole = Whole(*cuts)
    write_nemo(tmp_path / "restart.nc", whole, halo)
    check(tmp_path / "restart.nc", whole)


def test_more_files_than_stay_open(tmp_path):
    whole = Whole([1] * 10, [1] * 9)
    write_fms(tmp_path / "his.nc", whole)
    check(tmp_path / "his.nc", whole)


def test_missing_tiles_are_named(tmp_path):
    whole = Whole(*UNEVEN)
    write_fms(tmp_path / "his.nc", whole)
    (tmp_path / "his.nc.0001").unlink()
    (tmp_path / "his.nc.0005").unlink()
    with pytest.raises(shoal.NotFoundError, match=r"2 of 6 files are missing: number 1, 5.*\(y, x\)"):
        shoal.open(tmp_path / "his.nc")
    # Land that the model left out.
    whole.values["temp"][..., 0:2, 6:] = -99
    whole.values["temp"][..., 7:, 6:] = -99
    whole.values["mask"][0:2, 6:] = whole.values["mask"][7:, 6:] = np.iinfo("i4").min + 1
    check(tmp_path / "his.nc", whole, missing_tiles="fill")


def test_nemo_leaves_land_out(tmp_path):
    whole = Whole(*EVEN)
    write_nemo(tmp_path / "restart.nc", whole, 1, land=[3])
    whole.values["temp"][..., 3:, 4:] = -99
    whole.values["mask"][3:, 4:] = np.iinfo("i4").min + 1
    check(tmp_path / "restart.nc", whole, quiet=True)
    (tmp_path / "restart_0001.nc").unlink()
    with pytest.raises(shoal.NotFoundError, match="1 of 3 files are missing: number 1"):
        shoal.open(tmp_path / "restart.nc")


@pytest.mark.parametrize("missing", [0, 3])
def test_roms_missing(tmp_path, missing):
    for style in "ucla", "croco":
        folder = tmp_path / style
        folder.mkdir()
        write_roms(folder / "his.nc", Whole(*EVEN, names=("eta_rho", "xi_rho")), style)
        (folder / f"his.{missing:03}.nc").unlink()
        with pytest.raises(shoal.NotFoundError, match=f"number {missing};"):
            shoal.open(folder / "his.nc")


@pytest.mark.parametrize("style", ["ucla", "croco"])
def test_roms_variables_of_the_boundary(tmp_path, style):
    whole = Whole(*UNEVEN, names=("eta_rho", "xi_rho"))
    write_roms(tmp_path / "bry.nc", whole, style)
    west = np.random.default_rng(4).random((whole.records, whole.lengths["eta_rho"]))
    north = np.random.default_rng(5).random((whole.records, whole.lengths["xi_u"]))
    last = len(whole.cuts["eta_rho"]) - 1
    for number, tile in whole.tiles():

        def add(file, tile=tile):
            (i, x, nx), (j, y, ny) = tile["xi_u"], tile["eta_rho"]
            if i == 0:
                file.createVariable("zeta_west", "f8", ("time", "eta_rho"))[:] = west[:, y : y + ny]
            elif j == 0:  # in place of nothing
                file.createVariable("zeta_west", "f8", ())
            if j == last:
                file.createVariable("u_north", "f8", ("time", "xi_u"))[:] = north[:, x : x + nx]

        change(tmp_path / f"bry.{number:03}.nc", add)
    with shoal.open(tmp_path / "bry.nc") as file:
        np.testing.assert_array_equal(file.get("zeta_west"), west)
        np.testing.assert_array_equal(file.get("u_north"), north)
        np.testing.assert_array_equal(file.get("temp"), whole.values["temp"])


def change(path, work):
    netCDF4 = pytest.importorskip("netCDF4")
    with netCDF4.Dataset(path, "a") as file:
        work(file)


def test_headers_that_disagree(tmp_path):
    def fresh():
        for old in tmp_path.iterdir():
            old.unlink()
        write_fms(tmp_path / "his.nc", Whole(*EVEN))
        return tmp_path / "his.nc.0002"

    def refused(error, message):
        with pytest.raises(error, match=message):
            shoal.open(tmp_path / "his.nc")

    change(fresh(), lambda f: f["temp"].setncattr("units", "K"))
    refused(shoal.FormatError, r"his.nc.0002: variable 'temp'.*'units' is not the same")
    change(fresh(), lambda f: f.renameVariable("temp", "salt"))
    refused(shoal.FormatError, r"his.nc.0002: variable 'temp'.*missing")
    change(fresh(), lambda f: f.createVariable("extra", "f4", ()))
    refused(shoal.FormatError, r"his.nc.0000: variable 'extra'.*missing, which .*his.nc.0002 has")
    change(fresh(), lambda f: f.createDimension("extra", 3))
    refused(shoal.FormatError, r"his.nc.0000: .*'extra' is missing, which .*his.nc.0002 has")
    change(fresh(), lambda f: f["x"].setncattr("domain_decomposition", np.array([1, 8, 1, 3], "i4")))
    refused(shoal.FormatError, r"his.nc.0002: .*domain_decomposition of 'x' is \{1, 8, 1, 3\}.*length 4")
    change(fresh(), lambda f: f["x"].setncattr("domain_decomposition", np.array([1, 8, 2, 5], "i4")))
    refused(shoal.OverlapError, r"hold.*his.nc.000")
    change(fresh(), lambda f: f["x"].setncattr("domain_decomposition", np.array([1, 9, 1, 4], "i4")))
    refused(shoal.FormatError, r"his.nc.0002: .*'x' is cut from a whole of 9.*8")
    change(fresh(), lambda f: f["temp"].setncattr("comment", "one of four"))
    check(tmp_path / "his.nc", Whole(*EVEN), quiet=True)
    path = fresh()
    path.write_bytes(b"not a file of anybody's")
    refused(shoal.FormatError, "his.nc.0002")


def test_a_file_left_from_an_earlier_run(tmp_path):
    whole = Whole(*EVEN)
    write_fms(tmp_path / "his.nc", whole)
    (tmp_path / "his.nc.0004").write_bytes((tmp_path / "his.nc.0003").read_bytes())
    with pytest.raises(shoal.OverlapError, match=r"his.nc.0004: .*same cells as .*his.nc.0003"):
        shoal.open(tmp_path / "his.nc")


def test_files_with_other_numbers_of_records(tmp_path, capfd):
    """Refused, as records would be lost; or only those that all files have; or fill values."""
    whole = Whole(*EVEN)
    write_fms(tmp_path / "his.nc", whole)

    def longer(file):
        file["temp"][whole.records] = np.zeros(file["temp"].shape[1:])
        file["time"][whole.records] = 7

    change(tmp_path / "his.nc.0001", longer)
    with pytest.raises(shoal.NotFoundError, match=r"his.nc.0001: .*4 records of 'time', .*his.nc.0000 3"):
        shoal.open(tmp_path / "his.nc")
    check(tmp_path / "his.nc", whole, missing_tiles="common")
    assert "his.nc.0001 has 4 records" in capfd.readouterr().err
    whole.records = whole.lengths["time"] = 4
    last = np.full((1, *whole.values["temp"].shape[1:]), -99, "f4")
    last[..., 0:3, 4:8] = 0
    whole.values["temp"] = np.concatenate([whole.values["temp"], last])
    whole.values["time"] = np.append(whole.values["time"], 7)
    check(tmp_path / "his.nc", whole, missing_tiles="fill", quiet=True)


def iceberg_files(path, *lengths, total=None, kind="NETCDF3_64BIT_OFFSET"):
    netCDF4 = pytest.importorskip("netCDF4")
    for number, length in enumerate(lengths):
        with netCDF4.Dataset(f"{path}.{number:04}", "w", format=kind) as file:
            file.createDimension("i", None)
            file.NumFilesInSet = np.int32(len(lengths) if total is None else total)
            mass = file.createVariable("mass", "f8", ("i",))
            mass[:] = np.arange(length) + 100 * number
    return np.concatenate([np.arange(length) + 100.0 * n for n, length in enumerate(lengths)])


@pytest.mark.parametrize("lengths", [(2, 3, 4), (2, 2, 2), (0, 3, 0, 1), (0, 0)])
@pytest.mark.parametrize("kind", ["NETCDF3_64BIT_OFFSET", "NETCDF4"])
def test_icebergs_follow_one_another(tmp_path, lengths, kind):
    """Nothing is cut: each file has entries of its own, as FMS's tool for icebergs takes them."""
    masses = iceberg_files(tmp_path / "ice.nc", *lengths, kind=kind)
    with shoal.open(tmp_path / "ice.nc") as file:
        assert file.dimensions["i"] == ("i", sum(lengths), True)
        np.testing.assert_array_equal(file.get("mass"), masses)
        for record in range(sum(lengths)):
            assert file.get("mass", record) == masses[record]
    combine(tmp_path / "all.nc", tmp_path / "ice.nc")
    shoal.write_reference(tmp_path / "ice.nc", tmp_path / "ice.json")
    with shoal.open(tmp_path / "all.nc") as file:
        assert file.dimensions["i"] == ("i", sum(lengths), True)
        np.testing.assert_array_equal(file.get("mass"), masses)


def test_icebergs_that_are_missing(tmp_path):
    iceberg_files(tmp_path / "ice.nc", 2, 3, total=3)
    with pytest.raises(shoal.NotFoundError, match="1 of 3 files are missing: number 2"):
        combine(tmp_path / "all.nc", tmp_path / "ice.nc")
    iceberg_files(tmp_path / "ice.nc", 2, 3, 1, total=2)
    with pytest.raises(shoal.OverlapError, match="the set has 2 files; 3 were found"):
        combine(tmp_path / "all.nc", tmp_path / "ice.nc")
    assert not (tmp_path / "all.nc").exists()


@pytest.mark.parametrize("fill", [None, -1.5])
def test_cells_in_no_file_are_missing_to_readers(tmp_path, fill):
    xr = pytest.importorskip("xarray")
    netCDF4 = pytest.importorskip("netCDF4")
    path = tmp_path / "tiles.nc"
    for k in (0, 2):
        with netCDF4.Dataset(f"{path}.{k:04}", "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("x", 2)
            file.NumFilesInSet = np.int32(3)
            x = file.createVariable("x", "f8", ("x",))
            x.domain_decomposition = np.array([1, 6, 2 * k + 1, 2 * k + 2], "i4")
            x[:] = [2 * k, 2 * k + 1]
            file.createVariable("v", "f4", ("x",))[:] = 1
            file.createVariable("m", "i2", ("x",), fill_value=-7)[:] = 2
    combine(tmp_path / "out.nc", path, allow_missing=True, fill=fill)
    more = {} if fill is None else {"missing_fill": fill}
    for opened in (
        xr.open_dataset(tmp_path / "out.nc", engine="netcdf4"),
        xr.open_dataset(path, engine="shoal", missing_tiles="fill", **more),
    ):
        with opened as ds:
            np.testing.assert_array_equal(ds.v.values, [1, 1, np.nan, np.nan, 1, 1])
            np.testing.assert_array_equal(ds.m.values, [2, 2, np.nan, np.nan, 2, 2])
            assert ds.v.encoding["_FillValue"] == np.float32(9.969209968386869e36 if fill is None else fill)
            assert ds.m.encoding["_FillValue"] == -7
    with netCDF4.Dataset(f"{path}.0000", "a") as file:
        file.createVariable("n", "i1", ("x",))
    with netCDF4.Dataset(f"{path}.0002", "a") as file:
        file.createVariable("n", "i1", ("x",))
    with pytest.raises(shoal.RangeError, match="variable 'n'.*300"):
        combine(tmp_path / "out.nc", path, allow_missing=True, fill=300, overwrite=True)


@pytest.mark.parametrize("style", ["ucla", "croco"])
def test_roms_without_its_last_column(tmp_path, style):
    """Nothing but the files says how long the whole of UCLA's is."""
    whole = Whole(*EVEN, names=("eta_rho", "xi_rho"))
    write_roms(tmp_path / "his.nc", whole, style)
    for number in (1, 3):
        (tmp_path / f"his.{number:03}.nc").unlink()
    with pytest.raises(shoal.NotFoundError, match="missing"):
        shoal.open(tmp_path / "his.nc")


def test_roms_without_a_variable_in_one_file(tmp_path):
    whole = Whole(*EVEN, names=("eta_rho", "xi_rho"))
    write_roms(tmp_path / "his.nc", whole, "ucla")
    change(tmp_path / "his.002.nc", lambda f: f.renameVariable("temp", "salt"))
    with pytest.raises(shoal.NotFoundError, match="variable '(temp|salt)'.*no file that has the variable"):
        shoal.open(tmp_path / "his.nc")
    with shoal.open(tmp_path / "his.nc", missing_tiles="fill", quiet=True) as file:
        assert file.get("temp")[0, 0, 3:, :4].tolist() == [[-99.0] * 4] * 3
        np.testing.assert_array_equal(file.get("temp")[..., :3, :], whole.values["temp"][..., :3, :])


def test_sets_are_not_changed(tmp_path):
    write_fms(tmp_path / "his.nc", Whole(*EVEN))
    with pytest.raises(shoal.StateError, match="combine"):
        shoal.open(tmp_path / "his.nc", mode="a")
    with pytest.raises(shoal.SettingError, match="several files"):
        shoal.open(tmp_path / "his.nc", driver="gather")


def test_what_names_no_set(tmp_path):
    with pytest.raises(shoal.NoSuchFileError):
        shoal.open(tmp_path / "his.nc")
    with pytest.raises(shoal.Error, match="no file matches"):
        shoal.open(tmp_path / "his.nc.*")
    (tmp_path / "his.nc.01").write_bytes(b"two digits are a version, not a tile")
    with pytest.raises(shoal.NoSuchFileError):
        shoal.open(tmp_path / "his.nc")


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("kind", ["cdf5", "netcdf4"])
@pytest.mark.parametrize("convention", ["fms", "fms shared", "roms ucla", "roms croco", "nemo"])
def test_combine(tmp_path, convention, kind, ranks):
    """The program makes one file of a set, which other libraries read, and which says nothing of tiles."""
    netCDF4 = pytest.importorskip("netCDF4")
    model, _, style = convention.partition(" ")
    whole = Whole(*UNEVEN, names=("eta_rho", "xi_rho") if model == "roms" else ("y", "x"))
    if model == "roms":
        write_roms(tmp_path / "his.nc", whole, style)
    elif model == "nemo":
        write_nemo(tmp_path / "his.nc", whole, 1)
    else:
        if style:
            whole.make_symmetric()
        write_fms(tmp_path / "his.nc", whole)
    out = tmp_path / "one" / "all.nc"
    out.parent.mkdir()
    launcher = [] if ranks == 1 else [Path(__file__).parents[2] / "tools" / "mpirun.sh", str(ranks)]
    program = [sys.executable, "-m", "shoal.cli", "combine", tmp_path / "his.nc", out, "--format", kind]
    # This process runs MPI itself, whose launcher would take the program for a part of it.
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "ORTE_"))
    }
    result = subprocess.run(
        [*launcher, *program], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert [path.name for path in out.parent.iterdir()] == ["all.nc"]
    check(out, whole)
    with netCDF4.Dataset(out) as file:
        file.set_auto_mask(False)
        assert file.dimensions["time"].isunlimited()
        for name, values in whole.values.items():
            np.testing.assert_array_equal(file[name][...], values)
        reported = [*file.ncattrs(), *(a for v in file.variables.values() for a in v.ncattrs())]
        tiles = ("DOMAIN_", "domain_decomposition", "NumFilesInSet", "partition")
        assert not [name for name in reported if name.startswith(tiles)]
