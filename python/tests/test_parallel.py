# SPDX-License-Identifier: BSD-3-Clause
"""Several ranks: any number of them writes the same file and reads it back; errors reach all alike."""

import hashlib

import numpy as np
import pytest

import shoal
from shoal.decomposition import balanced_tile, process_grid

ranks = [1, 2, 3, 4, 7]


def test_classic_files_are_the_same_bytes(tmp_path, mpirun_each):
    formats = ["cdf1", "cdf2", "cdf5"]
    paths = {format: tmp_path / f"{format}.nc" for format in formats}
    digests = {format: {} for format in formats}
    for n in ranks:
        mpirun_each(n, "write_model.py", [[paths[format], format] for format in formats])
        for format in formats:
            digests[format][n] = hashlib.sha256(paths[format].read_bytes()).hexdigest()
    for format in formats:
        assert len(set(digests[format].values())) == 1, (format, digests[format])


def test_written_on_some_read_on_others(tmp_path, mpirun_each):
    formats = ["cdf5", "netcdf4"]
    paths = [tmp_path / f"{format}.nc" for format in formats]
    for writers, readers in ((1, 4), (4, 3), (7, 2), (3, 7)):
        mpirun_each(writers, "write_model.py", zip(paths, formats))
        mpirun_each(readers, "read_model.py", [[path] for path in paths])


@pytest.mark.parametrize("n", [2, 4])
def test_errors_reach_all_ranks(tmp_path, mpirun, n):
    mpirun(n, "errors.py", tmp_path)


@pytest.mark.parametrize("size", range(1, 33))
def test_process_grid(size):
    for lengths in ([600, 800], [800, 600], [30, 600, 800], [1000], [4, 100]):
        grid = process_grid(size, lengths)
        assert np.prod(grid) == size
        cells = np.zeros(lengths[-2:], int)
        if len(lengths) == 2:
            for rank in range(size):
                first, count = balanced_tile(rank, grid, lengths)
                cells[tuple(slice(f, f + c) for f, c in zip(first, count))] += 1
            assert (cells == 1).all()
    assert process_grid(4, [100, 100]) == (2, 2)
    assert process_grid(6, [100, 200]) == (2, 3)


def test_named_communicators(tmp_path, mpirun):
    mpirun(4, "communicators.py", tmp_path)


def test_ranks_that_serve(tmp_path, mpirun):
    """What they stored is there for the netCDF library, too."""
    netCDF4 = pytest.importorskip("netCDF4")
    mpirun(4, "served.py", tmp_path / "served.nc")
    with netCDF4.Dataset(tmp_path / "served.nc") as file:
        assert (file["v"][:] == 100 * np.arange(3)[:, None] + np.arange(10)).all()
    for component in range(2):
        with netCDF4.Dataset(tmp_path / f"served.nc.{component}") as file:
            assert (file["v"][:] == 1000.0 * component + np.arange(5)).all()


def test_threads_run_while_shoal_works(tmp_path):
    """The interpreter's lock is free while a large array is written."""
    import threading

    tile = shoal.Decomposition.block(None, {"y": 4000, "x": 2500})
    values = np.ones((4000, 2500))
    ticks, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            ticks[0] += 1

    with shoal.create(tmp_path / "a.nc") as file:
        file.def_var("v", "f8", tile, record="time")
        file.end_define()
        thread = threading.Thread(target=count)
        thread.start()
        during = 0
        try:
            raw, variable = file._raw, file._number_of("v")
            # On a busy machine the other thread may get no core just then: several trials.
            for record in range(8):
                before = ticks[0]
                raw.transfer(0, variable, None, values, 6, (record, None, None, 0))
                during = max(during, ticks[0] - before)
                if during > 1000:
                    break
        finally:
            stop.set()
            thread.join()
    # Were the lock held during the 80 MB copy, at most one switch interval would show.
    assert during > 1000


@pytest.mark.parametrize("format", ["cdf5", "netcdf4"])
def test_boxes_of_ranks(tmp_path, mpirun, format):
    """What they wrote is there for the netCDF library, too."""
    netCDF4 = pytest.importorskip("netCDF4")
    mpirun(3, "boxes.py", tmp_path / "b.nc", format)
    with netCDF4.Dataset(tmp_path / "b.nc") as file:
        assert file["line"][:].tolist() == [5, 1, 2, 7, *range(4, 10)]
        assert file["v"][1].tolist() == [[10 + row] * 10 for row in range(3)]
        assert file["t"][:].tolist() == [0, 1, 2]


@pytest.mark.parametrize("format", ["cdf5", "netcdf4"])
def test_a_rank_alone(tmp_path, mpirun, format):
    """What it wrote is there for the netCDF library, too."""
    netCDF4 = pytest.importorskip("netCDF4")
    mpirun(3, "independent.py", tmp_path / "a.nc", format)
    expected = np.zeros((2, 4, 10))
    expected[0, 1] = np.arange(10)
    expected[:, :, 7] = -np.arange(8.0).reshape(2, 4)
    expected[1, ::2, 1:9:3] = 5
    expected[0, 3, 1] = 3
    with netCDF4.Dataset(tmp_path / "a.nc") as file:
        v = file["v"][:]
        assert v.mask[0, 3, 0] and v.mask.sum() == 1  # what did not fit has the fill value
        assert (v.filled(0) == expected).all()
        assert (file["flag"][:] == [1, 0] * 5).all()
        assert file["name"][:].tobytes() == b"ten letter"
