"""Veros, the ocean model, with the plug-in of examples/veros: its files beside those of Veros itself."""

import importlib.metadata
import shutil
import subprocess
import sys

import pytest
from test_examples import HERE, run

import shoal

# Packages by their metadata: the folder `veros` beside this file looks like a package without files.
installed = {found.metadata["Name"] for found in importlib.metadata.distributions()}
if missing := {"veros", "h5netcdf", "h5py", "cftime"} - installed:
    pytest.skip(
        f"no {', '.join(sorted(missing))} (examples/veros/README.md installs Veros)", allow_module_level=True
    )

SETUP = HERE / "veros" / "veros_shoal" / "setups" / "acc_streams" / "acc_streams.py"
FIELDS = ["salt", "temp", "u", "v", "w", "psi", "surface_taux", "surface_tauy"]
DAY = 86400


def run_veros(ranks, folder, days, *options, **settings):
    """The set-up, cut into as many bands of latitude as there are ranks."""
    for name, value in {"runlen": days * DAY, **settings}.items():
        options = (*options, "-s", name, str(value))
    program = "from veros.cli.veros import cli; cli()"
    command = ("run", SETUP, "-n", "1", str(ranks), *options)
    run("-c", ranks, folder, program, *command, PYTHONPATH=str(HERE / "veros"))


def own_means(folder):
    """A copy of Veros's own file, with the record dimension called as in files of streams."""
    path = shutil.copy(folder / "acc.averages.nc", folder / "own.nc")
    with shoal.open(path, mode="r+") as file:
        file.rename_dim("Time", "time")
    return path


def compare(a, b, *options):
    """`shoal compare` finds the fields of two files equal. Veros divides sums by the number of steps, streams
    weight values with the lengths of steps: sums that cancel differ in their last bits."""
    command = [sys.executable, "-m", "shoal", "compare", a, b, "-v", ",".join(FIELDS)]
    tolerance = ["--rtol", "1e-12", "--atol", "1e-18", "--ignore-attributes", "*"]
    result = subprocess.run([*command, *tolerance, *options], capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"the same: {len(FIELDS)} variables" in result.stdout


def h5py_knows_mpi():
    import h5py

    return h5py.get_config().mpi


def need_output_of(ranks):
    """Skip the test where Veros itself cannot write from so many ranks."""
    if ranks > 1 and not h5py_knows_mpi():
        pytest.skip("this h5py was built without MPI (examples/veros/README.md builds one)")


@pytest.fixture(scope="module")
def on_one_rank(tmp_path_factory):
    """Three days on one rank, with all output of Veros."""
    folder = tmp_path_factory.mktemp("one_rank")
    run_veros(1, folder, 3)
    return folder


def test_means_are_those_of_veros(on_one_rank):
    compare(own_means(on_one_rank), on_one_rank / "acc.daily.nc")
    with shoal.open(on_one_rank / "acc.daily.nc") as file:
        assert file.get("time").tolist() == [DAY / 2, 3 * DAY / 2, 5 * DAY / 2]
        temp, fill = file.get("temp"), file.variables["temp"].fill_value
        water = temp != fill
        assert 0 < water.sum() < water.size  # there is land
        assert (temp[0] != temp[2])[water[0]].any()
        area, bounds = file.get("area_t"), file.get("zt_bounds")
    cells = water[0] * area * (bounds[:, 1] - bounds[:, 0])[:, None, None]
    means = (temp * cells).sum(axis=(1, 2, 3)) / cells.sum()
    with shoal.open(on_one_rank / "acc.global.nc") as file:
        assert file.get("temp_global") == pytest.approx(means, rel=1e-12)


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_write_what_one_does(ranks, on_one_rank, tmp_path):
    """Streams need no h5py that knows of MPI: Veros's own output is off."""
    run_veros(ranks, tmp_path, 1, "--diskless-mode")
    assert not (tmp_path / "acc.averages.nc").exists()
    compare(on_one_rank / "acc.daily.nc", tmp_path / "acc.daily.nc", "--records", "common")


def test_both_outputs_of_several_ranks(tmp_path):
    need_output_of(2)
    run_veros(2, tmp_path, 2)
    compare(own_means(tmp_path), tmp_path / "acc.daily.nc")


@pytest.mark.parametrize("before, after", [(1, 1), (2, 3)])
def test_restart_in_the_middle_of_a_day(before, after, on_one_rank, tmp_path):
    need_output_of(max(before, after))  # restart files are
    run_veros(before, tmp_path, 1.5)
    with shoal.open(tmp_path / "acc.daily.nc") as file:
        assert file.num_records == 1
    second = {"restart_input_filename": "acc_0003.restart.h5", "identifier": "acc_again"}
    run_veros(after, tmp_path, 1.5, **second)
    compare(on_one_rank / "acc.daily.nc", tmp_path / "acc.daily.nc")


def test_threads_of_veros(tmp_path, monkeypatch):
    """Veros can close its files in threads. Where their HDF5 may be that of Shoal, too, this is refused."""
    monkeypatch.setenv("VEROS_USE_IO_THREADS", "1")
    if h5py_knows_mpi():
        with pytest.raises(AssertionError, match="two threads must not call"):
            run_veros(1, tmp_path, 1)
    else:
        run_veros(1, tmp_path, 2)
        compare(own_means(tmp_path), tmp_path / "acc.daily.nc")
