# SPDX-License-Identifier: BSD-3-Clause
"""shoal bench run and list: with an engine that measures nothing, and with the real one if there is one."""

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import clean_environment, run_program
from typer.testing import CliRunner

from shoal.cli import mpi_launch
from shoal_bench import command, launching, machine, results
from shoal_bench.campaign import Campaign
from shoal_bench.engine import Engine, EngineError, Estimate, find_engine, settings_for
from shoal_bench.experiments import all_experiments
from shoal_bench.fitting import Available
from shoal_bench.journal import Journal
from shoal_bench.planning import planned
from shoal_bench.process import Run, is_prefix, remove_files
from shoal_bench.progress import TimeLeft
from shoal_bench.signals import Interrupted, held_back, interruptible
from shoal_bench.study import Choice, pio_methods, plan

bench = [sys.executable, "-m", "shoal.cli", "bench"]
speaker = Path(__file__).resolve().parent / "programs" / "bench_engine.py"


@pytest.fixture
def fake(tmp_path):
    """Environment in which the engine is one that measures nothing."""
    path = tmp_path / "engine"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {speaker} "$@"\n')
    path.chmod(0o755)
    return {"BENCH_ENGINE": str(path)}


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def run(work, fake, *options, expect=0, **environment):
    command = [*bench, "run", *options, "--json", str(work.parent / "results.json"), "--dir", str(work)]
    done = run_program(command, env={**fake, **environment})
    assert done.returncode == expect, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def held(work):
    reported = json.loads((work.parent / "results.json").read_text())
    assert results.validate(reported) == []
    return reported


def small(*more):
    return ("roms-size:size", "--size", "small", "--records", "2", "--ranks", "2", *more)


def test_everything_is_measured(work, fake):
    done = run(work, fake, *small("--reps", "2"))
    reported = held(work)
    methods = {(r["method"], r["format"]) for r in reported}
    assert methods == {
        *((name, f) for name in ("native", "gather") for f in ("cdf5", "netcdf4")),
        ("pnetcdf-collective", "cdf5"),
        ("limit", "raw"),
    }
    assert len(reported) == 2 * 2 * len(methods) and all(r["whole_round"] for r in reported)
    assert {(r["study"], r["paper"], r["ranks"]) for r in reported} == {("size", False, 2)}
    assert "Not in this build, and left out: netcdf-collective" in done.stderr
    assert "left out: pnetcdf-collective netcdf4: pnetcdf-collective has no format netcdf4" in done.stdout
    assert re.search(r"native +cdf5 .* 0\.0250 .* 1\.00 ", done.stdout)  # as fast as the limit
    assert "shoal bench report" in done.stdout
    assert not list(work.iterdir())


def test_options_reach_the_engine(work, fake):
    other = work.parent / "other"
    other.mkdir()
    run(work, fake, *small("--methods", "native+writers=1", "--formats", "cdf5", "--reps", "1", "--flush"),
        "--touch-memory", "--dir", str(other), "--tiles", "1x2", "--size", "9x8x3")  # fmt: skip
    reported = held(work)
    assert {r["dir"] for r in reported} == {str(work), str(other)}
    first = reported[0]
    assert first["method"] == "native+writers=1" and first["flush"] and first["touch_memory"]
    assert first["tiles"] == [1, 2] and first["shape"] == [9, 8, 3]


def test_more_repetitions_go_on(work, fake):
    run(work, fake, *small("--reps", "1"))
    before = held(work)
    done = run(work, fake, *small("--reps", "1"))
    assert held(work) == before and "has 1 of 1 starts already" in done.stderr
    run(work, fake, *small("--reps", "3"))
    after = held(work)
    assert after[: len(before)] == before and len(after) == 3 * len(before)


def test_a_broken_round_is_measured_again(work, fake):
    run(work, fake, *small("--reps", "2"))
    reported = held(work)
    path = work.parent / "results.json"
    # As it stands in the file after something ended the runner in the middle of the second repetition.
    cut = [r if r["repetition"] == 1 else {**r, "whole_round": False} for r in reported][:-3]
    path.write_text(json.dumps(cut))
    done = run(work, fake, *small("--reps", "2"))
    assert "goes on after 1 of 2 repetitions, without 9 results of a broken one" in done.stderr
    assert held(work) == reported


def test_other_results_are_not_mixed_in(work, fake):
    run(work, fake, *small("--reps", "1"))
    before = held(work)
    done = run(work, fake, *small("--reps", "1", "--flush"))
    assert (
        f"also holds {len(before)} results of roms-size with other options, of another build" in done.stderr
    )
    assert len(held(work)) == 2 * len(before) and len({r["start"] for r in held(work)}) == 2
    # Another build: the same options, and all is measured again.
    engine = Path(fake["BENCH_ENGINE"])
    engine.write_text(engine.read_text() + "# newer\n")
    done = run(work, fake, *small("--reps", "1"))
    assert len(held(work)) == 3 * len(before) and len({r["start"] for r in held(work)}) == 3


def runs(pid):
    try:
        state = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_interrupted_keeps_and_goes_on(work, fake, tmp_path):
    pids = tmp_path / "pids"
    pids.mkdir()
    path = tmp_path / "results.json"
    command = [*bench, "run", *small("--reps", "2"), "--json", str(path), "--dir", str(work)]
    # In the middle of the second repetition.
    stops = {**fake, "FAKE_STOPS": "15", "FAKE_PIDS": str(pids)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment(**stops)
    )
    until = time.monotonic() + 120
    while time.monotonic() < until:
        measured = path.exists() and len(json.loads(path.read_text())) >= 15
        if measured and list(work.iterdir()) and len(list(pids.iterdir())) == 2:
            break
        time.sleep(0.05)
    else:
        pytest.fail("nothing is measured, or not by both ranks")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, out + err
    assert "to go on: shoal bench run roms-size" in err
    assert not list(work.iterdir())
    assert not any(runs(pid.name) for pid in pids.iterdir())
    kept = held(work)
    assert [r["repetition"] for r in kept if r["whole_round"]] == [1] * 12
    run(work, fake, *small("--reps", "2"))
    assert len(held(work)) == 24 and held(work)[:12] == kept[:12]


def test_terminated_while_it_looks_around(work, fake):
    asked = work.parent / "asked"
    (work.parent / "engine").write_text(f"#!/bin/sh\ntouch {asked}\nexec sleep 300\n")
    command = [*bench, "run", *small(), "--json", str(work.parent / "results.json")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=clean_environment(**fake))
    until = time.monotonic() + 120
    while not asked.exists() and time.monotonic() < until:
        time.sleep(0.01)
    process.terminate()
    assert "interrupted before anything" in process.communicate(timeout=120)[1]
    assert process.returncode == 130 and not (work.parent / "results.json").exists()


def in_this_process(work, fake, options, monkeypatch):
    for key, value in fake.items():
        monkeypatch.setenv(key, value)
    # A program that runs MPI, as other tests may have made of this one, is asked to start without mpiexec.
    monkeypatch.setattr(command, "inside_mpi", lambda: False)
    where = ["--json", str(work.parent / "results.json"), "--dir", str(work)]
    return CliRunner().invoke(command.group, ["run", *options, *where])


def test_what_does_not_fit_is_not_started(work, fake, monkeypatch):
    # Others would take memory and give it back meanwhile.
    monkeypatch.setattr(machine, "available_memory", lambda: 4 * 10**9)
    whole = 20 * 16 * 4
    # 2.2 times what may be taken, in 20x16x4 cells of five records.
    fake = {**fake, "FAKE_MEMORY": str(2.2 * 0.9 * 4 * 10**9 / (5 * whole))}
    options = ("roms-size", "--ranks", "2", "--reps", "1", "--methods", "native", "--formats", "cdf5")
    done = in_this_process(work, fake, (*options, "--size", "small", "--records", "5"), monkeypatch)
    assert done.exit_code == 2
    assert "may be taken" in done.stderr and "nothing was started" in done.stderr
    assert not (work.parent / "results.json").exists()
    # What is advised is about what fits.
    size = re.search(r"--size (\d+)x(\d+)x4", done.stderr)
    assert 0.8 * whole / 2.2 < int(size[1]) * int(size[2]) * 4 <= whole / 2.2
    assert "or --records 2." in done.stderr
    for advised in (("--size", size[0].split()[1], "--records", "5"), ("--size", "small", "--records", "2")):
        done = in_this_process(work, fake, (*options, *advised), monkeypatch)
        assert done.exit_code == 0, done.output


def test_wrong_values(work, fake):
    done = run(work, fake, *small("--reps", "1"), expect=2, FAKE_WRONG="gather")
    assert "wrong values were read back: read gather cdf5" in done.stderr
    assert {r["method"] for r in held(work) if not r["verified"]} == {"gather"}


def test_a_failing_engine(work, fake):
    done = run(work, fake, *small("--reps", "1"), expect=1, FAKE_FAILS="limit")
    assert "shoal-bench: nothing works today" in done.stderr and "1 of 1 starts failed" in done.stderr
    assert not list(work.iterdir())
    run(work, fake, *small("--reps", "1"))
    assert len(held(work)) == 12


def refused(work, fake, options, monkeypatch):
    """Without a start of Python, which is quicker."""
    done = in_this_process(work, fake, options, monkeypatch)
    assert done.exit_code == 2 and not isinstance(done.exception, Exception), done.output
    return done


@pytest.mark.parametrize(
    "text, words",
    [
        ("[{", "is no JSON: "),
        ("{}", "is no list of results"),
        ("[{}]", "object 1: it has no "),
        ("", "no JSON"),
    ],
)
def test_files_that_are_none(work, fake, text, words, monkeypatch):
    path = work.parent / "results.json"
    path.write_text(text)
    done = refused(work, fake, small(), monkeypatch)
    assert words in done.stderr and "The file was left as it is" in done.stderr
    assert path.read_text() == text


@pytest.mark.parametrize(
    "options, words",
    [
        (("roms-sizes",), "Did you mean roms-size?"),
        (("seven-ways",), "this build of the engine has no experiment 'seven-ways'"),
        (("roms-size:tiles",), "it has size"),
        (small("--methods", "nativ"), "Did you mean native?"),
        (small("--tiles", "3x3"), "--tiles 3x3 is for another number of ranks than 2"),
        (small("--tiles", "3"), "--tiles"),
        (small("--ranks", "0"), "--ranks"),
        (small("--size", "3x4"), "three numbers are needed"),
        (small("--hints", "cb_nodes"), "--hints"),
        (small("--mpi-io", "both"), "--mpi-io"),
        (small("--dir", "/none/such"), "/none/such"),
    ],
)
def test_refusals(work, fake, options, words, monkeypatch):
    done = refused(work, fake, options, monkeypatch)
    assert words in " ".join(done.stderr.split()), done.stderr
    assert not (work.parent / "results.json").exists()


def test_an_engine_that_is_not_there(work):
    done = run(work, {"BENCH_ENGINE": "/none/such"}, *small(), expect=2)
    assert "BENCH_ENGINE is '/none/such'" in done.stderr


def test_list(fake):
    done = run_program([*bench, "list"], env=fake)
    assert done.returncode == 0 and "not in this build" in done.stdout
    reported = json.loads(run_program([*bench, "list", "--json"], env=fake).stdout)
    names = [item["name"] for item in reported["experiments"]]
    assert names[:3] == ["roms-size", "roms-tiles", "roms-ranks"] and len(names) >= 7
    assert [item["in_this_build"] for item in reported["experiments"]][:4] == [True, True, True, False]
    assert {"native", "limit"} < {item["name"] for item in reported["methods"]}
    done = run_program([*bench, "list"], env={"BENCH_ENGINE": "/none/such"})
    assert done.returncode == 1 and "roms-size" in done.stdout and "BENCH_ENGINE" in done.stderr


def test_time_left():
    now = [0.0]
    left = TimeLeft(["a", "a", "b"], [100.0, 300.0, 100.0], lambda: now[0])
    left.begin(0)
    assert left.seconds() is None
    left.announce(2, 3)
    for round_ in range(3):
        for case, seconds in ((("x",), 1.0), (("y",), 3.0)):
            left.case(case, round_)
            now[0] += seconds
    left.end()
    assert left.seconds() == pytest.approx(12 * 3 + 12)
    left.begin(1)
    left.announce(2, 3)
    left.case(("x",), 0)
    now[0] += 2
    left.case(("y",), 0)
    # Two seconds for one of six cases; the third start goes by what all have taken.
    assert left.seconds() == pytest.approx(10 + (12 + 12) / 400 * 100)


def test_memory_that_is_left(tmp_path):
    info = tmp_path / "meminfo"
    info.write_text("MemTotal: 9000 kB\nMemAvailable:    4000 kB\n")
    own = tmp_path / "cgroup"
    own.write_text("0::/a/b\n")
    group = tmp_path / "groups" / "a"
    (group / "b").mkdir(parents=True)
    assert machine.available_memory(info, tmp_path / "groups", own) == 4000 * 1024
    (group / "b" / "memory.max").write_text("max\n")
    (group / "b" / "memory.current").write_text("5\n")
    (group / "memory.max").write_text("1000000\n")
    (group / "memory.current").write_text("400000\n")
    (group / "memory.stat").write_text("anon 7\ninactive_file 300\n")
    assert machine.available_memory(info, tmp_path / "groups", own) == 600300
    own.write_text("4:cpu,memory:/none\n")
    old = tmp_path / "groups" / "memory"
    old.mkdir()
    (old / "memory.limit_in_bytes").write_text("900\n")
    (old / "memory.usage_in_bytes").write_text("1000\n")
    assert machine.available_memory(info, tmp_path / "groups", own) == 0


def test_room():
    needs = Estimate(memory_bytes=1000, disk_bytes=500, shape=(4, 4, 1), records=1, bytes=500)
    disk = machine.Folder("/d", 600, False)
    assert Available(1200, 1, (disk,)).lacks(needs) == ""
    assert "of memory" in Available(1100, 1, (disk,)).lacks(needs)
    assert Available(600, 2, (disk,)).lacks(needs) == ""
    assert "in /d" in Available(None, 1, (machine.Folder("/d", 550, False),)).lacks(needs)
    assert "files in memory counted" in Available(1200, 1, (machine.Folder("/d", 600, True),)).lacks(needs)


def test_files_of_others_stay(tmp_path):
    own = "shoal-bench-roms-size-some-host.org-12-"
    names = (f"{own}a.nc", f"{own}b.nc.0000", "shoal-bench-roms-size-some-host.org-123-a.nc", "mine.nc")
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / f"{own}folder").mkdir()
    (tmp_path / f"{own}link").symlink_to(tmp_path / "mine.nc")
    for prefix in (
        "",
        "*",
        "shoal-bench-",
        "shoal-bench-12-",
        own[:-1],
        f"../{own}",
        "shoal-bench-roms-size-",
    ):
        assert remove_files(prefix, "roms-size", [str(tmp_path)]) == []
    removed = remove_files(own, "roms-size", [str(tmp_path)])
    assert sorted(os.path.basename(path) for path in removed) == sorted(names[:2])
    kept = {p.name for p in tmp_path.iterdir()}
    assert kept == {"mine.nc", f"{own}folder", f"{own}link", names[2]}


@pytest.mark.parametrize(
    "prefix, whether",
    [
        ("shoal-bench-mom-output-vm-4711-", True),
        ("shoal-bench-mom-output-node-1.a-4711-1795291920-", True),
        ("shoal-bench-mom-output-vm-4711-20261121T195504Z-", True),
        ("shoal-bench-mom-output-vm-", False),
        ("shoal-bench-mom-output-4711-", False),
        ("shoal-bench-4711-", False),
        ("shoal-bench-mom-output-vm-4711", False),
        ("/tmp/shoal-bench-mom-output-vm-4711-", False),
        ("shoal-bench-mom-output-v*-4711-", False),
    ],
)
def test_what_names_of_files_begin_with(prefix, whether):
    assert is_prefix(prefix, "mom-output") == whether


def test_an_engine_whose_files_could_not_be_told_from_others(work, fake):
    path = work.parent / "engine"
    path.write_text(path.read_text().replace('"$@"', '"$@" | sed "s/-fake-[0-9]*-/-/"'))
    done = run(work, fake, *small("--reps", "1"), expect=1)
    assert "it is of another version: 'shoal-bench-roms-size-' begins no names" in done.stderr


def test_signals_are_held_back():
    reached = []
    with pytest.raises(Interrupted), interruptible():
        with held_back():
            with held_back():
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.01)
                reached.append("inner")
            reached.append("outer")
        reached.append("never")
    assert reached == ["inner", "outer"]


def test_a_signal_while_mpiexec_is_started(work, fake, tmp_path, monkeypatch):
    """It ends what was started: nothing is left running."""
    for key, value in {**fake, "FAKE_STOPS": "0", "FAKE_PIDS": str(tmp_path / "pids")}.items():
        monkeypatch.setenv(key, value)
    (tmp_path / "pids").mkdir()
    engine = find_engine()
    starts, _ = planned(["roms-size"], Choice(ranks=(2,), dirs=(str(work),)), engine.capabilities())
    entered = []

    def signalled(self):
        os.kill(os.getpid(), signal.SIGINT)
        entered.append(self)
        return self

    monkeypatch.setattr(Run, "__enter__", signalled)
    needs = [engine.estimate(start) for start in starts]
    campaign = Campaign(engine, starts, needs, Journal(tmp_path / "results.json"))
    with interruptible():
        assert campaign.run().interrupted
    (one,) = entered
    assert one._process.poll() is not None and not os.path.exists(f"/proc/{one._process.pid}")
    assert not any(runs(pid.name) for pid in (tmp_path / "pids").iterdir()) and not list(work.iterdir())


def test_a_signal_while_results_are_written(tmp_path, monkeypatch):
    """The file is whole, nothing lies beside it, and it is not taken for one that somebody else changed."""
    path = tmp_path / "results.json"
    journal = Journal(path)
    replace = os.replace

    def signalled(made, to):
        os.kill(os.getpid(), signal.SIGTERM)
        replace(made, to)

    monkeypatch.setattr(os, "replace", signalled)
    with pytest.raises(Interrupted), interruptible():
        journal.round_is_whole("none", 1)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["results.json"] and results.load(path) == []
    journal.round_is_whole("none", 1)


def test_a_link_to_results_stays_one(tmp_path):
    (tmp_path / "far").mkdir()
    path, target = tmp_path / "results.json", tmp_path / "far" / "results.json"
    path.symlink_to(target)
    Journal(path).drop_after("none", 0)
    assert path.is_symlink() and results.load(target) == []


def test_mpi_is_told_no_more_than_it_needs(monkeypatch):
    for key in list(os.environ):
        if key.startswith("OMPI_MCA_"):
            monkeypatch.delenv(key)
    launcher = mpi_launch.Launcher("mpiexec", "openmpi")
    yields, copies = "OMPI_MCA_mpi_yield_when_idle", "OMPI_MCA_btl_vader_single_copy_mechanism"
    for may, ranks, expected in ((True, 2, set()), (True, 3, {yields}), (False, 2, {copies})):
        monkeypatch.setattr(launching, "ranks_may_read_each_other", lambda may=may: may)
        reported = launching.needed_settings(launcher, ranks, 2)
        assert set(reported) - {"OMPI_MCA_hwloc_base_binding_policy"} == expected
    monkeypatch.setenv(copies, "cma")
    assert copies not in launching.needed_settings(launcher, 2, 2)
    assert launching.needed_settings(mpi_launch.Launcher("mpiexec", "mpich"), 9, 2) == {}
    assert launcher.command(4, 2)[-4:] == ["--map-by", "ppr:2:node", "-n", "4"]
    assert mpi_launch.Launcher("mpiexec", "mpich").command(4, 2)[1:3] == ["-ppn", "2"]
    # What a start sets is part of what its results are known by.
    start = plan(all_experiments()["restart"], Choice(), "io-tasks").starts[0]
    assert settings_for(start, launcher)["OMPI_MCA_io"] == "^ompio"


def test_whether_ranks_may_read_each_other(monkeypatch):
    """The trial itself: its answer is that of the system call between two such processes."""
    launching.ranks_may_read_each_other.cache_clear()
    assert launching.ranks_may_read_each_other() in (True, False)
    refused = launching._reading.replace("libc.process_vm_readv(", "(lambda *a: -1)(")
    assert refused != launching._reading
    monkeypatch.setattr(launching, "_reading", refused)
    launching.ranks_may_read_each_other.cache_clear()
    assert launching.ranks_may_read_each_other() is False
    launching.ranks_may_read_each_other.cache_clear()


def test_how_it_was_launched_is_kept(work, fake):
    done = run(work, fake, *small("--reps", "1", "--ranks-per-node", "2"), OMPI_MCA_mpi_yield_when_idle="0")
    launches = {r["versions"]["launch"] for r in held(work)}
    assert len(launches) == 1 and f"Launched with {min(launches)}" in done.stdout
    if "openmpi" in min(launches):
        assert "--map-by ppr:2:node" in min(launches) and "mpi_yield_when_idle=0" in min(launches)
    # The engine that measures nothing says that all is on one node.
    path = work.parent / "results.json"
    path.unlink()
    done = run_program([*bench, "run", *small("--reps", "1", "--ranks-per-node", "1"), "--json", str(path),
                        "--dir", str(work)], env=fake)  # fmt: skip
    assert done.returncode == 1 and "--ranks-per-node" in done.stderr + done.stdout or "ppr" in done.stderr
    assert not list(work.iterdir())


def test_two_runs_on_one_file(tmp_path):
    path = tmp_path / "results.json"
    journal, other = Journal(path), Journal(path)
    other.drop_after("none", 0)
    with pytest.raises(results.ResultsError, match="changed by somebody else"):
        journal.round_is_whole("none", 1)


def test_large_files_wait_until_a_round_is_whole(work, fake, monkeypatch):
    run(work, fake, *small("--reps", "1"))
    (first, *_) = results.load(work.parent / "results.json")
    monkeypatch.setattr("shoal_bench.journal._at_once", 100)
    path = work / "results.json"
    journal = Journal(path)
    for operation in ("write", "read"):
        journal.add(dataclasses.replace(first, start="new", operation=operation, whole_round=False))
    journal.add(dataclasses.replace(first, start="new", method="other", whole_round=False))
    assert len(results.load(path)) < 3
    journal.round_is_whole("new", 1)
    assert [r.whole_round for r in results.load(path)] == [True] * 3
    assert journal.whole_rounds("new") == 1
    journal.add(dataclasses.replace(first, start="new", repetition=2, whole_round=False))
    journal.flush()
    assert len(results.load(path)) == 4


def test_schema_finds_what_is_wrong(work, fake):
    run(work, fake, *small("--reps", "1"))
    reported = held(work)
    for broken in ({"repetition": 0}, {"tiles": "2x2"}, {"seconds": {}}, {"cache": "warm"}):
        assert results.validate([{**reported[0], **broken}])


# With the engine itself, where this build has one that streams.


def real_engine():
    try:
        engine = find_engine()
        return engine if engine.capabilities().methods else None
    except EngineError:
        return None


_toy = {
    "roms-size": ("--size", "17x11x3", "--ranks", "2", "--records", "2"),
    "roms-tiles": ("--size", "17x11x3", "--ranks", "2"),
    "roms-ranks": ("--size", "17x11x3", "--ranks", "3", "--records", "2"),
    "roms-benchmark": ("--size", "17x11x3", "--ranks", "2"),
    "seven-ways": ("--size", "1000", "--ranks", "3"),
    "restart": ("--size", "ne2", "--ranks", "3"),
    "mom-output": ("--size", "17x11x3", "--ranks", "4"),
    "commits": ("--size", "17x11x1", "--ranks", "2", "--records", "3"),
    "streams": ("--size", "17x11x3", "--ranks", "2", "--records", "2"),
}


@pytest.mark.parametrize("name", list(all_experiments()))
def test_each_experiment_at_toy_size(name, work):
    engine = real_engine()
    if engine is None or name not in engine.capabilities().experiments:
        pytest.skip("this build has no engine that streams, or not this experiment")
    first = all_experiments()[name].studies[0].name
    run(work, {}, f"{name}:{first}", *_toy[name], "--reps", "1")
    reported = held(work)
    assert reported and all(r["verified"] and r["whole_round"] for r in reported)
    methods = {r["method"] for r in reported}
    known = engine.capabilities().methods
    expected = {m for m in all_experiments()[name].studies[0].methods if m.split("+")[0] in known}
    assert methods == expected
    assert not list(work.iterdir())


@pytest.mark.parametrize("name", ["roms-size", "restart", "mom-output"])
def test_programs_that_call_pio(name, work):
    """With Shoal behind the calls, and with PIO itself where the engine was built with one."""
    engine = real_engine()
    if engine is None or not engine.capabilities().has_method("pio-on-shoal"):
        pytest.skip("this build has no engine that calls PIO")
    ranks = int(_toy[name][_toy[name].index("--ranks") + 1])
    run(work, {}, f"{name}:pio", *_toy[name], "--reps", "1")
    reported = held(work)
    assert reported and all(r["verified"] for r in reported)
    has_method = engine.capabilities().has_method
    expected = {m for m in pio_methods if has_method(m) and (ranks >= 4 or "io_tasks=4" not in m)}
    assert {r["method"] for r in reported} == expected


def test_injected_errors_are_found_by_the_engine(work, tmp_path):
    """A wrong byte in every file: the engine says so of each result, and the runner ends with 2."""
    engine = real_engine()
    if engine is None:
        pytest.skip("this build has no engine that streams")
    spoiler = tmp_path / "spoiler"
    spoiler.write_text(
        f'#!/bin/sh\ncase "$*" in list*|*--estimate*) exec {engine.path} "$@";; esac\n'
        f'exec {engine.path} "$@" --inject-error\n'
    )
    spoiler.chmod(0o755)
    options = small("--methods", "native", "--formats", "cdf5,netcdf4", "--reps", "1", "--size", "17x11x3")
    done = run(work, {"BENCH_ENGINE": str(spoiler)}, *options, expect=2)
    reported = held(work)
    assert reported and not any(r["verified"] for r in reported if r["operation"] == "write"), done.stdout


def test_beside_the_library():
    """The engine of the libshoal in use is found without being named."""
    if "BENCH_ENGINE" in os.environ or real_engine() is None:
        pytest.skip("no engine was built beside the library")
    assert isinstance(find_engine(), Engine) and shutil.which(str(find_engine().path))
