# SPDX-License-Identifier: BSD-3-Clause
"""shoal run: a program of netCDF, as it is, with Shoal behind it."""

from __future__ import annotations

import shlex
import subprocess
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    @app.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
    def command(
        words: Annotated[
            list[str],
            typer.Argument(metavar="-- COMMAND...", help="What starts the program: mpiexec -n 4 ./model"),
        ],
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Say what would be run and served, and run nothing.")
        ] = False,
    ) -> None:
        """Run a program that calls parallel netCDF, as it is, with Shoal behind its calls.

        Files that it makes, or opens to write, with a communicator are written by Shoal (SHOAL_DOORS=off,
        write or all; SHOAL_DOORS_FILES=patterns); what Shoal cannot write goes to the program's own netCDF.
        Settings of Shoal come from the environment, as SHOAL_COMPRESSION. The status is the command's."""
        from ... import Error
        from ...doors import netcdf_door, plan, report_path, summary

        report = report_path()
        try:
            made, told = plan(words, netcdf_door(), report)
        except Error as error:
            typer.echo(f"shoal run: {error}", err=True)
            raise typer.Exit(2) from None
        for line in told:
            typer.echo(f"shoal run: {line}", err=True)
        if dry_run:
            typer.echo(shlex.join(made))
            return
        report.unlink(missing_ok=True)
        try:
            status = subprocess.run(made).returncode
        except OSError as error:
            typer.echo(f"shoal run: {made[0]}: {error.strerror}", err=True)
            raise typer.Exit(2) from None
        typer.echo(f"shoal run: {summary(report)}", err=True)
        raise typer.Exit(status if status >= 0 else 128 - status)
