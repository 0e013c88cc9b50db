# SPDX-License-Identifier: BSD-3-Clause
"""shoal bench: the published studies of parallel I/O, measured on this machine."""

from __future__ import annotations

import json as json_
import re
import shlex
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.markup import escape
from rich.table import Table

from shoal.cli.mpi_launch import find_launcher, inside_mpi
from shoal.cli.parallel import console, trouble

from . import comparing, grid, promises, zarr_figures

group = typer.Typer(
    name="bench",
    help="The published studies of parallel I/O in ocean models, measured on this machine.",
    no_args_is_help=True,
)
_interrupted = 130


def _stop(text: str, status: int = trouble) -> typer.Exit:
    print(f"shoal: {text}", file=sys.stderr, flush=True)
    return typer.Exit(status)


def _list(text: Optional[str], option: str) -> Optional[tuple[str, ...]]:
    """ "a,b" as ("a", "b")."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise typer.BadParameter(f"{option} '{text}' has an empty part.")
    return tuple(dict.fromkeys(parts))


def _numbers(text: Optional[str], option: str) -> Optional[tuple[int, ...]]:
    parts = _list(text, option)
    if parts is None:
        return None
    for part in parts:
        if not part.isdigit() or int(part) < 1:
            raise typer.BadParameter(f"{option} '{part}': write numbers from 1, commas between, such as 4,8.")
    return tuple(int(part) for part in parts)


def _matching(parts: Optional[tuple[str, ...]], pattern: str, option: str, example: str):
    for part in parts or ():
        if not re.fullmatch(pattern, part):
            raise typer.BadParameter(f"{option} '{part}': write {example}.")
    return parts


def _wrapped(name: str, text: str) -> None:
    console().print(f"  [dim]{name}[/] {escape(text)}", soft_wrap=True)


@group.command("list")
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show the experiments, what each asks, and the methods of this build.

    Exit status 0; 1 if the engine, shoal-bench, is not there or does not answer: methods are then unknown.
    """
    from .engine import Capabilities, EngineError, find_engine
    from .experiments import all_experiments

    engine, problem, able = None, "", Capabilities()
    try:
        engine = find_engine()
        able = engine.capabilities()
    except EngineError as error:
        problem = str(error)
    experiments = all_experiments().values()
    if as_json:
        print(json_.dumps(_as_object(experiments, able, engine), indent=2))
    else:
        _show_list(experiments, able, problem)
    if problem:
        raise _stop(problem, 1)


def _as_object(experiments, able, engine) -> dict:
    from dataclasses import asdict

    found = []
    for item in experiments:
        engine_says = able.experiments.get(item.name, {})
        sizes = {"sizes": engine_says.get("sizes", {}), "in_this_build": bool(engine_says)}
        found.append({**asdict(item), **sizes})
    path = str(engine.path) if engine else None
    return {"engine": path, "experiments": found, "methods": list(able.methods.values())}


def _show_list(experiments, able, problem: str) -> None:
    out = console()
    for item in experiments:
        missing = "" if item.name in able.experiments or problem else "  [yellow]not in this build[/]"
        out.print(f"[bold]{item.name}[/]  {escape(item.title)}{missing}", soft_wrap=True)
        _wrapped("asks", item.question)
        _wrapped("from", item.source)
        for kind, studies in (("default", item.studies), ("--paper", item.paper_studies)):
            for study in studies:
                ranks = ",".join(map(str, study.ranks))
                records = f"; records {','.join(map(str, study.records))}" if any(study.records) else ""
                _wrapped(
                    kind,
                    f"{study.name}: {study.asks}; ranks {ranks}; sizes {','.join(study.sizes)}{records}",
                )
        out.print()
    if problem:
        return
    table = Table(title="Methods of this build", title_justify="left")
    for heading in ("method", "what it does", "formats"):
        table.add_column(heading, no_wrap=heading == "method")
    for method in able.methods.values():
        table.add_row(
            *map(escape, (method["name"], method.get("summary", ""), ", ".join(method.get("formats", []))))
        )
    out.print(table)


def _option(metavar: Optional[str], help: str, *names: str, **more):
    """An option of `run`, which is unset unless it is given."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


_Text, _Number = Optional[str], Optional[int]


@group.command()
def run(
    experiments: Annotated[
        list[str],
        typer.Argument(metavar="EXPERIMENT...", help="Names, NAME:STUDY for one study of it, or 'all'."),
    ],
    ranks: Annotated[_Text, _option("N,...", "Numbers of ranks: 4,8.")] = None,
    tiles: Annotated[_Text, _option("IxJ,...", "Tiles in xi x tiles in eta: 2x2.")] = None,
    size: Annotated[_Text, _option("SIZE,...", "small, medium, large or NXxNYxNZ.")] = None,
    methods: Annotated[_Text, _option("A,...", "See shoal bench list.")] = None,
    formats: Annotated[_Text, _option("A,...", "cdf5, netcdf4, ...")] = None,
    reps: Annotated[_Number, _option(None, "Counted repetitions of each method; default: 5.", min=1)] = None,
    records: Annotated[_Text, _option("N,...", "Records of a file.")] = None,
    dirs: Annotated[
        Optional[list[str]],
        _option("DIR", "Where files go, in turns; repeatable. Default: here.", "--dir"),
    ] = None,
    flush: Annotated[
        Optional[bool],
        _option(
            None, "Wait until the device has the bytes. Default: with --lab alone.", "--flush/--no-flush"
        ),
    ] = None,
    cold: Annotated[
        bool, _option(None, "Before reading, drop the file from the page cache.", "--cold")
    ] = False,
    touch_memory: Annotated[
        bool,
        _option(
            None,
            "Before writing, take and give back as much memory: on tmpfs of virtual machines.",
            "--touch-memory",
        ),
    ] = False,
    hints: Annotated[_Text, _option("K=V,...", "For MPI-IO and PnetCDF.")] = None,
    io_layout: Annotated[_Text, _option("NxM", "I/O domains of the methods with some.")] = None,
    mpi_io: Annotated[_Text, _option("A,...", "Of Open MPI: ompio, romio.")] = None,
    steps: Annotated[_Number, _option("N", "Of the experiment that computes.", min=1)] = None,
    switches: Annotated[
        Optional[Path],
        _option("FILE", "Of the experiment that computes: its switches.", exists=True, dir_okay=False),
    ] = None,
    ranks_per_node: Annotated[_Number, _option("N", "Default: as mpiexec does it.", min=1)] = None,
    lab: Annotated[
        _Text,
        _option(
            "PRESET,...",
            "On an emulated file system in place of folders: names that labfs --list shows, or a file.",
        ),
    ] = None,
    nodes: Annotated[_Number, _option("N", "Emulated nodes of --lab; default: 4.", min=1)] = None,
    stripes: Annotated[_Text, _option("N,...", "With --lab: servers of a file.")] = None,
    lab_scale: Annotated[
        Optional[float],
        _option("S", "With --lab: real seconds for one of the model; default: what the machine needs."),
    ] = None,
    lab_set: Annotated[
        Optional[list[str]], _option("'KEY = VALUE'", "With --lab: changes the preset; repeatable.")
    ] = None,
    paper: Annotated[bool, _option(None, "The published sizes and numbers of ranks.", "--paper")] = False,
    json: Annotated[Path, _option("FILE", "Where results go.")] = Path("results.json"),
) -> None:
    """Measure experiments on this machine.

    Every method has its turn in every repetition, and all that was written is read back and compared. After
    each result FILE is whole; the same command with the same FILE goes on where it was interrupted. Started
    without mpiexec, which it calls itself.

    Exit status 0; 1: the engine failed; 2: wrong values were read back, or the start was refused (options, no
    room); 130: interrupted.
    """
    from .signals import Interrupted, interruptible
    from .study import Choice

    if inside_mpi():
        raise _stop("start shoal bench run without mpiexec: it starts mpiexec itself, see --ranks.")
    labs = _labs(lab, nodes, lab_scale, lab_set or [])
    _with_lab_or_not(
        bool(labs),
        {"--nodes": nodes, "--stripes": stripes, "--lab-scale": lab_scale, "--lab-set": lab_set},
        {"--dir": dirs, "--cold": cold, "--touch-memory": touch_memory, "--ranks-per-node": ranks_per_node},
    )
    choice = Choice(
        ranks=_numbers(ranks, "--ranks"),
        tiles=_matching(_list(tiles, "--tiles"), r"[1-9]\d*x[1-9]\d*", "--tiles", "2x2"),
        sizes=_matching(
            _list(size, "--size"), r"[a-z]\w*|\d+(x\d+)*", "--size", "small, medium, large or 656x640x16"
        ),
        records=_numbers(records, "--records"),
        methods=_list(methods, "--methods"),
        formats=_list(formats, "--formats"),
        hints=None if hints is None else (",".join(_pairs(hints)),),
        io_layouts=_matching(
            None if io_layout is None else (io_layout,), r"[1-9]\d*x[1-9]\d*", "--io-layout", "2x2"
        ),
        mpi_ios=_matching(
            _list(mpi_io, "--mpi-io"), r"default|ompio|romio\w*", "--mpi-io", "default, ompio or romio"
        ),
        repetitions=reps,
        steps=steps,
        switches=None if switches is None else str(switches.absolute()),
        ranks_per_node=ranks_per_node,
        default_mpi_ios=_of_this_mpi() if labs else ("default",),
        stripes=_numbers(stripes, "--stripes"),
        labs=labs,
        dirs=("labfs",) if labs else _folders(dirs),
        flush=bool(labs) if flush is None else flush,
        cold=cold,
        touch_memory=touch_memory,
        paper=paper,
    )
    with interruptible():
        try:
            status = _measure(experiments, choice, json)
        except Interrupted:
            raise _stop("interrupted before anything was measured.", _interrupted) from None
    raise typer.Exit(status)


def _labs(presets: Optional[str], nodes: Optional[int], scale: Optional[float], changes: list[str]) -> tuple:
    from .study import Lab

    if scale is not None and scale <= 0:
        raise typer.BadParameter(f"--lab-scale {scale}: write a number above 0.")
    return tuple(
        Lab(
            str(Path(preset).absolute()) if "/" in preset else preset,
            nodes or 4,
            0,
            tuple(changes),
            scale or 0,
        )
        for preset in _list(presets, "--lab") or ()
    )


def _of_this_mpi() -> tuple[str, ...]:
    """Its MPI-IOs: Open MPI has two, of which neither knows which file system is emulated."""
    launcher = find_launcher()
    return ("ompio", "romio") if launcher is not None and launcher.flavour == "openmpi" else ("default",)


def _with_lab_or_not(lab: bool, of_lab: dict, of_folders: dict) -> None:
    """Options that the other kind of run would not heed are mistakes."""
    reason = (
        "has no meaning with --lab, which brings a file system of its own" if lab else "is for --lab alone"
    )
    for name, value in (of_folders if lab else of_lab).items():
        if value:
            raise typer.BadParameter(f"{name} {reason}.")


def _pairs(text: str) -> tuple[str, ...]:
    return _matching(_list(text, "--hints"), r"[^=]+=[^=]+", "--hints", "key=value,key=value") or ()


def _folders(given: Optional[list[str]]) -> tuple[str, ...]:
    found: list[str] = []
    for item in given or ["."]:
        found += _list(item, "--dir") or ()
    return tuple(dict.fromkeys(str(Path(item).absolute()) for item in found))


def _measure(names: list[str], choice, path: Path) -> int:
    """Plans, looks whether it fits, runs; the exit status."""
    from .campaign import Campaign
    from .engine import EngineError, find_engine
    from .fitting import Available, estimates, misfits
    from .journal import Journal
    from .lab import backing, find_labfs, prepared
    from .machine import available_memory, look_at, nodes
    from .planning import planned
    from .results import ResultsError
    from .study import StudyError

    try:
        folders = tuple(look_at(folder) for folder in ((backing,) if choice.labs else choice.dirs))
    except OSError as error:
        raise _stop(f"--dir: {error}") from None
    try:
        engine = find_engine()
        starts, notes = planned(names, choice, engine.capabilities())
        labfs = find_labfs() if choice.labs else None
        if labfs is not None:
            starts, more = prepared(starts, labfs)
            notes += more
        for note in notes:
            console(stderr=True).print(escape(note), soft_wrap=True)
        needs = estimates(engine, starts)
    except (EngineError, StudyError) as error:
        raise _stop(str(error)) from None
    bad = misfits(engine, starts, needs, Available(available_memory(), nodes(), folders))
    if bad:
        for item in bad:
            advice = f"; {item.advice}" if item.advice else ""
            print(
                f"shoal: {item.start.experiment}, {item.start.label}: {item.why}{advice}.",
                file=sys.stderr,
            )
        raise _stop("nothing was started.")
    try:
        campaign = Campaign(engine, starts, needs, Journal(path), labfs)
        outcome = campaign.run()
    except ResultsError as error:
        raise _stop(f"{error}. The file was left as it is; name another one with --json.") from None
    except OSError as error:
        raise _stop(f"{error.filename or path}: {error.strerror}") from None
    return _tell(campaign, outcome, path)


def _tell(campaign, outcome, path: Path) -> int:
    """The tables of the report; the exit status."""
    from .report.document import document_of
    from .report.results import parse
    from .report.terminal import show_table

    out, err = console(), console(stderr=True)
    if any(result.whole_round for result in outcome.results):
        measured = document_of(parse((result.object() for result in outcome.results), path))
        for table in (table for section in measured.sections for table in section.tables):
            show_table(out, table)
    for reason, methods in outcome.skipped.items():
        out.print(escape(f"left out: {', '.join(methods)}: {reason}"), soft_wrap=True)
    flushed = campaign.starts[0].flush
    out.print(
        "Bytes were on the device when a write ended."
        if flushed
        else "Bytes were in the page cache when a write ended; --flush waits for the device."
    )
    for launch in dict.fromkeys(result.versions.get("launch", "") for result in outcome.results):
        out.print(escape(f"Launched with {launch}"), soft_wrap=True)
    if outcome.interrupted:
        again = shlex.join(["shoal", *sys.argv[1:]])
        err.print(escape(f"Interrupted. {path} keeps what was measured; to go on: {again}"), soft_wrap=True)
        return _interrupted
    if outcome.failures:
        err.print(f"{len(outcome.failures)} of {len(campaign.starts)} starts failed, see above.")
    wrong = outcome.unverified
    if wrong or outcome.wrong:
        names = sorted({f"{r.operation} {r.method} {r.format}" for r in wrong})
        err.print(escape(f"shoal: wrong values were read back: {', '.join(names) or 'in the warm-up'}"))
        return trouble
    if outcome.failures:
        return 1
    out.print(f"Tables, plots and a page: shoal bench report {shlex.quote(str(path))}", soft_wrap=True)
    return 0


@group.command()
def report(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="What shoal bench run wrote.")],
    output: Annotated[
        Optional[Path],
        typer.Option(
            "-o", "--output", metavar="DIR", help="Where plots and the page go; default: tables only."
        ),
    ] = None,
    cells: Annotated[
        bool, typer.Option("--cells", help="Print how native did in each cell, as JSON, and no tables.")
    ] = False,
) -> None:
    """Tables on the terminal; plots and one HTML page in DIR."""
    from .report.command import report as show

    show(results, output, cells)


def register(app: typer.Typer) -> None:
    for module in (comparing, promises, grid, zarr_figures):
        module.register(group)
    app.add_typer(group)
