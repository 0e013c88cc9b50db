# SPDX-License-Identifier: BSD-3-Clause
"""shoal report and shoal settings."""

import json
import os
import re
import sys

import numpy as np
import pytest
from conftest import run_program

import shoal
from shoal import report_rows

program = [sys.executable, "-m", "shoal.cli"]


@pytest.fixture
def saved(tmp_path):
    """Two datasets in one report, and the table."""
    tile = shoal.Decomposition.block(None, {"y": 300, "x": 400})
    for name in ("a.nc", "b.nc"):
        with shoal.create(tmp_path / name, format="netcdf4", report=tmp_path / "r.json", quiet=True) as file:
            file.def_var("v", "f8", tile, compression="shuffle+deflate:1")
            file.write("v", np.random.default_rng(1).random(tile.shape))
    return tmp_path / "r.json"


@pytest.mark.parametrize("suffix", [".json", ".txt"])
def test_report_is_explained(saved, suffix):
    result = run_program([*program, "report", str(saved.with_suffix(suffix))], env={"COLUMNS": "150"})
    assert result.returncode == 0, result.stdout + result.stderr
    # The table leaves out rows of less than a millisecond.
    quick = ("write_calls", "all time inside of write")
    for words in (
        *(quick if suffix == ".json" else ()),
        "a.nc",
        "b.nc",
        "netcdf4, driver native, 1 ranks on 1 node",
        "spent",
        "encode",
        "compressing chunks",
        "setting",
        "report = ",
        "shared memory of a node",
        "Advice: nothing to improve",
    ):
        assert words in result.stdout, words


def test_every_row_has_words(saved):
    report = json.loads(saved.read_text().splitlines()[0])
    assert set(report["seconds"]) == set(report_rows.times)
    assert set(report["counts"]) == set(report_rows.counts)
    assert report["cores_per_node"] > 0


def test_rows_are_those_of_the_library():
    from pathlib import Path

    top = Path(__file__).resolve().parents[2]
    source, page = (top / "src/driver/counters.hpp").read_text(), (top / "docs/report.md").read_text()
    for name in [*report_rows.times, *(set(report_rows.counts) - {"commits"})]:
        assert f'"{name}"' in source
    for name in [*report_rows.times, *report_rows.counts, *report_rows.others]:
        assert f"`{name}`" in page, name


def test_ranks_that_share_cores(saved):
    report = json.loads(saved.read_text().splitlines()[0])
    report["ranks_per_node"], report["cores_per_node"] = 64, 2
    saved.write_text(json.dumps(report) + "\n")
    assert "64 ranks share 2 cores" in run_program([*program, "report", str(saved)]).stdout
    assert report_rows.ranks_and_cores(report) == (64, 2)
    table = saved.with_name("t.txt")
    table.write_text("Shoal report: a.nc\n                cdf5\n  cores           4 ranks share 1 core: x\n")
    assert report_rows.ranks_and_cores(report_rows.load(table)[0]) == (4, 1)
    assert "4 ranks share 1 core:" in run_program([*program, "report", str(table)]).stdout


def test_what_is_no_report(tmp_path):
    (tmp_path / "a.nc").write_bytes(b"CDF\x05")
    for name, word in (("a.nc", "holds no report"), ("none.json", "is not there")):
        result = run_program([*program, "report", str(tmp_path / name)])
        assert result.returncode == 2 and word in result.stderr


def test_settings(tmp_path):
    (tmp_path / "shoal.toml").write_text('io_ranks = 4\nformat = "netcdf4"\n')
    env = {"SHOAL_STAGE_BYTES": "1MiB", "SHOAL_WAIT_SECONDS": "77", "COLUMNS": "150"}
    found = run_program([*program, "settings"], env=env, cwd=tmp_path).stdout
    lines = {line.split()[0]: line for line in found.splitlines() if line.strip()}
    assert "SHOAL_STAGE_BYTES" in lines["stage_bytes"] and "256MiB" in lines["stage_bytes"]
    assert "shoal.toml" in lines["format"] and "cdf5" in lines["format"]
    assert "shoal.toml" in lines["io_ranks"] and "77" in lines["wait_seconds"]
    assert "default" in lines["driver"] and "alignment" not in lines and "--all" in found
    every = run_program([*program, "settings", "--all"], cwd=tmp_path).stdout
    for key in shoal.setting_keys():
        assert key.name in every


def test_settings_of_a_name(tmp_path):
    found = run_program([*program, "settings", "driver", "fill"], cwd=tmp_path).stdout
    assert "driver = native  (default)" in found and "pnetcdf" in found and "expert; all files" in found
    wrong = run_program([*program, "settings", "drivr"], cwd=tmp_path)
    assert wrong.returncode == 2 and "did you mean 'driver'" in wrong.stderr
    wrong = run_program([*program, "settings"], env={"SHOAL_FORMT": "x"}, cwd=tmp_path)
    assert wrong.returncode == 2 and "FORMT" in wrong.stderr


def test_setting_keys():
    keys = shoal.setting_keys()
    assert keys[0].name == "format" and keys[0].level == "basic" and keys[0].files == "new"
    assert len({key.name for key in keys}) == len(keys) == len(shoal.settings().splitlines()) - 2


def test_cells_that_hold_the_fill_value_though_they_are_no_land(tmp_path):
    """Counted where there is a mask: of float, and of integers that are converted, in tiles and in maps."""
    land = np.zeros((4, 6), bool)
    land[:, 5] = True
    tile = shoal.Decomposition.block(None, {"y": 4, "x": 6})
    list_ = shoal.Decomposition.map(None, {"y": 4, "x": 6}, np.arange(24)[::-1].copy())
    cells = land.ravel()[::-1].copy()
    masked, mapped = tile.masked(~land), list_.masked(~cells)
    values = np.zeros((4, 6), "f4")
    values[1, 2:4] = values[:, 5] = np.float32(9.969209968386869e36)
    report = tmp_path / "r.json"
    with shoal.create(tmp_path / "a.nc", report=report, quiet=True) as file:
        file.def_var("v", "f4", masked, record="t")
        file.def_var("i", "i2", masked, fill=-5)
        file.def_var("m", "f4", mapped)
        file.def_var("none", "f4", masked)
        file.def_var("all", "f4", tile)
        for record in range(2):
            file.write("v", values, record=record)
        file.write("i", np.where(values > 1, -5, 3).astype("i8"))
        file.write("m", values.ravel()[::-1].copy())
        file.write("none", np.where(land, values, 0).astype("f4"))
        file.write("all", values)
    found = json.loads(report.read_text())
    assert found["fill_values_written"] == {"v": 4, "i": 2, "m": 2}
    line = "v: 4 cells that are no land; readers take them for missing"
    assert line in report.with_suffix(".txt").read_text()
    assert line in run_program([*program, "report", str(report)], env={"COLUMNS": "150"}).stdout


def test_files_that_never_end_are_refused(tmp_path):
    """A FIFO without a writer, and a device."""
    os.mkfifo(tmp_path / "fifo")
    for command in (["report"], ["streams", "import"], ["streams", "fields"]):
        for path in (tmp_path / "fifo", "/dev/zero"):
            result = run_program([*program, *command, str(path)], seconds=20)
            assert result.returncode == 2, result
            assert f"{path}" in result.stderr and "no regular file" in result.stderr, result.stderr
    context = tmp_path / "iodef.xml"
    context.write_text('<simulation><context id="a" src="fifo"/></simulation>')
    result = run_program([*program, "streams", "import", str(context)], seconds=20)
    assert result.returncode == 2 and "no regular file" in result.stderr, result


def test_data_that_moved(tmp_path):
    report = tmp_path / "r.json"
    with shoal.create(
        tmp_path / "a.nc", format="cdf2", header_reserve=0, alignment=4, report=report, quiet=True
    ) as file:
        file.def_dim("x", 1024)
        file.def_var("v", "f8", "x", record="time")
        for record in range(3):
            file.put("v", np.arange(1024.0), record)
        file.put_att(None, "history", "h" * 5000)
    assert json.loads(report.read_text())["counts"]["bytes_moved"] == 3 * 1024 * 8
    table = report.with_suffix(".txt").read_text()
    assert re.search(r"^ *moved +24\.0 KiB, to make room for definitions$", table, re.MULTILINE), table
    told = run_program([*program, "report", str(report)], env={"COLUMNS": "150"}).stdout
    assert re.search(r"^ *bytes_moved +24 KiB +bytes of classic files that moved", told, re.MULTILINE), told
