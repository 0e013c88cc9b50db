"""The model of examples/python_model: its files, and what they say of the model."""

import importlib.util

import numpy as np
import pytest
from test_examples import HERE, run

import shoal

MODEL = HERE / "python_model" / "shallow_water.py"
SIDE = 50e3

# Other output of the same program, which SHOAL_STREAMS names.
OF_ALL_STEPS = """
[[file]]
name = "steps.nc"
every = "1 step"
operation = "instant"
fields = ["h", "u", "v", "vorticity"]

[[file]]
name = "days.nc"
every = "1 day"
operation = "mean"
fields = ["h", "u", "v", "vorticity"]

[[file]]
name = "extremes.nc"
every = "1 day"
operation = "maximum"
fields = [{ field = "h", name = "h_max" }, { field = "h", name = "h_min", operation = "minimum" }]
"""


def values_of(folder):
    """{file: {variable: values}} of the NetCDF files in a folder."""
    found = {}
    for path in sorted(folder.glob("*.nc")):
        with shoal.open(path) as file:
            found[path.name] = {name: np.asarray(file.get(name)) for name in file.variables}
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What the program writes with its own configuration: by the number of ranks, the values of all files."""
    found = {}
    for ranks in (1, 3):
        folder = tmp_path_factory.mktemp(f"ranks{ranks}")
        run(MODEL, ranks, folder, "--days", "2")
        found[ranks] = values_of(folder)
    return found


def test_number_of_ranks_changes_no_bit(runs):
    one, three = runs[1], runs[3]
    assert set(one) == {
        "shallow_water_means.nc",
        "shallow_water_extremes.nc",
        "shallow_water_global.nc",
        "shallow_water_2000-01-01.nc",
        "shallow_water_2000-01-02.nc",
    }
    assert {name: list(file) for name, file in one.items()} == {n: list(file) for n, file in three.items()}
    for name, file in one.items():
        for variable, values in file.items():
            other = three[name][variable]
            assert (values.dtype, values.shape) == (other.dtype, other.shape), (name, variable)
            assert values.tobytes() == other.tobytes(), (name, variable)


def test_water_moves_and_is_conserved(runs):
    files = runs[3]
    h = np.concatenate([files[f"shallow_water_2000-01-0{day}.nc"]["h"] for day in (1, 2)])
    area = files["shallow_water_2000-01-01.nc"]["cell_area"]
    assert h.shape == (8, 48, 96) and (area == SIDE**2).all()
    volume = (h * area).sum(axis=(1, 2))
    hump = volume[0] - h.min() * area.sum()
    assert np.ptp(volume) < 1e-9 * hump
    assert np.abs(h[-1] - h[0]).max() > 0.1  # m
    mean_height = files["shallow_water_global.nc"]["h_global"]
    assert mean_height == pytest.approx(volume / area.sum(), rel=1e-14)
    assert (files["shallow_water_2000-01-02.nc"]["v"][:, -1] == 0).all()  # the northern wall


def test_records_are_dated(runs):
    days = runs[1]["shallow_water_means.nc"]
    assert days["time_bounds"].tolist() == [[0, 86400], [86400, 172800]]
    assert days["time"].tolist() == [43200, 129600]
    second = runs[1]["shallow_water_2000-01-02.nc"]
    assert second["time"].tolist() == [86400 + 21600 * part for part in (1, 2, 3, 4)]


@pytest.mark.parametrize("ranks", [1, 3])
def test_means_and_extremes_are_those_of_the_steps(ranks, tmp_path):
    (tmp_path / "all_steps.toml").write_text(OF_ALL_STEPS)
    run(MODEL, ranks, tmp_path, "--days", "2", SHOAL_STREAMS="all_steps.toml")
    files = values_of(tmp_path)
    assert set(files) == {"steps.nc", "days.nc", "extremes.nc"}
    steps, days, extremes = files["steps.nc"], files["days.nc"], files["extremes.nc"]
    for name in ("h", "u", "v", "vorticity"):
        parts = steps[name].reshape(2, 96, 48, 96)
        scale = np.abs(parts).max()
        assert np.ptp(parts) > 0, name
        np.testing.assert_allclose(days[name], parts.mean(axis=1), rtol=1e-13, atol=1e-14 * scale)
    h = steps["h"].reshape(2, 96, 48, 96)
    assert (extremes["h_max"] == h.max(axis=1)).all() and (extremes["h_min"] == h.min(axis=1)).all()


def test_arrays_of_jax(runs, tmp_path):
    if importlib.util.find_spec("jax") is None:
        pytest.skip("there is no JAX")
    run(MODEL, 3, tmp_path, "--days", "2", "--array", "jax")
    for name, file in values_of(tmp_path).items():
        for variable, values in file.items():
            expected = runs[3][name][variable]
            scale = np.abs(expected).max()
            np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-9 * scale, err_msg=variable)
