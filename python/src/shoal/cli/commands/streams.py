# SPDX-License-Identifier: BSD-3-Clause
"""shoal streams: configurations of streams, before a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer


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
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="diag_table, diag_table.yaml, or XML of XIOS.")
    ],
    out: Annotated[
        Optional[Path],
        typer.Option("-o", "--out", metavar="OUT.toml", help="Where; if not given, to the terminal."),
    ] = None,
    form: Annotated[
        Optional[str], typer.Option("--from", help="fms, fms-yaml or xios; if not given, as the text looks.")
    ] = None,
    lon: Annotated[str, typer.Option(help="Of FMS's regions: the coordinate of longitudes.")] = "lon",
    lat: Annotated[str, typer.Option(help="The coordinate of latitudes.")] = "lat",
    vertical: Annotated[str, typer.Option(help="The coordinate of levels.")] = "lev",
    x: Annotated[str, typer.Option(help="Of regions by index: the dimension of the first number.")] = "x",
    y: Annotated[str, typer.Option(help="The dimension of the second number.")] = "y",
    replace: Annotated[bool, typer.Option("--replace", help="Replace OUT.toml if it is there.")] = False,
) -> None:
    """Make a configuration of FMS's diag_table or of XIOS's file definitions.

    What has no counterpart is a comment in the configuration, and a line on standard error with the line of the
    table. Exit status: 0 all of it is there, 1 something has no counterpart, 2 the table cannot be read."""
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
    losses = imported.losses()
    if losses:
        typer.echo(
            f"shoal streams: {len(losses)} {'thing has' if len(losses) == 1 else 'things have'} no counterpart",
            err=True,
        )
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        name="streams",
        help="Configurations of streams: check one before a run, make one of tables of FMS or XIOS, list fields.",
        no_args_is_help=True,
    )
    group.command("import")(import_table)
    app.add_typer(group)
