# SPDX-License-Identifier: BSD-3-Clause
"""Zarr stores that Shoal writes, on one rank and on several, as zarr-python, xarray, TensorStore and zarrs
read them: bit for bit, and without a warning."""

import json
import pickle
import warnings

import numpy as np
import pytest

import shoal

zarr = pytest.importorskip("zarr", minversion="3.1", reason="zarr-python 3.1 is not installed")

compressions = (
    "none",
    "zstd:1",
    "gzip:1",
    "blosc:zstd:5",
    "blosc:lz4:5:bitshuffle",
    "shuffle+zstd:1",
    "shuffle+deflate:1+fletcher32",
    "zstd:1+crc32c",
)
names = [compression.replace(":", "_").replace("+", "_") for compression in compressions]
# They have no type of their own in Zarr: how they are stored, and what is to be read.
as_stored = {"letters": "u1", "wet": "i1"}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="module", params=[1, 4], ids=["1_rank", "4_ranks"])
def written(request, tmp_path_factory):
    """The folder, what is in the stores, and their attributes."""
    from conftest import run_ranks

    folder = tmp_path_factory.mktemp("written")
    run_ranks(request.param, "write_zarr.py", folder, ",".join(compressions))
    return folder, *pickle.loads((folder / "expected.pickle").read_bytes())


def bits(array):
    array = np.asarray(array)
    return array.tolist() if array.dtype.kind in ("O", "T") else (array.dtype, array.shape, array.tobytes())


def as_in_zarr(name, values):
    return values.view(as_stored[name]) if name in as_stored else values


@pytest.mark.parametrize("store", names)
def test_zarr_python(written, store):
    folder, expected, attributes = written
    group = zarr.open_consolidated(str(folder / f"{store}.zarr"), mode="r")
    assert {path for path, node in group.members(max_depth=None) if isinstance(node, zarr.Array)} == set(
        expected
    )
    for name, values in expected.items():
        array = group[name]
        assert bits(array[...]) == bits(as_in_zarr(name, values)), name
        assert bits(zarr.open_array(str(folder / f"{store}.zarr" / name), mode="r")[...]) == bits(array[...])
    assert group["ocean/ice"].attrs["about"] == "below"
    for where in group.attrs, group["fixed_f4"].attrs:
        assert where["text"] == attributes["text"] and where["texts"] == ["one", "zwei"]
        assert where["double"] == 0.1 and where["uint64"] == 2**63 and where["shorts"] == [1, 2, 3]
        assert np.float32(where["float"]) == np.float32(0.1)


@pytest.mark.parametrize("store", ["none", "blosc_zstd_5"])
def test_chunks_and_shards(written, store):
    folder, expected, _ = written
    array = zarr.open_array(str(folder / f"{store}.zarr" / "deep"), mode="r")
    assert array.chunks[0] == array.shards[0] == 1  # a record touches new files alone
    assert np.prod(array.chunks) * 4 <= 1024 < np.prod(array.shards) * 4 <= 4096
    files = [path for path in (folder / f"{store}.zarr" / "deep" / "c").rglob("*") if path.is_file()]
    assert len(files) == np.prod([-(-n // shard) for n, shard in zip(array.shape, array.shards)]) > 4
    known = {path.name for path in (folder / f"{store}.zarr").iterdir()}
    assert known == {name.split("/")[0] for name in expected} | {"zarr.json"}  # nothing is left


@pytest.mark.parametrize("store", names)
def test_xarray_sees_what_it_sees_in_netcdf(written, store):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    folder, _, _ = written
    for group in None, "ocean/ice":
        where = {"group": group, "drop_variables": ["letters"], "decode_timedelta": False}
        with xr.open_dataset(folder / "his.nc", engine="netcdf4", **where) as of_netcdf:
            with xr.open_zarr(folder / f"{store}.zarr", consolidated=True, **where) as of_zarr:
                assert set(of_zarr.variables) == set(of_netcdf.variables)
                for name, variable in of_netcdf.variables.items():
                    found = of_zarr[name]
                    assert found.dims == variable.dims, name
                    np.testing.assert_array_equal(found.values, variable.values, err_msg=name)
                    assert same_attributes(found.attrs, variable.attrs), (name, found.attrs, variable.attrs)
                assert same_attributes(of_zarr.attrs, of_netcdf.attrs), of_zarr.attrs


def same_attributes(of_json, of_netcdf):
    """JSON has no types: numbers are the same as numbers."""
    assert set(of_json) == set(of_netcdf)
    for name, value in of_netcdf.items():
        found = of_json[name]
        if isinstance(value, str) or isinstance(value, list):
            if found != value:
                return False
            continue
        found, value = (np.atleast_1d(np.asarray(one)) for one in (found, value))
        if found.dtype.kind in "UO":  # NaN and infinity
            found = found.astype(float)
        if not np.array_equal(found.astype(value.dtype), value, equal_nan=value.dtype.kind == "f"):
            return False
    return True


@pytest.mark.parametrize("store", names)
def test_the_shoal_engine_sees_what_it_sees_in_netcdf(written, store):
    xr = pytest.importorskip("xarray")
    folder, _, _ = written
    with xr.open_datatree(folder / "his.nc", engine="shoal") as of_netcdf:
        with xr.open_datatree(folder / f"{store}.zarr", engine="shoal") as of_zarr:
            xr.testing.assert_identical(of_netcdf, of_zarr)
            for node in of_netcdf.subtree:
                for name, variable in node.variables.items():
                    for key, value in variable.attrs.items():
                        assert type(of_zarr[node.path][name].attrs[key]) is type(value), (name, key)


@pytest.mark.parametrize("store", names)
def test_tensorstore(written, store):
    tensorstore = pytest.importorskip("tensorstore", reason="TensorStore is not installed")
    folder, expected, _ = written
    for name, values in expected.items():
        if name == "label":
            continue  # it has no texts of any length
        spec = {
            "driver": "zarr3",
            "kvstore": {"driver": "file", "path": str(folder / f"{store}.zarr" / name)},
        }
        found = tensorstore.open(spec, open=True, read=True).result().read().result()
        assert bits(found) == bits(as_in_zarr(name, values)), name


@pytest.mark.parametrize("store", names)
def test_zarrs(written, store):
    pytest.importorskip("zarrs", reason="zarrs is not installed")
    folder, expected, _ = written
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
        group = zarr.open_group(str(folder / f"{store}.zarr"), mode="r")
        for name, values in expected.items():
            if name != "label":  # which zarrs leaves to zarr-python, with a warning
                assert bits(group[name][...]) == bits(as_in_zarr(name, values)), name


@pytest.mark.parametrize("store", names)
def test_shoal_itself(written, store):
    folder, expected, attributes = written
    with shoal.open(folder / f"{store}.zarr", pack="none") as file:
        assert file.format == "zarr" and set(file.variables) == set(expected)
        for name, values in expected.items():
            found = file.get(name)
            assert bits(found) == bits(values) or (name == "scalar" and found == values), name
        for where in file.attributes, file.variables["fixed_f4"].attributes:
            for name, value in attributes.items():
                found = where[name]
                assert np.array_equal(np.ravel(found), np.ravel(value), equal_nan=name == "special"), name
                if not isinstance(value, (str, list, float)):
                    assert np.asarray(found).dtype == np.asarray(value).dtype, name


def test_a_store_is_replaced_and_nothing_else(tmp_path):
    store, other = tmp_path / "his.zarr", tmp_path / "mine"
    for number in 1, 2:
        with shoal.create(store, format="zarr", quiet=True) as file:
            file.def_var(f"v{number}", "f8", ())
            file.put(f"v{number}", number)
    assert sorted(path.name for path in store.iterdir()) == ["v2", "zarr.json"]
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    with pytest.raises(shoal.ExistsError, match="no dataset"):
        shoal.create(other, format="zarr", quiet=True)
    assert (other / "thesis.txt").read_text() == "years of work"
    with pytest.raises(shoal.ExistsError):
        shoal.create(store, format="zarr", exists="error", quiet=True)
    with shoal.create(store, format="netcdf4", quiet=True) as file:
        file.def_var("v3", "f8", ())
    assert store.is_file() and sorted(path.name for path in tmp_path.iterdir()) == ["his.zarr", "mine"]


def test_records_are_added_and_others_are_seen_while_it_is_open(tmp_path):
    store = tmp_path / "his.zarr"
    shape = {"y": 6, "x": 5}
    cut = shoal.Decomposition.block(None, shape, split="y")
    values = np.arange(4 * 30, dtype="f4").reshape(4, 6, 5)

    def read():
        array = zarr.open_group(str(store), mode="r")["temp"]
        return array[...]

    for compression in "none", "blosc:zstd:5":
        with shoal.create(store, format="zarr", compression=compression, quiet=True) as file:
            file.def_var("temp", "f4", cut, record="time")
            file.write("temp", values[0], 0)
            file.sync()
            assert bits(read()) == bits(values[:1])
            file.write("temp", values[1], 1)
        for record in 2, 3:
            with shoal.open(store, mode="r+", quiet=True) as file:
                file.write("temp", values[record], record, decomposition=cut)
            assert bits(read()) == bits(values[: record + 1])
        with shoal.open(store, mode="r+", quiet=True) as file:  # in the place of what is there
            file.write("temp", -values[1], 1, decomposition=cut)
        assert bits(read()[1]) == bits(-values[1]) and bits(read()[[0, 2, 3]]) == bits(values[[0, 2, 3]])
        metadata = json.loads((store / "zarr.json").read_text())
        assert metadata["consolidated_metadata"]["metadata"]["temp"]["shape"] == [4, 6, 5]
