# SPDX-License-Identifier: BSD-3-Clause
"""shoal compare: two datasets, value by value, on any number of ranks."""

from __future__ import annotations

from typing import Annotated, Optional, Union

import typer
from rich.markup import escape
from rich.table import Table

from ..parallel import console, on_all_ranks, parse_bytes, progress_bar, some_left_out


def _records(text: Optional[str]) -> Union[str, slice, None]:
    if text is None or text == "common":
        return text
    parts = text.split(":")
    try:
        numbers = [int(part) if part else None for part in parts]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3 or (len(numbers) == 1 and numbers[0] is None) or 0 in numbers[2:]:
        raise typer.BadParameter(f"--records '{text}': write 'common', one number, or FIRST:END (from 0).")
    if len(numbers) == 1:
        return slice(numbers[0], numbers[0] + 1 if numbers[0] != -1 else None)
    return slice(*numbers)


def _number(value) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _share(part: int, whole: int) -> str:
    percent = 100 * part / whole
    return f"{percent:.3g} %" if percent >= 0.001 else "< 0.001 %"


def _show(result, a: str, b: str) -> None:
    out = console()
    if result.headers:
        table = Table(title="What the headers say", title_justify="left")
        for heading in ("where", "what"):
            table.add_column(heading, no_wrap=True)
        table.add_column(escape(f"A: {a}"), overflow="fold")
        table.add_column(escape(f"B: {b}"), overflow="fold")
        for item in result.headers:
            table.add_row(*(escape(text) for text in (item.where, item.what, item.a, item.b)))
        out.print(table)
    if result.differing:
        table = Table(title="Variables whose values differ", title_justify="left")
        table.add_column("variable", no_wrap=True)
        headings = ("cells", "differ", "share", "missing in one", "NaN in one", "largest", "relative", "ULP")
        for heading in headings:
            table.add_column(heading, justify="right", no_wrap=True)
        for heading in ("at (from 0)", "A", "B"):
            table.add_column(heading, no_wrap=True)
        for item in result.differing:
            at = "" if item.largest_at is None else "(" + ", ".join(map(str, item.largest_at)) + ")"
            table.add_row(
                escape(item.name),
                str(item.cells),
                str(item.differing),
                _share(item.differing, item.cells),
                str(item.missing or ""),
                str(item.nans or ""),
                *(_number(value) for value in (item.largest, item.relative, item.ulp)),
                at,
                escape(str(item.a)),
                escape(str(item.b)),
            )
        out.print(table)
    for name, why in result.skipped.items():
        out.print(escape(f"{name}: values not compared, because {why}"))
    for name, why in {**result.left_out, **result.left_out_attributes}.items():
        out.print(escape(f"{name}: not compared, it {why}"))
    cells = sum(item.cells for item in result.variables)
    if result.same:
        out.print(f"the same: {len(result.variables)} variables, {cells} cells")
    else:
        plural = "" if len(result.headers) == 1 else "s"
        out.print(
            f"different: {len(result.headers)} difference{plural} in the headers, values of "
            f"{len(result.differing)} of {len(result.variables)} variables ({cells} cells compared)"
        )


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A file or a set of files.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another; of any format.")],
    variables: Annotated[
        Optional[list[str]],
        typer.Option("--variables", "-v", help="Names or patterns (u*), commas between; default: all."),
    ] = None,
    records: Annotated[
        Optional[str], typer.Option(help="Only these: FIRST:END (from 0), one number, or 'common' to both.")
    ] = None,
    atol: Annotated[float, typer.Option(help="Equal if |a-b| is at most this.")] = 0.0,
    rtol: Annotated[float, typer.Option(help="Equal if |a-b| is at most this times max(|a|,|b|).")] = 0.0,
    ulp: Annotated[int, typer.Option(help="Equal if at most so many representable numbers apart.")] = 0,
    nan_differs: Annotated[bool, typer.Option("--nan-differs", help="NaN is not equal to NaN.")] = False,
    ignore_attributes: Annotated[
        Optional[list[str]],
        typer.Option("--ignore-attributes", help="Names or patterns, commas between ('*': all)."),
    ] = None,
    memory: Annotated[str, typer.Option(help="Memory of a rank for a part of each dataset.")] = "32MiB",
) -> None:
    """Compare two files or sets of files: dimensions, types, attributes, values.

    Under mpiexec every rank compares its part. Equal means equal as numbers unless --atol, --rtol or --ulp
    allow more (any of them is enough). NaN equals NaN; cells that have the fill value in both are equal.

    Exit status 0: the same; 1: different; 2: trouble; 3: the same, but for variables and attributes that
    cannot be read (compound, enum, ...), which are listed.
    """
    from shoal import comparison

    def names(items: Optional[list[str]]) -> list[str]:
        return [name.strip() for item in items or [] for name in item.split(",") if name.strip()]

    chosen_records, block_bytes = _records(records), parse_bytes(memory)
    tolerance = comparison.Tolerance(atol, rtol, ulp, nan_differs)

    def work(comm) -> int:
        with progress_bar(comm, "comparing") as progress:
            result = comparison.compare(
                a,
                b,
                comm,
                variables=names(variables) or None,
                records=chosen_records,
                ignore_attributes=names(ignore_attributes),
                tolerance=tolerance,
                block_bytes=block_bytes,
                progress=progress,
            )
        if comm.rank == 0:
            _show(result, a, b)
        left_out = result.left_out or result.left_out_attributes
        return 1 if not result.same else some_left_out if left_out else 0

    on_all_ranks(work)


def register(app: typer.Typer) -> None:
    app.command()(compare)
