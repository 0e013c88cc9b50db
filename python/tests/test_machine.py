# SPDX-License-Identifier: BSD-3-Clause
"""What a machine file changes for datasets."""

from __future__ import annotations

import json
import re
import sys
from datetime import date
from pathlib import Path

import pytest
from conftest import run_program

import shoal


def write_field(folder: Path, **settings) -> dict:
    """The report of a dataset of one field."""
    import numpy as np

    report = folder / "report.json"
    with shoal.create(str(folder / "his.nc"), None, report=str(report), **settings) as file:
        cells = np.zeros((512, 1024))
        cut = shoal.Decomposition.block(None, {"y": 512, "x": 1024}, [0, 0], [512, 1024])
        file.def_var("field", "f8", cut, record="time")
        file.write("field", cells, record=0)
    return json.loads(report.read_text().splitlines()[-1])


@pytest.fixture
def figures(tmp_path):
    """A machine file with a rate of all writes, for the folder's file system."""

    def made(rate: float) -> Path:
        machine = tmp_path / f"rate_{rate:.0e}.toml"
        kind = write_field(tmp_path)["file_system"]
        machine.write_text(
            f"""
shoal_machine = 1
[[file_system]]
mount_point = "/"
kind = "{kind}"
measured = "{date.today().isoformat()}"
[file_system.write_by_writers]
writers = [1, 2]
bytes_per_second = [{rate}, {2 * rate}]
"""
        )
        return machine

    return made


def test_a_dataset_is_chosen_by_the_figures_and_says_so(figures, tmp_path):
    machine = figures(1e9)
    report = write_field(tmp_path, machine=str(machine))
    assert report["machine"]["path"] == str(machine)
    assert report["machine"]["store_predicted"] == pytest.approx(512 * 1024 * 8 / 1e9, rel=0.01)
    assert report["machine"]["store_measured"] > 0
    assert any(line.startswith("machine: writers=2") for line in report["strategies"])
    assert any("predicted: local" in line for line in report["strategies"])
    assert re.search(r"^  predicted +store ", (tmp_path / "report.txt").read_text(), re.M)
    assert write_field(tmp_path, machine="none")["machine"] is None


def test_far_from_the_figures_is_said(figures, tmp_path):
    machine = figures(1e3)
    report = write_field(tmp_path, machine=str(machine))
    assert "times as fast as" in report["advice"]
    assert f"mpiexec -n 1 shoal tune {tmp_path} --machine {machine}" in report["advice"]


def test_wrong_files_are_refused_and_named(tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("shoal_machine = 1\n[node]\ncore = 3\n")
    with pytest.raises(shoal.Error, match="no key 'core'; did you mean 'cores'"):
        write_field(tmp_path, machine=str(wrong))
    with pytest.raises(shoal.Error, match="no such machine file"):
        write_field(tmp_path, machine=str(tmp_path / "nowhere.toml"))


def test_explain_says_times(figures):
    machine = figures(1e9)
    command = [sys.executable, "-m", "shoal", "explain", "layout", "--global", "1024x512x8", "--tiles", "4x4"]
    done = run_program([*command, "--machine", str(machine)])
    assert done.returncode == 0, done.stderr
    assert "writers=2: 2 ranks of a node write 2.0 times as fast as 1" in done.stdout
    assert re.search(r"^Predicted time of a write: local 8\.\d+ ms$", done.stdout, re.M)  # 16 MiB by 2e9
    for options, says in (
        (["--driver", "gather", "--machine", str(machine)], "driver native alone"),
        (["--machine", str(machine), "--file-system", "lustre"], "leave --machine"),
        (["--file-system", "xfs"], "lustre, gpfs and beegfs"),
        (["--stripes", "4"], "needs --file-system"),
        (["--file-system", "gpfs", "--stripes", "4"], "needs --file-system lustre"),
        (["--file-system", "lustre", "--stripes", "0"], "1 or more"),
    ):
        done = run_program([*command, *options], env={"COLUMNS": "200"})
        assert done.returncode == 2
        assert says in done.stderr + done.stdout


def test_explain_goes_by_what_is_usual(tmp_path):
    command = [sys.executable, "-m", "shoal", "explain", "layout", "--global", "1024x512x8", "--tiles", "8x4"]
    command += ["--ranks-per-node", "8"]
    one = run_program([*command, "--file-system", "lustre", "--stripes", "1"])
    assert one.returncode == 0, one.stderr
    assert "default figures of lustre with 1 stripe" in one.stdout
    assert "not known, as it was not measured" in one.stdout
    many = run_program([*command, "--file-system", "lustre", "--stripes", "4"])
    assert many.returncode == 0, many.stderr
    assert "default figures of lustre with 4 stripes" in many.stdout
    here = run_program([*command, "--folder", str(tmp_path)])  # a file system of one machine
    assert here.returncode == 0, here.stderr
    assert "Machine:" not in here.stdout


def test_explain_of_a_folder_finds_the_machine_file_as_a_run_does(figures, tmp_path):
    machine = figures(1e9).rename(tmp_path / "machine.toml")
    command = [sys.executable, "-m", "shoal", "explain", "layout", "--global", "1024x512x8", "--tiles", "4x4"]
    done = run_program([*command, "--folder", str(tmp_path)], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert machine.name in done.stdout
    assert "writers=2: 2 ranks of a node write 2.0 times as fast as 1" in done.stdout
    away = run_program([*command, "--folder", str(tmp_path)], cwd=tmp_path, env={"SHOAL_MACHINE": "none"})
    assert away.returncode == 0, away.stderr
    assert "writers=2" not in away.stdout
