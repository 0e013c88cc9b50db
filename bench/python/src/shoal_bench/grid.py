# SPDX-License-Identifier: BSD-3-Clause
"""shoal bench grid: Shoal as it comes and as tuned, beside settings of its own and other libraries.

A cell is an output of a model on a preset of labfs, by 8 ranks on 4 nodes. In each, one start of shoal-bench
measures `native` as it is, with the figures of `shoal tune` (run once a preset), and with 40 fixed settings:
I/O ranks by slots, by stripes on Lustre and by writers elsewhere. Other starts measure PnetCDF and parallel
netCDF-4 with hints, with the folder's stripes and on Lustre with 8. Those that come near the best take turns
three times more, and their medians count. Seconds are of the model, until the servers have the bytes."""

from __future__ import annotations

import csv
import json
import os
import re
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Annotated

import typer

from shoal.cli.mpi_launch import find_launcher, launch_environment
from shoal.programs import find_program

from .comparing import in_words, started
from .engine import find_engine
from .lab import Labfs, find_labfs
from .process import Run
from .study import Lab, Start

RANKS, NODES = 8, 4
PRESETS = "lustre-2010,lustre-2018,lustre-ssd,gpfs-blocks,beegfs,burst-buffer,nfs-home,laptop-ssd"
# Experiment, size, records, tiles, format, settings of every method.
CELLS = {
    "history 7 MB": ("roms-size", "small", 2, "2x4", "cdf5", ""),
    "history 26 MB": ("roms-size", "240x240x16", 1, "2x4", "cdf5", ""),
    "history netCDF-4": ("roms-size", "160x160x16", 1, "2x4", "netcdf4", ""),
    "history in rows": ("roms-tiles", "small", 2, "1x8", "cdf5", ""),
    "history in columns": ("roms-tiles", "small", 2, "8x1", "cdf5", ""),
    "columns 5 MB": ("restart", "ne4", 0, "8x1", "cdf5", ""),
    "columns 19 MB": ("restart", "ne8", 0, "8x1", "cdf5", ""),
    "columns netCDF-4": ("restart", "ne6", 0, "8x1", "netcdf4", ""),
    "ocean 8 MB": ("mom-output", "120x90x36", 1, "2x4", "cdf5", ""),
    "ocean deflated": ("mom-output", "120x90x36", 1, "2x4", "netcdf4", "+deflate1"),
    "10 syncs": ("commits", "small", 10, "2x4", "cdf5", ""),
    "plain 16 MB": ("seven-ways", "2000000", 0, "8x1", "cdf5", ""),
}
# In a cell, what is within so much of the best is measured again.
NEAR = 1.25
# Real seconds for one of the model: less, and what ranks compute on two cores counts for too much.
SCALE = 8.0
_patience = 1200.0  # seconds of a start
_measured = ("seconds", "refused", "late", "scale", "store")  # the rest of a line says what was started


def own_settings(kind: str, cell: str) -> list[str]:
    """The 40 fixed settings of native for a kind of file system."""
    ways = ["", "+io_ranks=1", "+io_ranks=2", "+io_ranks_per_node=1"]
    # Nodes that store scattered columns themselves, or tiles on Lustre and GPFS, take up to a hundred
    # times as long, and NFS refuses it.
    kept = kind not in ("lustre", "gpfs", "nfs") and CELLS[cell][0] != "restart"
    ways.append("+rearrange=off" if kept else "+rearrange=on")
    stripes = [f"+stripe_count={n}" for n in (1, 2, 4, 8)]
    firsts = stripes if kind == "lustre" else ["+writers=1", "+writers=2"]
    slots = ("1MiB", "4MiB") if kind == "lustre" else ("256KiB", "1MiB", "4MiB", "16MiB")
    return [f"native{way}{first}+slot_bytes={slot}" for way in ways for first in firsts for slot in slots]


def other_starts(kind: str, format: str) -> Iterator[tuple[dict, list[str]]]:
    """Hints, stripes and MPI-IO of other libraries, and their methods."""
    methods = ["pnetcdf-collective", "pnetcdf-nonblocking"] if format == "cdf5" else ["netcdf-collective"]
    for stripes in (0, 8) if kind == "lustre" else (0,):
        for hints in ("", "cb_nodes=1"):
            yield {"hints": hints, "stripes": stripes, "mpi_io": "romio"}, methods
    yield {"hints": "", "stripes": 0, "mpi_io": "ompio"}, methods


class Laboratory:
    """A preset of labfs, and starts on its mounts, which lie at one path, as the machine file names it."""

    def __init__(self, labfs: Labfs, preset: str, folder: Path, scale: float):
        self.labfs, self.engine, self.launcher = labfs, find_engine(), find_launcher()
        self.mounts, self.reports = folder / "lab", folder / "reports.jsonl"
        self.system = labfs.file_system(Lab(preset, NODES))
        self.lab = Lab(preset, 1 if self.system.kind == "ext4" else NODES, scale=scale)

    def machine(self, path: Path) -> Path:
        """The file of `shoal tune`, which is run if there is none."""
        if not path.is_file():
            words = [str(find_program("shoal-tune", "BENCH_TUNE")), str(self.mounts / "here"), "--machine"]
            words += [str(path), "--minutes", "1.5", "--writer-bytes"]
            words += ["16MiB" if self.system.bytes_per_second > 5e8 else "1MiB"]
            launch = self.launcher.command(RANKS) if self.launcher else []
            nodes = {"SHOAL_RANKS_PER_NODE": str(RANKS // self.lab.nodes), "OMPI_MCA_io": "^ompio"}
            with tempfile.NamedTemporaryFile(dir=self.mounts.parent) as report:
                command = self.labfs.command(self.lab, self.mounts, report.name, launch, words)
                print(started(command, **launch_environment(self.launcher), **nodes), flush=True)
        place = f'mount_point = "{self.mounts}/here"'
        path.write_text(re.sub(r'mount_point = ".*"', place, path.read_text()))
        return path

    def measure(
        self,
        cell: str,
        methods: Sequence[str],
        hints="",
        stripes=0,
        mpi_io="romio",
        repetitions=1,
        reports=False,
    ) -> dict:
        """Seconds of the model by method: a list, a number for each repetition; what was refused, and why."""
        experiment, size, records, tiles, format, _ = CELLS[cell]
        lab = Lab(self.lab.preset, self.lab.nodes, stripes, scale=self.lab.scale)
        start = Start(
            experiment, "grid", RANKS, tiles, size, records, tuple(methods), (format,), (), hints,
            mpi_io=mpi_io, read=False, flush=True, warm_up=False, lab=lab, repetitions=repetitions,
        )  # fmt: skip
        found, refused = defaultdict(list), {}
        if reports:
            os.environ["SHOAL_REPORT"] = str(self.reports)
        with Run(self.engine, start, 1, self.launcher, self.labfs, self.mounts) as run:
            os.environ.pop("SHOAL_REPORT", None)
            timer = Timer(_patience, run.stop)
            timer.start()
            for event in run.events():
                if event["event"] == "skipped":
                    refused[event["method"]] = event["reason"]
                elif event["event"] == "result" and event["operation"] == "write":
                    found[event["method"]].append(event["seconds"]["total"] / lab.scale)
                    if not event["verified"]:
                        refused[event["method"]] = "wrong values"
            code, said = run.finish()
            timer.cancel()
            late = run.lab_report().get("most_late_seconds", 0.0)
        if code != 0:
            refused["start"] = f"exit code {code}: " + " ".join(said)[-2000:]
        seconds = {method: took for method, took in found.items() if refused.get(method) != "wrong values"}
        return dict(zip(_measured, (seconds, refused, late, lab.scale, self._predictions())))

    def _predictions(self) -> list[tuple[float, float]]:
        """Of each file that was written by measured figures: seconds of store as predicted, and as they were;
        real ones."""
        if not self.reports.is_file():
            return []
        reports = [json.loads(line) for line in self.reports.read_text().splitlines()]
        self.reports.unlink()
        machines = [report.get("machine") or {} for report in reports]
        return [(m["store_predicted"], m["store_measured"]) for m in machines if m.get("store_predicted")]


@dataclass
class Cell:
    """All starts of a cell, each a line of the file."""

    lab: Laboratory
    name: str
    machine: Path
    known: dict[str, dict]
    write: Callable[[dict], dict]

    def start(self, role: str, methods: Sequence[str], **how) -> dict:
        key = {"preset": self.lab.lab.preset, "cell": self.name, "role": role, **how}
        text = json.dumps(key, sort_keys=True)
        if text not in self.known:
            settings = CELLS[self.name][-1]
            # Writing a report takes real time, which would count.
            named = [method + settings for method in methods]
            measured = self.lab.measure(self.name, named, reports=role == "tuned", **how)
            measured["seconds"] = {m.removesuffix(settings): s for m, s in measured["seconds"].items()}
            self.known[text] = self.write({**key, **measured})
        return self.known[text]

    def measure(self) -> None:
        tuned = f"native+machine={self.machine}"
        kind = self.lab.system.kind
        first = self.start("own", ["native", tuned, *own_settings(kind, self.name)])
        others = []
        for how, methods in other_starts(kind, CELLS[self.name][4]):
            done = self.start("other", methods, **how, repetitions=2)
            others += [(min(s), m, how) for m, s in done["seconds"].items()]
        own = {m: s[0] for m, s in first["seconds"].items() if m not in ("native", tuned)}
        best = min(own.values())
        near = [m for m in sorted(own, key=own.get)[:4] if own[m] <= NEAR * best]
        self.start("again", ["native", tuned, *near], repetitions=3)
        self.start("tuned", [tuned], repetitions=3)
        if others:
            _, method, how = min(others, key=lambda each: each[0])
            self.start("other again", [method], **how, repetitions=3)


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def run(
    grid: Annotated[Path, typer.Argument(metavar="GRID.jsonl", help="A line a start; it is gone on with.")],
    presets: Annotated[str, typer.Option(metavar="A,...")] = PRESETS,
    cells: Annotated[str, typer.Option(metavar="A,...")] = ",".join(CELLS),
    scale: Annotated[float, typer.Option(help="Real seconds for one of the model.")] = SCALE,
) -> None:
    """Measure the cells; the same command goes on where it was interrupted. Needs root and FUSE."""
    known = {}
    for line in lines_of(grid):
        known[json.dumps({k: v for k, v in line.items() if k not in _measured}, sort_keys=True)] = line

    def write(line: dict) -> dict:
        with open(grid, "a") as out:
            out.write(json.dumps(line) + "\n")
        said = [str(line.get(key, "")) for key in ("preset", "cell", "role", "hints", "stripes")]
        refused = f", refused: {line['refused']}"[:300] if line["refused"] else ""
        print(*said, f"late {line['late']:.3f}{refused}", flush=True)
        return line

    with in_words():
        labfs = find_labfs()
        for preset in presets.split(","):
            with tempfile.TemporaryDirectory(prefix=f"shoal-grid-{preset}-") as folder:
                lab = Laboratory(labfs, preset, Path(folder), scale)
                machine = lab.machine(Path(f"{grid}.{preset}.toml").resolve())
                for cell in cells.split(","):
                    Cell(lab, cell, machine, known, write).measure()


# Columns of a row, with their heads in the table.
HEADS = {
    "preset": "preset",
    "output": "output",
    "default_ms": "default, ms",
    "default_to_best": "default / best",
    "tuned_to_best": "tuned / best",
    "best_of_40": "best of 40",
    "others_to_default": "others / default",
    "best_of_others": "best of others",
    "store_to_predicted": "store, measured / predicted",
}


def row_of(cell: Sequence[str], lines: Sequence[dict]) -> dict[str, str]:
    """Default, best, others and prediction of a cell, as words by the columns of HEADS."""

    def medians(role: str) -> tuple[dict[str, float], dict]:
        """By method, of the start of a role; and that start."""
        start = next((line for line in reversed(lines) if line["role"] == role), {"seconds": {}})
        # The first turn of a program makes its memory and its plans.
        return {m: statistics.median(s[1:] or s) for m, s in start["seconds"].items()}, start

    own, _ = medians("again")
    default = own.pop("native")
    tuned = own.pop(next((m for m in own if "machine=" in m), ""), default)
    best = min(own, key=own.get)
    words = [*cell, f"{1e3 * default:.3g}", *(f"{s / own[best]:.2f}" for s in (default, tuned)), best]
    others, start = medians("other again")
    for method, seconds in list(others.items())[:1] or [("", 0.0)]:
        stripes = f"{start['stripes']} stripes" if start.get("stripes") else ""
        how = (part for part in (method, start.get("hints"), stripes, start.get("mpi_io")) if part)
        words += [f"{seconds / default:.2f}" if method else "", " ".join(how)]
    times = [measured / predicted for predicted, measured in medians("tuned")[1].get("store", [])]
    return dict(zip(HEADS, [*words, f"{statistics.median(times):.2f}" if times else ""]))


def rows_of(paths: Sequence[Path]) -> list[dict[str, str]]:
    """Of files of `run`, and of rows."""
    cells, rows = defaultdict(list), []
    for path in paths:
        if path.suffix == ".csv":
            with open(path, newline="") as file:
                rows += csv.DictReader(file)
        else:
            for line in lines_of(path):
                cells[line["preset"], line["cell"]].append(line)
    measured = [item for item in cells.items() if any(line["role"] == "again" for line in item[1])]
    return rows + [row_of(cell, lines) for cell, lines in measured]


def table(
    grids: Annotated[list[Path], typer.Argument(metavar="GRID...", help="Files of `run`, or rows (.csv).")],
    as_csv: Annotated[bool, typer.Option("--csv", help="Rows without a table.")] = False,
) -> None:
    """A row for each cell, and counts; docs/figures/lab_grid.csv has those of docs/performance.md."""
    rows = rows_of(grids)
    if as_csv:
        out = csv.DictWriter(sys.stdout, HEADS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
        return
    for cells in (HEADS, dict.fromkeys(HEADS, "---"), *rows):
        print("| " + " | ".join(cells.values()) + " |")

    def count(what: str, column: str, least: float, most: float) -> None:
        known = [float(row[column]) for row in rows if row[column]]
        print(f"{what}: {sum(least <= ratio <= most for ratio in known)} of {len(known)}")

    print()
    count("default within 25 % of the best", "default_to_best", 0, 1.25)
    count("tuned within 10 %", "tuned_to_best", 0, 1.1)
    count("others not faster than the default", "others_to_default", 1, float("inf"))
    count("store within 30 % of the prediction", "store_to_predicted", 1 / 1.3, 1.3)


def register(group: typer.Typer) -> None:
    grid = typer.Typer(help=__doc__.split("\n")[0].partition(": ")[2], no_args_is_help=True)
    grid.command()(run)
    grid.command()(table)
    group.add_typer(grid, name="grid")
