# SPDX-License-Identifier: BSD-3-Clause
"""shoal bench zarr: stores of Zarr by Shoal beside netCDF-4 and beside the other ways to make them.

All take turns; medians and their ratios are printed, with what Shoal aims at."""

from __future__ import annotations

import importlib.util
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Optional

import typer

from .comparing import (
    Figures,
    Folder,
    Repetitions,
    Way,
    in_turns,
    in_words,
    make_fields,
    measured,
    median,
    numbers,
    run_shoal,
    timed,
)
from .engine import EngineError
from .results import Result
from .study import Start

# Method, what it is compared with, and how many times as fast it should be; None: reported.
_plain = (
    ("native+zarr", "native+format=netcdf4", 0.85),
    ("native+zarr", "zarr-python", 3.0),
    ("native+zarr", "nczarr", None),
    ("native+zarr", "xarray", None),
)
_compressed = (
    ("native+zarr+zstd1", "native+format=netcdf4+zstd1", 0.9),
    ("native+zarr+zstd1", "zarr-python+zstd1", 3.0),
)
_convert_aim = 5.0
_many = (("native+zarr", "native+format=netcdf4", None),)

# The whole of what a user runs; seconds of the work alone are printed.
_by_dask = """
import sys, time
import xarray

def main():
    source, out, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        import dask
        dask.config.set(scheduler="processes", num_workers=workers)
    else:
        Client(LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None))
    begin = time.perf_counter()
    xarray.open_dataset(source, chunks={"time": 1}).to_zarr(out)
    print("work", time.perf_counter() - begin)

if __name__ == "__main__":
    main()
"""


def _judged(method: str, other: str, ratio: float, aim: Optional[float]) -> str:
    said = f"  {method:28} to {other:28} {ratio:6.2f}"
    if aim is None:
        return said
    return f"{said}  aim {aim:4.2f}: {'reached' if ratio >= aim else 'MISSED'}"


def _ratios(runs: Sequence[Result], study: str, pairs: Sequence[tuple[str, str, Optional[float]]]) -> None:
    """Seconds of every method, and their ratios."""
    for operation in sorted({run.operation for run in runs if run.study == study}, reverse=True):
        seconds: dict[str, float] = {}
        for method in dict.fromkeys(name for pair in pairs for name in pair[:2]):
            found = [
                run.seconds["total"]
                for run in runs
                if (run.study, run.method, run.operation) == (study, method, operation)
            ]
            if found:
                seconds[method] = statistics.median(found)
        print(f"{study}, {operation}:")
        for method, value in seconds.items():
            print(f"  {method:28} {value:9.4f} s")
        for method, other, aim in pairs:
            if method in seconds and other in seconds:
                print(
                    _judged(
                        method, other, seconds[other] / seconds[method], aim if operation == "write" else None
                    )
                )


def _files(runs: Sequence[Result], study: str) -> None:
    """How many files there are, and what a commit costs."""
    for method in dict.fromkeys(run.method for run in runs if run.study == study):
        found = [run for run in runs if (run.study, run.method) == (study, method)]
        first = found[0]
        each = statistics.median(run.seconds["sync"] for run in found) / first.records
        print(f"  {method:28} {first.files:9,} files, {each * 1e3:.3f} ms a commit")


def _writing(
    folder: Path, place: Path, reps: int, size: str, tiles: str, records: int, elements: int, fields: int
) -> None:
    xi, eta = numbers(tiles, "--tiles", "x")
    ranks = xi * eta
    common = {"read": True, "repetitions": reps}
    starts = []
    for study, pairs in (("plain", _plain), ("compressed", _compressed)):
        methods = tuple(dict.fromkeys(name for pair in pairs for name in pair[:2]))
        starts.append(
            Start(
                "roms-size",
                f"E1 {study}",
                ranks,
                tiles,
                size,
                records,
                methods,
                ("zarr",),
                (str(folder),),
                **common,
            )
        )
    methods = tuple(dict.fromkeys(name for pair in _plain for name in pair[:2]))
    starts.append(
        Start(
            "seven-ways",
            "E5",
            ranks,
            f"{ranks}x1",
            str(elements),
            0,
            methods,
            ("zarr",),
            (str(folder),),
            **common,
        )
    )
    methods = tuple(dict.fromkeys(name for pair in _many for name in pair[:2]))
    many = {"read": False, "repetitions": min(reps, 3)}
    starts.append(
        Start(
            "many-fields",
            "many fields",
            ranks,
            tiles,
            "small",
            fields,
            methods,
            ("zarr",),
            (str(folder),),
            **many,
        )
    )
    runs = measured(starts, place / "results.json")
    for start, pairs in zip(starts, (_plain, _compressed, _plain, _many)):
        _ratios(runs, start.study, pairs)
    _files(runs, "many fields")
    wrong = sorted({run.method for run in runs if not run.verified})
    if wrong:
        print(f"shoal: wrong values were read back of {', '.join(wrong)}", file=sys.stderr)
        raise typer.Exit(1)


def _converting(place: Path, reps: int, shape: str, ranks: int) -> None:
    missing = [
        name for name in ("xarray", "dask", "zarr", "netCDF4") if importlib.util.find_spec(name) is None
    ]
    if missing:
        print(f"convert: left out, as {', '.join(missing)} is not there: pip install {' '.join(missing)}")
        return
    cells = numbers(shape, "--shape", "x")
    source, by_dask, by_shoal = place / "in.nc", place / "xarray.zarr", place / "shoal.zarr"
    make_fields(source, cells, False)
    chunks = "x".join(map(str, (1, 1, *cells[2:])))
    words = ("convert", source, by_shoal, "--format", "zarr", "--chunks", chunks)

    def anew(out: Path) -> None:
        shutil.rmtree(out, ignore_errors=True)

    def shoal_turn() -> Figures:
        anew(by_shoal)
        return run_shoal(words, ranks)

    # dask's processes import the program again, which they find in a file alone.
    script = place / "by_dask.py"
    script.write_text(_by_dask)

    def dask_turn() -> Figures:
        anew(by_dask)
        seconds, said = timed([sys.executable, script, source, by_dask, ranks])
        work = next(line.split()[1] for line in said.splitlines() if line.startswith("work "))
        return {"seconds": seconds, "work": float(work)}

    found = in_turns((Way("shoal convert", shoal_turn), Way("xarray and dask", dask_turn)), reps)
    import xarray

    with xarray.open_zarr(by_dask) as one, xarray.open_zarr(by_shoal) as other:
        if not one.equals(other):
            raise EngineError("the two stores have different values")
    print(f"convert, two fields of {shape} floats to Zarr, {ranks} ranks or workers:")
    for name, turns in found.items():
        print(f"  {name:28} {median(turns):9.4f} s, work {median(turns, 'work'):9.4f} s")
    whole = median(found["xarray and dask"]) / median(found["shoal convert"])
    print(_judged("shoal convert", "xarray and dask", whole, _convert_aim))


def zarr(
    folder: Folder = Path("/dev/shm"),
    reps: Repetitions = 5,
    size: Annotated[str, typer.Option(help="Of roms-size.")] = "large",
    tiles: Annotated[str, typer.Option(metavar="IxJ", help="Equal tiles: zarr-python's shards.")] = "2x2",
    records: Annotated[int, typer.Option(min=1)] = 3,
    elements: Annotated[int, typer.Option(min=1, help="Of seven-ways.")] = 40_000_000,
    fields: Annotated[
        int, typer.Option(min=1, help="Records of 100 small fields, a commit after each.")
    ] = 1000,
    shape: Annotated[str, typer.Option(metavar="RxZxYxX", help="Of the file to convert.")] = "8x30x300x400",
    ranks: Annotated[int, typer.Option(min=1, help="Of the conversion, and dask's workers.")] = 2,
) -> None:
    """Compare Zarr by Shoal with netCDF-4, zarr-python, NCZarr and xarray, written, read and converted.

    Methods whose packages are missing are left out, with what to install."""
    with in_words(), tempfile.TemporaryDirectory(prefix="zarr.", dir=folder) as inside:
        place = Path(inside)
        _writing(place.absolute(), place, reps, size, tiles, records, elements, fields)
        _converting(place, reps, shape, ranks)


def register(group: typer.Typer) -> None:
    group.command()(zarr)
