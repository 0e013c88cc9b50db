# SPDX-License-Identifier: BSD-3-Clause
"""shoal recover"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    @app.command("recover")
    def command(
        files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of a job that died.")],
    ) -> None:
        """Finish what a killed job left half done in each FILE, so that every program can read it.

        A file that needs nothing stays as it is. Do not run it while a job still writes the file."""
        from ... import Error, recover

        failed = False
        for file in files:
            try:
                finished = recover(file)
            except Error as error:
                typer.echo(f"shoal recover: {error}", err=True)
                failed = True
                continue
            typer.echo(f"{file}: {'the last commit is finished now' if finished else 'nothing to do'}")
        if failed:
            raise typer.Exit(2)
