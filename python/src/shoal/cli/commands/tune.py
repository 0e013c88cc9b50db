# SPDX-License-Identifier: BSD-3-Clause
"""shoal tune: measure a file system and this job's nodes, for the library to choose by."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from ..mpi_launch import expect_one_node

# Not SHOAL_...: such names are settings of the library, which refuses those that it does not know.
_variable = "TUNE_ENGINE"


def tune(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Where files are written, and removed.")],
    minutes: Annotated[float, typer.Option(metavar="N", help="The time that measuring takes.")] = 2.0,
    machine: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="The file that gets the figures; those of other file systems in it stay."
        ),
    ] = "machine.toml",
    writer_bytes: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="What a rank writes at a time, at most; more than its node caches shows the servers.",
        ),
    ] = "64MiB",
    scatter: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="How much repeats may differ, as a part of their median, for a table to be kept.",
        ),
    ] = 0.5,
) -> None:
    """Measure a file system and this job's nodes, and write what Shoal chooses by to a machine file.

    Start it as the model is started, on two nodes or more: mpiexec -n 8 shoal tune /scratch/run. Its files
    are removed, also if it is killed.

    Exit status 0; 2 for what cannot be measured."""
    from ... import _shoal  # noqa: F401  the program lies beside libshoal
    from ...programs import ProgramError, find_program

    expect_one_node()
    try:
        program = str(find_program("shoal-tune", _variable))
    except ProgramError as error:
        print(f"shoal: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    words = [program, folder, "--minutes", str(minutes), "--machine", machine]
    words += ["--writer-bytes", writer_bytes, "--scatter", str(scatter)]
    # In place of this process, which the launcher knows: MPI is not started yet.
    sys.stdout.flush()
    os.execv(program, words)


def register(app: typer.Typer) -> None:
    app.command()(tune)
