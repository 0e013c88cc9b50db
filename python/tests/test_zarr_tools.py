# SPDX-License-Identifier: BSD-3-Clause
"""Zarr stores and the tools: convert, combine, compare, explain, matrix, the xarray engine, to_netcdf."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import clean_environment, run_program

import shoal
from shoal._stores import nearest_in_netcdf4
from shoal.combination import combine
from shoal.comparison import compare
from shoal.conversion import convert

launcher = str(Path(__file__).resolve().parents[2] / "tools" / "mpirun.sh")
program = [sys.executable, "-m", "shoal.cli"]


def contents(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def files_of(store, name):
    return sum(path.is_file() for path in (Path(store) / name / "c").rglob("*"))


@pytest.fixture
def his(tmp_path):
    """A netCDF-4 file of several kinds of variables, in a folder of its own."""
    path = tmp_path / "in" / "his.nc"
    path.parent.mkdir()
    shape = {"z": 3, "y": 40, "x": 50}
    cut = shoal.Decomposition.block(None, shape, split=("y", "x"))
    with shoal.create(path, format="netcdf4", quiet=True) as file:
        file.put_att(None, "title", "converted")
        file.put_att(None, "level", np.float32(0.1))
        file.def_var("time", "f8", record="time", attrs={"units": "days since 2000-01-01"})
        file.def_dim("letter", 4)
        file.def_dim("unused", 7)
        how = {"fill": 1e20, "chunks": (1, 1, 20, 25), "compression": "shuffle+deflate:2+fletcher32"}
        file.def_var("temp", "f4", cut, record="time", attrs={"units": "K"}, **how)
        file.def_var("count", "i8", cut, record="time")
        file.def_var("label", str, "z")
        file.def_var("code", "S1", ("z", "letter"))
        file.def_var("wet", bool, ("y", "x"))
        file.def_var("crs", "i4", (), attrs={"grid_mapping_name": "latitude_longitude"})
        file.def_var("ocean/ice/thick", "f8", ("y", "x"), attrs={"valid_min": np.float64(0)})
        file.put("label", np.array(["a", "ä", ""], object))
        file.put("code", np.array([list("abcd")] * 3, "S1"))
        file.put("wet", np.arange(2000).reshape(40, 50) % 7 > 2)
        file.put("crs", 4)
        file.put("ocean/ice/thick", np.random.default_rng(3).normal(size=(40, 50)))
        for record in range(3):
            file.put("time", record / 2, record)
            values = np.random.default_rng(record).normal(size=(3, 40, 50))
            values[:, :5] = 1e20
            file.write("temp", values.astype("f4"), record)
            file.write("count", np.arange(6000).reshape(3, 40, 50) + record, record)
    return str(path)


def same(a, b):
    found = compare(a, b)
    assert found.same, (found.headers, found.differing, found.skipped)


def types_of(path):
    """Of all variables and attributes; how long dimensions are, and which grow."""
    with shoal.open(path) as file:
        dims = {name: (dim.length, dim.unlimited) for name, dim in file.dimensions.items()}
        variables = {name: (v.dtype, v.dims, v.shape) for name, v in file.variables.items()}
        attributes = {
            (where, name): of.type_of(name)
            for where, of in [("", file.attributes), *((n, v.attributes) for n, v in file.variables.items())]
            for name in of
        }
    return dims, variables, attributes


@pytest.mark.parametrize("ranks", [1, 3])
def test_there_and_back(his, tmp_path, ranks):
    """NetCDF -> Zarr -> Zarr in other chunks -> NetCDF: nothing is lost, types included."""
    store, other, back = (str(tmp_path / name) for name in ("his.zarr", "other.zarr", "back.nc"))

    def run(*args):
        result = run_program([launcher, str(ranks), *program, "convert", *args, "--verify"])
        assert result.returncode == 0, result.stderr
        assert "8 variables verified" in result.stdout, result.stdout

    run(his, store)
    same(his, store)
    with shoal.open(store) as file:
        assert file.format == "zarr"
        temp = file.variables["temp"]
        assert temp.chunks == (1, 1, 20, 25) and temp.filters == "blosc:zlib:2+crc32c"
    chunks = ["--chunks", "temp=2x3x40x10", "--compression", "temp=zstd:3; none"]
    run(store, other, *chunks, "-s", "chunk_bytes=4KiB", "-s", "shard_bytes=16KiB")
    same(store, other)
    with shoal.open(other) as file:
        assert file.variables["temp"].chunks == (2, 3, 40, 10) and file.variables["temp"].filters == "zstd:3"
        assert file.variables["count"].filters == "none"
    run(other, back)
    same(his, back)
    assert types_of(his) == types_of(back)
    with shoal.open(back) as file:
        assert file.format == "netcdf4" and file.variables["temp"].filters == "zstd:3"
    assert contents(tmp_path) == ["back.nc", "his.zarr", "in", "other.zarr"]


def test_formats_by_name(his, tmp_path):
    formats = {}
    for source, out, how in (
        (his, "a.zarr", {}),
        ("a.zarr", "b.zarr", {}),
        ("a.zarr", "c", {}),
        ("a.zarr", "d.nc", {}),
        ("a.zarr", "e.nc", {"format": "zarr"}),
        (his, "f.zarr", {"format": "netcdf4"}),
    ):
        formats[out] = convert(tmp_path / out, tmp_path / source, **how).format
    expected = {"a.zarr": "zarr", "b.zarr": "zarr", "c": "zarr", "d.nc": "netcdf4", "e.nc": "zarr"}
    assert formats == {**expected, "f.zarr": "netcdf4"}


def test_version_2_becomes_3(tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3.1")
    numcodecs = pytest.importorskip("numcodecs")
    group = zarr.create_group(str(tmp_path / "two.zarr"), zarr_format=2)
    how = {"filters": [numcodecs.Shuffle(4)], "compressors": numcodecs.Zlib(3), "chunks": (4, 5)}
    values = np.random.default_rng(0).normal(size=(9, 11)).astype(">f4")
    group.create_array("temp", shape=(9, 11), dtype=">f4", fill_value=0, **how)[:] = values
    done = convert(tmp_path / "three.zarr", tmp_path / "two.zarr", verify=True)
    assert done.format == "zarr" and done.verified == 1
    array = zarr.open_group(str(tmp_path / "three.zarr"), mode="r")["temp"]
    assert np.array_equal(array[:], values) and array.chunks == (4, 5)
    assert "zlib" in str(array.compressors)


def test_what_stands_in_the_way(his, tmp_path):
    store, mine = tmp_path / "his.zarr", tmp_path / "mine"
    convert(store, his)
    with pytest.raises(shoal.ExistsError, match="overwrite"):
        convert(store, his)
    convert(store, his, variables=["crs"], overwrite=True)
    assert contents(store) == ["crs", "zarr.json"]
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    for overwrite in False, True:
        with pytest.raises(shoal.ExistsError, match="no dataset"):
            convert(mine, his, overwrite=overwrite, format="zarr")
    assert (mine / "thesis.txt").read_text() == "years of work"
    # A store in the place of a file, a file in the place of a store, and behind a link.
    for format in "netcdf4", "zarr", "netcdf4":
        convert(store, his, format=format, overwrite=True)
        same(his, store)
        assert store.is_dir() == (format == "zarr")
    convert(tmp_path / "real.zarr", his, variables=["crs"])
    link = tmp_path / "link.zarr"
    link.symlink_to("real.zarr")
    convert(link, his, overwrite=True)
    assert link.is_symlink()
    same(his, tmp_path / "real.zarr")
    assert contents(tmp_path) == ["his.zarr", "in", "link.zarr", "mine", "real.zarr"]


def test_what_fails_leaves_nothing(his, tmp_path):
    with pytest.raises(shoal.Error, match="chunks"):
        convert(tmp_path / "his.zarr", his, chunks="temp=1x2")
    with pytest.raises(shoal.InvalidArgumentError, match="verify"):
        convert(tmp_path / "his.zarr", his, verify=True, settings={"pack": "attributes"})
    assert contents(tmp_path) == ["in"]


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_who_interrupts_leaves_nothing(his, tmp_path, which):
    code = (
        "import time, shoal.conversion\n"
        "shoal.conversion._verify = lambda *_, **__: time.sleep(60)\n"
        "from shoal.cli import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, "convert", his, str(tmp_path / "his.zarr"), "--quiet", "--verify"]
    process = subprocess.Popen(command, env=clean_environment())
    try:
        end = time.monotonic() + 60
        while not any((path / "zarr.json").exists() for path in tmp_path.glob(".his.zarr.*.tmp")):
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(which)
        assert process.wait(30) in (128 + which, -which)
    finally:
        process.kill()
        process.wait()
    assert contents(tmp_path) == ["in"]


def test_a_set_becomes_a_store(mpirun, tmp_path):
    code = (
        "import sys, numpy as np, shoal\n"
        "from mpi4py import MPI\n"
        "cut = shoal.Decomposition.block(MPI.COMM_WORLD, {'y': 12, 'x': 10}, split=('y', 'x'))\n"
        "for name, how in (('parts.nc', {'layout': 'process'}), ('one.nc', {})):\n"
        "    with shoal.create(sys.argv[1] + name, MPI.COMM_WORLD, quiet=True, **how) as file:\n"
        "        file.def_var('temp', 'f4', cut, record='time')\n"
        "        for record in range(2):\n"
        "            values = np.arange(120, dtype='f4').reshape(12, 10) + record\n"
        "            file.write('temp', values[cut.slices], record)\n"
    )
    result = run_program([launcher, "4", sys.executable, "-m", "mpi4py", "-c", code, str(tmp_path) + "/"])
    assert result.returncode == 0, result.stderr
    done = combine(tmp_path / "whole.zarr", tmp_path / "parts.nc")
    assert done.format == "zarr"
    found = compare(tmp_path / "one.nc", tmp_path / "whole.zarr", variables=["temp"])
    assert not found.differing and not found.skipped and found.variables


def test_compare_shows_differences(his, tmp_path):
    a, b = tmp_path / "a.zarr", tmp_path / "b.zarr"
    convert(a, his)
    convert(b, his)
    with shoal.open(b, mode="r+", quiet=True) as file:
        file.put("crs", 5)
    result = run_program([*program, "compare", str(a), str(b)])
    assert result.returncode == 1 and "crs" in result.stdout
    result = run_program([launcher, "3", *program, "compare", his, str(a)])
    assert result.returncode == 0, result.stdout + result.stderr


def test_explain_says_how_many_files(his, tmp_path):
    store = tmp_path / "his.zarr"
    convert(store, his, settings={"chunk_bytes": 4096, "shard_bytes": 16384}, chunks="auto")
    result = run_program([*program, "explain", "chunks", str(store), "--json"])
    assert result.returncode == 0, result.stderr
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    for name in "temp", "count", "wet", "ocean/ice/thick", "time":
        assert rows[name]["files"] == files_of(store, name) > 0, name
    assert rows["temp"]["files"] > 3  # more than one a record
    # Before there is a store.
    asked = ["--format", "zarr", "--chunk-shape", "auto", "--chunk-bytes", "4096", "--shard-bytes", "16384"]
    result = run_program([*program, "explain", "chunks", his, *asked, "--variables", "temp", "--json"])
    assert json.loads(result.stdout)[0]["files"] == files_of(store, "temp")
    asked[3] = "auto"
    field = ["--global", "50x40x3", "--records", "3"]
    result = run_program([*program, "explain", "chunks", *field, *asked, "--json"])
    assert json.loads(result.stdout)[0]["files"] == files_of(store, "temp")
    result = run_program([*program, "explain", "chunks", his, "--shard-bytes", "1MiB"])
    assert result.returncode == 2 and "--format zarr" in result.stderr


def test_matrix_has_stores(tmp_path):
    asked = ["--formats", "zarr,cdf5", "--drivers", "native", "--layouts", "one"]
    result = run_program([launcher, "3", *program, "matrix", *asked, "--dir", str(tmp_path), "--keep"])
    assert result.returncode == 0, result.stdout + result.stderr
    (kept,) = tmp_path.iterdir()
    assert contents(kept) == ["one-cdf5-native", "one-zarr-native"]
    shutil.rmtree(kept)
    result = run_program([*program, "matrix", *asked, "--dir", str(tmp_path)])
    assert result.returncode == 0 and contents(tmp_path) == [], result.stderr


def test_xarray_opens_stores_by_itself(his, tmp_path):
    xr = pytest.importorskip("xarray")
    convert(tmp_path / "his.zarr", his)
    backend = xr.backends.plugins.list_engines()["shoal"]
    assert backend.guess_can_open(tmp_path / "his.zarr") and not backend.guess_can_open(tmp_path)
    with xr.open_dataset(tmp_path / "his.zarr", engine="shoal") as of_zarr:
        with xr.open_dataset(his, engine="shoal") as of_netcdf:
            xr.testing.assert_identical(of_zarr, of_netcdf)
        encoding = of_zarr["temp"].encoding
        assert encoding["chunksizes"] == (1, 1, 20, 25) and encoding["zlib"] and encoding["shuffle"]
        of_zarr.to_netcdf(tmp_path / "again.nc", engine="netcdf4")


@pytest.mark.parametrize("ranks", [1, 3])
def test_to_netcdf_writes_stores(mpirun, tmp_path, ranks):
    xr = pytest.importorskip("xarray")
    mpirun(ranks, "to_zarr.py", tmp_path)
    for group in None, "below":
        with xr.open_dataset(tmp_path / "his.nc", engine="shoal", group=group) as of_netcdf:
            with xr.open_dataset(tmp_path / "his.zarr", engine="shoal", group=group) as of_shoal:
                xr.testing.assert_identical(of_netcdf, of_shoal)
            if _has_zarr():
                with xr.open_zarr(tmp_path / "his.zarr", group=group) as of_zarr:
                    xr.testing.assert_identical(of_netcdf, of_zarr)
            assert of_netcdf.sizes["time"] == (4 if group else 6)
    with xr.open_datatree(tmp_path / "tree.netcdf4", engine="shoal") as of_netcdf:
        with xr.open_datatree(tmp_path / "tree.zarr", engine="shoal") as of_zarr:
            xr.testing.assert_identical(of_netcdf, of_zarr)
            assert set(of_zarr.groups) == {"/", "/ocean", "/ocean/ice"}


def _has_zarr():
    try:
        import zarr
    except ImportError:
        return False
    return int(zarr.__version__.split(".")[0]) >= 3


@pytest.mark.parametrize(
    ("zarr", "netcdf"),
    [
        ("none", "none"),
        ("zstd:3", "zstd:3"),
        ("gzip:0", "deflate:1"),
        ("blosc:zstd:5+crc32c", "shuffle+zstd:9+fletcher32"),
        ("blosc:zlib:4:bitshuffle", "shuffle+deflate:4"),
        ("blosc:lz4:5:noshuffle", "zstd:1"),
        ("blosc:zstd:9", "shuffle+zstd:22"),
        ("lz4", "zstd:1"),
    ],
)
def test_filters_of_the_other_format(zarr, netcdf, tmp_path):
    """As the library itself says where it refuses those of Zarr."""
    assert nearest_in_netcdf4(zarr) == netcdf
    if zarr != netcdf:
        with pytest.raises(shoal.Error) as caught:
            with shoal.create(tmp_path / "file.nc", format="netcdf4", quiet=True) as file:
                cut = shoal.Decomposition.block(None, {"y": 4, "x": 4}, split="y")
                file.def_var("v", "f4", cut, compression=zarr)
        assert f"choose {netcdf}" in str(caught.value)


def test_bytes_of_a_store(his, tmp_path):
    result = run_program([*program, "convert", his, str(tmp_path / "his.zarr")])
    size = sum(path.stat().st_size for path in (tmp_path / "his.zarr").rglob("*") if path.is_file())
    assert result.returncode == 0 and f"as {size / 1024:.4g} KiB" in result.stdout, result.stdout
    assert os.path.isdir(tmp_path / "his.zarr")
