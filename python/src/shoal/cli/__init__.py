# SPDX-License-Identifier: BSD-3-Clause
"""The command line. Each file in commands/ is one command: it has register(app), and nothing else
must be changed to add one."""

from __future__ import annotations

import importlib
import pkgutil

import typer

app = typer.Typer(
    name="shoal",
    help="Parallel input and output for fields that are cut over MPI ranks.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from .. import version

        typer.echo(f"shoal {version()}")
        raise typer.Exit()


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", help="Show the version.", is_eager=True, callback=_print_version
    ),
) -> None:
    pass


def _register_commands() -> None:
    from . import commands

    for module in pkgutil.iter_modules(commands.__path__):
        importlib.import_module(f"{commands.__name__}.{module.name}").register(app)


def main() -> None:
    """What the program `shoal` runs."""
    _register_commands()
    app()
