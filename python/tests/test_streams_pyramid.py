# SPDX-License-Identifier: BSD-3-Clause
"""Levels of a pyramid: what numpy makes of the fields, and what readers of Zarr show."""

import json
import warnings

import numpy as np
import pytest

import shoal

pytestmark = pytest.mark.usefixtures("with_streams")

ROWS, COLUMNS, MISSING = 7, 10, -9.0


def write(path, keys):
    text = f'[[file]]\nname = "{path}"\nevery = "1 day"\noperation = "instant"\nfields = ["temp"]\n{keys}\n'
    streams = shoal.Streams.open(text, start="2001-01-01", calendar="noleap")
    grid = shoal.Decomposition.block(None, {"y": ROWS, "x": COLUMNS})
    streams.axis("lev", [5.0, 20.0])
    streams.axis("y", np.arange(ROWS) + 0.5)
    streams.axis("x", np.arange(COLUMNS) + 0.5)
    streams.grid("sea", grid)
    areas = 1.0 + np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) % 5
    streams.area("sea", "cell_area", areas)
    streams.field("temp", "f8", "lev y x", "sea", attrs={"missing_value": MISSING})
    values = np.random.default_rng(1).normal(size=(2, ROWS, COLUMNS))
    values[:, :3, :4] = MISSING
    values[0, 5, 5] = MISSING
    with streams:
        streams.advance(86400)
        streams.send("temp", values)
    return values, areas


def coarser(values, weights, fy, fx):
    rows, columns = -(-values.shape[-2] // fy), -(-values.shape[-1] // fx)
    out = np.full((*values.shape[:-2], rows, columns), MISSING)
    sums = np.zeros(out.shape)
    for y in range(rows):
        for x in range(columns):
            block = (..., slice(y * fy, (y + 1) * fy), slice(x * fx, (x + 1) * fx))
            sums[..., y, x] = weights[block].sum((-2, -1))
            total = (values[block] * weights[block]).sum((-2, -1))
            np.divide(total, sums[..., y, x], out=out[..., y, x], where=sums[..., y, x] > 0)
    return out, sums


@pytest.mark.parametrize("form", ["zarr", "netcdf4"])
def test_levels_are_what_numpy_makes(tmp_path, form):
    path = tmp_path / "his"
    values, areas = write(path, f'format = "{form}"\npyramid = {{ levels = 3, factor = [1, 2, 3] }}')
    weights = areas * (values != MISSING)
    with shoal.open(path) as file:
        assert np.array_equal(file["0/temp"][0], values)
        assert file["1/temp"].shape == (1, 2, 4, 4) and file["2/temp"].shape == (1, 2, 2, 2)
        for level in (1, 2):
            values, weights = coarser(values, weights, 2, 3)
            np.testing.assert_allclose(file[f"{level}/temp"][0], values, rtol=1e-13)
        assert (file["1/temp"][0, :, 0, 0] == MISSING).all()
        layout = json.loads(file.attributes["multiscales"])["layout"]
    assert [one["asset"] for one in layout] == ["0", "1", "2"]
    assert layout[2]["derived_from"] == "1"


def test_xarray_shows_each_level_without_a_warning(tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr", minversion="3")
    path = tmp_path / "his.zarr"
    write(path, 'format = "zarr"\npyramid = { levels = 2, factor = 2 }')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = xarray.open_datatree(path, engine="zarr")
        one = xarray.open_zarr(path, group="1")
    assert dict(tree["1"].sizes)["x"] == 5 and dict(tree["0"].sizes)["x"] == COLUMNS
    assert np.array_equal(one.x, np.arange(5) * 2 + 1.0)
    assert one.sizes["time"] == 1 and "time" in one.coords
    assert tree.attrs["multiscales"]["layout"][1]["transform"]["scale"] == [2, 2]
