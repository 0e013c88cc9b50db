# SPDX-License-Identifier: BSD-3-Clause
"""shoal explain chunks: counts of chunks, held against counting them one by one."""

import itertools
import json
import sys

import numpy as np
import pytest
from conftest import run_program

import shoal
from shoal.chunking import shape_of_library, touched

program = [sys.executable, "-m", "shoal.cli", "explain", "chunks"]


def counted(shape, chunk, cells):
    """Chunks that have one of the cells."""
    return len({tuple(i // n for i, n in zip(cell, chunk)) for cell in cells})


@pytest.mark.parametrize(
    "shape, chunk",
    [((7, 3, 5, 9), (2, 3, 2, 4)), ((7, 5, 9), (7, 1, 1)), ((4, 6), (1, 6)), ((1, 1, 1), (1, 1, 1))],
)
def test_as_counted(shape, chunk):
    found = touched(shape, chunk, 4)
    ranges = [range(n) for n in shape]
    everything = counted(shape, chunk, itertools.product(*ranges))
    first = max(len(shape) - 2, 1)
    a_map = counted(shape, chunk, itertools.product(*([[0]] * first), *ranges[first:]))
    series = counted(shape, chunk, itertools.product(ranges[0], *([[0]] * (len(shape) - 1))))
    for what, chunks in (("all", everything), ("map", a_map), ("series", series)):
        assert found[what].chunks == chunks
        assert found[what].bytes == chunks * int(np.prod(chunk)) * 4
    assert found["all"].bytes_wanted == int(np.prod(shape)) * 4
    assert found["series"].bytes_wanted == shape[0] * 4


def test_without_chunks_times_or_cells():
    assert touched((10, 20), None, 8)["map"].bytes == 160
    assert touched((10, 20), None, 8)["map"].chunks is None
    assert "series" not in touched((10, 20), (5, 5), 8, time=False)
    assert touched((10, 20), (5, 5), 8, time=False)["map"].chunks == 8
    assert touched((0, 20), (5, 5), 8)["all"].chunks == 0
    with pytest.raises(shoal.InvalidArgumentError, match="2 numbers"):
        touched((1, 2, 3), (1, 2), 4)


def test_shapes_of_the_library(tmp_path):
    assert shape_of_library((365, 30, 600, 800), "f4") == (1, 2, 600, 800)
    assert shape_of_library((365, 30, 600, 800), "f4", "map") == (1, 1, 600, 800)
    series = shape_of_library((365, 30, 600, 800), "f4", "series")
    assert series[:2] == (128, 1) and shape_of_library((0, 30, 600, 800), "f4", "series") == series
    assert shape_of_library((9, 600, 800), "f8", "2x100x100") == (2, 100, 100)
    assert shape_of_library((600, 800), "f8", "map", grows=False) == (600, 800)
    small = shape_of_library((9, 600, 800), "f4", settings={"chunk_bytes": "64KiB"})
    assert np.prod(small) * 4 <= 65536
    with shoal.create(tmp_path / "times.nc", format="netcdf4") as file:
        file.def_var("time", "f8", record="time")
        file.put("time", 0.0, record=0)
        assert shape_of_library((9,), "f8", "series") == file.variables["time"].chunks
    with pytest.raises(shoal.SettingError, match="maps"):
        shape_of_library((9, 600, 800), "f4", "maps")
    with pytest.raises(shoal.SettingError, match="3 dimensions"):
        shape_of_library((9, 600, 800), "f4", "2x3")


def test_of_a_file(tmp_path):
    path = tmp_path / "his.nc"
    tile = shoal.Decomposition.block(None, {"y": 60, "x": 80})
    with shoal.create(path, format="netcdf4") as file:
        file.def_var("temp", "f4", tile, record="time", chunks=(1, 30, 40))
        file.def_var("depth", "f8", tile)
        for record in range(3):
            file.write("temp", np.zeros((60, 80), "f4"), record=record)
    result = run_program([*program, str(path), "--json"])
    assert result.returncode == 0, result.stderr
    temp, depth = json.loads(result.stdout)
    assert temp["name"] == "temp" and temp["chunk"] == [1, 30, 40]
    assert {key: value["chunks"] for key, value in temp["reading"].items()} == {
        "map": 4,
        "series": 3,
        "all": 12,
    }
    assert temp["reading"]["series"]["bytes"] == 3 * 30 * 40 * 4
    assert depth["chunk"] is None and "series" not in depth["reading"]
    result = run_program([*program, str(path), "--chunk-shape", "series", "--variables", "temp"])
    assert "128 x 60 x 80" in result.stdout and "depth" not in result.stdout, result.stdout + result.stderr
    # A shape is for the variables that it fits, and for those that are named.
    shaped = [*program, str(path), "--chunk-shape", "2x20x20", "--json"]
    temp, depth = json.loads(run_program(shaped).stdout)
    assert temp["chunk"] == [2, 20, 20] and depth["chunk"] is None
    result = run_program([*shaped, "--variables", "depth"])
    assert result.returncode == 2 and "'depth'" in result.stderr, result.stdout


def test_of_a_field():
    result = run_program([*program, "--global", "800x600x30", "--records", "365", "--json"])
    assert result.returncode == 0, result.stderr
    auto, a_map, series = json.loads(result.stdout)
    assert auto["shape"] == [365, 30, 600, 800] and auto["name"] == "auto"
    assert a_map["reading"]["map"]["chunks"] == 1
    assert series["reading"]["series"]["chunks"] == 3 < a_map["reading"]["series"]["chunks"]
    result = run_program([*program, "--global", "800x600x30"])
    assert "a time series" in result.stdout
    assert result.stdout.startswith("Do this: for maps chunks=map, for time series at points chunks=series;")


@pytest.mark.parametrize(
    "options, words",
    [
        ([], "one of FILE and --global"),
        (["--global", "4x4", "--tiles", "2x2"], "No such option: --tiles"),
        (["his.nc", "--type", "double"], "--type does not go with FILE"),
        (["--global", "4x4", "--variables", "a"], "--variables does not go with --global"),
        (["his.nc", "--records", "9"], "--records does not go with FILE"),
        (["--global", "4x4", "--ranks", "9"], "No such option: --ranks"),
        (["--global", "4x4", "--chunk-shape", "1x2x2", "--chunk-bytes", "1MiB"], "says nothing of"),
        (["--global", "4x4", "--chunk-shape", "maps"], "allowed: auto, map, series"),
        (["/nowhere.nc"], "nowhere.nc"),
    ],
)
def test_refused(options, words):
    result = run_program([*program, *options])
    assert result.returncode == 2
    assert words in " ".join(result.stderr.replace("│", " ").split()), result.stderr
