# SPDX-License-Identifier: BSD-3-Clause
"""shoal convert and shoal.conversion: the same values in another form."""

import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import clean_environment, run_program

import shoal
from shoal.comparison import compare
from shoal.conversion import convert

netCDF4 = pytest.importorskip("netCDF4")

program = [sys.executable, "-m", "shoal.cli", "convert"]
launcher = str(Path(__file__).resolve().parents[2] / "tools" / "mpirun.sh")
shape = (4, 3, 70, 90)


def field(record):
    random = np.random.default_rng(record)
    values = np.cumsum(random.normal(size=shape[1:]), axis=-1).astype("f4") + 10
    values[:, :3] = 1e20
    return values


@pytest.fixture
def his(tmp_path):
    """A file that netCDF-C wrote, of many kinds of variables."""
    path = tmp_path / "his.nc"
    with netCDF4.Dataset(path, "w") as file:
        for name, n in zip(("time", "lev", "lat", "lon"), (None, *shape[1:])):
            file.createDimension(name, n)
        file.createDimension("unused", 5)
        file.title = "converted"
        file.createVariable("time", "f8", "time").units = "days since 2000-01-01"
        file.createVariable("lat", "f8", "lat")[:] = np.linspace(-90, 90, 70)
        temp = file.createVariable(
            "temp",
            "f4",
            ("time", "lev", "lat", "lon"),
            zlib=True,
            complevel=1,
            shuffle=True,
            chunksizes=(1, 2, 40, 90),
            fill_value=1e20,
        )
        temp.coordinates = "area"
        temp.units = "Celsius"
        file.createVariable("salt", "f8", ("time", "lev", "lat", "lon"))
        file.createVariable("area", "f4", ("lat", "lon"))[:] = 1.5
        file.createVariable("count", "i4", ("time", "lat"))
        file.createVariable("label", str, "lev")[:] = np.array(["top", "mid", "low"], object)
        file.createVariable("crs", "i4", ()).grid_mapping_name = "latitude_longitude"
        for record in range(shape[0]):
            file["time"][record] = record
            file["temp"][record] = field(record)
            file["salt"][record] = field(record).astype("f8") / 3
            file["count"][record] = record + np.arange(70)
    return str(path)


def leftovers(folder):
    return [path.name for path in Path(folder).iterdir() if path.name.endswith(".tmp")]


def same(a, b, **options):
    found = compare(a, b, **options)
    assert not found.differing and not found.skipped, (found.differing, found.skipped)
    return found


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_what_is_not_asked_for_stays(his, tmp_path, ranks):
    out = str(tmp_path / "out.nc")
    result = run_program([launcher, str(ranks), *program, his, out, "--verify"])
    assert result.returncode == 0, result.stdout + result.stderr
    assert "8 variables, 4 records" in result.stdout and "8 variables verified" in result.stdout
    assert same(his, out).same
    with shoal.open(out) as file:
        assert file.variables["temp"].chunks == (1, 2, 40, 90)
        assert file.variables["temp"].filters == "shuffle+deflate:1"
        assert file.variables["salt"].filters == "none"
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("kind", ["cdf5", "netcdf4", "netcdf4-classic"])
def test_chunks_compression_and_format(his, tmp_path, ranks, kind):
    out = str(tmp_path / "out.nc")
    options = ["--exclude", "label", "--format", kind, "--verify", "--memory", "1MiB"]
    if kind != "cdf5":
        options += ["--chunks", "temp=series; 1x1x7x11", "--compression", "salt=none; shuffle+deflate:1"]
    result = run_program([launcher, str(ranks), *program, his, out, *options])
    assert result.returncode == 0, result.stdout + result.stderr
    with netCDF4.Dataset(out) as file:
        for record in range(shape[0]):
            np.testing.assert_array_equal(file["temp"][record].filled(), field(record))
            np.testing.assert_array_equal(file["salt"][record], field(record).astype("f8") / 3)
        np.testing.assert_array_equal(file["count"][3], 3 + np.arange(70))
        assert "label" not in file.variables and "unused" not in file.dimensions
        assert file.title == "converted" and file["temp"].units == "Celsius"
        if kind != "cdf5":
            assert file["temp"].chunking() == [128, 1, 70, 90]
            assert file["salt"].chunking() == [1, 1, 7, 11]
            assert file["temp"].filters()["zlib"] and file["area"].filters()["shuffle"]
            assert not file["salt"].filters()["zlib"]


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("filters", ["shuffle+deflate:1", "shuffle+deflate:9+fletcher32", "shuffle+zstd:1"])
def test_noise_is_read_by_others(tmp_path, kind, filters):
    """Of large chunks, bytes that no compression makes fewer are stored as they are: the readers that others
    use have to understand that, and files must not be larger for it."""
    h5py = pytest.importorskip("h5py")
    plain, out, theirs = (str(tmp_path / name) for name in ("in.nc", "out.nc", "theirs.nc"))
    values = np.random.default_rng(5).normal(10, 0.01, (2, 300, 400)).astype(kind)
    for path, more in ((plain, {}), (theirs, {"zlib": True, "complevel": 1, "shuffle": True})):
        with netCDF4.Dataset(path, "w") as file:
            for name, n in zip(("time", "y", "x"), (None, 300, 400)):
                file.createDimension(name, n)
            file.createVariable("u", kind, ("time", "y", "x"), chunksizes=(1, 300, 400), **more)[:] = values
    shoal.conversion.convert(out, plain, compression=filters)
    with shoal.open(out) as file:
        assert np.array_equal(file.get("u"), values)
    if "zstd" not in filters:
        with netCDF4.Dataset(out) as file, h5py.File(out) as same_file:
            assert np.array_equal(file["u"][:], values) and np.array_equal(same_file["u"][:], values)
    assert os.path.getsize(out) < 1.005 * os.path.getsize(theirs)


@pytest.mark.parametrize("how, error", [("bitround:6", 2.0**-7), ("granular_bitround:3", 0.005)])
def test_quantized(his, tmp_path, how, error):
    out = tmp_path / "out.nc"
    done = convert(out, his, quantize=f"salt=none; {how}", verify=True)
    assert done.verified == 8 and done.variables == 8
    with netCDF4.Dataset(out) as file:
        got = file["temp"][2]
        wanted = np.ma.masked_equal(field(2), np.float32(1e20))
        assert np.array_equal(got.mask, wanted.mask)
        scale = np.abs(wanted) if "bitround:6" == how else 10.0 ** np.ceil(np.log10(np.abs(wanted)))
        assert (np.abs(got - wanted) <= error * scale * 1.0001).all()
        assert not np.array_equal(got, wanted)
        np.testing.assert_array_equal(file["salt"][2], field(2).astype("f8") / 3)
        np.testing.assert_array_equal(file["lat"][:], np.linspace(-90, 90, 70))
    # Once more, with nothing asked for: the values stay as they are.
    again = tmp_path / "again.nc"
    convert(again, out, verify=True)
    assert same(out, again).same
    assert os.path.getsize(out) < os.path.getsize(his)


def test_some_variables_and_what_they_need(his, tmp_path):
    out = tmp_path / "out.nc"
    convert(out, his, variables=["te*"])
    with shoal.open(out) as file:
        assert list(file.variables) == ["time", "lat", "temp", "area"]
        assert "unused" not in file.dimensions
    convert(out, his, variables=["count", "salt"], exclude=["lat", "ti*"], overwrite=True)
    with shoal.open(out) as file:
        assert list(file.variables) == ["salt", "count"]
    with pytest.raises(shoal.NotFoundError, match="temp"):
        convert(tmp_path / "no.nc", his, variables=["tmp"])
    with pytest.raises(shoal.NotFoundError, match="pattern 'x\\*'"):
        convert(tmp_path / "no.nc", his, variables=["x*"])
    with pytest.raises(shoal.InvalidArgumentError, match="no variable is left"):
        convert(tmp_path / "no.nc", his, exclude=["*"])
    assert not (tmp_path / "no.nc").exists() and not leftovers(tmp_path)


def test_a_set_is_converted(mpirun, tmp_path):
    one, many = tmp_path / "one.nc", tmp_path / "set.nc"
    mpirun(3, "write_model.py", one, "cdf5")
    mpirun(3, "write_model.py", many, "cdf5", "layout=process")
    out = tmp_path / "out.nc"
    convert(out, many, format="netcdf4", compression="shuffle+deflate:1", verify=True)
    same(one, out)


@pytest.mark.parametrize("driver", ["gather", "netcdf"])
def test_other_drivers(his, tmp_path, driver):
    if f"{driver}" not in shoal.build_info()["drivers"]:
        pytest.skip("not in this build")
    out = tmp_path / "out.nc"
    # Parallel HDF5 writes no strings.
    convert(out, his, chunks="map", exclude=["label"], settings={"driver": driver}, verify=True)
    same(his, out, variables=["temp", "salt", "count", "area"])


def test_what_cannot_be_leaves_nothing(his, tmp_path):
    out = tmp_path / "out.nc"
    for options, error, words in [
        ({"compression": "bzip2"}, shoal.SettingError, "bzip2"),
        ({"compression": "gzip"}, shoal.SettingError, "choose deflate"),
        ({"format": "cdf5", "compression": "deflate"}, shoal.SettingError, "netcdf4"),
        ({"format": "cdf5", "chunks": "map"}, shoal.SettingError, "chunks"),
        ({"quantize": "count=bitround:3"}, shoal.TypeMismatchError, "count"),
        ({"chunks": "temp=1x2"}, shoal.SettingError, "4 dimensions"),
        ({"format": "cdf1"}, shoal.NotSupportedError, "label"),
        ({"settings": {"layout": "process"}}, shoal.InvalidArgumentError, "one file"),
    ]:
        with pytest.raises(error, match=words):
            convert(out, his, **options)
        assert not out.exists() and not leftovers(tmp_path)
    out.write_text("mine")
    with pytest.raises(shoal.ExistsError, match="overwrite"):
        convert(out, his)
    assert out.read_text() == "mine"
    result = run_program([*program, his, str(out), "--chunks", "map", "-s", "chunks=map"])
    assert result.returncode == 2 and "given twice" in result.stderr


def test_types_and_groups_that_shoal_has_not(tmp_path):
    """Variables of types that Shoal has not are left out, and said by name; one that is asked for fails."""
    path, out = tmp_path / "others.nc", tmp_path / "out.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3)
        file.createVariable("plain", "i4", "x")[:] = 7
        kind = file.createEnumType("u1", "kind", {"land": 0, "water": 1})
        file.createVariable("kinds", kind, "x")[:] = 1
        file.createGroup("inner").createVariable("deep", "f4", "x")[:] = 2.5
        file["inner"].note = "deep"
        pair = file.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair")
        file["inner"].createVariable("pairs", pair, "x")
        ragged = file.createVLType("i4", "ragged")
        file["inner"].createVariable("lists", ragged, "x")[0] = np.array([1, 2], "i4")
    with shoal.open(path) as file:
        assert file.variables["kinds"].dtype is None
    for options, words in [
        ({"variables": ["plain", "kinds"]}, "'kinds'.*enum.*--exclude"),
        ({"format": "cdf5"}, "'inner/deep'.*cdf5 has no groups.*--exclude"),
    ]:
        with pytest.raises(shoal.NotSupportedError, match=words):
            convert(out, path, **options)
        assert not out.exists() and not leftovers(tmp_path)
    done = convert(out, path, verify=True)
    odd = ["kinds", "inner/pairs", "inner/lists"]
    assert list(done.left_out) == odd and done.variables == done.verified == 2
    with netCDF4.Dataset(out) as file:
        assert list(file.variables) == ["plain"] and file["plain"][:].tolist() == [7, 7, 7]
        assert file["inner/deep"][:].tolist() == [2.5] * 3 and file["inner"].note == "deep"
    assert compare(path, out).same and list(compare(path, out).left_out) == odd
    assert list(compare(path, path).left_out) == odd and compare(path, path).same
    result = run_program([*program, path, str(out), "--overwrite", "--quiet"])
    assert result.returncode == 3 and "'kinds' is left out: it is of a type" in result.stderr
    result = run_program([*program[:-1], "compare", path, path])
    assert result.returncode == 3 and "kinds: not compared, it is of a type" in result.stdout
    convert(out, path, exclude=["kinds", "inner/*"], verify=True, overwrite=True, format="cdf5")
    with netCDF4.Dataset(out) as file:
        assert list(file.variables) == ["plain"] and not file.groups
    with pytest.raises(shoal.NotSupportedError, match="'kinds'.*--variables"):
        compare(path, path, variables=["kinds"])
    assert compare(path, path, variables=["plain", "inner/deep"]).same
    with pytest.raises(shoal.NotSupportedError, match="'kinds'"), shoal.open(path) as file:
        file.get("kinds")
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(path, engine="shoal") as found:
        assert "plain" in found and "kinds" not in found
    shown = run_program([*program[:-1], "explain", "chunks", path])
    assert shown.returncode == 0 and "plain" in shown.stdout and "kinds" not in shown.stdout


def test_a_difference_is_found(his, tmp_path, monkeypatch):
    """Verifying reads the file itself: what storing did wrong does not get the name."""
    from shoal import conversion

    out = tmp_path / "out.nc"
    real = conversion._verify

    def damaged(source, path, comm, *more):
        with netCDF4.Dataset(path, "r+") as file:
            file["temp"][1, 1, 5, 6] += 1
        real(source, path, comm, *more)

    monkeypatch.setattr(conversion, "_verify", damaged)
    with pytest.raises(shoal.InputOutputError, match=r"temp.*1 of .*\(1, 1, 5, 6\)"):
        convert(out, his, verify=True)
    assert not out.exists() and not leftovers(tmp_path)


def test_interrupted(his, tmp_path):
    out = tmp_path / "out.nc"
    command = [*program, his, str(out), "-s", "chunks=1x1x1x2", "-s", "compression=deflate:12"]
    process = subprocess.Popen(command, env=clean_environment(), start_new_session=True)
    try:
        end = time.monotonic() + 60
        while not leftovers(tmp_path) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(120)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert not leftovers(tmp_path)


def test_values_in_other_files(tmp_path):
    """Whoever makes a file names the files that HDF5 has its values in: any of the user's could be copied."""
    h5py = pytest.importorskip("h5py")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    values = np.arange(4.0)
    (tmp_path / "secret").write_bytes(values.tobytes())
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["v"] = values
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource("../secret.h5", "v", (4,))
    with h5py.File(theirs / "external.nc", "w") as file:
        file.create_dataset("v", (4,), "f8", external=[(str(theirs / "../secret"), 0, 32)])
    with h5py.File(theirs / "virtual.nc", "w") as file:
        file.create_virtual_dataset("v", layout)
    out = tmp_path / "out.nc"
    for path in (theirs / "external.nc", theirs / "virtual.nc"):
        refused = functools.partial(
            pytest.raises, shoal.NotSupportedError, match="variable 'v'.*secret.*external_files=allow"
        )
        with shoal.open(path) as file:
            assert list(file.variables) == ["v"]
            with refused():
                file.get("v")
        with refused():
            convert(out, path)
        with refused():
            compare(path, path)
        with refused():
            shoal.write_reference(path, out)
        assert not out.exists()
        with shoal.open(path, external_files="allow") as file:
            np.testing.assert_array_equal(file.get("v"), values)


def test_no_value(tmp_path):
    """A null dataspace is no 0."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "null.nc", "w") as file:
        file.create_dataset("n", data=h5py.Empty("f8"))
        file["m"] = np.arange(3.0)
    refused = functools.partial(
        pytest.raises, shoal.NotSupportedError, match="null.nc: variable 'n': .*no value"
    )
    with shoal.open(tmp_path / "null.nc") as file, refused():
        file.get("n")
    with refused():
        convert(tmp_path / "out.nc", tmp_path / "null.nc")
    convert(tmp_path / "out.nc", tmp_path / "null.nc", exclude=["n"])
    with shoal.open(tmp_path / "out.nc") as file:
        assert list(file.variables) == ["m"]


def test_names_in_either_form_of_unicode_and_from_the_root(tmp_path):
    """Each option that takes names takes both forms, and none is passed over."""
    path, composed, apart = tmp_path / "two.nc", "v\u00e9", "ve\u0301"
    with shoal.create(path) as file:
        for name in (composed, "w"):
            file.def_var(name, "f4")
            file.put_att(name, composed, 1)
            file.put(name, 1.0)
    for number, name in enumerate((composed, apart, "/" + apart, apart + "*")):
        out = tmp_path / f"{number}.nc"
        convert(out, path, exclude=[name])
        with shoal.open(out) as file:
            assert list(file.variables) == ["w"]
        convert(out, path, variables=[name], overwrite=True)
        with shoal.open(out, mode="r+") as file:
            assert list(file.variables) == [composed]
            file.put_att(composed, composed, 2)
        result = compare(path, out, variables=[name])
        assert [item.name for item in result.variables] == [composed] and len(result.headers) == 1
        assert compare(path, out, variables=[name], ignore_attributes=[apart]).same
    table = run_program(
        [sys.executable, "-m", "shoal.cli", "explain", "chunks", str(path), "--variables", apart]
    )
    assert table.returncode == 0 and composed in table.stdout, table
