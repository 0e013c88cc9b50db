#!/usr/bin/env python3
"""Hold the results in a folder against the figures that Shoal promises: one line each.

usage: figures.py FOLDER     (with the JSON that figures.sh leaves). Exit code 1 if a figure is not reached.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

MIB = 1048576
MARGIN_BYTES = 64 * MIB  # beside arrays and stage
STAGE_BYTES = 256 * MIB  # default of the setting

Runs = list[dict]


def load(folder: Path, pattern: str) -> Runs:
    runs: Runs = []
    for path in sorted(folder.glob(pattern)):
        runs += json.loads(path.read_text())
    return runs


def select(runs: Runs, **keys: object) -> Runs:
    return [run for run in runs if all(run[key] == value for key, value in keys.items())]


def seconds(runs: Runs, phase: str = "total", **keys: object) -> float | None:
    """Median of the runs that have the keys, None if there are none."""
    found = [run["seconds"][phase] for run in select(runs, **keys)]
    return statistics.median(found) if found else None


class Table:
    def __init__(self) -> None:
        self.failed = 0

    def line(
        self, what: str, value: float | None, target: float, unit: str = "", at_most: bool = False
    ) -> None:
        if value is None:
            print(f"not measured  {what}")
            return
        reached = value <= target if at_most else value >= target
        self.failed += not reached
        sign = "at most" if at_most else "at least"
        verdict = "reached" if reached else "MISSED "
        print(f"{verdict:12s}  {what}: {value:.3f}{unit}, target {sign} {target:g}{unit}")

    def note(self, what: str, value: float | None, unit: str = "") -> None:
        if value is not None:
            print(f"{'for comparison':12s} {what}: {value:.3f}{unit}")


def ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or below is None else above / below


def large(folder: Path, table: Table) -> None:
    pools = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("large-*.json"))}
    runs = [run for pool in pools.values() for run in pool]
    if not runs:
        return

    def lowest(operation: str, fmt: str) -> float | None:
        """Against the better of PnetCDF's MPI-IOs, by itself or through Shoal, each compared with the native
        runs it took turns with."""
        ratios = [
            ratio(
                seconds(pool, operation=operation, method=method),
                seconds(pool, operation=operation, method="native", format=fmt),
            )
            for pool in pools.values()
            for method in ("bare-pnetcdf-collective", "pnetcdf-collective")
        ]
        known = [r for r in ratios if r is not None]
        return min(known) if known else None

    def of_limit(operation: str, fmt: str) -> float | None:
        limit = seconds(runs, operation=operation, method="limit")
        return ratio(limit, seconds(runs, operation=operation, method="native", format=fmt))

    cdf5 = seconds(runs, operation="write", method="native", format="cdf5")
    netcdf4 = seconds(runs, operation="write", method="native", format="netcdf4")
    table.line("write, large, native cdf5 of limit", of_limit("write", "cdf5"), 0.90)
    table.line("write, large, native cdf5 to the better PnetCDF", lowest("write", "cdf5"), 1.8)
    table.line("write, large, native netcdf4 to native cdf5", ratio(cdf5, netcdf4), 0.95)
    for fmt in ("cdf5", "netcdf4"):
        table.line(f"read, large, native {fmt} of limit", of_limit("read", fmt), 0.85)
        table.line(f"read, large, native {fmt} to the better PnetCDF", lowest("read", fmt), 1.5)
    native = select(runs, method="native")
    added = max(run["added_rss_bytes"] for run in native) / MIB
    table.line(
        "memory of a node beside the model's arrays",
        added,
        (STAGE_BYTES + MARGIN_BYTES) / MIB,
        " MiB",
        at_most=True,
    )


def small(folder: Path, table: Table) -> None:
    runs = load(folder, "small.json")
    for fmt in ("cdf5", "netcdf4"):
        if runs:
            both = [
                seconds(runs, operation="write", method=method, format=fmt)
                for method in ("gather", "bare-gather")
            ]
            gather = min((one for one in both if one is not None), default=None)
            native = seconds(runs, operation="write", method="native", format=fmt)
            table.line(f"write, small, native {fmt} to collecting on one rank", ratio(gather, native), 1.0)


def tiles(folder: Path, table: Table) -> None:
    runs = load(folder, "tiles-*.json")
    for fmt in ("cdf5", "netcdf4"):
        if runs:
            medians = [
                seconds(runs, method="native", format=fmt, tiles=cut) for cut in ([1, 4], [2, 2], [4, 1])
            ]
            known = [m for m in medians if m is not None]
            spread = max(known) / min(known) if len(known) == len(medians) else None
            table.line(
                f"write, large, native {fmt}, slowest to fastest of 1x4, 2x2, 4x1", spread, 1.10, at_most=True
            )


def define(folder: Path, table: Table) -> None:
    runs = load(folder, "define.json")
    for fmt in ("cdf5", "netcdf4"):
        if runs:
            table.line(
                f"1,300 definitions on 16 ranks, native {fmt}",
                seconds(runs, method="native", format=fmt),
                0.15,
                " s",
                at_most=True,
            )
    table.note("1,300 definitions by one rank, bare HDF5", seconds(runs, method="bare-hdf5"), " s")
    table.note(
        "1,300 definitions on 16 ranks, parallel netCDF-4",
        seconds(runs, method="bare-netcdf-collective"),
        " s",
    )


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    table = Table()
    for figure in (large, small, tiles, define):
        figure(folder, table)
    wrong = [run for run in load(folder, "*.json") if not run["verified"]]
    if wrong:
        print(f"WRONG VALUES in {len(wrong)} runs")
    return 1 if table.failed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
