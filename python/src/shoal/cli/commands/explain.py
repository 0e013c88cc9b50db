# SPDX-License-Identifier: BSD-3-Clause
"""shoal explain: what a way of writing means, before anything is written."""

from __future__ import annotations

import shlex

import typer
from typer.core import TyperGroup

from ..explain_chunks import chunks
from ..explain_layout import layout
from ..explain_simulate import simulate

# Options that only one of the commands has; the first two said which, and are gone.
_kinds = {"--chunks": "chunks", "--simulate": "simulate", "--ranks": "simulate"}
_gone = ("--chunks", "--simulate")


class _Group(TyperGroup):
    """Options of one command said until 0.2 what is asked: who writes it so is told the command."""

    def parse_args(self, ctx, args):
        known = (*self.commands, "--help")
        if args and args[0] not in known and not ctx.resilient_parsing:
            names = [arg.partition("=")[0] for arg in args]
            other = "layout" if args[0].startswith("-") else "chunks"  # which has a file's name
            kind = next((_kinds[name] for name in names if name in _kinds), other)
            rest = [arg for arg in args if arg not in _gone]
            typer.echo(f"shoal: this is now: {shlex.join(['shoal', 'explain', kind, *rest])}", err=True)
            raise typer.Exit(2)
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        name="explain",
        cls=_Group,
        help="What a way of writing means: for the file, for readers, for many ranks.",
        no_args_is_help=True,
    )
    group.command("layout")(layout)
    group.command("chunks")(chunks)
    group.command("simulate")(simulate)
    app.add_typer(group)
