# SPDX-License-Identifier: BSD-3-Clause
"""What `shoal streams check` shows: problems, a table of files, memory, and windows on a time axis."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Optional

from rich.markup import escape
from rich.table import Table

from ..errors import InvalidArgumentError, NotSupportedError
from .parallel import bytes_text, console

_width = 64  # letters of the time axis
_most_lanes = 40
_days = 86400.0


def _where(problem: Mapping[str, Any]) -> str:
    line = f":{problem['line']}" if problem["line"] else ""
    key = f" {problem['key']}:" if problem["key"] else ""
    return f"{problem['file']}{line}:{key} {problem['message']}"


def _names(file: Mapping[str, Any]) -> str:
    written = [part["name"] for part in file.get("written", ())]
    if not written:
        return file["name"]
    return written[0] if len(written) == 1 else f"{written[0]}\n… {written[-1]}"


def _dates(file: Mapping[str, Any]) -> str:
    written = file.get("written", ())
    return f"{written[0]['start']}\n{written[-1]['end']}" if written else ""


def _table_of_files(found: Mapping[str, Any]) -> Table:
    has_run, has_sizes = "run" in found, any("variables" in file for file in found["files"])
    table = Table(title="Files", title_justify="left")
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("name", no_wrap=True)
    table.add_column("every", no_wrap=True)
    if has_sizes:
        table.add_column("variables", overflow="fold")
    if has_run:
        table.add_column("from, to", no_wrap=True)
        table.add_column("files", justify="right", no_wrap=True)
        table.add_column("records", justify="right", no_wrap=True)
    if has_run and has_sizes:
        table.add_column("bytes", justify="right", no_wrap=True)
    for file in found["files"]:
        every = file["every"] + ("\nclimatology" if file["climatology"] else "")
        row = [str(file["line"]), _names(file), every]
        if has_sizes:
            row.append(", ".join(f"{v['name']} {v['operation']}" for v in file.get("variables", ())))
        if has_run:
            row += [_dates(file), f"{len(file['written']):,}", f"{file['records']:,}"]
        if has_run and has_sizes:
            row.append(bytes_text(file["bytes"]) if "bytes" in file else "")
        table.add_row(*map(escape, row))
    if has_run:
        totals = found["totals"]
        table.add_section()
        row = [
            "",
            "all",
            "",
            *([""] if has_sizes else []),
            "",
            f"{totals['files']:,}",
            f"{totals['records']:,}",
        ]
        if has_sizes:
            row.append(bytes_text(totals["bytes"]) if "bytes" in totals else "")
        table.add_row(*row)
    return table


def _lane(file: Mapping[str, Any], seconds: float) -> str:
    """Windows in turn light and dark; a letter of its own where several are in one, or where the program
    did not list them."""
    letters, windows, (first, last) = [], file["windows"], file.get("more_windows", (0, 0))
    for i in range(_width):
        begin, end = i * seconds / _width, (i + 1) * seconds / _width
        inside = [number for number, (start, stop) in enumerate(windows) if start < end and stop > begin]
        # A window that has most of the letter, or several that share it.
        most = max(inside, key=lambda n: min(windows[n][1], end) - max(windows[n][0], begin), default=None)
        is_dense = len(inside) > 2 or (first < end and last > begin)
        letters.append("░" if is_dense else "·" if most is None else "█▓"[most % 2])
    return "".join(letters)


def time_axis(found: Mapping[str, Any]) -> list[str]:
    """Lines of letters: the windows of each file between the ends of the run. Local."""
    run = found["run"]
    seconds = run["seconds"]
    lines = [f"{run['from']}{run['to']:>{max(_width - len(run['from']), len(run['to']) + 1)}}"]
    for file in found["files"][:_most_lanes]:
        lines.append(f"{_lane(file, seconds)}  {file['name']}, {file['every']}")
    if len(found["files"]) > _most_lanes:
        lines.append("…")
    return lines


def show(found: Mapping[str, Any]) -> None:
    """Print it. Local."""
    out = console()
    for problem in found["problems"]:
        out.print(f"[bold]error[/bold] {escape(_where(problem))}", soft_wrap=True)
    for warning in found["warnings"]:
        out.print(f"warning {escape(_where(warning))}", soft_wrap=True)
    if not found["files"]:
        return
    out.print(_table_of_files(found))
    if "memory" in found:
        memory = found["memory"]
        count = len(memory["accumulators"])
        out.print(
            f"Memory of {count} {'accumulator' if count == 1 else 'accumulators'}: "
            f"{bytes_text(memory['bytes'])}, "
            f"at most {bytes_text(memory['bytes_of_rank'])} on one of {found['ranks']:,} "
            f"{'rank' if found['ranks'] == 1 else 'ranks'}",
            soft_wrap=True,
        )
    if "run" in found and not found["problems"]:
        out.print("Windows (dark and light in turn; ░ several, · none):")
        for line in time_axis(found):
            out.print(escape(line), soft_wrap=True)


def draw(found: Mapping[str, Any], path: str) -> None:
    """A picture of the windows on a time axis; .png, .svg or .pdf. Local.

    Errors: NotSupportedError without matplotlib; InvalidArgumentError: no run, no file, another ending."""
    if "run" not in found or not found["files"]:
        raise InvalidArgumentError("--picture needs --from, --to and --step, and a configuration with files")
    if os.path.splitext(path)[1].lower() not in (".png", ".svg", ".pdf"):
        raise InvalidArgumentError(f"--picture {path}: the name ends in .png, .svg or .pdf")
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise NotSupportedError("--picture needs matplotlib: pip install matplotlib") from None
    files = found["files"]
    days = found["run"]["seconds"] / _days
    figure, axes = pyplot.subplots(figsize=(10, 1.2 + 0.45 * len(files)), layout="constrained")
    for lane, file in enumerate(files):
        bars = [(start / _days, (stop - start) / _days) for start, stop in file["windows"]]
        for parity, colour in enumerate(("#2a788e", "#7ad151")):
            axes.broken_barh(bars[parity::2], (lane - 0.35, 0.7), facecolors=colour)
        unfinished: Optional[Mapping[str, float]] = file.get("unfinished")
        if unfinished:
            start, stop = (seconds / _days for seconds in unfinished["seconds"])
            axes.broken_barh(
                [(start, stop - start)],
                (lane - 0.35, 0.7),
                facecolors="none",
                edgecolors="#666666",
                hatch="///",
            )
        if "more_windows" in file:
            start, stop = (seconds / _days for seconds in file["more_windows"])
            axes.broken_barh([(start, stop - start)], (lane - 0.35, 0.7), facecolors="#aaaaaa")
            axes.text((start + stop) / 2, lane, "and so on", ha="center", va="center", fontsize=8)
    axes.set_yticks(range(len(files)), [f"{file['name']}\n{file['every']}" for file in files], fontsize=8)
    axes.set_xlim(0, days)
    axes.invert_yaxis()
    axes.set_xlabel(f"days since {found['run']['from']} ({found['calendar']})")
    axes.set_title(
        "Windows of the files; hatched: not finished at the end of the run", loc="left", fontsize=10
    )
    try:
        figure.savefig(path)
    except OSError as error:
        raise InvalidArgumentError(f"--picture {path}: {error.strerror}") from None
    finally:
        pyplot.close(figure)


def show_run(streams: Mapping[str, Any]) -> None:
    """A report of streams: what the run wrote, and the memory of one rank. Local."""
    out = console()
    when = f"from {streams['start']} to {streams['now']} ({streams['calendar']})"
    out.print(
        f"Streams of [bold]{escape(streams['configuration'])}[/bold]: {streams['steps']} steps of "
        f"{len(streams['fields'])} fields, {when}; accumulators take "
        f"{bytes_text(streams['accumulator_bytes'])} on rank 0.",
        soft_wrap=True,
    )
    table = Table(title="Files", title_justify="left")
    for heading in ("file", "every", "variables"):
        table.add_column(heading, overflow="fold")
    table.add_column("records", justify="right", no_wrap=True)
    for file in streams["files"]:
        variables = ", ".join(f"{v['name']} {v['operation']}" for v in file["variables"])
        for written in file["files"] or [{"path": f"{file['name']} (none)", "records": 0}]:
            table.add_row(
                *map(escape, (written["path"], file["every"], variables)), f"{written['records']:,}"
            )
    out.print(table)


def show_fields(report: Mapping[str, Any]) -> None:
    """What a model registered, as tables. Local."""
    out = console()
    table = Table(title="Fields", title_justify="left")
    for heading in ("name", "type", "dimensions, slowest first", "grid", "group", "units", "long name"):
        table.add_column(heading, overflow="fold")
    for field in report["fields"]:
        dims = " x ".join(f"{dim} {length}" for dim, length in zip(field["dims"], field["lengths"]))
        about = field["attributes"]
        row = (field["name"], field["type"], dims, field["grid"], field["group"])
        table.add_row(*map(escape, (*row, about.get("units", ""), about.get("long_name", ""))))
    out.print(table)
