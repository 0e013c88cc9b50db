# SPDX-License-Identifier: BSD-3-Clause
"""shoal bench figures: what Shoal promises of its speed, measured and held against the targets."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Optional

import typer

from shoal.cli.mpi_launch import find_launcher

from .comparing import Folder, Repetitions, in_words, measured
from .results import Result, load
from .study import Start

MIB = 2**20
_stage, _beside = 256 * MIB, 64 * MIB  # default of the setting stage_bytes; beside arrays and stage
_formats = ("cdf5", "netcdf4")
Runs = Sequence[Result]


def _seconds(runs: Runs, **keys: object) -> Optional[float]:
    """Median of the runs that have the keys; None if there are none."""
    found = [r.seconds["total"] for r in runs if all(getattr(r, k) == v for k, v in keys.items())]
    return statistics.median(found) if found else None


def _ratio(above: Optional[float], below: Optional[float]) -> Optional[float]:
    return None if above is None or below is None else above / below


class Verdicts:
    """Prints a line a figure: reached or missed, the value, the target."""

    def __init__(self) -> None:
        self.missed = 0

    def line(self, what: str, value: Optional[float], sign: str, target: float, unit: str = "") -> None:
        """sign: "at least" or "at most"."""
        if value is None:
            print(f"not measured  {what}")
            return
        reached = value <= target if sign == "at most" else value >= target
        self.missed += not reached
        verdict = "reached" if reached else "MISSED"
        print(f"{verdict:12}  {what}: {value:.3f}{unit}, target {sign} {target:g}{unit}")

    def note(self, what: str, value: Optional[float]) -> None:
        if value is not None:
            print(f"for comparison {what}: {value:.3f} s")


def _large(runs: Runs, verdicts: Verdicts) -> None:
    def to_pnetcdf(operation: str, format: str) -> Optional[float]:
        """Against the better of PnetCDF's MPI-IOs, by itself or through Shoal, each compared with the native
        runs that it took turns with."""
        ratios = [
            _ratio(
                _seconds(runs, start=start, operation=operation, method=method),
                _seconds(runs, start=start, operation=operation, method="native", format=format),
            )
            for start in {run.start for run in runs}
            for method in ("bare-pnetcdf-collective", "pnetcdf-collective")
        ]
        return min((ratio for ratio in ratios if ratio is not None), default=None)

    def of_limit(operation: str, format: str) -> Optional[float]:
        native = _seconds(runs, operation=operation, method="native", format=format)
        return _ratio(_seconds(runs, operation=operation, method="limit"), native)

    cdf5, netcdf4 = (_seconds(runs, operation="write", method="native", format=name) for name in _formats)
    verdicts.line("write, large, native cdf5 of limit", of_limit("write", "cdf5"), "at least", 0.90)
    better = to_pnetcdf("write", "cdf5")
    verdicts.line("write, large, native cdf5 to the better PnetCDF", better, "at least", 1.8)
    verdicts.line("write, large, native netcdf4 to native cdf5", _ratio(cdf5, netcdf4), "at least", 0.95)
    for name in _formats:
        verdicts.line(f"read, large, native {name} of limit", of_limit("read", name), "at least", 0.85)
        better = to_pnetcdf("read", name)
        verdicts.line(f"read, large, native {name} to the better PnetCDF", better, "at least", 1.5)
    added = max((r.added_rss_bytes / MIB for r in runs if r.method == "native"), default=None)
    most = (_stage + _beside) / MIB
    verdicts.line("memory of a node beside the model's arrays", added, "at most", most, " MiB")


def _small(runs: Runs, verdicts: Verdicts) -> None:
    for name in _formats:
        key = {"operation": "write", "format": name}
        both = [_seconds(runs, method=method, **key) for method in ("gather", "bare-gather")]
        gather = min((one for one in both if one is not None), default=None)
        ratio = _ratio(gather, _seconds(runs, method="native", **key))
        verdicts.line(f"write, small, native {name} to collecting on one rank", ratio, "at least", 1.0)


def _tiles(runs: Runs, verdicts: Verdicts) -> None:
    for name in _formats:
        cuts = ([1, 4], [2, 2], [4, 1])
        medians = [_seconds(runs, method="native", format=name, tiles=cut) for cut in cuts]
        spread = None if None in medians else max(medians) / min(medians)
        what = f"write, large, native {name}, slowest to fastest of 1x4, 2x2, 4x1"
        verdicts.line(what, spread, "at most", 1.10)


def _define(runs: Runs, verdicts: Verdicts) -> None:
    for name in _formats:
        seconds = _seconds(runs, method="native", format=name)
        verdicts.line(f"1,300 definitions on 16 ranks, native {name}", seconds, "at most", 0.15, " s")
    verdicts.note("1,300 definitions by one rank, bare HDF5", _seconds(runs, method="bare-hdf5"))
    parallel = _seconds(runs, method="bare-netcdf-collective")
    verdicts.note("1,300 definitions on 16 ranks, parallel netCDF-4", parallel)


_judges: dict[str, Callable[[Runs, Verdicts], None]] = {
    "large": _large,
    "small": _small,
    "tiles": _tiles,
    "define": _define,
}


def judge(runs: Runs) -> int:
    """Hold results against the targets; how many were missed, or have wrong values. Local."""
    verdicts = Verdicts()
    for figure, look in _judges.items():
        if own := [run for run in runs if run.study == figure]:
            look(own, verdicts)
    wrong = sum(not run.verified for run in runs)
    if wrong:
        print(f"WRONG VALUES in {wrong} runs")
    return verdicts.missed + wrong


def _starts(figure: str, reps: int, folder: str) -> list[Start]:
    def start(methods: str, ranks: int = 4, tiles: str = "2x2", size: str = "large", **more) -> Start:
        more = {"records": 5, "read": False, "repetitions": reps, **more}
        experiment = "define" if figure == "define" else "roms-size"
        given = {"formats": _formats, "dirs": (folder,), "methods": tuple(methods.split()), **more}
        return Start(experiment, figure, ranks, tiles, size, **given)

    if figure == "large":
        # Open MPI has two MPI-IOs; PnetCDF is measured with both, and both through Shoal and by itself.
        launcher = find_launcher()
        two = launcher is not None and launcher.flavour == "openmpi"
        methods = "native limit pnetcdf-collective bare-pnetcdf-collective"
        return [start(methods, mpi_io=io, read=True) for io in (("ompio", "romio") if two else ("default",))]
    if figure == "small":
        return [start("native limit gather bare-gather", size="small", repetitions=3 * reps)]
    if figure == "define":
        return [start("native bare-hdf5 bare-netcdf-collective", 16, "4x4", records=0)]
    # Tilings take turns, as the methods do within a start: each goes on where it was.
    third = (reps + 2) // 3
    return [
        start("native limit", tiles=tiles, repetitions=part * third)
        for part in (1, 2, 3)
        for tiles in ("1x4", "2x2", "4x1")
    ]


def figures(
    names: Annotated[
        Optional[list[str]], typer.Argument(metavar="[FIGURE]...", help=f"{', '.join(_judges)}; else all.")
    ] = None,
    json: Annotated[
        Path, typer.Option("--json", metavar="FILE", help="Where results go; it is gone on with.")
    ] = Path("figures.json"),
    folder: Folder = Path("/dev/shm"),
    reps: Repetitions = 7,
    only_judge: Annotated[
        bool, typer.Option("--judge", help="Measure nothing: judge what the file of --json has.")
    ] = False,
) -> None:
    """Measure what Shoal promises of its speed on this machine, and print one line a figure.

    It takes some minutes, during which nothing else should run. Exit status 1 if a figure is missed."""
    for name in names or ():
        if name not in _judges:
            raise typer.BadParameter(f"there is no figure '{name}'; there are {', '.join(_judges)}.")
    with in_words():
        starts = [s for name in names or _judges for s in _starts(name, reps, str(folder.absolute()))]
        runs = load(json) if only_judge else measured(starts, json)
        raise typer.Exit(1 if judge(runs) else 0)


def register(group: typer.Typer) -> None:
    group.command()(figures)
