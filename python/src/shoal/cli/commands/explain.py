# SPDX-License-Identifier: BSD-3-Clause
"""shoal explain: what a decomposition and a way of writing mean for the file."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Optional

import typer
from rich.markup import escape
from rich.table import Table

from ..parallel import bytes_text, console, on_all_ranks, parse_bytes
from ..simulation_view import show

_most_rows = 32
_sizes = {"byte": 1, "short": 2, "int": 4, "float": 4, "int64": 8, "double": 8}


def _numbers(option: str, text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+([xX]\d+)*", text):
        raise typer.BadParameter(f"{option} '{text}': write numbers with x between, such as 656x640x16.")
    return tuple(int(part) for part in text.lower().split("x"))


# What says the same with and without --simulate and --chunks, and what is of one of them alone.
_of_chunks = {"chunks", "chunk_shape", "chunk_bytes", "json_"}
_of_file = {"file", "variables"}
_of_simulation = {"ranks", "nodes", "columns", "map_name", "levels", "seconds"}


def _refuse_unused(ctx: typer.Context, one: str, several: str, is_used: Callable[[str], bool]) -> None:
    """What would be accepted and ignored is refused, by name. one, several: what is said of it or them."""
    given = [
        parameter.opts[0] if parameter.param_type_name == "option" else "FILE"
        for parameter in ctx.command.params
        if ctx.get_parameter_source(parameter.name).name == "COMMANDLINE" and not is_used(parameter.name)
    ]
    if given:
        names = ", ".join(given[:-1]) + " and " + given[-1] if len(given) > 1 else given[0]
        raise typer.BadParameter(f"{names} {one if len(given) == 1 else several}.")


def _is_given(ctx: typer.Context, name: str) -> bool:
    return ctx.get_parameter_source(name).name == "COMMANDLINE"


def _check_background(ctx: typer.Context, background: str, servers: int, cores: int) -> None:
    for name, value, needs in (("servers", servers, "ranks"), ("cores", cores, "auto")):
        if _is_given(ctx, name) and background != needs:
            raise typer.BadParameter(f"--{name} needs --background {needs}.")
        if _is_given(ctx, name) and value < 1:
            raise typer.BadParameter(f"--{name} {value}: it is 1 or more.")


def _is_shape(wish: Optional[str]) -> bool:
    return wish is not None and re.fullmatch(r"\d+([xX]\d+)*", wish) is not None


def _range(cells: range) -> str:
    return f"{cells.start}-{cells.stop - 1}" if len(cells) else "none"


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _show(plan, chunks) -> None:
    out = console()
    tiles, options = plan.tiles, plan.options
    shape, grid = (" x ".join(map(str, numbers)) for numbers in (tiles.shape, tiles.grid))
    out.print(
        f"{shape} cells of {tiles.size} bytes, first dimension fastest on disk: "
        f"{bytes_text(tiles.field_bytes)} a field, {grid} tiles, {tiles.ranks} ranks"
    )
    calls = f"format {options.format}, driver {options.driver}"
    out.print(calls + (f", access {options.access}" if options.driver not in ("native", "gather") else ""))
    if chunks is not None:
        out.print(
            f"chunks of {' x '.join(map(str, chunks))} cells in one record, one after another in the file"
        )
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


def explain(
    ctx: typer.Context,
    file: Annotated[
        Optional[str], typer.Argument(metavar="[FILE]", help="With --chunks: a file that is there.")
    ] = None,
    global_shape: Annotated[
        Optional[str],
        typer.Option("--global", metavar="NXxNYxNZ", help="Cells in all, the fastest dimension first."),
    ] = None,
    tiles: Annotated[
        Optional[str],
        typer.Option(metavar="NTXxNTY", help="Tiles along the first dimensions; the others are not cut."),
    ] = None,
    type_: Annotated[str, typer.Option("--type", help=f"Of a cell: {', '.join(_sizes)}.")] = "float",
    format: Annotated[str, typer.Option(help="Format of the file.")] = "cdf5",
    driver: Annotated[str, typer.Option(help="Who moves the bytes.")] = "native",
    access: Annotated[
        Optional[str],
        typer.Option(help="collective, independent or nonblocking, of drivers of other libraries."),
    ] = None,
    stage_bytes: Annotated[Optional[str], typer.Option(help="Shared memory of a node.")] = None,
    slot_bytes: Annotated[Optional[str], typer.Option(help="One slot of it.")] = None,
    writers: Annotated[
        int, typer.Option(help="Ranks of a node that store at a time; 0: the driver chooses.")
    ] = 0,
    ranks_per_node: Annotated[int, typer.Option(help="0: all ranks on one node.")] = 0,
    io_ranks: Annotated[
        int, typer.Option(help="So many ranks store even boxes of the field for all; 0: not set.")
    ] = 0,
    io_stride: Annotated[int, typer.Option(help="From I/O rank to I/O rank; 0: as far as can be.")] = 0,
    io_base: Annotated[int, typer.Option(help="The first of them.")] = 0,
    io_ranks_per_node: Annotated[int, typer.Option(help="So many of each node; 0: not set.")] = 0,
    rearrange: Annotated[
        str,
        typer.Option(
            "--rearrange",
            "--exchange",  # deprecated
            help="auto, on or off: do cells go to I/O ranks, with driver native?",
        ),
    ] = "auto",
    rearranger: Annotated[
        str,
        typer.Option(
            "--rearranger",
            "--io-way",  # deprecated
            help="auto, box or subset: does an I/O rank store an even box, or what its group of ranks has?",
        ),
    ] = "auto",
    background: Annotated[
        str, typer.Option(help="off, thread, ranks or auto: who stores, with driver native?")
    ] = "off",
    servers: Annotated[
        int,
        typer.Option(help="With --background ranks: so many of each node serve, beside those of --tiles."),
    ] = 1,
    cores: Annotated[
        int, typer.Option(help="With --background auto: of a node; if not given, those of this machine.")
    ] = 0,
    machine: Annotated[
        Optional[str],
        typer.Option(
            metavar="PATH", help="What shoal tune measured: choose by it, with driver native, and say times."
        ),
    ] = None,
    folder: Annotated[
        Optional[str],
        typer.Option(
            metavar="DIR",
            help="Where the file will be: of --machine, or else choose by what is usual on its file system.",
        ),
    ] = None,
    file_system: Annotated[
        Optional[str],
        typer.Option(
            metavar="KIND",
            help="lustre, gpfs or beegfs, of a machine that was not measured: choose by what is usual on it.",
        ),
    ] = None,
    stripes: Annotated[
        Optional[int], typer.Option(help="With --file-system lustre: of the file; 1 unless given.")
    ] = None,
    plot: Annotated[Optional[str], typer.Option(metavar="FILE.png", help="Draw it.")] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Build the plans of all ranks, which do not run.")
    ] = False,
    ranks: Annotated[int, typer.Option(help="With --simulate: so many.")] = 0,
    nodes: Annotated[int, typer.Option(help="With --simulate: on so many nodes.")] = 1,
    columns: Annotated[
        Optional[str],
        typer.Option(
            metavar="ne120|FILE",
            help="With --simulate, not --global: columns of a cubed sphere, or a file of a map.",
        ),
    ] = None,
    map_name: Annotated[
        Optional[str],
        typer.Option(
            metavar="D1|c", help="With --columns FILE: which of several maps; of PIO's text: the order."
        ),
    ] = None,
    levels: Annotated[int, typer.Option(help="With --columns: of a dimension that is not cut.")] = 0,
    seconds: Annotated[
        int, typer.Option(help="With --simulate: if all ranks would take longer, take a sample.")
    ] = 60,
    chunks: Annotated[
        bool, typer.Option("--chunks", help="What reading a map, a time series and all of it touches.")
    ] = False,
    chunk_shape: Annotated[
        Optional[str],
        typer.Option(metavar="auto|map|series|1x30x100", help="With --chunks: this shape, slowest first."),
    ] = None,
    chunk_bytes: Annotated[Optional[str], typer.Option(help="With --chunks: about so large.")] = None,
    records: Annotated[int, typer.Option(help="With --chunks and --global: so many.")] = 100,
    variables: Annotated[
        Optional[str], typer.Option(metavar="A,B", help="With --chunks and FILE: these alone.")
    ] = None,
    json_: Annotated[
        bool, typer.Option("--json", help="With --simulate or --chunks: print JSON, not a table.")
    ] = False,
) -> None:
    """Say what writing a field of this shape, cut into these tiles, means for the file.

    Shapes are in the model's order, the first dimension is fastest in memory and on disk (xi x eta x s).
    Tiles are balanced; ranks go along the first dimension first. Shown are contiguous runs on disk, who
    writes what, how large writes are, and the memory that is needed.

    With --simulate the library's own code builds the plan of each of --ranks ranks on --nodes nodes, one
    after the other, without MPI: what plans cost, what goes between nodes, what each writer stores.

    With --chunks: how many chunks, and bytes of them, are touched by reading a map, a time series at a point,
    and all; of the variables of FILE, or of a field of --global with --records, in the shapes that Shoal has
    to offer.

    Exit status 0; 2 for options that cannot be.
    """
    from shoal import explanation
    from shoal.simulation import ProgramError

    if chunks:
        if (file is None) == (global_shape is None):
            raise typer.BadParameter("--chunks needs one of FILE and --global.")
        used = _of_chunks | (_of_file if file is not None else {"global_shape", "records", "type_"})
        refused = f"not go with --chunks of {'FILE' if file else '--global'}"
        _refuse_unused(ctx, f"does {refused}", f"do {refused}", used.__contains__)
        if chunk_bytes is not None and _is_shape(chunk_shape):
            raise typer.BadParameter(f"--chunk-bytes says nothing of --chunk-shape {chunk_shape}.")
        settings = {} if chunk_bytes is None else {"chunk_bytes": parse_bytes(chunk_bytes)}
        if file is not None:
            on_all_ranks(lambda comm: _chunks_of_file(comm, file, variables, chunk_shape, settings, json_))
        if type_ not in _sizes or records < 0:
            raise typer.BadParameter(f"--type is one of {', '.join(_sizes)}, --records 0 or more.")
        shape = (records, *_numbers("--global", global_shape)[::-1])
        on_all_ranks(
            lambda comm: _chunks_of_field(shape, type_, chunk_shape, settings, json_) if comm.rank == 0 else 0
        )
    of_readers = _of_chunks - {"json_"} | _of_file | {"records"}
    _refuse_unused(ctx, "needs --chunks", "need --chunks", lambda name: name not in of_readers)
    if not simulate:
        _refuse_unused(ctx, "needs --simulate", "need --simulate", lambda name: name not in _of_simulation)
        if json_:
            raise typer.BadParameter("--json needs --simulate or --chunks.")

    if type_ not in _sizes:
        raise typer.BadParameter(f"--type '{type_}'; there are {', '.join(_sizes)}.")
    if min(writers, ranks_per_node, io_ranks, io_stride, io_base, io_ranks_per_node) < 0:
        raise typer.BadParameter(
            "--writers, --ranks-per-node, --io-ranks, --io-ranks-per-node, --io-stride and --io-base are 0 "
            "or more."
        )
    if rearrange not in ("auto", "on", "off"):
        raise typer.BadParameter(f"--rearrange {rearrange}: it can be auto, on or off.")
    if rearrange != "auto" and driver != "native":
        raise typer.BadParameter(f"--rearrange {rearrange}: that is for driver native, not {driver}.")
    if rearranger not in ("auto", "box", "subset"):
        raise typer.BadParameter(f"--rearranger {rearranger}: it can be auto, box or subset.")
    if driver != "native":
        for name, value in (("machine", machine), ("folder", folder), ("file-system", file_system)):
            if value is not None:
                raise typer.BadParameter(
                    f"--{name} {value}: driver native alone chooses by it, not {driver}."
                )
    if stripes is not None and stripes < 1:
        raise typer.BadParameter("--stripes is 1 or more.")
    given = {"--slot-bytes": slot_bytes is not None, "--writers": writers > 0}
    if driver != "native" and any(given.values()):
        names = " and ".join(name for name, is_given in given.items() if is_given)
        raise typer.BadParameter(f"{names}: only driver native has slots and writers, not {driver}.")
    if driver in ("native", "gather") and access is not None:
        raise typer.BadParameter(f"--access {access}: driver {driver} has but one; leave it out.")
    _check_background(ctx, background, servers, cores)
    if background == "auto" and not cores:
        cores = len(os.sched_getaffinity(0))
    options = explanation.Options(
        driver,
        access or "collective",
        format,
        None if stage_bytes is None else parse_bytes(stage_bytes),
        0 if slot_bytes is None else parse_bytes(slot_bytes),
        writers,
        ranks_per_node or None,
        None,
        io_ranks,
        io_stride,
        io_base,
        io_ranks_per_node,
        rearrange,
        rearranger,
        background,
        servers if background == "ranks" else 0,
        cores,
        machine,
        folder,
        file_system,
        stripes or 0,
    )
    if simulate:
        if plot is not None or ranks_per_node:
            raise typer.BadParameter("--plot and --ranks-per-node do not go with --simulate; give --nodes.")
        if _is_given(ctx, "background"):
            raise typer.BadParameter(
                "--background does not go with --simulate, which counts what ranks plan and send."
            )
        if access is not None:
            raise typer.BadParameter(
                "--access does not go with --simulate: what libraries send is not known."
            )
        case = _case(
            global_shape, tiles, ranks, nodes, columns, map_name, levels, seconds, _sizes[type_], options
        )
        on_all_ranks(lambda comm: _simulate(case, options, json_) if comm.rank == 0 else 0)
    if global_shape is None or tiles is None:
        raise typer.BadParameter("--global and --tiles are needed; or --simulate and --ranks.")
    shape, grid = _numbers("--global", global_shape), _numbers("--tiles", tiles)

    def work(comm) -> int:
        if comm.rank != 0:
            return 0
        cut = explanation.Tiles(shape, grid, _sizes[type_])
        options.chunk = chunks = explanation.chunks_of_library(cut, options)
        try:
            plan = explanation.explain(cut, options)
        except ProgramError as error:
            print(f"shoal: {error}", file=sys.stderr)
            return 2
        _show(plan, chunks)
        if plot is not None:
            from ..tile_picture import draw

            draw(plan, plot)
            print(f"picture: {os.path.abspath(plot)}", file=sys.stderr)
        return 0

    on_all_ranks(work)


def _chunks_of_file(comm, path, variables, wish, settings, as_json: bool) -> int:
    """What readers of the variables of a file touch, as it is or in other chunks."""
    from shoal import chunking, opening
    from shoal._steps import item_bytes
    from shoal.errors import InvalidArgumentError
    from shoal.inventory import need_readable

    from ..chunk_view import Row, print_json, show

    if comm.rank != 0:
        return 0
    rows = []
    with opening.open(path, None) as file:
        if variables is None:
            names = [variable.name for variable in file.variables.values() if variable.dtype is not None]
        else:
            names = [name.strip() for name in variables.split(",")]
            need_readable(path, [file.variables[name] for name in names], "leave it out")
        for name in names:
            variable = file.variables[name]
            chunk, own_wish = variable.chunks, wish or "auto"
            if _is_shape(wish) and len(_numbers("--chunk-shape", wish)) != variable.ndim:
                if variables is not None:
                    raise InvalidArgumentError(
                        f"--chunk-shape {wish} has another number of dimensions than variable '{name}', "
                        f"which has {variable.ndim}."
                    )
                own_wish = "auto"  # as the setting counts for variables that it fits
            if (wish is not None or settings) and variable.dtype is not str and variable.ndim > 0:
                chunk = chunking.shape_of_library(
                    variable.shape,
                    "i1" if variable.dtype == bool else variable.dtype,
                    own_wish,
                    grows=variable.has_record,
                    settings=settings,
                )
            found = chunking.touched_of(replace(variable, chunks=chunk))
            rows.append(Row(name, variable.shape, chunk, item_bytes(variable), found))
    print_json(rows) if as_json else show(rows, "variable")
    return 0


def _chunks_of_field(shape, type_, wish, settings, as_json: bool) -> int:
    """The shapes that Shoal has to offer for a field, with records first."""
    from shoal import chunking

    from ..chunk_view import Row, print_json, show

    rows, size = [], _sizes[type_]
    dtype = f"f{size}" if type_ in ("float", "double") else f"i{size}"
    for name in ("auto", "map", "series") if wish is None else (wish,):
        chunk = chunking.shape_of_library(shape, dtype, name, settings=settings)
        rows.append(Row(name, shape, chunk, size, chunking.touched(shape, chunk, size)))
    print_json(rows) if as_json else show(rows, "chunks")
    return 0


def _case(global_shape, tiles, ranks, nodes, columns, map_name, levels, seconds, size, options):
    from shoal import simulation

    if (global_shape is None) == (columns is None):
        raise typer.BadParameter("--simulate needs one of --global and --columns.")
    if columns is None and levels:
        raise typer.BadParameter("--levels goes with --columns; --global has all dimensions.")
    if map_name is not None and (columns is None or re.fullmatch(r"ne\d+", columns)):
        raise typer.BadParameter("--map-name goes with --columns FILE, the file of a decomposition.")
    if columns is not None and tiles is not None:
        raise typer.BadParameter("--tiles goes with --global; columns have no tiles.")
    if options.driver == "gather":
        raise typer.BadParameter(
            "--simulate: driver gather has no plan, all ranks send to rank 0; leave --simulate out."
        )
    if seconds < 0 or nodes < 1 or levels < 0:
        raise typer.BadParameter("--nodes is 1 or more, --seconds and --levels 0 or more.")
    grid = None if tiles is None else _numbers("--tiles", tiles)
    if ranks < 1:
        if grid is None:
            raise typer.BadParameter("--simulate needs --ranks.")
        ranks = math.prod(grid)
    if options.driver != "native" and columns is None and not options.asks_for_boxes:
        raise typer.BadParameter(
            f"--simulate: with driver {options.driver} each rank hands its tile to the library, and what "
            "that sends is not known; set --io-ranks or --rearranger box, or leave --simulate out."
        )
    wanted = {
        "io_ranks": options.io_ranks,
        "io_stride": options.io_stride,
        "io_base": options.io_base,
        "io_ranks_per_node": options.io_ranks_per_node,
        "rearrange": options.rearrange.replace("auto", ""),
        "rearranger": options.rearranger.replace("auto", ""),
        "stage_bytes": options.stage_bytes,
        "slot_bytes": options.slot_bytes,
        "writers": options.writers,
        "machine": options.machine,
        "folder": options.folder,
        "file_system": options.file_system,
        "stripes": options.stripes,
    }
    return simulation.Case(
        ranks,
        nodes,
        None if global_shape is None else _numbers("--global", global_shape),
        columns,
        levels or None,
        grid,
        size,
        library=options.driver != "native",
        settings={key: value for key, value in wanted.items() if value},
        seconds=seconds,
        map_name=map_name,
    )


def _simulate(case, options, as_json: bool) -> int:
    from shoal import explanation, simulation

    # Chunks are the library's; a file of a decomposition is read by the program alone.
    sphere = re.fullmatch(r"ne(\d+)", case.columns or "")
    shape = case.shape
    if sphere:
        shape = [54 * int(sphere[1]) ** 2 + 2] + ([case.levels] if case.levels else [])
    try:
        if shape is not None:
            cut = explanation.Tiles(tuple(shape), (1,) * len(shape), case.cell_bytes)
            case.chunk = explanation.chunks_of_library(cut, options)
        elif options.format.startswith("netcdf4"):
            raise typer.BadParameter(
                "--columns FILE: chunks of netCDF-4 are not known for it; simulate another format."
            )
        reported = simulation.simulate(case)
    except simulation.ProgramError as error:
        print(f"shoal: {error}", file=sys.stderr)
        return 2
    if as_json:
        print(json.dumps(reported))
    else:
        show(reported)
    return 0


def register(app: typer.Typer) -> None:
    app.command()(explain)
