# SPDX-License-Identifier: BSD-3-Clause
"""Zarr stores of other programs: what zarr-python and xarray write is read bit for bit, on one rank and on
several; records are added to it; what is damaged is refused with the name of the file."""

import json
import os
import struct
import time
import warnings

import numpy as np
import pytest
import zarr_stores

import shoal

zarr = pytest.importorskip("zarr", minversion="3.1", reason="zarr-python 3.1 is not installed")


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    folder = tmp_path_factory.mktemp("others")
    zarr_stores.write_stores(folder)
    return folder


@pytest.mark.parametrize("ranks", [1, 3])
def test_all_of_them_are_read(others, mpirun, ranks):
    mpirun(ranks, "read_zarr.py", others)


_numbers = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]


def _cells(dtype):
    """Values; chunks in front are the fill value, which writers leave out."""
    values = np.random.default_rng(5).integers(0, 120, (7, 11, 13)).astype(dtype)
    values[:4, :5] = 0
    return values


def test_what_tensorstore_writes_is_read(tmp_path):
    tensorstore = pytest.importorskip("tensorstore", reason="TensorStore is not installed")
    path = tmp_path / "its.zarr"
    zarr.create_group(path, zarr_format=3)
    inner = {
        "plain": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "zstd": [{"name": "bytes"}, {"name": "zstd", "configuration": {"level": 3}}, {"name": "crc32c"}],
        "gzip": [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 5}}],
        "blosc": [{"name": "bytes"}, {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5}}],
        "turned": [{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, {"name": "bytes"}],
    }
    expected = {}
    for dtype in _numbers:
        for name, codecs in inner.items():
            for where in None, "start", "end":  # the index of a shard; None: without shards
                shard = {"chunk_shape": [2, 5, 4], "codecs": codecs, "index_location": where}
                metadata = {
                    "shape": [7, 11, 13],
                    "data_type": dtype,
                    "chunk_grid": {
                        "name": "regular",
                        "configuration": {"chunk_shape": [4, 5, 8] if where else [2, 5, 4]},
                    },
                    "codecs": [{"name": "sharding_indexed", "configuration": shard}] if where else codecs,
                    "fill_value": 0,
                }
                key = f"{dtype}_{name}_{where}"
                array = tensorstore.open(
                    {
                        "driver": "zarr3",
                        "kvstore": {"driver": "file", "path": str(path / key)},
                        "metadata": metadata,
                    },
                    create=True,
                ).result()
                expected[key] = _cells(dtype)
                array.write(expected[key]).result()
    with shoal.open(path) as file:
        assert set(file.variables) == set(expected)
        for key, values in expected.items():
            found = file.get(key)
            assert found.dtype == values.dtype and np.array_equal(found, values), key


def test_what_zarrs_writes_is_read(tmp_path):
    pytest.importorskip("zarrs", reason="zarrs is not installed")
    path = tmp_path / "its.zarr"
    compressors = {
        "none": None,
        "zstd": zarr.codecs.ZstdCodec(level=2),
        "gzip": zarr.codecs.GzipCodec(),
        "blosc": zarr.codecs.BloscCodec(cname="zstd", shuffle="shuffle"),
    }
    expected = {}
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
        group = zarr.create_group(path, zarr_format=3)
        for dtype in _numbers:
            for name, compressor in compressors.items():
                for shards in None, (4, 5, 8):
                    key = f"{dtype}_{name}_{'shards' if shards else 'chunks'}"
                    expected[key] = _cells(dtype)
                    array = group.create_array(
                        key,
                        shape=(7, 11, 13),
                        dtype=dtype,
                        chunks=(2, 5, 4),
                        shards=shards,
                        compressors=compressor,
                    )
                    array[...] = expected[key]
    with shoal.open(path) as file:
        for key, values in expected.items():
            found = file.get(key)
            assert found.dtype == values.dtype and np.array_equal(found, values), key


def test_attributes_and_groups(others):
    for version in 2, 3:
        for name in f"types{version}.zarr", f"consolidated_types{version}.zarr":
            with shoal.open(others / name) as file:
                assert file.format == ("zarr" if version == 3 else "zarr2")
                assert file.attributes["title"] == "types" and file.attributes["number"] == 3
                assert list(file.attributes["parts"]) == [1.5, 2.5]
        for name in f"groups{version}.zarr", f"consolidated_groups{version}.zarr":
            with shoal.open(others / name) as file:
                assert set(file.groups) == {"ocean", "ocean/ice", "empty"}
                assert file.groups["ocean"].attributes["part"] == "water"


def test_what_shoal_has_not_is_listed_and_the_rest_is_read(tmp_path):
    store = tmp_path / "odd.zarr"
    group = zarr.create_group(str(store), zarr_format=2)
    group.create_array("plain", shape=(3,), chunks=(2,), dtype="f4", fill_value=0)[:] = 1, 2, 3
    group.create_array("complex", shape=(3,), chunks=(2,), dtype="c8", fill_value=0)
    group.create_array("time", shape=(3,), chunks=(2,), dtype="M8[s]", fill_value=0)
    group.create_array("half", shape=(3,), chunks=(2,), dtype="f2", fill_value=0)
    with shoal.open(store) as file:
        assert set(file.variables) == {"plain", "complex", "time", "half"}
        assert file.get("plain").tolist() == [1, 2, 3]
        for name in "complex", "time", "half":
            with pytest.raises(shoal.NotSupportedError, match="data type"):
                file.get(name)
    with pytest.raises(shoal.NotSupportedError, match="version 2"):
        shoal.open(store, mode="r+")


# ---- xarray


@pytest.fixture(params=[2, 3])
def of_xarray(request, tmp_path):
    """A Dataset of CF as xarray stores it, its path."""
    xr = pytest.importorskip("xarray")
    random = np.random.default_rng(1)
    temp = random.normal(size=(5, 10, 12)).astype("f4")
    temp[:, :3] = np.nan
    temp[1] = 0  # chunks that zarr-python leaves out
    packed = np.round(random.normal(size=(5, 10, 12)), 2)
    packed[2, 5] = np.nan
    times = np.arange("2001-01-01", "2001-01-06", dtype="M8[D]").astype("M8[ns]")
    ds = xr.Dataset(
        {
            "temp": (("time", "y", "x"), temp, {"units": "K", "cell_methods": "time: mean"}),
            "packed": (("time", "y", "x"), packed),
            "crs": ((), np.int32(0), {"grid_mapping_name": "latitude_longitude"}),
            "wet": (("y", "x"), np.arange(120).reshape(10, 12) % 2 == 0),
            "station": ("y", np.array([f"Stück {i}" for i in range(10)], object)),
            "time_bnds": (("time", "nv"), np.arange(10.0).reshape(5, 2)),
        },
        coords={"time": times, "lon": (("y", "x"), random.normal(size=(10, 12))), "y": np.arange(10.0)},
        attrs={"title": "of xarray", "number": 3, "list": [1, 2], "texts": ["a", "b"]},
    )
    encoding = {
        "temp": {"chunks": (1, 5, 6)},
        "packed": {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -9999, "chunks": (2, 10, 12)},
        "time": {"chunks": (2,), "units": "hours since 1990-01-01"},
    }
    if request.param == 3:
        encoding["temp"]["shards"] = (2, 10, 12)
    path = tmp_path / "his.zarr"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of texts, and consolidated metadata
        ds.to_zarr(path, zarr_format=request.param, encoding=encoding)
    return path


def test_xarrays_stores_through_the_engine(of_xarray, mpirun):
    import xarray as xr

    with xr.open_zarr(of_xarray) as expected, xr.open_dataset(of_xarray, engine="shoal") as found:
        xr.testing.assert_identical(expected, found)
        assert found.encoding["unlimited_dims"] == {"time"}
    assert xr.backends.plugins.list_engines()["shoal"].guess_can_open(of_xarray)


@pytest.mark.parametrize("ranks", [1, 3])
def test_records_are_added_to_xarrays_store(of_xarray, mpirun, ranks):
    import xarray as xr

    with xr.open_zarr(of_xarray) as before:
        before.load()
    if (of_xarray / ".zgroup").exists():
        with pytest.raises(shoal.NotSupportedError, match="version 2"):
            shoal.open(of_xarray, mode="r+")
        return
    mpirun(ranks, "append_zarr.py", of_xarray)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with xr.open_zarr(of_xarray) as after:
            after.load()
    assert after.sizes["time"] == 8
    xr.testing.assert_identical(after.isel(time=slice(0, 5)), before)
    for record in 5, 6, 7:
        values = np.arange(120).reshape(10, 12) / 4 + record
        np.testing.assert_array_equal(after.temp[record], values.astype("f4"))
        np.testing.assert_array_equal(after.time_bnds[record], [record, record + 1])
    assert after.time.values[7] == np.datetime64("2001-01-08")
    # Whoever reads arrays one by one sees the same.
    array = zarr.open_array(str(of_xarray / "temp"), mode="r")
    assert array.shape[0] == 8 and array[7, 9, 11] == np.float32(119 / 4 + 7)


# ---- Stores that are damaged


def _json(path, *keys, value):
    def damage(store):
        file = store / path
        document = json.loads(file.read_text())
        where = document
        for key in keys[:-1]:
            where = where[key]
        where[keys[-1]] = value
        file.write_text(json.dumps(document))

    return damage


def _text(path, text):
    return lambda store: (store / path).write_text(text)


def _bytes(path, change):
    return lambda store: (store / path).write_bytes(change(bytearray((store / path).read_bytes())))


_index_bytes = 4 * 16 + 4
_shard, _blosc, _plain = "v/c/0/0", "w/c/0/0", "p/c/0/0"
_grid = ("chunk_grid", "configuration", "chunk_shape")


def _index(*chunks):
    """Chunks of the shard, in place of its own, with a checksum."""

    def change(content):
        google_crc32c = pytest.importorskip("google_crc32c")
        index = b"".join(struct.pack("<QQ", *chunk) for chunk in chunks)
        return content[:-_index_bytes] + index + struct.pack("<I", google_crc32c.value(index))

    return _bytes(_shard, change)


def _flipped(content, place):
    content[place] ^= 1
    return content


# What is damaged, the variable that is read then, and the file that the error names.
damages = {
    "broken root": (_text("zarr.json", '{"zarr_format": 3,'), "v", "zarr.json"),
    "empty root": (_text("zarr.json", ""), "v", ""),
    "broken array": (_text("v/zarr.json", "{[}"), "v", "v/zarr.json"),
    "no object": (_text("v/zarr.json", "[]"), "v", "v/zarr.json"),
    "nested": (_text("v/zarr.json", '{"a":' * 100000 + "1" + "}" * 100000), "v", "v/zarr.json"),
    "zeros": (_text("v/zarr.json", "{\0\1"), "v", "v/zarr.json"),
    "other version": (_json("v/zarr.json", "zarr_format", value=7), "v", "v/zarr.json"),
    "other fill value": (_json("v/zarr.json", "fill_value", value="?"), "v", "v/zarr.json"),
    "unknown codec": (_json("v/zarr.json", "codecs", 0, "name", value="?"), "v", ""),
    "unknown type": (_json("v/zarr.json", "data_type", value="r24"), "v", ""),
    "shape beyond int64": (_json("v/zarr.json", "shape", value=[2**70, 16]), "v", "v/zarr.json"),
    "negative shape": (_json("v/zarr.json", "shape", value=[-1, 16]), "v", "v/zarr.json"),
    "shape of text": (_json("v/zarr.json", "shape", value=["a", 16]), "v", "v/zarr.json"),
    "no shape": (_json("v/zarr.json", "shape", value=None), "v", "v/zarr.json"),
    "other lengths": (_json("v/zarr.json", "shape", value=[2**62, 2**62]), "v", ""),
    "chunk of 0": (_json("p/zarr.json", *_grid, value=[0, 8]), "p", "p/zarr.json"),
    "negative chunk": (_json("p/zarr.json", *_grid, value=[-8, 8]), "p", "p/zarr.json"),
    "chunk of other rank": (_json("p/zarr.json", *_grid, value=[8]), "p", "p/zarr.json"),
    "huge chunk": (_json("p/zarr.json", *_grid, value=[2**40, 2**40]), "p", ""),
    "large chunk": (_json("p/zarr.json", *_grid, value=[2**16, 2**16]), "p", _plain),
    "large chunk of blosc": (_json("w/zarr.json", *_grid, value=[2**16, 2**16]), "w", ""),
    "large shard": (_json("v/zarr.json", *_grid, value=[2**16, 2**16]), "v", _shard),
    "chunk outside": (_index(*[(10**6, 100)] * 4), "v", _shard),
    "chunk outside of int64": (_index(*[(2**64 - 10, 100)] * 4), "v", _shard),
    "chunk longer than the shard": (_index(*[(0, 2**62)] * 4), "v", _shard),
    "chunk of no byte": (_index(*[(0, 0)] * 4), "v", _shard),
    "wrong checksum": (_bytes(_shard, lambda content: _flipped(content, -1)), "v", _shard),
    "wrong index": (_bytes(_shard, lambda content: _flipped(content, -_index_bytes)), "v", _shard),
    "half a shard": (_bytes(_shard, lambda content: content[: len(content) // 2]), "v", _shard),
    "3 bytes of a shard": (_bytes(_shard, lambda content: content[:3]), "v", _shard),
    "empty shard": (_bytes(_shard, lambda content: b""), "v", _shard),
    "other bytes": (_bytes(_shard, lambda content: b"\1\2\3\4" + content[4:]), "v", _shard),
    "truncated chunk": (_bytes(_blosc, lambda content: content[:-20]), "w", _blosc),
    "empty chunk": (_bytes(_blosc, lambda content: b""), "w", _blosc),
    "other chunk": (_bytes(_blosc, lambda content: bytes(len(content))), "w", _blosc),
    "truncated plain chunk": (_bytes(_plain, lambda content: content[:-20]), "p", _plain),
    "empty plain chunk": (_bytes(_plain, lambda content: b""), "p", _plain),
    "longer plain chunk": (_bytes(_plain, lambda content: content + b"1234"), "p", _plain),
}


@pytest.fixture
def store(tmp_path):
    """Shards with their index at the end (v), chunks of blosc (w), plain chunks (p)."""
    path = tmp_path / "his.zarr"
    group = zarr.create_group(str(path))
    values = 1 + np.arange(256).reshape(16, 16)
    common = {"shape": (16, 16), "fill_value": 0, "dimension_names": ["y", "x"]}
    group.create_array("v", dtype="f4", chunks=(4, 4), shards=(8, 8), **common)[:] = values
    blosc = zarr.codecs.BloscCodec(cname="zstd", shuffle="shuffle", typesize=8)
    group.create_array("w", dtype="f8", chunks=(8, 8), compressors=blosc, **common)[:] = values
    group.create_array("p", dtype="f8", chunks=(8, 8), compressors=None, **common)[:] = values
    return path


def _get(file, name):
    return file.get(name)


def _read(file, name):
    cut = shoal.Decomposition.block(None, {"y": 16, "x": 16}, split="y")
    return file.read(name, decomposition=cut)


@pytest.mark.parametrize("how", [_get, _read])
@pytest.mark.parametrize("damage", damages)
def test_damaged(store, damage, how):
    do, name, named = damages[damage]
    with shoal.open(store) as file:
        assert how(file, name)[15, 15] == 256
    do(store)
    begin = time.monotonic()
    with pytest.raises((shoal.FormatError, shoal.NotSupportedError)) as caught:
        with shoal.open(store) as file:
            how(file, name)
    assert time.monotonic() - begin < 5
    assert str(store / named) in str(caught.value), caught.value
    assert _rss() < 2 * 2**30


def _rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("how", [_get, _read])
def test_missing_chunks_of_large_shards_take_no_memory(store, how):
    _json("v/zarr.json", *_grid, value=[2**16, 2**16])(store)
    _json("p/zarr.json", *_grid, value=[2**16, 2**16])(store)
    for name in "v", "p":
        for file in (store / name / "c").rglob("*"):
            if file.is_file():
                file.unlink()
        with shoal.open(store) as dataset:
            assert not how(dataset, name).any()
    assert _rss() < 2 * 2**30


def test_what_is_no_chunk(store):
    (store / _plain).unlink()
    (store / _plain).mkdir()
    with shoal.open(store) as file, pytest.raises(shoal.Error, match="folder"):
        file.get("p")
    (store / _plain).rmdir()
    os.mkfifo(store / _plain)
    with shoal.open(store) as file, pytest.raises(shoal.Error, match="pipe"):
        file.get("p")


def test_links_that_lead_in_circles(store):
    os.symlink(".", store / "again")
    os.symlink("..", store / "v" / "above")
    with shoal.open(store) as file:
        assert {"v", "w", "p"} <= set(file.variables)


def test_a_file_of_json_is_no_store(tmp_path):
    path = tmp_path / "some.json"
    path.write_text('{"zarr_format": 3, "node_type": "group", "attributes": {}}')
    with pytest.raises(shoal.FormatError, match="not a NetCDF file"):
        shoal.open(path)
