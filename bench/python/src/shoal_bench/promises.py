# SPDX-License-Identifier: BSD-3-Clause
"""shoal bench figures: what Shoal promises of its speed, measured and held against the targets."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Optional

import typer

from shoal.cli.mpi_launch import find_launcher

from .comparing import Folder, Repetitions, in_words, measured
from .engine import find_engine
from .results import Result, load

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


def _large(pools: dict[str, Runs], verdicts: Verdicts) -> None:
    runs = [run for pool in pools.values() for run in pool]

    def to_pnetcdf(operation: str, format: str) -> Optional[float]:
        """Against the better of PnetCDF's MPI-IOs, by itself or through Shoal, each compared with the native
        runs that it took turns with."""
        ratios = [
            _ratio(
                _seconds(pool, operation=operation, method=method),
                _seconds(pool, operation=operation, method="native", format=format),
            )
            for pool in pools.values()
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


def _small(pools: dict[str, Runs], verdicts: Verdicts) -> None:
    (runs,) = pools.values()
    for name in _formats:
        key = {"operation": "write", "format": name}
        both = [_seconds(runs, method=method, **key) for method in ("gather", "bare-gather")]
        gather = min((one for one in both if one is not None), default=None)
        ratio = _ratio(gather, _seconds(runs, method="native", **key))
        verdicts.line(f"write, small, native {name} to collecting on one rank", ratio, "at least", 1.0)


def _tiles(pools: dict[str, Runs], verdicts: Verdicts) -> None:
    runs = [run for pool in pools.values() for run in pool]
    for name in _formats:
        cuts = ([1, 4], [2, 2], [4, 1])
        medians = [_seconds(runs, method="native", format=name, tiles=cut) for cut in cuts]
        spread = None if None in medians else max(medians) / min(medians)
        what = f"write, large, native {name}, slowest to fastest of 1x4, 2x2, 4x1"
        verdicts.line(what, spread, "at most", 1.10)


def _define(pools: dict[str, Runs], verdicts: Verdicts) -> None:
    (runs,) = pools.values()
    for name in _formats:
        seconds = _seconds(runs, method="native", format=name)
        verdicts.line(f"1,300 definitions on 16 ranks, native {name}", seconds, "at most", 0.15, " s")
    verdicts.note("1,300 definitions by one rank, bare HDF5", _seconds(runs, method="bare-hdf5"))
    parallel = _seconds(runs, method="bare-netcdf-collective")
    verdicts.note("1,300 definitions on 16 ranks, parallel netCDF-4", parallel)


_judges: dict[str, Callable[[dict[str, Runs], Verdicts], None]] = {
    "large": _large,
    "small": _small,
    "tiles": _tiles,
    "define": _define,
}


def judge(folder: Path) -> int:
    """Hold the results in a folder against the targets; how many were missed, or have wrong values. Local."""
    verdicts, wrong = Verdicts(), 0
    for figure, look in _judges.items():
        pools = {path.stem: load(path) for path in sorted(folder.glob(f"{figure}*.json"))}
        if pools:
            look(pools, verdicts)
            wrong += sum(not run.verified for pool in pools.values() for run in pool)
    if wrong:
        print(f"WRONG VALUES in {wrong} runs")
    return verdicts.missed + wrong


def _starts(figure: str, reps: int) -> list[tuple[str, int, str, str, dict[str, str]]]:
    """Of a figure: name, ranks, words, methods, environment."""
    if figure == "large":
        # Open MPI has two MPI-IOs; PnetCDF is measured with both, and both through Shoal and by itself.
        launcher = find_launcher()
        two = launcher is not None and launcher.flavour == "openmpi"
        words = f"roms-size --tiles 2x2 --size large --records 5 --reps {reps} --read"
        methods = "native limit pnetcdf-collective bare-pnetcdf-collective"
        ios = (
            {"ompio": {"OMPI_MCA_io": "ompio"}, "romio": {"OMPI_MCA_io": "^ompio"}}
            if two
            else {"default": {}}
        )
        return [(f"large-{name}", 4, words, methods, io) for name, io in ios.items()]
    if figure == "small":
        words = f"roms-size --tiles 2x2 --size small --records 5 --reps {3 * reps}"
        return [("small", 4, words, "native limit gather bare-gather", {})]
    if figure == "define":
        words = f"define --tiles 4x4 --size large --reps {reps}"
        return [("define", 16, words, "native bare-hdf5 bare-netcdf-collective", {})]
    # In turns, as the methods are within a start.
    words = f"roms-size --size large --records 5 --reps {(reps + 2) // 3}"
    return [
        (f"tiles-{tiles}-{round_}", 4, f"{words} --tiles {tiles}", "native limit", {})
        for round_ in (1, 2, 3)
        for tiles in ("1x4", "2x2", "4x1")
    ]


def figures(
    names: Annotated[
        Optional[list[str]], typer.Argument(metavar="[FIGURE]...", help=f"{', '.join(_judges)}; else all.")
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where JSON goes.")] = Path(
        "figures"
    ),
    folder: Folder = Path("/dev/shm"),
    reps: Repetitions = 7,
    only_judge: Annotated[
        bool, typer.Option("--judge", help="Measure nothing: judge what lies in the folder of -o.")
    ] = False,
) -> None:
    """Measure what Shoal promises of its speed on this machine, and print one line a figure.

    It takes some minutes, during which nothing else should run. Exit status 1 if a figure is missed."""
    for name in names or ():
        if name not in _judges:
            raise typer.BadParameter(f"there is no figure '{name}'; there are {', '.join(_judges)}.")
    with in_words(), tempfile.TemporaryDirectory(prefix="shoal-figures.", dir=folder) as inside:
        output.mkdir(parents=True, exist_ok=True)
        for figure in () if only_judge else names or _judges:
            known = find_engine().capabilities().methods
            for name, ranks, words, methods, environment in _starts(figure, reps):
                here = [method for method in methods.split() if method in known]
                print(f"== {name}: {words}, methods {', '.join(here)} ({ranks} ranks)", flush=True)
                given = [*words.split(), "--methods", ",".join(here), "--formats", ",".join(_formats)]
                measured([*given, "--dir", inside], ranks, output / f"{name}.json", **environment)
        raise typer.Exit(1 if judge(output) else 0)


def register(group: typer.Typer) -> None:
    group.command()(figures)
