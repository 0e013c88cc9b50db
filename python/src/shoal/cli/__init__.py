# SPDX-License-Identifier: BSD-3-Clause
"""The command line. Each file in commands/ is one command: it has register(app), and nothing else
must be changed to add one. Other packages add commands as entry points of the group shoal.commands: the name
is that of the command, the object is register."""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import os
import pkgutil
import sys

import typer

from . import screen
from .mpi_launch import inside_mpi

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


# Packages with a command each, which many do without.
_packages = {"bench": ("shoal-bench", "The published studies of parallel I/O, measured on this machine.")}


def _of_other_packages() -> dict[str, importlib.metadata.EntryPoint]:
    group = "shoal.commands"
    found = importlib.metadata.entry_points()
    chosen = found.select(group=group) if hasattr(found, "select") else found.get(group, ())  # Python 3.9
    return {entry.name: entry for entry in chosen}


def _register_missing(name: str) -> None:
    """A command that says how to install it."""
    package, about = _packages[name]

    @app.command(
        name,
        help=f"{about} In the package {package}, which is not installed.",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    )
    def _missing() -> None:
        print(
            f"shoal: {name} is in a package of its own: pip install {package}, "
            f"or ./{name}/python of Shoal's sources.",
            file=sys.stderr,
        )
        raise typer.Exit(2)


def _register_commands(asked: str = "") -> None:
    """All of them, or the one asked for alone: who joins two files need not wait for the benchmark."""
    from . import commands

    names = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    for name in [asked] if asked in names else names:
        importlib.import_module(f"{commands.__name__}.{name}").register(app)
    if asked in names:
        return
    others = _of_other_packages()
    for entry in others.values():
        entry.load()(app)
    for name in _packages.keys() - others.keys():
        _register_missing(name)


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
    if inside_mpi():
        os.environ["TERM"] = (
            "dumb"  # a launcher's terminal may be a log: no escape codes, also in help and errors
        )
    screen.protect()
    gc.freeze()  # what was imported stays
    gc.enable()
    try:
        app()
    except SystemExit as end:
        if end.code in (0, None) and "mpi4py.MPI" in sys.modules:
            _leave()
        raise
