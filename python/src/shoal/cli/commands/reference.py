# SPDX-License-Identifier: BSD-3-Clause
"""shoal reference"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..outputs import check_order


def register(app: typer.Typer) -> None:
    @app.command("reference")
    def command(
        paths: Annotated[
            list[str], typer.Argument(metavar="IN...", help="Files, or the name of a set of files.")
        ],
        out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    ) -> None:
        """Write OUT, a JSON reference (Kerchunk's format) through which xarray reads IN as one dataset.

        IN is one file of any format, or the files of a set, or what names it (his.nc for his.nc.0000 ...)."""
        from ... import Error, write_reference

        check_order("reference", paths, str(out), makes_data=False)
        try:
            write_reference(paths, out)
        except Error as error:
            typer.echo(f"shoal reference: {error}", err=True)
            raise typer.Exit(2) from None
