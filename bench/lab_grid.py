#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shoal as it comes, beside fixed settings of its own and beside other libraries, on emulated file systems.

usage: bench/lab_grid.py RESULTS.json
Prints a table from results of, for instance

  shoal bench run restart:methods roms-size:size mom-output:layouts --lab lustre-2018,gpfs-blocks --ranks 8 \\
    --size small --records 2 --reps 1 --formats cdf5 --mpi-io romio --json RESULTS.json \\
    --methods native,native+io_ranks=1,native+io_ranks_per_node=1,gather,pnetcdf-nonblocking

A cell is an experiment on a preset. Seconds are those of the model, medians over repetitions; default:
`native`; best: the fastest of `native+...`; other: the fastest method that is not native.
"""

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path


def cells(path):
    seconds = defaultdict(lambda: defaultdict(list))
    for result in json.loads(Path(path).read_text()):
        if result["operation"] == "write" and "lab" in result:
            size = f"{result['study']}, {result['bytes'] / 2**20:.0f} MiB"
            cell = (result["lab"]["preset"], result["experiment"], size)
            seconds[cell][result["method"]].append(result["seconds"]["total"])
    return {
        cell: {method: statistics.median(all) for method, all in methods.items()}
        for cell, methods in seconds.items()
    }


def best_of(methods, own):
    chosen = [m for m in methods if m.startswith("native+" if own else "") and (own or "native" not in m)]
    return min(chosen, key=methods.get, default=None)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    print("| preset | experiment | default, s | best setting | default / best | other | default / other |")
    print("|---|---|---|---|---|---|---|")
    for (preset, experiment, size), methods in sorted(cells(sys.argv[1]).items()):
        if "native" not in methods:
            continue
        default = methods["native"]
        words = [preset, f"{experiment} ({size})", f"{default:.3g}"]
        for method in (best_of(methods, True), best_of(methods, False)):
            words += [f"`{method}`", f"{default / methods[method]:.2f}"] if method else ["", ""]
        print("| " + " | ".join(words) + " |")


if __name__ == "__main__":
    main()
