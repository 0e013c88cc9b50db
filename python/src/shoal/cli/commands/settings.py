# SPDX-License-Identifier: BSD-3-Clause
"""shoal settings: what can be set, what is set here, and from where."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Optional

import typer

if TYPE_CHECKING:
    from ..._library import SettingKey

_line = re.compile(r"^(\w+) = (.*?) +# (.*?)(, new files only)?$")


def _in_effect(text: str) -> dict[str, tuple[str, str]]:
    """Name -> value and where it came from, of shoal.settings()."""
    found = (_line.match(line) for line in text.splitlines())
    return {m[1]: (m[2], m[3]) for m in found if m}


def _show_one(key: SettingKey, value: str, origin: str) -> None:
    files = "new files only" if key.files == "new" else "all files"
    typer.echo(f"{key.name} = {value}  ({origin})")
    typer.echo(f"  {key.about}")
    typer.echo(f"  default  {key.default or 'nothing'}")
    typer.echo(f"  allowed  {key.allowed}")
    typer.echo(f"  level    {key.level}; {files}")


def _show_table(keys: list[SettingKey], values: dict[str, tuple[str, str]]) -> None:
    from rich.table import Table

    from ..screen import console

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("setting", "value", "from", "default", "what it says"):
        table.add_column(title, overflow="fold", no_wrap=title == "setting")
    level = ""
    for key in keys:
        if key.level != level:
            level = key.level
            table.add_row(f"[dim]{level}[/dim]")
        value, origin = values[key.name]
        set_here = origin != "default"
        style = "bold" if set_here else ""
        default = (key.default or '""') if set_here else ""
        about = key.about + (" [dim](new files)[/dim]" if key.files == "new" else "")
        table.add_row(key.name, value, origin, default, about, style=style)
    console().print(table)


def register(app: typer.Typer) -> None:
    @app.command("settings")
    def command(
        names: Annotated[
            Optional[list[str]], typer.Argument(metavar="[NAME...]", help="All there is to say of these.")
        ] = None,
        every: Annotated[bool, typer.Option("--all", help="The expert ones, too.")] = False,
    ) -> None:
        """What can be set, what is set here, and from where.

        Lists the basic settings, and the expert ones that the environment or shoal.toml in this folder sets;
        a program may set others by arguments of its calls and its namelist."""
        from ... import Error, setting_keys, settings

        try:
            text = settings()
            values = _in_effect(text)
        except Error as error:
            typer.echo(f"shoal settings: {error}", err=True)
            raise typer.Exit(2) from None
        for line in text.splitlines():
            if line.startswith("# warning: "):
                typer.echo(f"shoal settings: {line[len('# warning: ') :]}", err=True)
        keys = {key.name: key for key in setting_keys()}
        if names:
            for name in names:
                if name not in keys:
                    near = _nearest(name, list(keys))
                    typer.echo(f"shoal settings: there is no setting '{name}'{near}", err=True)
                    raise typer.Exit(2)
                _show_one(keys[name], *values[name])
            return
        chosen = [
            key for key in keys.values() if every or key.level == "basic" or values[key.name][1] != "default"
        ]
        _show_table(chosen, values)
        left = len(keys) - len(chosen)
        if left:
            typer.echo(f"\n{left} more with --all; one of them with all its values: shoal settings NAME")


def _nearest(name: str, names: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, names, 1)
    return f"; did you mean '{near[0]}'?" if near else "; shoal settings --all lists them"
