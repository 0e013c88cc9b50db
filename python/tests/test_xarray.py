# SPDX-License-Identifier: BSD-3-Clause
"""xarray.open_dataset(path, engine="shoal")."""

import pickle

import numpy as np
import pytest

import shoal

xr = pytest.importorskip("xarray")


@pytest.fixture(params=["cdf5", "netcdf4"])
def history(request, tmp_path):
    """A file with all that CF decoding looks at."""
    path = tmp_path / "his.nc"
    tile = shoal.Decomposition.block(None, {"s": 2, "y": 5, "x": 6})
    plane = shoal.Decomposition.block(None, {"y": 5, "x": 6})
    with shoal.create(path, format=request.param) as file:
        file.put_att(None, "title", "test")
        file.def_var("time", "f8", record="time", attrs={"units": "hours since 2011-03-11 05:46"})
        file.def_var("lon", "f8", plane, attrs={"units": "degrees_east"})
        file.def_var("x", "f4", "x")
        file.def_dim("length", 5)
        file.def_dim("n", 2)
        file.def_var("name", "S1", "n length")
        file.def_var("wet", bool, plane)
        attrs = {"scale_factor": 0.5, "add_offset": 10.0, "coordinates": "lon", "units": "m"}
        file.def_var("zeta", "i2", tile, record="time", fill=-1, attrs=attrs)
        if request.param == "netcdf4":
            file.def_var("label", str, "n")
            file.put("label", ["Hilo", "Kōchi"])
        file.put("x", np.arange(6.0))
        file.put("name", ["Hilo", "Crea"])
        file.write("lon", np.arange(30.0).reshape(5, 6))
        file.write("wet", np.arange(30).reshape(5, 6) % 2 == 0)
        for record in range(4):
            values = np.arange(60).reshape(2, 5, 6) + 100 * record
            values[:, 0, 0] = -1
            file.put("time", float(record), record)
            file.write("zeta", values, record)
    return path


def test_decoding(history):
    with xr.open_dataset(history, engine="shoal") as ds:
        assert ds.attrs["title"] == "test"
        assert dict(ds.sizes) == {"time": 4, "s": 2, "y": 5, "x": 6, "n": 2}
        assert ds.time.values[1] == np.datetime64("2011-03-11T06:46")
        assert "lon" in ds.coords and "x" in ds.coords
        assert ds.encoding["unlimited_dims"] == {"time"}
        assert np.isnan(ds.zeta.values[:, :, 0, 0]).all()
        assert ds.zeta.values[2, 1, 4, 5] == 10 + 0.5 * 259
        assert ds.zeta.encoding["_FillValue"] == -1 and ds.zeta.encoding["dtype"] == np.dtype("i2")
        assert ds.zeta.encoding["source"] == str(history)
        assert ds.wet.dtype == bool and ds.wet.values[0, 0] and not ds.wet.values[0, 1]
        assert [str(name, "utf-8") for name in ds.name.values] == ["Hilo", "Crea"]
        if "label" in ds:
            assert ds.label.values.tolist() == ["Hilo", "Kōchi"]


def test_as_the_netcdf4_engine(history):
    pytest.importorskip("netCDF4")
    with (
        xr.open_dataset(history, engine="shoal") as mine,
        xr.open_dataset(history, engine="netcdf4") as theirs,
    ):
        xr.testing.assert_equal(mine.drop_vars("wet"), theirs.drop_vars("wet"))
        for name in theirs.drop_vars("wet").variables:
            assert mine[name].dims == theirs[name].dims
            assert mine[name].dtype == theirs[name].dtype
            assert set(mine[name].attrs) == set(theirs[name].attrs)
        assert mine.encoding["unlimited_dims"] == theirs.encoding["unlimited_dims"]


indexers = [
    {"time": 2},
    {"time": -1, "y": slice(None, None, -1)},
    {"time": slice(1, None, 2), "x": slice(4, 0, -2)},
    {"time": slice(3, None, -1), "s": 0, "y": [0, 3, 1]},
    {"x": slice(2, 2)},
    {"time": [], "y": 1},
    {"time": xr.DataArray([0, 3], dims="p"), "x": xr.DataArray([5, 1], dims="p")},
    {"y": np.array([True, False, True, False, True])},
]


@pytest.mark.parametrize("indexer", indexers, ids=str)
def test_lazy_indexing(history, indexer):
    with xr.open_dataset(history, engine="shoal", cache=False) as ds:
        whole = ds.zeta.copy(deep=True).load()
        xr.testing.assert_equal(ds.zeta.isel(indexer).load(), whole.isel(indexer))


def test_reads_only_what_is_asked_for(history, monkeypatch):
    calls = []
    original = shoal.Dataset.get

    def counting(self, name, *args, **options):
        calls.append(name)
        return original(self, name, *args, **options)

    monkeypatch.setattr(shoal.Dataset, "get", counting)
    with xr.open_dataset(history, engine="shoal", decode_times=False, decode_cf=False) as ds:
        before = calls.count("zeta")
        assert before == 0
        ds.zeta.isel(time=1, y=slice(2, 4)).load()
        assert calls.count("zeta") == 1


def test_pickle_and_dask(history):
    with xr.open_dataset(history, engine="shoal") as ds:
        again = pickle.loads(pickle.dumps(ds))
        xr.testing.assert_identical(again.load(), ds.load())
        again.close()


def test_options(history):
    with xr.open_dataset(history, engine="shoal", drop_variables=["zeta"], decode_times=False) as ds:
        assert "zeta" not in ds
        assert ds.time.dtype == np.dtype("f8")
    with pytest.raises(ValueError, match="comm="):
        xr.open_dataset(history, engine="shoal", split=("y",))
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(history.parent / "none.nc", engine="shoal")


def test_is_listed_and_guesses_with_care(history, tmp_path):
    engines = xr.backends.list_engines()
    assert "shoal" in engines
    guess = engines["shoal"].guess_can_open
    assert guess(history) and guess(str(history))
    (tmp_path / "text.nc").write_text("no netCDF")
    for other in (
        tmp_path / "text.nc",
        tmp_path / "none.nc",
        tmp_path,
        "http://somewhere/a.nc",
        3,
        b"CDF\x01",
    ):
        assert not guess(other)


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_each_rank_gets_its_block(history, mpirun, ranks):
    mpirun(ranks, "xarray_blocks.py", history)
