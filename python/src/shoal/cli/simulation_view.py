# SPDX-License-Identifier: BSD-3-Clause
"""What `shoal explain --simulate` shows of a simulation."""

from __future__ import annotations

from rich.table import Table

from .parallel import bytes_text, console

_most_rows = 32


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _range(first: int, count: int) -> str:
    return f"{first}-{first + count - 1}" if count else "none"


def _seconds(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def _row(table: Table, what: str, figures: dict, text, who: str) -> None:
    if not figures["count"]:
        return
    table.add_row(
        what,
        text(figures["least"]),
        text(figures["median"]),
        text(figures["most"]),
        f"{who} {figures['who_most']}" if who else "",
    )


def show(told: dict) -> None:
    """Print it. Local."""
    out = console()
    shape = " x ".join(map(str, told["shape"]))
    cells = 1
    for n in told["shape"]:
        cells *= n
    size = told["cell_bytes"]
    cut = f"{told['tiles'].replace('x', ' x ')} tiles" if told["tiles"] else "a map of cells"
    out.print(
        f"{shape} cells of {size} bytes, first dimension fastest on disk: "
        f"{bytes_text(cells * size)} a field, "
        f"{cut}, {_count(told['ranks'])} ranks on {_count(told['nodes'])} nodes"
    )
    if told["chunk"]:
        out.print(f"chunks of {' x '.join(map(str, told['chunk']))} cells in one record")
    if told["ranks_simulated"] == told["ranks"]:
        sample = f"all {_count(told['ranks'])} ranks, one after the other"
    else:
        groups = told["groups_simulated"]
        chosen = (
            f"{_count(groups)} groups of I/O ranks" if groups else f"{_count(told['nodes_simulated'])} nodes"
        )
        sample = (
            f"a sample: the {_count(told['ranks_simulated'])} ranks of {chosen}, chosen evenly and with the "
            "corners; figures are of these"
        )
    out.print(f"Simulated: {sample}, in {told['seconds']:.1f} s, with the library's own code")
    way = {
        "exchange": f"cells go in messages to {_count(told['writers'])} I/O ranks, which store even boxes",
        "subset": f"each of {_count(told['writers'])} I/O ranks stores what its group of ranks has",
        "direct": "each node stores what its ranks have",
    }[told["way"]]
    out.print(f"Way: {told['way']}: {way} ({told['why']})")

    table = Table(title="Plan of a rank", title_justify="left")
    for heading in ("", "least", "median", "most", "whose"):
        table.add_column(heading, justify="left" if heading in ("", "whose") else "right", no_wrap=True)
    _row(table, "time of a core, without messages", told["plan_seconds"], _seconds, "rank")
    _row(table, "most memory at a time", told["plan_bytes"], bytes_text, "rank")
    _row(table, "memory kept", told["kept_bytes"], bytes_text, "rank")
    out.print(table)

    title = "One write of the field"
    if told["rounds"] > 1:
        title += f", in {told['rounds']} rounds"
    table = Table(title=title, title_justify="left")
    for heading in ("", "least", "median", "most", "whose"):
        table.add_column(heading, justify="left" if heading in ("", "whose") else "right", no_wrap=True)
    if told["way"] == "exchange":
        for what, key, who in (
            ("a rank sends to others", "rank", "rank"),
            ("a node sends to others", "node_sends", "node"),
            ("a node gets from others", "node_takes", "node"),
            ("an I/O rank gets from others", "writer", "rank"),
        ):
            _row(table, f"{what}, messages", told[f"{key}_messages"], _count, who)
            _row(table, f"{what}, bytes", told[f"{key}_bytes"], bytes_text, who)
    writer = told["writer"]
    article = "an" if writer.startswith("I") else "a"
    who = "node" if writer == "node" else "rank"
    _row(table, f"{article} {writer} stores, bytes", told["loads"], bytes_text, who)
    _row(table, f"{article} {writer} stores, extents", told["extents"], _count, who)
    _row(table, "an extent, bytes", told["extent_bytes"], bytes_text, "")
    out.print(table)
    if told["way"] != "exchange":
        out.print("Messages between nodes: none")
    if told["boxes"]:
        _show_boxes(told)
    if told["served"]:
        _show_served(told)


def _show_boxes(told: dict) -> None:
    """Which I/O rank stores which box."""
    dimensions = [f"dimension {axis + 1}" for axis in range(len(told["shape"]))]
    table = Table(title="Boxes of the field, by I/O rank (cells from 0)", title_justify="left")
    for heading in ("I/O rank", *dimensions, "bytes"):
        table.add_column(heading, justify="right", no_wrap=True)
    for box in told["boxes"][:_most_rows]:
        cells = (_range(first, count) for first, count in zip(box["first"], box["count"]))
        table.add_row(str(box["rank"]), *cells, _count(box["bytes"]))
    if len(told["boxes"]) > _most_rows:
        table.add_row("...")
    console().print(table)


def _show_served(told: dict) -> None:
    """Which I/O rank stores what which ranks have."""
    table = Table(title="Served by I/O rank", title_justify="left")
    for heading in ("I/O rank", "ranks"):
        table.add_column(heading, justify="right", no_wrap=True)
    for group in told["served"][:_most_rows]:
        table.add_row(str(group["rank"]), _range(group["first"], group["count"]))
    if len(told["served"]) > _most_rows:
        table.add_row("...")
    console().print(table)
