# SPDX-License-Identifier: BSD-3-Clause
"""shoal combine: one file out of the many of a set, on any number of ranks."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from ..copying import Format, Memory, Out, Overwrite, Quiet, Settings, copy_on_all_ranks
from ..outputs import check_order
from ..parallel import parse_bytes, settings_of


def combine(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="IN...", help="The files of a set, a pattern in quotes, or its common name."),
    ],
    out: Out,
    format: Format = None,
    overwrite: Overwrite = False,
    allow_missing: Annotated[
        bool,
        typer.Option(
            "--allow-missing",
            help="Cells of missing tiles, and records that a file lacks, get the fill value.",
        ),
    ] = False,
    fill: Annotated[
        Optional[float],
        typer.Option(metavar="VALUE", help="That value, where a variable has none of its own."),
    ] = None,
    drop_made_axes: Annotated[
        bool, typer.Option("--drop-made-axes", help="Leave out coordinates that only the cutting needed.")
    ] = False,
    memory: Memory = "256MiB",
    settings: Settings = None,
    quiet: Quiet = False,
) -> None:
    """Join the files of a set (one per domain or process) to one, or write a file in another format.

    Under mpiexec all ranks work on it. IN are sets that Shoal or FMS, ROMS, NEMO wrote; the set must be
    whole. OUT appears under its name when it is whole; until then it is .OUT.NUMBER.tmp beside it. What a
    killed run left there the next one removes, a day later.

    Exit status 0; 3 where variables or attributes were left out that cannot be read (compound, enum, ...); 2
    for trouble, and there is no OUT then, unless the message says that it is whole: what the setting
    reference or master asks for beside it is missing then.
    """
    from shoal import combination

    check_order("combine", inputs, out)
    most, chosen = parse_bytes(memory), settings_of(settings)
    if format is not None and "format" in chosen:
        raise typer.BadParameter("The format is given twice, by --format and by --settings.")

    def copy(comm, progress):
        return combination.combine(
            out,
            inputs,
            comm,
            format=chosen.pop("format", format),
            overwrite=overwrite,
            allow_missing=allow_missing,
            fill=fill,
            drop_made_axes=drop_made_axes,
            memory=most,
            settings=chosen,
            progress=progress,
        )

    copy_on_all_ranks("combining", quiet, copy)


def register(app: typer.Typer) -> None:
    app.command()(combine)
