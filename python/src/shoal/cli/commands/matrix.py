# SPDX-License-Identifier: BSD-3-Clause
"""shoal matrix: the same fields in every layout, format, driver and access."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.markup import escape
from rich.table import Table

from ..parallel import console, on_all_ranks


def _cell(configuration, notes: dict[str, int], everything: bool) -> str:
    if configuration.refused and not everything:
        return "[dim]-[/]"
    if configuration.refused:
        return f"[dim]refused \\[{notes.setdefault(configuration.refused, len(notes) + 1)}][/]"
    if configuration.failed:
        return f"[bold red]FAILED \\[{notes.setdefault(configuration.failed, len(notes) + 1)}][/]"
    if configuration.differs:
        text = "; ".join(configuration.differs)
        return f"[bold red]DIFFERS \\[{notes.setdefault(text, len(notes) + 1)}][/]"
    return f"{1000 * configuration.write_seconds:7.1f} {1000 * configuration.read_seconds:7.1f}"


def _show(configurations, ranks: int, pairs: int, everything: bool) -> None:
    out = console()
    columns = list(dict.fromkeys(configuration.layout for configuration in configurations))
    table = Table(
        title=f"Milliseconds to write and to read back on {ranks} rank{'s' if ranks > 1 else ''}, by layout",
        title_justify="left",
    )
    for heading in ("format", "driver", "access"):
        table.add_column(heading, no_wrap=True)
    for layout in columns:
        table.add_column(layout, justify="right", no_wrap=True)
    notes: dict[str, int] = {}
    rows: dict[tuple, dict[str, str]] = {}
    # What is refused is what a table of what works leaves empty.
    working = {(c.format, c.driver, c.access) for c in configurations if everything or not c.refused}
    for configuration in configurations:
        if (configuration.format, configuration.driver, configuration.access) not in working:
            continue
        rows.setdefault((configuration.format, configuration.driver, configuration.access), {})[
            configuration.layout
        ] = _cell(configuration, notes, everything)
    last = None
    for (format_, driver, access), cells in rows.items():
        if last is not None and format_ != last:
            table.add_section()
        last = format_
        table.add_row(format_, driver, access or "-", *(cells[layout] for layout in columns))
    out.print(table)
    for text, number in notes.items():
        out.print(escape(f"[{number}] {text}"), soft_wrap=True)
    written = [configuration for configuration in configurations if configuration.written]
    bad = sum(bool(configuration.failed) for configuration in configurations)
    odd = sum(bool(configuration.differs) for configuration in configurations)
    refused = sum(bool(configuration.refused) for configuration in configurations)
    out.print(
        f"{len(configurations)} ways: {len(written)} written, {refused} refused, {bad} failed; "
        f"{pairs} pairs compared, {odd} of the written differ from another"
    )
    if refused and not everything:
        out.print("What is refused, and why: --all")


def matrix(
    folder: Annotated[
        Optional[Path],
        typer.Option("--dir", metavar="DIR", help="Where to write; default: a temporary folder."),
    ] = None,
    shape: Annotated[str, typer.Option("--size", metavar="NXxNYxNZ", help="Cells of a field.")] = "48x40x5",
    records: Annotated[int, typer.Option(min=1, help="Records of each field.")] = 2,
    layouts: Annotated[Optional[str], typer.Option(help="Only these, commas between.")] = None,
    formats: Annotated[Optional[str], typer.Option(help="Only these.")] = None,
    drivers: Annotated[Optional[str], typer.Option(help="Only these.")] = None,
    accesses: Annotated[Optional[str], typer.Option(help="Only these.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show what the library refuses too, with its messages.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the files there (with --dir).")] = False,
) -> None:
    """Write the same fields in every layout, format, driver and access, and compare all of it.

    Run it under mpiexec on several ranks. What was written is read back through the same driver, and compared
    with everything else that was written. Combinations that the library refuses are left out, or shown with
    --all.

    Exit status 0: all that was written is the same; 1: something differs or failed; 2: trouble.
    """
    from .. import configurations as work_on

    given = {"layouts": layouts, "formats": formats, "drivers": drivers, "accesses": accesses}
    only = {}
    for name, text in given.items():
        chosen = [part.strip() for part in text.split(",") if part.strip()] if text else []
        known = getattr(work_on, name)
        for part in chosen:
            if part not in known:
                raise typer.BadParameter(f"--{name} '{part}'; there are {', '.join(known)}.")
        only[name] = chosen
    parts = shape.lower().split("x")
    if len(parts) != 3 or not all(part.isdigit() and int(part) > 1 for part in parts):
        raise typer.BadParameter(f"--size '{shape}': write three numbers from 2, such as 48x40x5.")
    if keep and folder is None:
        raise typer.BadParameter("--keep needs --dir.")

    def work(comm) -> int:
        place, problem = None, None
        if comm.rank == 0:
            try:
                place = tempfile.mkdtemp(prefix="shoal-matrix-", dir=folder)
            except OSError as error:
                problem = f"{folder}: {error.strerror}"
        place, problem = comm.bcast((place, problem))
        if problem is not None:
            raise work_on.shoal.InputOutputError(
                f"no folder can be made in {problem}; name another one (--dir)."
            )
        try:
            fields = work_on.Fields(comm, [int(part) for part in parts], records)
            configurations = list(work_on.all_configurations(only))
            for configuration in configurations:
                work_on.take(configuration, fields, place)
            pairs = work_on.compare_all(configurations, comm)
            if comm.rank == 0:
                _show(configurations, comm.size, pairs, everything)
                if keep:
                    console().print(f"files: {os.path.abspath(place)}", soft_wrap=True)
        finally:
            if comm.rank == 0 and not keep:
                shutil.rmtree(place, ignore_errors=True)
        return (
            1 if any(configuration.failed or configuration.differs for configuration in configurations) else 0
        )

    on_all_ranks(work)


def register(app: typer.Typer) -> None:
    app.command()(matrix)
