# SPDX-License-Identifier: BSD-3-Clause
"""shoal streams: configurations of streams, before a run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

_calendars = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]


def _fail(what: str) -> typer.Exit:
    typer.echo(f"shoal streams: {what}", err=True)
    return typer.Exit(2)


def _write(text: str, out: Optional[Path]) -> None:
    if out is None:
        sys.stdout.write(text)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _fail(f"{out}: {error.strerror}") from None


def import_table(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="diag_table, its YAML, or XIOS's XML.")],
    out: Annotated[
        Optional[Path],
        typer.Option("-o", "--out", metavar="OUT.toml", help="Where; else to the terminal."),
    ] = None,
    form: Annotated[
        Optional[str],
        typer.Option(
            "--from",
            help="fms, fms-yaml or xios; if not given, as the text looks.",
            autocompletion=lambda: ["fms", "fms-yaml", "xios"],
        ),
    ] = None,
    lon: Annotated[str, typer.Option(help="Of FMS's regions: the coordinate of longitudes.")] = "lon",
    lat: Annotated[str, typer.Option(help="The coordinate of latitudes.")] = "lat",
    vertical: Annotated[str, typer.Option(help="The coordinate of levels.")] = "lev",
    x: Annotated[str, typer.Option(help="Of parts by index: the dimension of the first number.")] = "x",
    y: Annotated[str, typer.Option(help="The dimension of the second number.")] = "y",
    replace: Annotated[bool, typer.Option("--replace", help="Replace OUT.toml if it is there.")] = False,
) -> None:
    """Make a configuration of FMS's diag_table or of XIOS's file definitions.

    What has no counterpart is a comment in the configuration, and a line on standard error with the line of
    the table.

    Exit status: 0 nothing is lost, 1 something has no counterpart, 2 the table cannot be read."""
    from ...streams_import import ImportFailedError, Names, read_table, to_toml

    if out is not None and out.exists() and not replace:
        raise _fail(f"{out} is there already; --replace writes over it")
    try:
        imported = read_table(str(file), form, Names(lon, lat, vertical, x, y))
    except ImportFailedError as error:
        raise _fail(str(error)) from None
    except OSError as error:
        raise _fail(f"{file}: {error.strerror}") from None
    _write(to_toml(imported), out)
    for remark in imported.all_remarks():
        typer.echo(("note: " if remark.note else "") + remark.text(str(file)), err=True)
    count = len(imported.losses())
    if count:
        typer.echo(
            f"shoal streams: {count} {'thing has' if count == 1 else 'things have'} no counterpart", err=True
        )
        raise typer.Exit(1)


def check(
    file: Annotated[Path, typer.Argument(metavar="CONFIG", help="The configuration, in TOML.")],
    calendar: Annotated[
        str, typer.Option(help="Of the run.", autocompletion=lambda: _calendars)
    ] = "standard",
    from_: Annotated[
        Optional[str], typer.Option("--from", metavar="DATE", help="Where the run begins.")
    ] = None,
    to: Annotated[Optional[str], typer.Option(metavar="DATE", help="Where it ends.")] = None,
    step: Annotated[Optional[str], typer.Option(help="Of the model: '30 min'.")] = None,
    start: Annotated[
        Optional[str],
        typer.Option(metavar="DATE", help="Of the whole run, if --from is where it goes on after a restart."),
    ] = None,
    fields: Annotated[
        Optional[Path],
        typer.Option(metavar="FIELDS.toml", help="The model's fields: names and sizes are checked, too."),
    ] = None,
    ranks: Annotated[int, typer.Option(min=1, help="Of the job, for the memory of one.")] = 1,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    picture: Annotated[
        Optional[str], typer.Option(metavar="FILE.png|svg|pdf", help="Draw the windows on a time axis.")
    ] = None,
) -> None:
    """Check a configuration before the run: errors with lines, and what it would write.

    With --from, --to and --step: files, dates, records and windows. With --fields also sizes before
    compression, and the memory of the accumulators.

    Exit status: 0 nothing is wrong, 1 something is, 2 it cannot be checked."""
    from ... import Error
    from ...programs import ProgramError
    from ...streams_check import check as checked
    from ..streams_view import draw, show

    run = (from_, to, step)
    if None in run and any(value is not None for value in run):
        raise _fail("--from, --to and --step go together")
    if start is not None and from_ is None:
        raise _fail("--start needs --from, --to and --step")
    try:
        found = checked(
            file,
            fields=fields,
            calendar=calendar,
            run=None if None in run else run,  # type: ignore[arg-type]
            start=start,
            ranks=ranks,
        )
        if json_:
            print(json.dumps(found, indent=1))
        else:
            show(found)
        if picture is not None:
            draw(found, picture)
            typer.echo(f"picture: {Path(picture).absolute()}", err=True)
    except (Error, ProgramError) as error:
        raise _fail(str(error)) from None
    if found["problems"]:
        raise typer.Exit(1)


def fields(
    file: Annotated[
        Path, typer.Argument(metavar="REPORT.json", help="Named by `report` of a configuration.")
    ],
    out: Annotated[
        Optional[Path],
        typer.Option("-o", "--out", metavar="FIELDS.toml", help="A file of fields, for check."),
    ] = None,
) -> None:
    """List the fields that a model registered, from a report of its streams; -o: for shoal streams check."""
    from ... import Error
    from ...streams_check import fields_toml, load_report
    from ..streams_view import show_fields

    try:
        report = load_report(file)
    except (Error, UnicodeDecodeError) as error:
        raise _fail(str(error)) from None
    except OSError as error:
        raise _fail(f"{file}: {error.strerror}") from None
    if out is None:
        show_fields(report)
    else:
        _write(fields_toml(report, str(file)), out)


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        name="streams",
        help="Configurations of streams: check one, make one of tables of FMS or XIOS, list fields.",
        no_args_is_help=True,
    )
    group.command("check")(check)
    group.command("fields")(fields)
    group.command("import")(import_table)
    app.add_typer(group)
