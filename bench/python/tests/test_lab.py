# SPDX-License-Identifier: BSD-3-Clause
"""shoal bench run --lab: starts on emulated file systems. What runs there is skipped where none can be
mounted, with labfs's reason."""

import json
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import clean_environment, run_program
from test_plan import able
from test_run import bench, fake, held, in_this_process, real_engine, runs, small, work  # noqa: F401

from shoal_bench import results
from shoal_bench.engine import EngineError
from shoal_bench.experiments import all_experiments
from shoal_bench.lab import find_labfs, prepared
from shoal_bench.planning import planned
from shoal_bench.study import Choice, Lab, StudyError

plain = Lab("laptop-ssd", 2)


@pytest.fixture(scope="module")
def labfs():
    try:
        found = find_labfs()
        found.try_mounts(plain)
    except EngineError as error:
        pytest.skip(f"no laboratory here: {error}")
    return found


# Of the two MPI-IOs that Open MPI has, the MPI's choice: a start, and not two.
one_start = ("--mpi-io", "default")


def lab_run(work, environment, *options, expect=0):  # noqa: F811
    command = [*bench, "run", *options, "--json", str(work.parent / "results.json")]
    done = run_program(command, env=environment)
    assert done.returncode == expect, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def left_by(process):
    """Mounts, folders and files of starts that this process made."""
    mounts = [
        line for line in Path("/proc/self/mounts").read_text().splitlines() if f"lab-{process}-" in line
    ]
    return mounts + [str(path) for path in Path("/tmp").glob(f"shoal-lab-{process}-*")]


def nothing_left(process, seconds=30):
    until = time.monotonic() + seconds
    while (left := left_by(process)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left, left


def test_plans():
    labs = (Lab("lustre-2018", 4), Lab("nfs-home", 4))
    starts, notes = planned(["restart:methods"], Choice(labs=labs, stripes=(1, 4)), able())
    assert [(s.lab.preset, s.lab.stripes) for s in starts] == [
        ("lustre-2018", 1), ("lustre-2018", 4), ("nfs-home", 1), ("nfs-home", 4),
    ]  # fmt: skip
    assert len({s.key("build", {}) for s in starts}) == 4
    choice = Choice(labs=labs[:1], default_mpi_ios=("ompio", "romio"))
    starts, notes = planned(["restart:methods", "restart:io-tasks"], choice, able())
    assert {(s.study, s.mpi_io) for s in starts} == {
        ("methods", "ompio"), ("methods", "romio"), ("io-tasks", "romio"),
    }  # fmt: skip
    for ranks, nodes, a_node, used in ((8, 4, 2, 4), (6, 4, 2, 3), (3, 4, 1, 3), (9, 2, 5, 2)):
        lab = Lab("x", nodes)
        assert (lab.ranks_per_node(ranks), lab.used_nodes(ranks)) == (a_node, used)


@pytest.mark.parametrize(
    "options, words",
    [
        (("--nodes", "2"), "--nodes is for --lab alone"),
        (("--stripes", "2"), "--stripes is for --lab alone"),
        (("--lab-scale", "2"), "--lab-scale is for --lab alone"),
        (("--lab", "nfs-home", "--cold"), "--cold has no meaning with --lab"),
        (("--lab", "nfs-home", "--touch-memory"), "--touch-memory has no meaning"),
        (("--lab", "nfs-home", "--ranks-per-node", "2"), "--ranks-per-node has no meaning"),
        (("--lab", "nfs-home", "--dir", "/tmp"), "--dir has no meaning"),
        (("--lab", "nfs-home", "--lab-scale", "0"), "--lab-scale 0"),
        (("--lab", "nfs,"), "has an empty part"),
    ],
)
def test_options_of_the_other_kind(fake, options, words, tmp_path):  # noqa: F811
    done = run_program([*bench, "run", "roms-size", "--json", str(tmp_path / "r.json"), *options], env=fake)
    assert done.returncode == 2 and words in " ".join(done.stderr.replace("│", " ").split()), done.stderr


def test_no_labfs(work, fake):  # noqa: F811
    done = lab_run(work, {**fake, "BENCH_LABFS": "/none/such"}, *small("--lab", "nfs-home"), expect=2)
    assert "BENCH_LABFS is '/none/such'" in done.stderr


def test_a_machine_that_cannot_mount(work, fake, tmp_path):  # noqa: F811
    """labfs's words reach the user, and nothing is started."""
    program = tmp_path / "bin" / "labfs"
    preset = tmp_path / "share" / "shoal" / "lab" / "nfs-home.toml"
    for path in (program, preset):
        path.parent.mkdir(parents=True)
    preset.touch()
    described = '{"kind": "nfs", "servers": 1, "stripe_count": 1, "bytes_per_second": 117000000}'
    program.write_text(
        f"#!/bin/sh\nif [ $1 = --describe ]; then echo '{described}'; exit; fi\n"
        "echo 'labfs: cannot open /dev/fuse: No such file.' >&2\nexit 77\n"
    )
    program.chmod(0o755)
    done = lab_run(work, {**fake, "BENCH_LABFS": str(program)}, *small("--lab", "nfs-home"), expect=2)
    assert "shoal: labfs: cannot open /dev/fuse" in done.stderr
    assert not (work.parent / "results.json").exists()


def test_what_labfs_refuses(labfs, work, fake):  # noqa: F811
    done = lab_run(work, fake, *small("--lab", "nfs-hom"), expect=2)
    assert "there is no preset 'nfs-hom'" in done.stderr
    done = lab_run(work, fake, *small("--lab", "nfs-home", "--lab-set", "servers.numbers = 2"), expect=2)
    assert "servers.numbers" in done.stderr
    done = lab_run(work, fake, *small("--lab", "nfs-home", "--stripes", "2"), expect=2)
    assert "nfs-home has 1 servers: more stripes are left out" in done.stderr


def test_scales(labfs):
    """One for all starts of a study in a preset, such that mounts keep up."""
    labs = (Lab("lustre-2018", 4), Lab("nfs-home", 4))
    starts, _ = planned(["restart:methods"], Choice(labs=labs, stripes=(1, 4)), able())
    ready, notes = prepared(starts, labfs)
    scales = {lab.preset: lab.scale for lab in (start.lab for start in ready)}
    assert len({(s.lab.preset, s.lab.scale) for s in ready}) == 2 and len(notes) == 1
    assert scales["nfs-home"] == 1.2 and scales["lustre-2018"] == 4 * 28
    given, _ = prepared([replace(starts[0], lab=Lab("nfs-home", 4, scale=3))], labfs)
    (alone,), (note,) = prepared([replace(starts[0], lab=plain)], labfs)
    assert alone.lab.nodes == 1 and note.startswith("laptop-ssd is the disk of one node (ext4)")
    assert given[0].lab.scale == 3 and len(given[0].lab.model) == 16


def test_results_are_the_model_s(labfs, work, fake):  # noqa: F811
    options = small("--reps", "1", "--lab", "beegfs", "--lab-scale", "2", *one_start)
    done = lab_run(work, fake, *options, "--nodes", "2")
    reported = held(work)
    assert results.validate(reported) == [] and "on the device when a write ended" in done.stdout
    first = reported[0]
    assert first["filesystem"] == "beegfs" and first["dir"] == "labfs, 2 nodes" and first["nodes"] == 2
    # 0.02 real seconds, as the engine that measures nothing says.
    assert first["seconds"]["total"] == 0.01 and first["megabytes_per_second"] == 2.0
    assert first["lab"]["preset"] == "beegfs" and first["flush"]
    assert all(r["lab"]["waited_seconds"] > 0 and "late_seconds" in r["lab"] for r in reported)
    # Again: it is there already. Another file system: it is not.
    done = lab_run(work, fake, *options, "--nodes", "2")
    assert held(work) == reported and "has 1 of 1 starts already" in done.stderr
    lab_run(work, fake, *options, "--lab-set", "servers.commit = 0.001")
    assert len(held(work)) == 2 * len(reported)
    assert held(work)[-1]["dir"] == "labfs, 4 nodes, servers.commit = 0.001"


def waiting_for_the_end(fake, tmp_path):  # noqa: F811
    """A run that stands still in the middle of a case, and the folder of the numbers of its ranks."""
    pids = tmp_path / "pids"
    pids.mkdir()
    results_file = ("--json", str(tmp_path / "results.json"))
    options = small("--reps", "1", "--lab", "laptop-ssd", *one_start, *results_file)
    environment = clean_environment(**fake, FAKE_STOPS="3", FAKE_PIDS=str(pids))
    process = subprocess.Popen(
        [*bench, "run", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    until = time.monotonic() + 120
    path = tmp_path / "results.json"
    while time.monotonic() < until:
        if path.exists() and len(json.loads(path.read_text())) >= 3 and len(list(pids.iterdir())) == 2:
            return process, pids
        time.sleep(0.05)
    process.kill()
    pytest.fail(f"nothing is measured: {process.communicate()[1]}")


@pytest.mark.parametrize("how", ["interrupted", "killed", "labfs killed"])
def test_nothing_is_left(labfs, fake, tmp_path, how):  # noqa: F811
    process, pids = waiting_for_the_end(fake, tmp_path)
    assert left_by(process.pid)
    if how == "interrupted":
        process.send_signal(signal.SIGINT)
    elif how == "killed":
        process.kill()
    else:
        children = Path(f"/proc/{process.pid}/task").glob("*/children")
        (server,) = [int(pid) for listed in children for pid in listed.read_text().split()]
        os.kill(server, signal.SIGKILL)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == {"interrupted": 130, "killed": -signal.SIGKILL, "labfs killed": 1}[how], said
    nothing_left(process.pid)
    until = time.monotonic() + 30
    while any(runs(pid.name) for pid in pids.iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid.name for pid in pids.iterdir() if runs(pid.name)]


def test_an_experiment_at_toy_size(labfs, work):  # noqa: F811
    """All methods, through both MPI-IOs, on two nodes; values are checked."""
    engine = real_engine()
    if engine is None:
        pytest.skip("this build has no engine that streams")
    options = ("--size", "ne2", "--ranks", "4", "--nodes", "2", "--reps", "1", "--formats", "cdf5,netcdf4")
    lab_run(work, {}, "restart:methods", *options, "--lab", "lustre-2018", "--lab-scale", "1")
    reported = held(work)
    assert reported and all(r["verified"] and r["whole_round"] and r["nodes"] == 2 for r in reported)
    methods = all_experiments()["restart"].studies[0].methods
    expected = {m for m in methods if engine.capabilities().has_method(m)}
    for mpi_io in {r["versions"]["mpi_io"] for r in reported}:
        assert {r["method"] for r in reported if r["versions"]["mpi_io"] == mpi_io} == expected


def test_lab_studies_are_refused_elsewhere():
    for experiment in all_experiments().values():
        for study in experiment.lab_studies:
            with pytest.raises(StudyError, match="--lab"):
                planned([f"{experiment.name}:{study.name}"], Choice(), able())
            planned([f"{experiment.name}:{study.name}"], Choice(labs=(plain,)), able())
