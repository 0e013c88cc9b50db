# SPDX-License-Identifier: BSD-3-Clause
"""The command line. Each file in commands/ is one command: it has register(app), and nothing else
must be changed to add one."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import sys

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


def _register_commands(asked: str = "") -> None:
    """All of them, or the one asked for alone: who joins two files need not wait for the benchmark."""
    from . import commands

    names = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    for name in [asked] if asked in names else names:
        importlib.import_module(f"{commands.__name__}.{name}").register(app)


def _leave() -> None:
    """End a program that did well under MPI at once: to take apart all that goes with the process takes a
    fifth of a short command."""
    sys.modules["mpi4py.MPI"].Finalize()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def main() -> None:
    """What the program `shoal` runs."""
    _register_commands(sys.argv[1] if len(sys.argv) > 1 else "")
    gc.freeze()  # what was imported stays
    gc.enable()
    try:
        app()
    except SystemExit as end:
        if end.code in (0, None) and "mpi4py.MPI" in sys.modules:
            _leave()
        raise
