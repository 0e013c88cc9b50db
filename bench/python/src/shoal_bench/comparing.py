# SPDX-License-Identifier: BSD-3-Clause
"""shoal bench combine, convert, drivers, move: Shoal beside another program or library that does the same.

All take turns (A B C, C B A, ...); the first round warms up and is not counted; medians are printed."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Optional

import typer

from shoal.cli.mpi_launch import find_launcher, launch_environment
from shoal.cli.parallel import bytes_text
from shoal.programs import ProgramError, find_program

from .campaign import Campaign
from .engine import EngineError, find_engine
from .fitting import estimates
from .journal import Journal
from .results import Result, ResultsError
from .study import Start

Figures = Mapping[str, object]  # of one turn: seconds, and what else is printed
_shoal = (sys.executable, "-m", "shoal")

Folder = Annotated[Path, typer.Option("--dir", metavar="DIR", help="Where files go; best a tmpfs.")]
Repetitions = Annotated[int, typer.Option("--reps", min=1, help="Counted rounds.")]
Ranks = Annotated[str, typer.Option(metavar="N,...", help="Numbers of ranks of Shoal.")]


@dataclass(frozen=True)
class Way:
    """One of those that take turns: turn() does it once, and says what was measured."""

    name: str
    turn: Callable[[], Figures]


def in_turns(ways: Sequence[Way], repetitions: int) -> dict[str, list[Figures]]:
    """What each turn measured, by the way's name; without the first round. Local."""
    found: dict[str, list[Figures]] = {way.name: [] for way in ways}
    for round_ in range(repetitions + 1):
        for way in ways if round_ % 2 == 0 else reversed(ways):
            measured = way.turn()
            if round_ > 0:
                found[way.name].append(measured)
    return found


def median(turns: Sequence[Figures], name: str = "seconds") -> float:
    return statistics.median(float(turn[name]) for turn in turns)


def started(words: Sequence[object], ranks: Optional[int] = None, **environment: str) -> str:
    """Start a program, under mpiexec where ranks are given; what it said. EngineError if it failed. Local."""
    launcher = find_launcher() if ranks is not None else None
    if ranks is not None and launcher is None:
        raise EngineError(
            "no mpiexec of the MPI of libshoal was found; add it to PATH or set MPIRUN_LAUNCHER."
        )
    command = [*(launcher.command(ranks) if launcher else ()), *map(str, words)]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**(launch_environment(launcher) if launcher else os.environ), **environment},
    )
    if done.returncode != 0:
        raise EngineError(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stdout}")
    return done.stdout


def timed(words: Sequence[object], ranks: int = 1) -> tuple[float, str]:
    """Seconds of a whole command, as a user waits for it (one rank: without a launcher), and what it said."""
    begin = time.perf_counter()
    said = started(words, None if ranks == 1 else ranks)
    return time.perf_counter() - begin, said


def numbers(text: str, option: str, between: str = ",") -> list[int]:
    parts = text.split(between)
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise typer.BadParameter(f"{option} '{text}': write numbers from 1 with '{between}' between.")
    return [int(part) for part in parts]


@contextmanager
def in_words() -> Iterator[None]:
    """Failures end the command with their words and status 1."""
    try:
        yield
    except (EngineError, ProgramError, ResultsError) as error:
        print(f"shoal: {error}", file=sys.stderr)
        raise typer.Exit(1) from None


def run_shoal(words: Sequence[object], ranks: int) -> Figures:
    """shoal combine or convert: the whole command, its work without the start of MPI and Python, memory."""
    seconds, said = timed([*_shoal, *words], ranks)
    work = re.search(r" in ([0-9.]+) s \(.*memory (.*)", said)
    if work is None:
        raise EngineError(f"shoal {words[0]} did not say how long its work took:\n{said}")
    return {"seconds": seconds, "work": float(work[1]), "memory": work[2]}


def _shown(name: str, turns: Sequence[Figures], plain: Sequence[Figures], more: str = "") -> None:
    """A row of a table; plain: of what all are compared with."""
    row = f"{name:24} {median(turns):8.3f} s"
    # Programs say it in hundredths of a second: of small data it is none.
    with_work = all(turn.get("work", 0) for turn in (*turns, *plain))
    if "work" in turns[0]:
        row += f"  work {median(turns, 'work'):8.3f} s  memory {turns[-1]['memory']}"
    if turns is not plain:
        row += f"  {median(plain) / median(turns):.1f} times as fast"
        row += f", the work {median(plain, 'work') / median(turns, 'work'):.1f} times" if with_work else ""
    print(row + more)


def combine(
    folder: Folder = Path("/dev/shm"),
    reps: Repetitions = 5,
    format: Annotated[str, typer.Option(help="Of the set and of the file.")] = "cdf5",
    shape: Annotated[str, typer.Option(metavar="XxYxZ", help="Cells of a field.")] = "1440x1080x50",
    tiles: Annotated[str, typer.Option(metavar="IxJ", help="Files of the set.")] = "4x4",
    records: Annotated[int, typer.Option(min=1)] = 4,
    ranks: Ranks = "1,2,4",
) -> None:
    """Join a set with `shoal combine` and with a plain loop over netCDF-C."""
    cells, cut = numbers(shape, "--shape", "x"), numbers(tiles, "--tiles", "x")
    with in_words(), tempfile.TemporaryDirectory(prefix="combine.", dir=folder) as inside:
        bare = find_program("bare_netcdf_combine", "BENCH_BARE_COMBINE")
        place = Path(inside)
        source, by_loop, by_shoal = place / "set.nc", place / "bare.joined", place / "shoal.joined"
        started([bare, "make", source, format, *cells, records, *cut])

        def join(out: Path, how: Callable[[], Figures]) -> Figures:
            # What was given back some seconds ago may have to be fetched from the host of a virtual machine,
            # which takes longer than writing and has nothing to do with who writes.
            out.unlink(missing_ok=True)
            warm = place / "warm"
            warm.write_bytes(b"".join(piece.read_bytes() for piece in place.glob("set.nc.*")))
            warm.unlink()
            return how()

        def loop() -> Figures:
            seconds, said = timed([bare, "join", by_loop, format, source, cut[0] * cut[1]])
            words = said.split()  # seconds of the work, "s", MiB
            return {"seconds": seconds, "work": float(words[0]), "memory": f"{words[2]} MiB"}

        words = ("combine", source, by_shoal, "--format", format)
        ways = [Way("netCDF-C, one process", lambda: join(by_loop, loop))]
        for n in numbers(ranks, "--ranks"):
            turn = lambda n=n: join(by_shoal, lambda: run_shoal(words, n))  # noqa: E731
            ways.append(Way(f"shoal combine, {n} ranks", turn))
        found = in_turns(ways, reps)
        print(started([*_shoal, "compare", by_loop, by_shoal]), end="")
        print(f"{cut[0] * cut[1]} tiles of {shape} cells, {records} records, {format}, median of {reps}")
        for name, turns in found.items():
            _shown(name, turns, found[ways[0].name])


def make_fields(path: Path, shape: Sequence[int], deflated: bool) -> None:
    """Smooth fields with some noise, as models have them; shape: records, levels, y, x."""
    import netCDF4
    import numpy as np

    random = np.random.default_rng(1)
    with netCDF4.Dataset(path, "w") as file:
        for name, length in zip(("time", "z", "y", "x"), (None, *shape[1:])):
            file.createDimension(name, length)
        stored = {"chunksizes": (1, 1, *shape[2:]), "zlib": deflated, "complevel": 1}
        y, x = np.ogrid[0 : 6 : shape[2] * 1j, 0 : 9 : shape[3] * 1j]
        for name in ("temp", "salt"):
            made = file.createVariable(name, "f4", ("time", "z", "y", "x"), **stored)
            for record, level in np.ndindex(*shape[:2]):
                noise = random.normal(0, 0.01, shape[2:])
                made[record, level] = 10 * np.sin(y + level / 9 + record) * np.cos(x) + noise


def convert(
    folder: Folder = Path("/dev/shm"),
    reps: Repetitions = 5,
    shape: Annotated[str, typer.Option(metavar="RxZxYxX", help="Records, levels, rows, columns.")] = (
        "8x30x300x400"
    ),
    level: Annotated[int, typer.Option(min=0, max=9, help="Of deflate.")] = 1,
    chunks: Annotated[str, typer.Option(metavar="RxZxYxX", help="Of the new file.")] = "1x1x300x400",
    deflated: Annotated[bool, typer.Option("--deflated", help="The input is deflated, too.")] = False,
    ranks: Ranks = "1,2",
) -> None:
    """Write a file anew, compressed and in other chunks, with `shoal convert` and with `nccopy`."""
    cells, pieces = numbers(shape, "--shape", "x"), numbers(chunks, "--chunks", "x")
    if len(cells) != 4 or len(pieces) != 4:
        raise typer.BadParameter("--shape and --chunks have four lengths: records, levels, rows, columns.")
    with in_words(), tempfile.TemporaryDirectory(prefix="convert.", dir=folder) as inside:
        place = Path(inside)
        source, by_nccopy, by_shoal = place / "in.nc", place / "nccopy.nc", place / "shoal.nc"
        make_fields(source, cells, deflated)
        lengths = ",".join(f"{name}/{n}" for name, n in zip(("time", "z", "y", "x"), pieces))
        nccopy = ("nccopy", "-4", "-d", level, "-s", "-c", lengths, source, by_nccopy)
        words = ("convert", source, by_shoal, "--format", "netcdf4", "--chunks", chunks)
        words += ("--compression", f"shuffle+deflate:{level}")

        def anew(out: Path, how: Callable[[], Figures]) -> Figures:
            out.unlink(missing_ok=True)
            return {**how(), "bytes": out.stat().st_size}

        ways = [Way("nccopy", lambda: anew(by_nccopy, lambda: {"seconds": timed(nccopy)[0]}))]
        for n in numbers(ranks, "--ranks"):
            turn = lambda n=n: anew(by_shoal, lambda: run_shoal(words, n))  # noqa: E731
            ways.append(Way(f"shoal convert, {n} ranks", turn))
        found = in_turns(ways, reps)
        print(started([*_shoal, "compare", by_nccopy, by_shoal]), end="")
        kind = f"{'deflated' if deflated else 'plain'} {bytes_text(source.stat().st_size)}"
        print(f"two fields of {shape} floats, {kind}, to deflate:{level}, chunks {chunks}, median of {reps}")
        for name, turns in found.items():
            _shown(name, turns, found["nccopy"], f"  {bytes_text(float(turns[-1]['bytes']))}")


_pairs = (
    ("pnetcdf-collective", "cdf5"),
    ("pnetcdf-independent", "cdf5"),
    ("pnetcdf-nonblocking", "cdf5"),
    ("netcdf-collective", "netcdf4"),
    ("mpiio-collective", "cdf5"),
    ("mpiio-independent", "cdf5"),
    ("gather", "cdf5"),
    ("gather", "netcdf4"),
)


def measured(starts: Sequence[Start], path: Path) -> list[Result]:
    """Results of starts of the engine, as `shoal bench run` makes them, in a file that is gone on with;
    methods that this build lacks are left out. EngineError where one fails. Local."""
    engine = find_engine()
    able = engine.capabilities()
    here = [replace(s, methods=tuple(filter(able.has_method, s.methods))) for s in starts]
    outcome = Campaign(engine, here, estimates(engine, here), Journal(path)).run()
    if outcome.failures or outcome.interrupted:
        raise EngineError("\n".join(outcome.failures) or "interrupted; the same command goes on")
    return outcome.results


def drivers(
    folder: Folder = Path("/dev/shm"),
    reps: Repetitions = 7,
    size: Annotated[str, typer.Option(help="Of roms-size.")] = "large",
    tiles: Annotated[str, typer.Option(metavar="IxJ")] = "2x2",
    records: Annotated[int, typer.Option(min=1)] = 3,
    only: Annotated[
        Optional[str], typer.Option("--drivers", metavar="A,...", help="Not all of them.")
    ] = None,
) -> None:
    """Compare drivers of other libraries with bare calls of these: the ROMS history, `M` against `bare-M`.

    With MPI-IO alone the replicated variables, a few kilobytes, are left out, and the file has no header."""
    xi, eta = numbers(tiles, "--tiles", "x")
    pairs = [pair for pair in _pairs if only is None or pair[0] in only.split(",")]
    with in_words(), tempfile.TemporaryDirectory(prefix="drivers.", dir=folder) as inside:
        starts = [
            Start("roms-size", f"{name} {format}", xi * eta, tiles, size, records, (name, f"bare-{name}"),
                  (format,), (str(folder.absolute()),), read=False, repetitions=reps)
            for name, format in pairs
        ]  # fmt: skip
        runs = measured(starts, Path(inside) / "results.json")
        for start in starts:
            both = [
                [run.seconds["total"] for run in runs if (run.study, run.method) == (start.study, method)]
                for method in start.methods
            ]
            if not all(both):
                print(f"{start.study:28} not in this build")
                continue
            (mine, least), (bare, least_bare) = ((statistics.median(s), min(s)) for s in both)
            print(
                f"{start.study:28} bare {bare:8.3f} s  Shoal {mine:8.3f} s  ratio {bare / mine:5.2f}  "
                f"(of the fastest runs {least_bare / least:5.2f})"
            )
        if not all(run.verified for run in runs):
            raise EngineError("wrong values were read back")


def move(
    folder: Folder = Path("/dev/shm"),
    reps: Repetitions = 7,
    mib: Annotated[int, typer.Option(min=1, help="MiB of data.")] = 256,
) -> None:
    """Time how long data of a classic file move for definitions without a place, beside `cp` and `sync`.

    On one rank, or on those of mpiexec, which then starts this command."""
    import numpy as np

    import shoal
    from shoal._library import start_mpi

    mpi = start_mpi()
    world, path = mpi.COMM_WORLD, str(folder / "move.nc")

    def on_root(words: Sequence[str]) -> float:
        begin = time.perf_counter()
        if world.rank == 0:
            subprocess.run(words, check=True)
        return time.perf_counter() - begin

    def make() -> None:
        if world.rank == 0:
            reserve = {"header_reserve": 0, "alignment": 4}
            with shoal.create(path, comm=mpi.COMM_SELF, format="cdf5", **reserve) as file:
                file.def_dim("time", None)
                file.def_dim("x", 1 << 18)
                file.def_var("temp", "f4", ("time", "x"))
                for record in range(mib):
                    file.put("temp", np.full(1 << 18, record + 1, "f4"), record=record)
        on_root(["sync", path])
        world.barrier()

    def define(variable: bool) -> Figures:
        make()
        with shoal.open(path, mode="r+", comm=world, header_reserve=0) as file:
            if variable:
                file.def_var("late", "f4", ("time",))
            else:
                file.put_att(None, "note", "x" * 100_000)
            world.barrier()
            begin = time.perf_counter()
            file.end_define()
            return {"seconds": time.perf_counter() - begin}

    def copy(synced: bool) -> Figures:
        seconds = on_root(["cp", path, path + ".copy"])
        seconds += on_root(["sync", path + ".copy"]) if synced else 0
        on_root(["rm", path + ".copy"])
        world.barrier()
        return {"seconds": seconds}

    ways = [Way("attribute", lambda: define(False)), Way("record variable", lambda: define(True))]
    ways += [Way("cp", lambda: copy(False)), Way("cp and sync", lambda: copy(True))]
    make()
    found = in_turns(ways, reps)
    if world.rank == 0:
        os.remove(path)
        for name, turns in found.items():
            seconds = median(turns)
            print(f"{name:16} {seconds:7.3f} s  {mib / seconds:7.0f} MiB/s")


def register(group: typer.Typer) -> None:
    for command in (combine, convert, drivers, move):
        group.command()(command)
