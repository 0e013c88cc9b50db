# SPDX-License-Identifier: BSD-3-Clause
"""shoal master"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..outputs import check_order


def register(app: typer.Typer) -> None:
    @app.command("master")
    def command(
        paths: Annotated[
            list[str], typer.Argument(metavar="IN...", help="Files, or the name of a set of files.")
        ],
        out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    ) -> None:
        """Write OUT, a small netCDF-4 file through which every program reads the set IN as one dataset.

        IN are netCDF-4 files of a set, or what names it (his.nc for his.nc.0000 and so on)."""
        from ... import Error, write_master

        check_order("master", paths, str(out))
        try:
            write_master(paths, out)
        except Error as error:
            typer.echo(f"shoal master: {error}", err=True)
            raise typer.Exit(2) from None
