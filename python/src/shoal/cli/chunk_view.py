# SPDX-License-Identifier: BSD-3-Clause
"""Tables of what chunk shapes mean for readers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Optional

from rich.table import Table

from .parallel import bytes_text, console

readings = {"map": "a map", "series": "a time series", "all": "all of it"}


@dataclass
class Row:
    """One line: a variable, or one chunk shape of several for the same."""

    name: str
    shape: Sequence[int]
    chunk: Optional[Sequence[int]]
    item: int
    touched: Mapping


def _times(numbers: Optional[Sequence[int]]) -> str:
    return "not chunked" if numbers is None else " x ".join(map(str, numbers))


def _of_chunk(row: Row) -> str:
    if row.chunk is None:
        return ""
    size = row.item
    for n in row.chunk:
        size *= n
    return bytes_text(size)


def show(rows: Sequence[Row], heading: str) -> None:
    table = Table(title="What reading touches, before compression", title_justify="left")
    table.add_column(heading, no_wrap=True)
    for column in ("shape", "chunk", "bytes", *readings.values()):
        table.add_column(column, justify="right", no_wrap=True)
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
        table.add_row(row.name, _times(row.shape), _times(row.chunk), _of_chunk(row), *cells)
    console().print(table)


def print_json(rows: Sequence[Row]) -> None:
    print(
        json.dumps(
            [
                {
                    "name": row.name,
                    "shape": list(row.shape),
                    "chunk": None if row.chunk is None else list(row.chunk),
                    "reading": {what: asdict(found) for what, found in row.touched.items()},
                }
                for row in rows
            ]
        )
    )
