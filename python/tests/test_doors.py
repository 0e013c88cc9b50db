# SPDX-License-Identifier: BSD-3-Clause
"""`shoal run`, and what it looks at."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import run_program

from shoal import InvalidArgumentError
from shoal.doors import netcdf_door, plan, settings_of_ranks, summary
from shoal.executables import examine, places_of_programs

shoal_run = [sys.executable, "-m", "shoal.cli", "run"]


@pytest.fixture
def door() -> Path:
    import shoal

    shoal.version()  # libshoal is in the process
    try:
        return netcdf_door()
    except InvalidArgumentError as error:
        pytest.skip(str(error))


@pytest.fixture
def compiled(tmp_path):
    """compiled(*options): a program that prints what is preloaded into it."""

    def make(*options: str) -> Path:
        shutil.which("cc") or pytest.skip("no C compiler")
        source = tmp_path / "model.c"
        source.write_text(
            "#include <stdio.h>\n#include <stdlib.h>\n"
            'int main(void) { const char* p = getenv("LD_PRELOAD"); puts(p ? p : "none"); return 3; }\n'
        )
        subprocess.run(["cc", source, "-o", tmp_path / "model", *options], check=True)
        return tmp_path / "model"

    return make


@pytest.mark.parametrize(
    "line, program",
    [
        ("mpiexec -n 4 {}", 3),
        ("mpiexec --oversubscribe -n 4 -x A=b {} input.nml", 6),
        ("srun -N 2 --ntasks=8 {}", 4),
        ("mpiexec -n 4 env A=b sort", 5),
        ("mpirun -host sort -np 2 cat", 5),
        ("{} argument", 0),
    ],
)
def test_the_word_that_names_the_program(tmp_path, line, program):
    path = tmp_path / "model"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    assert places_of_programs(line.format(path).split()) == [program]


def test_several_programs_in_a_line(tmp_path):
    path = tmp_path / "model"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    assert places_of_programs(["mpiexec", "-n", "1", str(path), ":", "-n", "2", str(path), "x"]) == [3, 7]
    with pytest.raises(InvalidArgumentError, match="no program was found in '-n 2 ./none'"):
        places_of_programs(["mpiexec", "-n", "1", str(path), ":", "-n", "2", "./none"])


def test_programs_that_cannot_be_served(compiled):
    path = compiled("-static")
    with pytest.raises(InvalidArgumentError, match="linked statically"):
        examine(path)
    path = compiled()
    assert "libc.so.6" in examine(path).needs
    path.chmod(path.stat().st_mode | stat.S_ISUID)
    with pytest.raises(InvalidArgumentError, match="setuid"):
        examine(path)
    path.chmod(0o755)
    path.write_text("text")
    with pytest.raises(InvalidArgumentError, match="no program of this system"):
        examine(path)


def test_ranks_alone_are_preloaded(door, tmp_path, compiled, monkeypatch):
    model = compiled()
    for name in list(os.environ):
        if name.startswith("SHOAL_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SHOAL_DOORS_FILES", "his_*")
    made, told = plan(["mpiexec", "-n", "2", str(model), "input"], door, tmp_path / "report")
    assert made[:4] == ["mpiexec", "-n", "2", "env"]
    own = [f"LD_PRELOAD={door}", f"SHOAL_DOORS_REPORT={tmp_path}/report", "SHOAL_DOORS_FILES=his_*"]
    assert made[4:] == [*own, str(model), "input"]
    assert "unless it loads a netCDF later" in told[0]


def test_settings_of_ranks():
    assert settings_of_ranks({"SHOAL_DOORS": "all", "SHOAL_DOORS_REPORT": "r", "HOME": "/"}) == {
        "SHOAL_DOORS": "all"
    }
    given = {"SHOAL_BACKGROUND": "thread", "OMPI_MPI_THREAD_LEVEL": "3"}
    assert settings_of_ranks(given) == {
        "SHOAL_BACKGROUND": "thread",
        "MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_FUNNELED",
    }


def test_streams_that_nobody_calls(door, tmp_path, compiled, monkeypatch):
    program = compiled()
    monkeypatch.setenv("SHOAL_STREAMS", "output.toml")
    told = plan([str(program)], door, tmp_path / "r")[1]
    assert any("SHOAL_STREAMS has no use" in line for line in told)
    script = tmp_path / "model.py"
    script.write_text("#!/usr/bin/env python3\n")
    script.chmod(0o755)
    assert not any("SHOAL_STREAMS" in line for line in plan([str(script)], door, tmp_path / "r")[1])


def test_the_door_for_pnetcdf(door, tmp_path, compiled):
    beside = door.with_name("libshoal_pnetcdf.so")
    try:
        model = compiled("-Wl,--no-as-needed", "-l:libpnetcdf.so")
    except subprocess.CalledProcessError:
        pytest.skip("no PnetCDF to link")
    made, told = plan([str(model)], door, tmp_path / "report")
    assert made[1] == f"LD_PRELOAD={door}" + (f":{beside}" if beside.is_file() else "")
    assert not beside.is_file() or "libpnetcdf" in told[0] and "files that it makes" in told[0]


def test_the_command(door, tmp_path, compiled):
    model = compiled()
    done = run_program([*shoal_run, "--", str(model)], cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert done.stdout.strip() == str(door)
    assert "no file was served" in done.stderr
    done = run_program([*shoal_run, "--dry-run", "--", str(model)], cwd=tmp_path)
    assert done.returncode == 0 and f"env LD_PRELOAD={door}" in done.stdout
    done = run_program([*shoal_run, "--", "./no_such_program"], cwd=tmp_path)
    assert done.returncode == 2 and "no such program: ./no_such_program" in done.stderr


def test_summary(tmp_path):
    report = tmp_path / "report"
    report.write_text("a.nc: served by Shoal, cdf5, 2 variables\nb.nc: handed back to netCDF: nc_def_grp\n")
    assert summary(report) == f"files: 1 served, 1 handed back; see {report}"
