# SPDX-License-Identifier: BSD-3-Clause
"""shoal explain simulate: plans of ranks that do not run."""

from __future__ import annotations

import json
import math
import re
import sys
from typing import Annotated, Optional

import typer

from . import explain_options as shared
from .parallel import on_all_ranks, parse_bytes
from .simulation_view import show


def simulate(
    ranks: Annotated[int, typer.Option(help="So many; those of --tiles if not given.")] = 0,
    nodes: Annotated[int, typer.Option(help="On so many nodes.")] = 1,
    global_shape: shared.Global = None,
    tiles: shared.Tiles = None,
    columns: Annotated[
        Optional[str],
        typer.Option(
            metavar="ne120|FILE",
            help="In place of --global: columns of a cubed sphere, or a file of a map.",
        ),
    ] = None,
    map_name: Annotated[
        Optional[str],
        typer.Option(
            metavar="D1|c", help="With --columns FILE: which of several maps; of PIO's text: the order."
        ),
    ] = None,
    levels: Annotated[int, typer.Option(help="With --columns: of a dimension that is not cut.")] = 0,
    type_: shared.CellType = "float",
    format: shared.Format = "cdf5",
    driver: shared.Driver = "native",
    stage_bytes: shared.StageBytes = None,
    slot_bytes: shared.SlotBytes = None,
    writers: shared.Writers = 0,
    io_ranks: shared.IoRanks = 0,
    io_stride: shared.IoStride = 0,
    io_base: shared.IoBase = 0,
    io_ranks_per_node: shared.IoRanksPerNode = 0,
    rearrange: shared.Rearrange = "auto",
    rearranger: shared.Rearranger = "auto",
    machine: shared.Machine = None,
    folder: shared.Folder = None,
    file_system: shared.FileSystem = None,
    stripes: shared.Stripes = None,
    records: Annotated[Optional[int], typer.Option(help="With --format zarr: of the whole run (1).")] = None,
    variables: Annotated[
        Optional[int], typer.Option(help="With --format zarr: so many such fields a record (1).")
    ] = None,
    shard_bytes: Annotated[
        Optional[str], typer.Option(help="With --format zarr: files about so large.")
    ] = None,
    seconds: Annotated[int, typer.Option(help="If all ranks would take longer, take a sample.")] = 60,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON, not tables.")] = False,
) -> None:
    """Build the plans of all ranks, which do not run, one after the other, without MPI.

    By the library's own code: what plans cost, what goes between nodes, what each writer stores. The first
    line says what to do. With --format zarr also how many files (shards) a run makes, and what each commit
    asks of the file system.

    Exit status 0; 2 for options that cannot be.
    """
    options = shared.checked(**shared.of_options(locals()))
    case = _case(
        global_shape, tiles, ranks, nodes, columns, map_name, levels, seconds, shared.size_of(type_), options
    )
    run = _run_of_store(options.format, records, variables, shard_bytes)
    on_all_ranks(lambda comm: _simulate(case, options, run, json_) if comm.rank == 0 else 0)


def _run_of_store(format, records, variables, shard_bytes):
    """What store_counts.count takes of a run; None: the format has no shards."""
    given = {"--records": records, "--variables": variables, "--shard-bytes": shard_bytes}
    if format != "zarr":
        for option, value in given.items():
            if value is not None:
                raise typer.BadParameter(f"{option} goes with --format zarr, whose files are counted.")
        return None
    for option in ("--records", "--variables"):
        if given[option] is not None and given[option] < 1:
            raise typer.BadParameter(f"{option} {given[option]}: it is 1 or more.")
    settings = {}
    if shard_bytes is not None:
        settings["shard_bytes"] = parse_bytes(shard_bytes)
    return {"records": records or 1, "variables": variables or 1, "settings": settings}


def _case(global_shape, tiles, ranks, nodes, columns, map_name, levels, seconds, size, options):
    from shoal import simulation

    if (global_shape is None) == (columns is None):
        raise typer.BadParameter("simulate needs one of --global and --columns.")
    if columns is None and levels:
        raise typer.BadParameter("--levels goes with --columns; --global has all dimensions.")
    if map_name is not None and (columns is None or re.fullmatch(r"ne\d+", columns)):
        raise typer.BadParameter("--map-name goes with --columns FILE, the file of a decomposition.")
    if columns is not None and tiles is not None:
        raise typer.BadParameter("--tiles goes with --global; columns have no tiles.")
    if options.driver == "gather":
        raise typer.BadParameter(
            "driver gather has no plan: all ranks send to rank 0; ask shoal explain layout."
        )
    if seconds < 0 or nodes < 1 or levels < 0:
        raise typer.BadParameter("--nodes is 1 or more, --seconds and --levels 0 or more.")
    grid = None if tiles is None else shared.numbers("--tiles", tiles)
    if ranks < 1:
        if grid is None:
            raise typer.BadParameter("simulate needs --ranks.")
        ranks = math.prod(grid)
    if options.driver != "native" and columns is None and not options.asks_for_boxes:
        raise typer.BadParameter(
            f"with driver {options.driver} each rank hands its tile to the library, and what "
            "that sends is not known; set --io-ranks or --rearranger box, or ask shoal explain layout."
        )
    return simulation.Case(
        ranks,
        nodes,
        None if global_shape is None else shared.numbers("--global", global_shape),
        columns,
        levels or None,
        grid,
        size,
        library=options.driver != "native",
        settings=options.settings_of_plan(),
        seconds=seconds,
        map_name=map_name,
    )


def _simulate(case, options, run, as_json: bool) -> int:
    from shoal import explanation, simulation, store_counts

    # Chunks are the library's; a file of a decomposition is read by the program alone.
    sphere = re.fullmatch(r"ne(\d+)", case.columns or "")
    shape = case.shape
    if sphere:
        shape = [54 * int(sphere[1]) ** 2 + 2] + ([case.levels] if case.levels else [])
    try:
        if shape is not None:
            cut = explanation.Tiles(tuple(shape), (1,) * len(shape), case.cell_bytes)
            case.chunk = explanation.chunks_of_library(cut, options)
        elif options.format.startswith(("netcdf4", "zarr")):
            raise typer.BadParameter(
                f"--columns FILE: chunks of {options.format} are not known for it; simulate another format."
            )
        reported = simulation.simulate(case)
        if run is not None:
            tiles = shared.numbers("tiles", reported["tiles"]) if reported["tiles"] else (1,)
            reported["store"] = store_counts.count(shape, tiles, case.cell_bytes, **run)
            if not reported["tiles"]:
                del reported["store"]["ranks_a_shard"]  # columns of a rank lie anywhere
    except simulation.ProgramError as error:
        print(f"shoal: {error}", file=sys.stderr)
        return 2
    if as_json:
        print(json.dumps(reported))
    else:
        show(reported)
    return 0
