# SPDX-License-Identifier: BSD-3-Clause
"""What was committed survives a crash: in every state in which one can leave the files, and in real ones.

A part of it runs each time, within two minutes; all of it with the environment's TEST_ALL=1, which takes
an hour (`make test-all`); with TEST_SHARE=0.3, too, a random third of that. How a run is recorded and its
images are built stands in recorder.c and crash_images.py, how a bad one is looked at again in replay.py.
Another TEST_SEED makes other ones."""

from __future__ import annotations

import dataclasses
import os
import random
import shutil
from collections import Counter

import crash_faults
import crash_pool
import pytest
from crash_images import Disk, Moment, images, process_moments
from crash_log import (
    CREATE,
    LINK,
    MAKE_FOLDER,
    PROMISE,
    RENAME,
    SYNC,
    TRUNCATE,
    UNLINK,
    WRITE,
    Change,
    Promises,
    read_log,
)
from crash_runs import Table, Workload, build_folder, execute, files_in, first_promise, record
from replay import check_run, choose_moments

ALL = os.environ.get("TEST_ALL", "").upper() in ("1", "ON", "TRUE")
SEED = int(os.environ.get("TEST_SEED", "1"))
SHARE = float(os.environ.get("TEST_SHARE", "1"))
CLASSIC = ["cdf1", "cdf2", "cdf5"]
HDF5 = ["netcdf4", "netcdf4-classic"]
STORE = ["zarr"]
TINY = ("nz=1", "ny=2", "nx=5")
SHARDS = ("ny=12", "settings=chunk_bytes=1KiB, shard_bytes=2KiB")  # several of each field

pytest.importorskip("netCDF4")
pytest.importorskip("zarr", "3.0")
pytest.importorskip("xarray")
pytest.importorskip("shoal")
pytestmark = [
    pytest.mark.skipif(
        not (build_folder() / "tests" / "libcrash_recorder.so").exists(),
        reason=f"no recorder in {build_folder()}: build the target crash_recorder",
    ),
    pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs room in /dev/shm"),
]


def all_or(count: int, few: int) -> int:
    """How many cases are taken: of a whole campaign its share, otherwise a few."""
    return max(few, round(count * SHARE)) if ALL else few


def every_scenario() -> list[Workload]:
    """Each scenario in each format that has it, not durable and durable, on 1 to 4 ranks in turn."""
    formats = {
        "append": CLASSIC + HDF5,
        "batches": ["cdf5", "netcdf4"],
        "late": CLASSIC + HDF5,
        "define": CLASSIC + HDF5,
        "reopen": CLASSIC + HDF5,
        "deflate": HDF5,
        "strings": ["netcdf4"],
        "maps": ["cdf5", "netcdf4"],
        "thread": ["cdf2", "cdf5", "netcdf4"],
        "servers": ["cdf5", "netcdf4"],
        "domains": ["cdf5", "netcdf4"],
        "unlimited": ["netcdf4"],
        "move": CLASSIC,
        "groups": ["netcdf4"],
    }
    return in_turn(formats)


def in_turn(formats: dict[str, list[str]]) -> list[Workload]:
    all_ = []
    for scenario, names in formats.items():
        for name in names:
            for durable in (False, True):
                ranks = 1 + len(all_) % 4
                if scenario in ("servers", "domains", "maps"):
                    ranks = max(ranks, 2)
                all_.append(Workload(scenario, name, ranks, 12, durable))
    return all_


def every_store() -> list[Workload]:
    """The scenarios that stores have, of one shard a record and of several."""
    scenarios = ["append", "batches", "late", "define", "reopen", "deflate", "strings", "maps", "thread"]
    scenarios += ["servers", "unlimited", "groups", "again", "renames"]
    found = in_turn({scenario: STORE for scenario in scenarios})
    found += [
        Workload(s, "zarr", 1 + n % 4, 8, n % 2 == 1, SHARDS)
        for n, s in enumerate(["append", "late", "deflate", "thread", "again", "maps"])
    ]
    return found + [
        Workload("append", "zarr", 4, 8, node=2),
        Workload("deflate", "zarr", 4, 8, True, SHARDS, node=2),
        Workload("again", "zarr", 4, 6, True, node=2),
        Workload("late", "zarr", 3, 8, False, SHARDS, node=2),
        Workload("append", "zarr", 2, 140, False, TINY),
    ]


def long_ones() -> list[Workload]:
    """Many records: the index of a variable's chunks grows by levels, at 64 and at 1,024 of them."""
    found = [
        Workload(s, "netcdf4", 2, 140, False, TINY)
        for s in ("append", "late", "deflate", "unlimited", "reopen")
    ]
    found += [
        Workload("append", "netcdf4-classic", 3, 140, True, TINY),
        Workload("strings", "netcdf4", 1, 140, False, TINY),
    ]
    return [
        *found,
        Workload("append", "netcdf4", 2, 1150, False, TINY),
        Workload("append", "cdf5", 2, 300, False, TINY),
    ]


# Scenarios by the calls of netCDF and PnetCDF, which doors take to Shoal.
DOORS = [
    Workload("append", "netcdf4", 2, 4, door="netcdf"),
    Workload("define", "cdf5", 3, 4, door="pnetcdf"),
]
DOORS += [
    Workload("define", "netcdf4", 2, 8, door="netcdf"),
    Workload("deflate", "netcdf4", 3, 6, door="netcdf"),
    Workload("reopen", "netcdf4-classic", 1, 8, door="netcdf"),
    Workload("unlimited", "netcdf4", 2, 6, door="netcdf"),
    Workload("late", "cdf1", 4, 8, door="netcdf"),
    Workload("append", "cdf2", 2, 8, door="pnetcdf"),
    Workload("batches", "cdf5", 4, 8, door="pnetcdf"),
    Workload("reopen", "cdf5", 1, 8, door="pnetcdf"),
] * ALL


def need(workload: Workload) -> None:
    if not workload.program().exists():
        pytest.skip(
            f"no {workload.program().name} in {build_folder()}: no door for {workload.door} was built"
        )


SOME = [
    Workload("append", "netcdf4", 2, 6),
    Workload("append", "netcdf4-classic", 3, 4, True),
    Workload("append", "netcdf4", 1, 70, False, TINY),
    Workload("define", "netcdf4", 2, 8),
    Workload("reopen", "netcdf4", 1, 4, True),
    Workload("deflate", "netcdf4", 3, 6),
    Workload("strings", "netcdf4", 1, 4),
    Workload("unlimited", "netcdf4", 2, 4),
    Workload("define", "cdf5", 4, 8),
    Workload("late", "cdf2", 2, 4, True),
    Workload("move", "cdf5", 2, 4, True),
    Workload("groups", "netcdf4", 2, 8),
]
SOME_STORES = [
    Workload("append", "zarr", 2, 4, True),
    Workload("deflate", "zarr", 3, 5, False, SHARDS),
    Workload("again", "zarr", 4, 3, True, node=2),
    Workload("renames", "zarr", 1, 4, True),
    Workload("strings", "zarr", 2, 4),
]


@pytest.mark.parametrize(
    "workload", (every_scenario() + long_ones() if ALL else SOME) + DOORS, ids=lambda w: w.name
)
def test_every_state(workload, scratch, table):
    check_every_state(workload, scratch, table, all_or(1500, 70), all_or(400, 30))


@pytest.mark.parametrize("workload", every_store() if ALL else SOME_STORES, ids=lambda w: w.name)
def test_every_state_of_a_store(workload, scratch, table):
    check_every_state(workload, scratch, table, all_or(250, 20), all_or(100, 20), 3 if ALL else 1)


def check_every_state(workload, scratch, table, most, power, recovered=3):
    need(workload)
    run = record(workload, scratch / "run")
    moments = choose_moments(run, power if workload.durable else 0, most, SEED)
    check_run(run, moments, table, recovered=recovered)


@pytest.mark.parametrize(
    "workload",
    [
        Workload("renames", "zarr", 2, 8, False, ("durable=4",)),
        Workload("define", "netcdf4", 1, 8, False, ("durable=4",)),
    ],
    ids=lambda w: w.name,
)
def test_durable_after_others(workload, scratch, table):
    """What is durable has all that earlier commits wrote, which were not."""
    run = record(workload, scratch / "run")
    promises = Promises(read_log(run.folder / "log"))
    moments = [Moment(place, seed=seed) for place in promises.durable() for seed in range(all_or(40, 5))]
    assert len(moments) >= 10
    check_run(run, moments, table, recovered=1)


KILLED = [
    ("append", "netcdf4"),
    ("define", "netcdf4"),
    ("deflate", "netcdf4"),
    ("append", "cdf5"),
    ("reopen", "cdf2"),
    ("move", "cdf1"),
    ("deflate", "zarr"),
]
KILLED += [
    ("thread", "netcdf4"),
    ("servers", "netcdf4"),
    ("strings", "netcdf4"),
    ("maps", "netcdf4-classic"),
    ("groups", "netcdf4"),
    ("append", "zarr"),
    ("define", "zarr"),
    ("reopen", "zarr"),
    ("thread", "zarr"),
    ("servers", "zarr"),
    ("strings", "zarr"),
    ("maps", "zarr"),
    ("groups", "zarr"),
    ("again", "zarr"),
    ("renames", "zarr"),
] * ALL


@pytest.mark.parametrize("scenario, name", KILLED, ids=lambda v: v)
def test_kills(scenario, name, scratch, table):
    """Ranks die in the middle of it; the next run goes on."""
    ranks = 1 if scenario == "deflate" else 3
    crash_faults.kill(Workload(scenario, name, ranks, 8), all_or(40, 2), scratch, table, SEED)


@pytest.mark.parametrize("workload", DOORS, ids=lambda w: w.name)
def test_kills_of_programs(workload, scratch, table):
    need(workload)
    crash_faults.kill(workload, all_or(40, 2), scratch, table, SEED)


@pytest.mark.parametrize(
    "layout",
    [
        {"SHOAL_LAYOUT": "process"},
        {"SHOAL_LAYOUT": "node", "SHOAL_RANKS_PER_NODE": "2"},
        {"SHOAL_LAYOUT": "domains", "SHOAL_IO_LAYOUT": "1x3"},
    ],
    ids=lambda layout: layout["SHOAL_LAYOUT"],
)
@pytest.mark.parametrize("workload", DOORS[:2], ids=lambda w: w.name)
def test_layouts_of_programs(workload, layout, scratch):
    """Several files, of which the program knows nothing: all that it was promised is there."""
    need(workload)
    workload = dataclasses.replace(workload, ranks=4)
    run = execute(workload, scratch / "run", log=False, env=layout)
    assert run.code == 0, run.output
    files = list((run.folder / "files").glob("his.nc.????"))
    assert len(files) == {"process": 4, "node": 2, "domains": 3}[layout["SHOAL_LAYOUT"]]
    (answer,) = crash_pool.check_folders([(run.folder / "files", run.promised, False)])
    assert answer["state"] == "ok", answer


FAILING = [
    Workload("append", "netcdf4", 1, 6),
    Workload("define", "netcdf4", 1, 4),
    Workload("append", "cdf5", 1, 4),
    Workload("again", "zarr", 2, 3),
]
FAILING += [
    Workload("reopen", "netcdf4", 1, 4),
    Workload("deflate", "netcdf4", 2, 6),
    Workload("thread", "netcdf4", 2, 4),
    Workload("late", "netcdf4-classic", 2, 4, True),
    Workload("strings", "netcdf4", 1, 4),
    Workload("define", "cdf2", 2, 4),
    Workload("groups", "netcdf4", 2, 8),
    Workload("append", "zarr", 3, 4, True),
    Workload("deflate", "zarr", 2, 6, False, SHARDS),
    Workload("define", "zarr", 1, 8),
    Workload("thread", "zarr", 2, 4),
    Workload("late", "zarr", 4, 4, node=2),
    Workload("strings", "zarr", 1, 4),
    Workload("groups", "zarr", 2, 8),
    Workload("renames", "zarr", 2, 4),
] * ALL


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("how", ["ENOSPC", "EIO", "short"] + ["EDQUOT"] * ALL)
@pytest.mark.parametrize("workload", FAILING + DOORS * ALL, ids=lambda w: w.name)
def test_failing_writes(workload, how, lasting, scratch, table):
    check_failing_writes(workload, how, lasting, scratch, table)


@pytest.mark.skipif(ALL, reason="one of test_failing_writes")
@pytest.mark.parametrize("workload", DOORS, ids=lambda w: w.name)
def test_failing_writes_of_programs(workload, scratch, table):
    check_failing_writes(workload, "ENOSPC", True, scratch, table)
    check_failing_writes(workload, "EIO", False, scratch, table)


def check_failing_writes(workload, how, lasting, scratch, table):
    need(workload)
    changes = crash_faults.changes_of(workload, scratch / "whole")
    places = list(range(1, changes + 1))
    some = random.Random(f"{SEED} {workload.name} {how} {lasting}").sample(
        places, min(len(places), all_or(40, 1))
    )
    crash_faults.inject(workload, some, how, lasting, scratch, table)


def test_a_put_that_fails_before_a_field(scratch, table):
    """Of an opened file: the field is not filled once more when the put succeeds."""
    crash_faults.inject(Workload("reopen", "cdf5", 1, 8), [14, 15, 16], "ENOSPC", False, scratch, table)


@pytest.mark.parametrize(
    "workload",
    [Workload("append", "netcdf4", 1, 4, True), Workload("again", "zarr", 1, 3, True)],
    ids=lambda w: w.name,
)
def test_failing_fsync(workload, scratch, table):
    places = range(1, 14 if ALL else 4) if not workload.is_store else range(1, 46, 3 if ALL else 15)
    crash_faults.inject(workload, list(places), "EIO", False, scratch, table, what=2)


def _need_mounts(scratch):
    try:
        with crash_faults.mounted(scratch / "probe", "-t", "tmpfs", "-o", "size=16k", "tmpfs"):
            pass
    except (OSError, FileNotFoundError) as error:
        pytest.skip(f"file systems cannot be mounted here (it takes root): {error}")


FULL = [
    Workload("append", "netcdf4", 2, 70, False, ("nz=1", "ny=6", "nx=40")),
    Workload("append", "cdf5", 2, 70, False, ("nz=1", "ny=6", "nx=40")),
    Workload("append", "zarr", 2, 30, False, ("nz=1", "ny=6", "nx=40")),
] + [
    Workload("deflate", "netcdf4", 1, 70),
    Workload("define", "netcdf4", 2, 40),
    Workload("append", "netcdf4", 2, 70, door="netcdf"),
    Workload("append", "cdf5", 2, 70, door="pnetcdf"),
    Workload("deflate", "zarr", 1, 30),
    Workload("again", "zarr", 2, 10),
] * ALL


@pytest.mark.parametrize("workload", FULL, ids=lambda w: w.name)
def test_full_disk(workload, scratch, table):
    need(workload)
    _need_mounts(scratch)
    sizes = [40, 164, 400]
    if ALL:
        sizes = random.Random(f"{SEED} {workload.name}").sample(range(16, 1025, 4), all_or(253, 3))
    crash_faults.full_tmpfs(workload, [s * 1024 for s in sizes], scratch, table)


@pytest.mark.parametrize("workload", FULL[:2], ids=lambda w: w.name)
def test_full_device(workload, scratch, table):
    """ext4, which gives space to blocks late."""
    _need_mounts(scratch)
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is not installed")
    room = list(range(32, 513, 32)) if ALL else [64]
    try:
        crash_faults.full_ext4(workload, [r * 1024 for r in room], scratch, table)
    except PermissionError as error:
        pytest.skip(f"no loop devices here: {error}")


# ---- The test itself can fail ------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["cut", "header", "value"])
@pytest.mark.parametrize("name", ["netcdf4", "cdf5", "zarr"])
def test_damage_is_found(name, damage, scratch):
    workload = Workload("append", name, 1, 3)
    run = record(workload, scratch / "run")
    moments = [Moment(len(read_log(run.folder / "log")))]
    table = Table()
    assert check_run(run, moments, table)["ok"] == 1
    counts = check_run(run, moments, table, damage)
    assert counts["bad"] == 1 and len(table.bad) == 1, table.bad


def test_a_reader_that_crashes_is_found(scratch):
    """The checking process ends amid an image; the others are checked all the same."""
    run = record(Workload("append", "cdf5", 1, 2), scratch / "run")
    first = first_promise(read_log(run.folder / "log"))
    moments = [Moment(place) for place in range(first, first + 3)]
    answers = crash_pool.check(run.folder, moments, damage="crash", workers=1)
    assert [a["state"] for _, a in answers] == ["bad"] * 3
    assert all("signal 11" in a["netcdf"] for _, a in answers)


def test_a_run_is_rebuilt_whole(scratch):
    """All changes of all ranks, in their order, give the file that lies there."""
    for name in ("netcdf4", "cdf1", "zarr"):
        run = record(Workload("reopen", name, 3, 6), scratch / "run")
        changes = read_log(run.folder / "log")
        assert Promises(changes).count() == len([p for p in run.promises if "promise" in p]) // 3
        for _, files in images(changes, [Moment(len(changes))]):
            assert files == files_in(run.folder / "files")
        assert len(process_moments(changes, 0, random.Random(1))) > len(changes)


def test_power_failures_keep_what_was_synced():
    write = [Change(WRITE, "f", 4096 * i, 4096, 0, bytes([i + 1]) * 4096) for i in range(4)]
    again = Change(WRITE, "f", 0, 8192, 0, b"z" * 8192)
    changes = [Change(CREATE, "f", 1, 0, 0, b""), Change(SYNC, "", 0, 0, 0, b"")]
    changes += [*write, Change(SYNC, "f", 0, 0, 0, b""), again]
    changes += [Change(PROMISE, "", 0, 0, 0, b"{}"), Change(TRUNCATE, "f", 20000, 0, 0, b"")]
    disk = Disk()
    for change in changes:
        disk.apply(change)
    seen: Counter = Counter()
    for seed in range(200):
        data = disk.image(Moment(len(changes), seed=seed, unit=512), None)["f"]
        assert len(data) in (16384, 20000)
        assert data[8192:16384] == write[2].payload + write[3].payload
        assert data[16384:] == bytes(len(data) - 16384)
        sectors = [data[i : i + 512] for i in range(0, 8192, 512)]
        assert all(s in (b"z" * 512, bytes([1 + i // 8]) * 512) for i, s in enumerate(sectors))
        seen[sum(s[0] == ord("z") for s in sectors)] += 1
    assert seen[16] > 0 and len(seen) > 5 and min(seen) < 8


def test_power_failures_keep_names_whose_folder_was_synced():
    def change(what, path, payload=""):
        return Change(what, path, 0, len(payload), 0, payload.encode())

    made = [change(MAKE_FOLDER, "a"), change(CREATE, "a/old"), change(WRITE, "a/old", "x")]
    synced = [change(SYNC, "a/old"), change(SYNC, "a"), change(SYNC, "")]
    later = [change(CREATE, "a/new"), change(RENAME, "a/old", "a/moved"), change(LINK, "a/moved", "a/link")]
    later += [change(MAKE_FOLDER, "b"), change(RENAME, "a/moved", "b/moved"), change(UNLINK, "a/link")]

    def seen(changes):
        disk = Disk()
        for one in changes:
            disk.apply(one)
        return {tuple(disk.image(Moment(len(changes), seed=seed), None)) for seed in range(400)}

    assert seen(made[:2] + synced[-1:]) == {("a/",), ("a/old",)}
    assert seen(made + synced) == {("a/old",)}
    states = [("a/old",), ("a/new", "a/old"), ("a/moved", "a/new"), ("a/link", "a/moved", "a/new")]
    moved = [("a/link", "a/new", "b/moved"), ("a/new", "b/moved")]
    lost = [("a/link", "a/new"), ("a/new",)]  # b has no name yet
    empty = [(*state, "b/") for state in states]
    assert seen(made + synced + later) == {*states, *moved, *lost, *empty}
    assert seen([*made, *synced, *later, change(SYNC, "b")]) == {*moved, *lost}
    assert seen([*made, *synced, *later, change(SYNC, "b"), change(SYNC, "")]) == {*moved}
