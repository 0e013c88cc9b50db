# SPDX-License-Identifier: BSD-3-Clause
"""What `shoal explain simulate` shows of a simulation."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from .parallel import bytes_text, console

_most_rows = 32
# Shorter ones cost more for their number than for their bytes.
_short_extent = 64 * 1024


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


def advice(reported: dict) -> str:
    """What to do, in one sentence. Local."""
    extents = reported["extent_bytes"]
    if reported["strategy"] == "local" and reported["nodes"] > 1 and extents["median"] < _short_extent:
        return (
            "compare with --rearrange on: what nodes store lies in extents of "
            f"{bytes_text(extents['median'])} (median), and many short ones take longer than few long ones"
        )
    return f"leave it so: {reported['why']}"


def show(reported: dict) -> None:
    """Print it. Local."""
    out = console()
    out.print(escape(f"Do this: {advice(reported)}"), soft_wrap=True)
    shape = " x ".join(map(str, reported["shape"]))
    cells = 1
    for n in reported["shape"]:
        cells *= n
    size = reported["cell_bytes"]
    cut = f"{reported['tiles'].replace('x', ' x ')} tiles" if reported["tiles"] else "a map of cells"
    out.print(
        f"{shape} cells of {size} bytes, first dimension fastest on disk: "
        f"{bytes_text(cells * size)} a field, "
        f"{cut}, {_count(reported['ranks'])} ranks on {_count(reported['nodes'])} nodes"
    )
    if reported["chunk"]:
        out.print(f"chunks of {' x '.join(map(str, reported['chunk']))} cells in one record")
    if reported["ranks_simulated"] == reported["ranks"]:
        sample = f"all {_count(reported['ranks'])} ranks, one after the other"
    else:
        groups = reported["groups_simulated"]
        chosen = (
            f"{_count(groups)} groups of I/O ranks"
            if groups
            else f"{_count(reported['nodes_simulated'])} nodes"
        )
        sample = (
            f"a sample: the {_count(reported['ranks_simulated'])} ranks of {chosen}, chosen evenly and with "
            "the corners; figures are of these"
        )
    out.print(f"Simulated: {sample}, in {reported['seconds']:.1f} s, with the library's own code")
    meaning = {
        "rearrange": f"cells go in messages to {_count(reported['writers'])} I/O ranks, each stores a box",
        "subset": f"each of {_count(reported['writers'])} I/O ranks stores what its group of ranks has",
        "local": "each node stores what its ranks have",
    }[reported["strategy"]]
    out.print(f"Strategy: {reported['strategy']}: {meaning} ({reported['why']})")

    table = Table(title="Plan of a rank", title_justify="left")
    for heading in ("", "least", "median", "most", "whose"):
        table.add_column(heading, justify="left" if heading in ("", "whose") else "right", no_wrap=True)
    _row(table, "time of a core, without messages", reported["plan_seconds"], _seconds, "rank")
    _row(table, "most memory at a time", reported["plan_bytes"], bytes_text, "rank")
    _row(table, "memory kept", reported["kept_bytes"], bytes_text, "rank")
    out.print(table)

    title = "One write of the field"
    if reported["rounds"] > 1:
        title += f", in {reported['rounds']} rounds"
    table = Table(title=title, title_justify="left")
    for heading in ("", "least", "median", "most", "whose"):
        table.add_column(heading, justify="left" if heading in ("", "whose") else "right", no_wrap=True)
    if reported["strategy"] == "rearrange":
        for what, key, who in (
            ("a rank sends to others", "rank", "rank"),
            ("a node sends to others", "node_sends", "node"),
            ("a node gets from others", "node_takes", "node"),
            ("an I/O rank gets from others", "writer", "rank"),
        ):
            _row(table, f"{what}, messages", reported[f"{key}_messages"], _count, who)
            _row(table, f"{what}, bytes", reported[f"{key}_bytes"], bytes_text, who)
    writer = reported["writer"]
    article = "an" if writer.startswith("I") else "a"
    who = "node" if writer == "node" else "rank"
    _row(table, f"{article} {writer} stores, bytes", reported["loads"], bytes_text, who)
    _row(table, f"{article} {writer} stores, extents", reported["extents"], _count, who)
    _row(table, "an extent, bytes", reported["extent_bytes"], bytes_text, "")
    out.print(table)
    if reported["strategy"] != "rearrange":
        out.print("Messages between nodes: none")
    if "store" in reported:
        _show_store(reported["store"])
    if reported["boxes"]:
        _show_boxes(reported)
    if reported["served"]:
        _show_served(reported)


def _show_store(store: dict) -> None:
    """Files of a run, and what a commit asks of the file system."""
    table = Table(
        title=f"Store of Zarr: {_count(store['variables'])} variables, {_count(store['records'])} records, "
        "a commit after each",
        title_justify="left",
    )
    table.add_column("")
    table.add_column("", justify="right")
    ranks = store.get("ranks_a_shard")
    commit = store["commit"]
    rows = [
        (
            "a file (shard)",
            f"{' x '.join(map(str, store['shard']))} cells, {bytes_text(store['shard_bytes'])}",
        ),
        ("ranks that store in a file", f"{ranks['least']} to {ranks['most']}" if ranks else None),
        ("files a record, made by the ranks that store in them", _count(store["files_a_record"])),
        ("files of the run, metadata included", _count(store["files"])),
        ("bytes of the run, not compressed", bytes_text(store["bytes"])),
        ("a commit, rank 0: indexes written in shards", _count(commit["indexes_by_rank_0"])),
        (
            "a commit, rank 0: small files written and renamed",
            _count(commit["written_and_renamed_by_rank_0"]),
        ),
    ]
    for what, figure in rows:
        if figure is not None:
            table.add_row(what, figure)
    console().print(table)


def _show_boxes(reported: dict) -> None:
    """Which I/O rank stores which box."""
    dimensions = [f"dimension {axis + 1}" for axis in range(len(reported["shape"]))]
    table = Table(title="Boxes of the field, by I/O rank (cells from 0)", title_justify="left")
    for heading in ("I/O rank", *dimensions, "bytes"):
        table.add_column(heading, justify="right", no_wrap=True)
    for box in reported["boxes"][:_most_rows]:
        cells = (_range(first, count) for first, count in zip(box["first"], box["count"]))
        table.add_row(str(box["rank"]), *cells, _count(box["bytes"]))
    if len(reported["boxes"]) > _most_rows:
        table.add_row("...")
    console().print(table)


def _show_served(reported: dict) -> None:
    """Which I/O rank stores what which ranks have."""
    table = Table(title="Served by I/O rank", title_justify="left")
    for heading in ("I/O rank", "ranks"):
        table.add_column(heading, justify="right", no_wrap=True)
    for group in reported["served"][:_most_rows]:
        table.add_row(str(group["rank"]), _range(group["first"], group["count"]))
    if len(reported["served"]) > _most_rows:
        table.add_row("...")
    console().print(table)
