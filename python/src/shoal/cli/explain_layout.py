# SPDX-License-Identifier: BSD-3-Clause
"""shoal explain layout: what a decomposition and a way of writing mean for the file."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Optional

import typer

from . import explain_options as shared
from .parallel import on_all_ranks


def _check_background(background: str, servers: Optional[int], cores: Optional[int]) -> None:
    for name, value, needs in (("servers", servers, "ranks"), ("cores", cores, "auto")):
        if value is not None and background != needs:
            raise typer.BadParameter(f"--{name} needs --background {needs}.")
        if value is not None and value < 1:
            raise typer.BadParameter(f"--{name} {value}: it is 1 or more.")


def _files_of_record(shape, size: int) -> Optional[int]:
    """Of a Zarr store: into how many files the field goes, each step."""
    from shoal import chunking
    from shoal._stores import objects_of

    record = (1, *shape[::-1])
    dtype = f"f{size}" if size in (4, 8) else f"i{size}"
    _, shard = chunking.shapes_of_library(record, dtype, settings={"format": "zarr"})
    return None if shard is None else objects_of(record, shard)


def layout(
    global_shape: shared.Global = None,
    tiles: shared.Tiles = None,
    type_: shared.CellType = "float",
    format: shared.Format = "cdf5",
    driver: shared.Driver = "native",
    access: Annotated[
        Optional[str],
        typer.Option(help="collective, independent or nonblocking, of drivers of other libraries."),
    ] = None,
    stage_bytes: shared.StageBytes = None,
    slot_bytes: shared.SlotBytes = None,
    writers: shared.Writers = 0,
    ranks_per_node: Annotated[int, typer.Option(help="0: all ranks on one node.")] = 0,
    io_ranks: shared.IoRanks = 0,
    io_stride: shared.IoStride = 0,
    io_base: shared.IoBase = 0,
    io_ranks_per_node: shared.IoRanksPerNode = 0,
    rearrange: shared.Rearrange = "auto",
    rearranger: shared.Rearranger = "auto",
    background: Annotated[
        str, typer.Option(help="off, thread, ranks or auto: who stores, with driver native?")
    ] = "off",
    servers: Annotated[
        Optional[int],
        typer.Option(help="With --background ranks: so many of each node serve, beside those of --tiles."),
    ] = None,
    cores: Annotated[
        Optional[int],
        typer.Option(help="With --background auto: of a node; if not given, those of this machine."),
    ] = None,
    machine: shared.Machine = None,
    folder: shared.Folder = None,
    file_system: shared.FileSystem = None,
    stripes: shared.Stripes = None,
    plot: Annotated[Optional[str], typer.Option(metavar="FILE.png", help="Draw it.")] = None,
) -> None:
    """Say what writing a field of this shape, cut into these tiles, means for the file.

    Shapes are in the model's order, the first dimension is fastest in memory and on disk (xi x eta x s).
    Tiles are balanced; ranks go along the first dimension first. The first line says what to do. Then come
    contiguous runs on disk, who writes what, how large writes are, and the memory that is needed.

    Exit status 0; 2 for options that cannot be.
    """
    from shoal import explanation
    from shoal.simulation import ProgramError

    from .layout_view import show

    given = shared.of_options(locals())
    size = shared.size_of(type_)
    if driver in ("native", "gather") and access is not None:
        raise typer.BadParameter(f"--access {access}: driver {driver} has but one; leave it out.")
    _check_background(background, servers, cores)
    if background == "auto" and cores is None:
        cores = len(os.sched_getaffinity(0))
    options = shared.checked(
        **{
            **given,
            "access": access or "collective",
            "ranks_per_node": ranks_per_node or None,
            "servers": (servers or 1) if background == "ranks" else 0,
            "cores": cores or 0,
        }
    )
    if global_shape is None or tiles is None:
        raise typer.BadParameter("--global and --tiles are needed.")
    shape, grid = shared.numbers("--global", global_shape), shared.numbers("--tiles", tiles)

    def work(comm) -> int:
        if comm.rank != 0:
            return 0
        cut = explanation.Tiles(shape, grid, size)
        options.chunk = chunks = explanation.chunks_of_library(cut, options)
        try:
            plan = explanation.explain(cut, options)
        except ProgramError as error:
            print(f"shoal: {error}", file=sys.stderr)
            return 2
        show(plan, chunks, _files_of_record(shape, size) if options.format == "zarr" else None)
        if plot is not None:
            from .tile_picture import draw

            draw(plan, plot)
            print(f"picture: {os.path.abspath(plot)}", file=sys.stderr)
        return 0

    on_all_ranks(work)
