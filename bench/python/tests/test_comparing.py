# SPDX-License-Identifier: BSD-3-Clause
"""shoal bench figures, grid, move and what else takes turns with other programs."""

import json
import shutil
import sys

import bench_results
import pytest
from conftest import run_program

from shoal_bench import comparing, grid, promises
from shoal_bench.results import Result


def test_ways_take_turns_in_both_orders():
    order = []
    ways = [
        comparing.Way(name, lambda name=name: order.append(name) or {"seconds": len(order)}) for name in "abc"
    ]
    found = comparing.in_turns(ways, 2)
    assert "".join(order) == "abccbaabc"
    assert [turn["seconds"] for turn in found["a"]] == [6, 7] and comparing.median(found["c"]) == 6.5


def test_figures_are_judged(capsys):
    make = bench_results.Maker(repetitions=3)
    methods = [("limit", "raw"), ("pnetcdf-collective", "cdf5"), ("native", "cdf5"), ("native", "netcdf4")]
    for method, format in methods:
        for operation in ("write", "read"):
            make.add("roms-size", method, format, [8, 8, 2], 1, (2, 2), operation=operation, study="large")
    runs = [Result.of(item) for item in make.results]
    for run in runs:
        run.seconds["total"] = {"limit": 0.95, "native": 1.0}.get(run.method, 2.0)
    assert promises.judge(runs) == 0
    assert capsys.readouterr().out.count("reached") == 8
    # Slower than half of the best that can be, and a value that is wrong.
    for run in runs:
        run.seconds["total"] *= 2 if run.method == "native" else 1
    runs[0].verified = False
    assert promises.judge(runs) == 7
    said = capsys.readouterr().out
    assert "MISSED        write, large, native cdf5 of limit: 0.475, target at least 0.9" in said
    assert "WRONG VALUES in 1 runs" in said


def test_grid_is_made_of_starts(capsys, tmp_path):
    start = {"preset": "nfs-home", "cell": "plain 16 MB", "refused": {}, "late": 0.0, "scale": 8, "store": []}
    best = {"native": [9, 0.4, 0.6], "native+machine=m": [9, 0.3, 0.3], "native+writers=1": [9, 0.25, 0.25]}
    other = {
        "hints": "cb_nodes=1",
        "stripes": 8,
        "mpi_io": "romio",
        "seconds": {"pnetcdf-collective": [9, 1, 1]},
    }
    lines = [
        {**start, "role": "again", "seconds": best},
        {**start, "role": "other again", **other},
        {**start, "role": "tuned", "seconds": {}, "store": [[2.0, 3.0]]},
        {**start, "cell": "10 syncs", "role": "own", "seconds": {}},  # not measured to its end
    ]
    path = tmp_path / "grid.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (row,) = grid.rows_of([path])
    assert list(row.values()) == [
        "nfs-home", "plain 16 MB", "500", "2.00", "1.20", "native+writers=1", "2.00",
        "pnetcdf-collective cb_nodes=1 8 stripes romio", "1.50",
    ]  # fmt: skip
    grid.table([path], as_csv=False)
    assert "tuned within 10 %: 0 of 1" in capsys.readouterr().out
    for kind, cell in (("lustre", "columns 5 MB"), ("ext4", "ocean 8 MB"), ("nfs", "10 syncs")):
        assert len(set(grid.own_settings(kind, cell))) == 40
    with pytest.raises(KeyError):
        grid.own_settings("ext4", "no cell")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["move", "--mib", "2"], "cp and sync"),
        (["drivers", "--drivers", "gather", "--size", "17x11x3", "--records", "1"], "gather netcdf4"),
        (
            ["combine", "--shape", "9x8x2", "--tiles", "2x1", "--records", "1", "--ranks", "1"],
            "shoal combine, 1",
        ),
        (["convert", "--shape", "1x2x8x9", "--chunks", "1x1x8x9", "--ranks", "1"], "shoal convert"),
        (
            [
                "zarr",
                "--size",
                "16x12x4",
                "--records",
                "1",
                "--elements",
                "1000",
                "--shape",
                "2x2x8x9",
                "--fields",
                "2",
            ],
            "many fields, write",
        ),
    ],
)
def test_small_runs(words, said, tmp_path):
    if words[0] == "convert" and shutil.which("nccopy") is None:
        pytest.skip("no nccopy")
    command = [sys.executable, "-m", "shoal.cli", "bench", *words, "--reps", "1", "--dir", str(tmp_path)]
    done = run_program(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert said in done.stdout and not any(tmp_path.iterdir())
