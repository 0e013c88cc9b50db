# SPDX-License-Identifier: BSD-3-Clause
"""What `shoal explain layout` shows of a plan."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from .parallel import bytes_text, console

_most_rows = 32
# Shorter writes cost more for their number than for their bytes.
_short_write = 64 * 1024


def advice(plan) -> str:
    """What to do, in one sentence. Local."""
    options, tiles = plan.options, plan.tiles
    writes = f"{_count(plan.writes)} writes of {bytes_text(plan.bytes_a_write)} store a field"
    if options.driver == "gather":
        return f"choose driver native, which all ranks store with; with gather rank 0 alone does ({writes})"
    if options.driver != "native":
        if options.access == "independent" and plan.bytes_a_write < _short_write:
            return f"choose access collective, or driver native: each rank stores its own cells, and {writes}"
        return f"measure it against driver native (shoal bench): {plan.who[0]}"
    if plan.bytes_a_write < _short_write < tiles.field_bytes:
        return (
            f"cut the last dimensions rather than the first (--tiles 1x{tiles.ranks}), so that nodes have "
            f"longer runs: {writes}"
        )
    prediction = plan.prediction
    times = (prediction.local, prediction.rearranged) if prediction else (None, None)
    if None not in times and options.rearrange != "auto" and (times[0] < times[1]) == bool(plan.boxes):
        return "leave rearrange=auto: by the figures of the machine the other way takes less time"
    return f"leave it so: {writes}"


def _range(cells: range) -> str:
    return f"{cells.start}-{cells.stop - 1}" if len(cells) else "none"


def _count(number: float) -> str:
    return f"{number:,.0f}"


def show(plan, chunks, files=None) -> None:
    out = console()
    tiles, options = plan.tiles, plan.options
    out.print(escape(f"Do this: {advice(plan)}"), soft_wrap=True)
    shape, grid = (" x ".join(map(str, numbers)) for numbers in (tiles.shape, tiles.grid))
    out.print(
        f"{shape} cells of {tiles.size} bytes, first dimension fastest on disk: "
        f"{bytes_text(tiles.field_bytes)} a field, {grid} tiles, {tiles.ranks} ranks"
    )
    calls = f"format {options.format}, driver {options.driver}"
    out.print(calls + (f", access {options.access}" if options.driver not in ("native", "gather") else ""))
    if chunks is not None:
        where = "one after another in the file"
        if files is not None:
            noun = "file (shard)" if files == 1 else "files (shards)"
            where = f"in {files:,} {noun} for each record"
        out.print(f"chunks of {' x '.join(map(str, chunks))} cells in one record, {where}")
    table = Table(title="Cells on disk, by rank", title_justify="left")
    for heading in ("rank", *(f"dimension {axis + 1}" for axis in range(len(tiles.shape)))):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("bytes", "contiguous runs", "bytes a run"):
        table.add_column(heading, justify="right", no_wrap=True)
    for rank in range(min(tiles.ranks, _most_rows)):
        runs, length = plan.rank_runs(rank)
        ranges = (_range(cells) for cells in tiles.tile(rank))
        table.add_row(str(rank), *ranges, _count(tiles.tile_bytes(rank)), _count(runs), _count(length))
    if tiles.ranks > _most_rows:
        table.add_row("...")
    all_runs = plan.all_runs
    table.add_section()
    blanks = [""] * len(tiles.shape)
    table.add_row(
        "all",
        *blanks,
        _count(tiles.field_bytes),
        _count(all_runs),
        _count(tiles.field_bytes / max(all_runs, 1)),
    )
    out.print(table)
    if len(plan.nodes) > 1:
        groups = plan.nodes[0].io_rank is not None
        title = "Together, by group of an I/O rank" if groups else "Together, by node"
        table = Table(title=title, title_justify="left")
        first = "I/O rank" if groups else "node"
        for heading in (first, "ranks", "bytes", "contiguous runs", "bytes a run"):
            table.add_column(heading, justify="right", no_wrap=True)
        for number, node in enumerate(plan.nodes[:_most_rows]):
            length = node.bytes / node.runs if node.runs else 0
            table.add_row(
                str(node.io_rank if groups else number),
                _range(node.ranks),
                *map(_count, (node.bytes, node.runs, length)),
            )
        if len(plan.nodes) > _most_rows:
            table.add_row("...")
        out.print(table)
    if plan.boxes:
        _show_boxes(plan)
    if plan.background:
        out.print(escape(f"Background: {plan.background}"))
    if plan.why:
        strategy = "subset" if plan.options.rearranger == "subset" else "rearrange" if plan.boxes else "local"
        out.print(escape(f"Strategy: {strategy}: {plan.why}"))
    if plan.prediction:
        _show_prediction(plan.prediction)
    out.print("Who writes what:")
    for line in plan.who:
        out.print(escape(f"  - {line}"))
    out.print("What the model waits for:")
    for line in plan.waits:
        out.print(escape(f"  - {line}"))
    if plan.options.access == "independent" or plan.options.driver in ("native", "gather"):
        out.print(f"Writes of a field: {_count(plan.writes)}, of {bytes_text(plan.bytes_a_write)} on average")
    memory = [f"rank {bytes_text(plan.memory_rank)}"]
    if plan.memory_rank_0 != plan.memory_rank:
        memory.append(f"rank 0 {bytes_text(plan.memory_rank_0)}")
    if plan.options.background == "off" or plan.boxes:
        memory.append(f"node {bytes_text(plan.memory_node)} shared")
    else:
        piled = bytes_text(plan.memory_piled)
        memory.append(f"node at most {bytes_text(plan.memory_node)} shared, {piled} while one field waits")
    out.print("Memory beside the model's arrays: " + ", ".join(memory))


def _show_prediction(prediction) -> None:
    out = console()
    out.print(escape(f"Machine: {prediction.figures}"))
    for choice in prediction.choices:
        out.print(escape(f"  - {choice}"))
    ways = {"local": prediction.local, "rearranged": prediction.rearranged}
    known = [f"{way} {1e3 * seconds:,.3g} ms" for way, seconds in ways.items() if seconds is not None]
    out.print(f"Predicted time of a write: {', '.join(known) or 'not known, as it was not measured'}")


def _show_boxes(plan) -> None:
    """Which I/O rank stores which box."""
    out, tiles = console(), plan.tiles
    table = Table(title="Boxes of the field, by I/O rank", title_justify="left")
    for heading in ("I/O rank", *(f"dimension {axis + 1}" for axis in range(len(tiles.shape)))):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("bytes", "contiguous runs", "bytes a run", "from ranks"):
        table.add_column(heading, justify="right", no_wrap=True)
    for box in plan.boxes[:_most_rows]:
        length = box.bytes / box.runs if box.runs else 0
        table.add_row(
            str(box.rank),
            *map(_range, box.cells),
            *map(_count, (box.bytes, box.runs, length, box.sources)),
        )
    if len(plan.boxes) > _most_rows:
        table.add_row("...")
    out.print(table)
