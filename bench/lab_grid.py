#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shoal as it comes and as tuned, beside settings of its own and other libraries, on emulated file systems.

  bench/lab_grid.py run GRID.jsonl [--build build/release] [--presets A,B] [--cells A,B]
  bench/lab_grid.py table [--csv] GRID...

A cell is an output of a model on a preset of labfs, by 8 ranks on 4 nodes. In each, one start of shoal-bench
measures `native` as it is, with the figures of `shoal tune` (run once a preset), and with 40 fixed settings:
I/O ranks by slots, by stripes on Lustre and by writers elsewhere. Other starts measure PnetCDF and parallel
netCDF-4 with hints, with the folder's stripes and on Lustre with 8. Those that come near the best take
turns three times more, and their medians count. Seconds are of the model, until the servers have the bytes.
A line of the file is a start; the same command goes on where it was interrupted. Needs root and FUSE.

`table` prints a row for each cell, and counts. A GRID is a file of `run`, or rows as `--csv` prints them:
docs/figures/lab_grid.csv has those of docs/performance.md.
"""

import argparse
import csv
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

RANKS, NODES = 8, 4
PRESETS = (
    "lustre-2010",
    "lustre-2018",
    "lustre-ssd",
    "gpfs-blocks",
    "beegfs",
    "burst-buffer",
    "nfs-home",
    "laptop-ssd",
)
CDF5, NC4 = ("--formats", "cdf5"), ("--formats", "netcdf4")
# Name: words of shoal-bench; settings of every method.
CELLS = {
    "history 7 MB": (("roms-size", "--size", "small", "--records", "2", *CDF5), ""),
    "history 26 MB": (("roms-size", "--size", "240x240x16", "--records", "1", *CDF5), ""),
    "history netCDF-4": (("roms-size", "--size", "160x160x16", "--records", "1", *NC4), ""),
    "history in rows": (("roms-tiles", "--size", "small", "--records", "2", "--tiles", "1x8", *CDF5), ""),
    "history in columns": (("roms-tiles", "--size", "small", "--records", "2", "--tiles", "8x1", *CDF5), ""),
    "columns 5 MB": (("restart", "--size", "ne4", *CDF5), ""),
    "columns 19 MB": (("restart", "--size", "ne8", *CDF5), ""),
    "columns netCDF-4": (("restart", "--size", "ne6", *NC4), ""),
    "ocean 8 MB": (("mom-output", "--size", "120x90x36", "--records", "1", *CDF5), ""),
    "ocean deflated": (("mom-output", "--size", "120x90x36", "--records", "1", *NC4), "+deflate1"),
    "10 syncs": (("commits", "--records", "10", *CDF5), ""),
    "plain 16 MB": (("seven-ways", "--size", "2000000", *CDF5), ""),
}
# Nodes that store scattered columns themselves, or tiles on Lustre and GPFS, take up to a hundred times as
# long, and NFS refuses it: not among the settings.
SCATTERED = ("columns 5 MB", "columns 19 MB", "columns netCDF-4")
# In `Cell`, what is within so much of the best is measured again.
NEAR = 1.25
# Real seconds for one of the model: less, and what ranks compute on two cores counts for too much.
SCALE = 8.0


def own_settings(kind, cell):
    """The 40 fixed settings of native for a kind of file system."""
    ways = ["", "+io_ranks=1", "+io_ranks=2", "+io_ranks_per_node=1"]
    kept = kind not in ("lustre", "gpfs", "nfs") and cell not in SCATTERED
    ways.append("+rearrange=off" if kept else "+rearrange=on")
    firsts = (
        [f"+stripe_count={n}" for n in (1, 2, 4, 8)] if kind == "lustre" else ["+writers=1", "+writers=2"]
    )
    slots = ("1MiB", "4MiB") if kind == "lustre" else ("256KiB", "1MiB", "4MiB", "16MiB")
    return [f"native{way}{first}+slot_bytes={slot}" for way in ways for first in firsts for slot in slots]


def other_starts(kind, formats):
    """Hints, stripes and MPI-IO of other libraries, and their methods."""
    methods = ["pnetcdf-collective", "pnetcdf-nonblocking"] if "cdf5" in formats else ["netcdf-collective"]
    for stripes in (0, 8) if kind == "lustre" else (0,):
        for hints in ("", "cb_nodes=1"):
            yield hints, stripes, "romio", methods
    yield "", 0, "ompio", methods


class Laboratory:
    """labfs and the programs that run on its mounts."""

    def __init__(self, build, preset, folder, scale):
        self.bin = Path(build).resolve() / "bin"
        self.mpirun = Path(__file__).resolve().parent.parent / "tools/mpirun.sh"
        self.preset = preset
        self.folder = Path(folder)
        described = self._describe(NODES)
        self.kind = described["kind"]
        self.nodes = 1 if self.kind == "ext4" else NODES
        self.rate = described["bytes_per_second"]
        self.scale = scale
        self.reports = self.folder / "reports.jsonl"
        self.bytes = tempfile.TemporaryDirectory(prefix="shoal-grid-", dir="/dev/shm")

    def _describe(self, nodes):
        words = [self.bin / "labfs", "--describe", "--preset", self.preset, "--clients", str(nodes)]
        return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)

    def run(self, words, stripes=0, mpi_io="romio", reports=False, seconds=1200):
        """What the program prints, how it ended, and the longest lateness of replies in real seconds."""
        report = self.folder / "report.json"
        mounts = self.folder / "lab"
        changes = ["--set", f"striping.count = {stripes}"] if stripes else []
        serve = [self.bin / "labfs", "run", "--preset", self.preset, "--clients", str(self.nodes)]
        serve += ["--scale", str(self.scale), "--dir", mounts, "--report", report, *changes]
        serve += ["--backing", self.bytes.name]
        launch = [self.mpirun, str(RANKS), self.bin / "labfs", "enter"]
        environment = {
            **os.environ,
            "SHOAL_RANKS_PER_NODE": str(RANKS // self.nodes),
            "OMPI_MCA_io": "^ompio" if mpi_io == "romio" else mpi_io,
        }
        if reports:
            environment["SHOAL_REPORT"] = str(self.reports)
        command = [*serve, "--", *launch, "--", *words]
        try:
            done = subprocess.run(
                [str(word) for word in command], env=environment, cwd=self.folder, timeout=seconds,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
            text, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            text, code = (late.stdout or b"").decode(errors="replace"), -1
        late = json.loads(report.read_text())["most_late_seconds"] if report.is_file() else 0.0
        report.unlink(missing_ok=True)
        return text, code, late

    def tune(self, machine):
        place = self.folder / "lab/here"
        words = [self.bin / "shoal-tune", place, "--machine", machine, "--minutes", "1.5"]
        return self.run([*words, "--writer-bytes", "16MiB" if self.rate > 5e8 else "1MiB"])

    def bench(self, cell, methods, hints="", stripes=0, mpi_io="romio", repetitions=1, reports=False):
        """Seconds of the model by method: a list, a number for each repetition."""
        words, _ = CELLS[cell]
        given = [self.bin / "shoal-bench", *words, "--methods", ",".join(methods), "--flush", "--stream"]
        given += ["--no-warm-up", "--reps", str(repetitions), "--dir", self.folder / "lab/here"]
        given += ["--check-in", self.bytes.name]
        given += ["--hints", hints] if hints else []
        text, code, late = self.run(given, stripes, mpi_io, reports)
        found, refused = defaultdict(list), {}
        for line in text.splitlines():
            event = json.loads(line) if line.startswith("{") else {}
            if event.get("event") == "result" and event["operation"] == "write":
                if not event["verified"]:
                    refused[event["method"]] = "wrong values"
                else:
                    found[event["method"]].append(event["seconds"]["total"] / self.scale)
            elif event.get("event") == "skipped":
                refused[event["method"]] = event["reason"]
        said = [line for line in text.splitlines() if not line.startswith("{")]
        if code != 0:
            refused["start"] = f"exit code {code}: " + " ".join(said)[-2000:]
        return {
            "seconds": found,
            "refused": refused,
            "late": late,
            "scale": self.scale,
            "store": self._predictions(),
        }

    def _predictions(self):
        """Of each file that was written by measured figures: seconds of store as predicted, and as they were;
        real ones."""
        if not self.reports.is_file():
            return []
        reports = [json.loads(line) for line in self.reports.read_text().splitlines()]
        self.reports.unlink()
        machines = [report.get("machine") or {} for report in reports]
        return [(m["store_predicted"], m["store_measured"]) for m in machines if m.get("store_predicted")]


class Cell:
    """All starts of a cell, each a line of the file."""

    def __init__(self, lab, cell, machine, known, write):
        self.lab, self.cell, self.machine = lab, cell, machine
        self.known, self.write = known, write

    def start(self, role, methods, **how):
        key = {"preset": self.lab.preset, "cell": self.cell, "role": role, **how}
        text = json.dumps(key, sort_keys=True)
        if text not in self.known:
            settings = CELLS[self.cell][1]
            named = {name + settings: name for name in methods}
            # Writing a report takes real time, which would count.
            measured = self.lab.bench(self.cell, list(named), reports=role == "tuned", **how)
            measured["seconds"] = {named.get(m, m): s for m, s in measured["seconds"].items()}
            self.known[text] = self.write({**key, **measured})
        return self.known[text]

    def measure(self):
        tuned = f"native+machine={self.machine}"
        first = self.start("own", ["native", tuned, *own_settings(self.lab.kind, self.cell)])
        others = []
        for hints, stripes, mpi_io, methods in other_starts(self.lab.kind, CELLS[self.cell][0]):
            how = {"hints": hints, "stripes": stripes, "mpi_io": mpi_io}
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


def lines_of(path):
    lines = Path(path).read_text().splitlines() if Path(path).is_file() else []
    return [json.loads(line) for line in lines]


def run(options):
    known = {}
    for line in lines_of(options.grid):
        key = {k: v for k, v in line.items() if k not in ("seconds", "refused", "late", "scale", "store")}
        known[json.dumps(key, sort_keys=True)] = line

    def write(line):
        with open(options.grid, "a") as out:
            out.write(json.dumps(line) + "\n")
        worst = f", refused: {line['refused']}" if line["refused"] else ""
        words = [
            line["preset"],
            line["cell"],
            line["role"],
            line.get("hints", ""),
            str(line.get("stripes", "")),
        ]
        print(" ".join(words), f"late {line['late']:.3f}{worst[:300]}", flush=True)
        return line

    for preset in options.presets.split(","):
        # One path for all starts on a preset: the machine file names the mount point.
        folder = Path(tempfile.mkdtemp(prefix=f"shoal-grid-{preset}-"))
        try:
            lab = Laboratory(options.build, preset, folder, options.scale)
            machine = Path(f"{options.grid}.{preset}.toml").resolve()
            if not machine.is_file():
                print(lab.tune(machine)[0], flush=True)
            text = re.sub(r'mount_point = ".*"', f'mount_point = "{folder}/lab/here"', machine.read_text())
            machine.write_text(text)
            for cell in options.cells.split(","):
                Cell(lab, cell, machine, known, write).measure()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def medians_of(lines, role):
    """By method, of the start of a role; and that start."""
    found = [line for line in lines if line["role"] == role]
    start = found[-1] if found else {"seconds": {}}
    # The first turn of a program makes its memory and its plans.
    return {m: statistics.median(s[1:] or s) for m, s in start["seconds"].items()}, start


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


def row_of(cell, lines):
    """Default, best, others and prediction of a cell, as words by the columns of HEADS."""
    medians, _ = medians_of(lines, "again")
    default = medians.pop("native")
    tuned = medians.pop(next((m for m in medians if "machine=" in m), ""), default)
    best = min(medians, key=medians.get)
    ratios = [f"{seconds / medians[best]:.2f}" for seconds in (default, tuned)]
    words = [*cell, f"{1e3 * default:.3g}", *ratios, best]
    others, start = medians_of(lines, "other again")
    if others:
        method, seconds = next(iter(others.items()))
        stripes = f"{start['stripes']} stripes" if start["stripes"] else ""
        how = " ".join(part for part in (method, start["hints"], stripes, start["mpi_io"]) if part)
        words += [f"{seconds / default:.2f}", how]
    else:
        words += ["", ""]
    _, start = medians_of(lines, "tuned")
    times = [measured / predicted for predicted, measured in start.get("store", [])]
    words.append(f"{statistics.median(times):.2f}" if times else "")
    return dict(zip(HEADS, words))


def rows_of(paths):
    """Of files of `run` and of rows."""
    cells, rows = defaultdict(list), []
    for path in paths:
        if path.endswith(".csv"):
            with open(path, newline="") as file:
                rows += csv.DictReader(file)
        else:
            for line in lines_of(path):
                cells[line["preset"], line["cell"]].append(line)
    measured = [item for item in cells.items() if any(line["role"] == "again" for line in item[1])]
    return rows + [row_of(cell, lines) for cell, lines in measured]


def table(options):
    rows = rows_of(options.grid)
    if options.csv:
        out = csv.DictWriter(sys.stdout, HEADS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
        return
    print("| " + " | ".join(HEADS.values()) + " |")
    print("|---" * len(HEADS) + "|")
    for row in rows:
        print("| " + " | ".join(row.values()) + " |")

    def count(column, least, most):
        known = [float(row[column]) for row in rows if row[column]]
        return f"{sum(least <= ratio <= most for ratio in known)} of {len(known)}"

    print("\ndefault within 25 % of the best:", count("default_to_best", 0, 1.25))
    print("tuned within 10 %:", count("tuned_to_best", 0, 1.1))
    print("others not faster than the default:", count("others_to_default", 1, float("inf")))
    print("store within 30 % of the prediction:", count("store_to_predicted", 1 / 1.3, 1.3))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--build", default="build/release")
    runs.add_argument("--scale", type=float, default=SCALE)
    runs.add_argument("--presets", default=",".join(PRESETS))
    runs.add_argument("--cells", default=",".join(CELLS))
    runs.set_defaults(do=run)
    tables = commands.add_parser("table")
    tables.add_argument("--csv", action="store_true")
    tables.set_defaults(do=table)
    runs.add_argument("grid", metavar="GRID.jsonl")
    tables.add_argument("grid", metavar="GRID", nargs="+")
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
