# SPDX-License-Identifier: BSD-3-Clause
"""Tables of what chunk shapes mean for readers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Optional

from rich.markup import escape
from rich.table import Table

from .parallel import bytes_text, console

_much = 16  # times what is asked for
readings = {"map": "a map", "series": "a time series", "all": "all of it"}


@dataclass
class Row:
    """One line: a variable, or one chunk shape of several for the same."""

    name: str
    shape: Sequence[int]
    chunk: Optional[Sequence[int]]
    item: int
    touched: Mapping
    files: Optional[int] = None  # of a Zarr store: how many hold the variable
    bytes_a_file: int = 0  # before compression


def _times(numbers: Optional[Sequence[int]]) -> str:
    return "not chunked" if numbers is None else " x ".join(map(str, numbers))


def _of_chunk(row: Row) -> str:
    if row.chunk is None:
        return ""
    size = row.item
    for n in row.chunk:
        size *= n
    return bytes_text(size)


def _waste(row: Row) -> dict[str, float]:
    """How many times what is asked for reading touches, of a map and of a time series."""
    return {
        what: found.bytes / found.bytes_wanted
        for what, found in row.touched.items()
        if what != "all" and found.bytes_wanted and found.chunks is not None
    }


def advice_for_shapes(rows: Sequence[Row]) -> str:
    """Of several shapes for one field: which to take, in one sentence. Local."""
    known = [(max(waste.values()), row.name) for row in rows if (waste := _waste(row))]
    if len(known) < 2:
        return "compare with the shapes auto, map and series: leave --chunk-shape out"
    least, name = min(known)
    return (
        f"for maps chunks=map, for time series at points chunks=series; for both chunks={name}, which "
        f"touches at most {least:,.0f} times what is asked for"
    )


def advice_for_file(rows: Sequence[Row]) -> str:
    """Of the variables of a file: what to write anew, in one sentence. Local."""
    worst = [(most, what, row.name) for row in rows for what, most in _waste(row).items()]
    if not worst or max(worst)[0] < _much:
        return "leave the chunks as they are"
    most, what, name = max(worst)
    return (
        f"if {readings[what]} of '{name}' is read often, write it anew "
        f"(shoal convert --chunks '{name}={what}'): reading one touches {most:,.0f} times what is asked for"
    )


def show(rows: Sequence[Row], heading: str, advice: str) -> None:
    console().print(escape(f"Do this: {advice}"), soft_wrap=True)
    has_files = any(row.files is not None for row in rows)
    table = Table(title="What reading touches, before compression", title_justify="left")
    table.add_column(heading, no_wrap=True)
    for column in ("shape", "chunk", "bytes", *readings.values()):
        table.add_column(column, justify="right", no_wrap=True)
    if has_files:
        table.add_column("files", justify="right", no_wrap=True)
    for row in rows:
        cells = []
        for what in readings:
            found = row.touched.get(what)
            if found is None:
                cells.append("")
            elif found.chunks is None:
                cells.append(bytes_text(found.bytes))
            else:
                noun = "chunk" if found.chunks == 1 else "chunks"
                cells.append(f"{found.chunks:,} {noun}, {bytes_text(found.bytes)}")
        if row.files is not None:
            cells.append(f"{row.files:,} of {bytes_text(row.bytes_a_file)}")
        table.add_row(row.name, _times(row.shape), _times(row.chunk), _of_chunk(row), *cells)
    console().print(table)
    if heading == "variable" and has_files:
        console().print(f"Files in all, beside metadata: {sum(row.files or 0 for row in rows):,}")


def print_json(rows: Sequence[Row]) -> None:
    print(
        json.dumps(
            [
                {
                    "name": row.name,
                    "shape": list(row.shape),
                    "chunk": None if row.chunk is None else list(row.chunk),
                    "reading": {what: asdict(found) for what, found in row.touched.items()},
                    **({} if row.files is None else {"files": row.files, "bytes_a_file": row.bytes_a_file}),
                }
                for row in rows
            ]
        )
    )
