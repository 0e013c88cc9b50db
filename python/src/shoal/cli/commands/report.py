# SPDX-License-Identifier: BSD-3-Clause
"""shoal report: where the time of a dataset went, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

_within = ("pack", "encode", "store", "unpack", "read", "decode", "blocked")


def _size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} TiB"


def _heading(report: dict[str, Any]) -> str:
    if "format" not in report:  # of a table, whose first row says it
        return next((rest for name, rest in report["rows"] if name == ""), "")
    servers = f" (and {report['servers']} that serve)" if report.get("servers") else ""
    nodes = report["nodes"]
    return (
        f"{report['format']}, driver {report['driver']}, {report['ranks']} ranks{servers} on {nodes} "
        f"{'node' if nodes == 1 else 'nodes'}, {report['file_system']}"
    )


def _summary(report: dict[str, Any]) -> str:
    seconds = {name: spread["max"] for name, spread in report["seconds"].items()}
    inside = sum(seconds.get(name, 0.0) for name in ("write_calls", "read_calls", "open", "commit", "close"))
    if not inside:
        return "No time was spent."
    parts = {name: value for name, value in seconds.items() if value > 0 and name in _within}
    most = max(parts, key=lambda name: parts[name], default=None)
    opened = report.get("seconds_open", 0.0)
    share = f" of the {opened:.3g} s that the file was open" if opened else ""
    text = f"The slowest ranks spent {inside:.3g} s in Shoal{share}"
    return text + (f"; most of it went into {most}." if most else ".")


def _times(title: str, seconds: dict[str, dict[str, float]], console: Any, background: bool) -> None:
    from rich.table import Table

    from ...report_rows import times

    shown = [name for name in times if seconds.get(name, {}).get("max", 0) > 0]
    if not shown:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title, no_wrap=True)
    for column in ("least", "median", "most s"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("what it is; where it is much: what to do", overflow="fold")
    for name in shown:
        spread, row = seconds[name], times[name]
        about = row.about
        if background and name in ("store", "encode"):
            about = about.split(";")[0] + "; beside the model, as background is set"
        advice = f" [dim]→ {row.advice}[/dim]" if row.advice else ""
        label = f"  {name}" if name in _within else name
        numbers = [f"{spread[key]:.3f}" for key in ("min", "median", "max")]
        table.add_row(label, *numbers, about + advice)
    console.print(table)


def _counts(report: dict[str, Any], console: Any) -> None:
    from rich.table import Table

    from ...report_rows import counts, others

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("count", no_wrap=True)
    table.add_column("of all ranks", overflow="fold")
    table.add_column("what it is", overflow="fold")
    found = report.get("counts", {})
    for name, row in counts.items():
        if found.get(name):
            value = _size(found[name]) if "bytes" in name else str(found[name])
            advice = f" [dim]→ {row.advice}[/dim]" if row.advice else ""
            table.add_row(name, value, row.about + advice)
    stage = report.get("stage", {})
    if stage.get("bytes"):
        used = f"{_size(stage['bytes'])} a node, at most {_size(stage['high_water'])} in use"
        table.add_row("stage", used, others["stage"].about)
    rows = [(name, rest) for name, rest in report.get("rows", ()) if name not in ("", "advice", "cores")]
    for key, name in (
        ("strategies", "strategy"),
        ("fill_values_added", "_FillValue"),
        ("warnings", "warning"),
    ):
        rows += [(name, text) for text in report.get(key, ())]
    for name, cells in report.get("fill_values_written", {}).items():
        rows.append(("fill values", f"{name}: {cells} cells that are no land; readers take them for missing"))
    for name, item in report.get("settings", {}).items():
        rows.append(("setting", f"{name} = {item['value']} ({item['from']})"))
    hints = report.get("hints", {})
    rows += [("hint", text) for text in hints.get("taken", ())]
    rows += [("hint dropped", text) for text in hints.get("dropped", ())]
    for name, text in rows:
        table.add_row(name, text, others[name].about if name in others else "")
    if table.rows:
        console.print()
        console.print(table)


def _show(report: dict[str, Any], console: Any) -> None:
    from rich.markup import escape

    from ...report_rows import ranks_and_cores

    console.print(f"[bold]{escape(report['file'])}[/bold]", soft_wrap=True)
    console.print(escape(_heading(report)), soft_wrap=True)
    console.print(_summary(report), soft_wrap=True)
    shared = ranks_and_cores(report)
    if shared:
        ranks, cores = shared
        console.print(
            f"{ranks} ranks share {cores} {'core' if cores == 1 else 'cores'}: the times hold what ranks "
            "waited for a core, most of all blocked. Measure with a core for each rank.",
            soft_wrap=True,
        )
    background = report.get("settings", {}).get("background", {}).get("value", "off") != "off" or any(
        name == "setting" and rest.startswith("background = ") for name, rest in report.get("rows", ())
    )
    console.print()
    _times("seconds", report["seconds"], console, background)
    _times("of servers", report.get("seconds_of_servers", {}), console, False)
    _counts(report, console)
    advice = report.get("advice") or next((r for n, r in report.get("rows", ()) if n == "advice"), "")
    if advice:
        console.print(f"\n[bold]Advice:[/bold] {escape(advice)}", soft_wrap=True)


def register(app: typer.Typer) -> None:
    @app.command("report")
    def command(
        file: Annotated[
            Path, typer.Argument(metavar="FILE", help="What the setting report named, or its table.")
        ],
    ) -> None:
        """Explain a report that was saved when a dataset was closed: where time went, row by row in words.

        A program saves it with the setting report=r.json (SHOAL_REPORT=r.json for a run): r.json has a line
        for each dataset that was closed, r.txt the same as a table."""
        from ... import Error
        from ...report_rows import load
        from .. import screen

        try:
            reports = load(file)
        except Error as error:
            typer.echo(f"shoal report: {error}", err=True)
            raise typer.Exit(2) from None
        console = screen.console(highlight=False)
        for number, report in enumerate(reports):
            if number:
                console.print()
            _show(report, console)
