# SPDX-License-Identifier: BSD-3-Clause
"""shoal explain chunks: what chunk shapes mean for readers."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Annotated, Optional

import typer

from . import explain_options as shared
from .parallel import on_all_ranks, parse_bytes


def is_shape(wish: Optional[str]) -> bool:
    return wish is not None and re.fullmatch(r"\d+([xX]\d+)*", wish) is not None


def chunks(
    file: Annotated[Optional[str], typer.Argument(metavar="[FILE]", help="A file that is there.")] = None,
    global_shape: Annotated[
        Optional[str],
        typer.Option(
            "--global", metavar="NXxNYxNZ", help="Or a field: its cells, the fastest dimension first."
        ),
    ] = None,
    records: Annotated[Optional[int], typer.Option(help="Of the field; 100 unless given.")] = None,
    type_: Annotated[
        Optional[str],
        typer.Option("--type", help=f"Of a cell of the field: {', '.join(shared.sizes)}; float."),
    ] = None,
    chunk_shape: Annotated[
        Optional[str],
        typer.Option(metavar="auto|map|series|1x30x100", help="This shape, slowest dimension first."),
    ] = None,
    chunk_bytes: Annotated[Optional[str], typer.Option(help="Chunks about so large.")] = None,
    format: Annotated[
        Optional[str], typer.Option(help="netcdf4 or zarr; that of FILE, or netcdf4, unless given.")
    ] = None,
    shard_bytes: Annotated[Optional[str], typer.Option(help="With zarr: files about so large.")] = None,
    variables: Annotated[Optional[str], typer.Option(metavar="A,B", help="Of FILE: these alone.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")] = False,
) -> None:
    """Say how many chunks, and bytes of them, reading a map, a time series at a point, and all touches.

    Of the variables of FILE, or of a field of --global with --records, in the shapes that Shoal has to offer.
    Of a Zarr store, or with --format zarr, also how many files (shards) there are. The first line says what
    to do.

    Exit status 0; 2 for options that cannot be.
    """
    if (file is None) == (global_shape is None):
        raise typer.BadParameter("chunks needs one of FILE and --global.")
    of_field = {"--records": records, "--type": type_}
    unused = {"--variables": variables} if file is None else of_field
    for name, value in unused.items():
        if value is not None:
            raise typer.BadParameter(f"{name} does not go with {'--global' if file is None else 'FILE'}.")
    if chunk_bytes is not None and is_shape(chunk_shape):
        raise typer.BadParameter(f"--chunk-bytes says nothing of --chunk-shape {chunk_shape}.")
    if format not in (None, "netcdf4", "zarr"):
        raise typer.BadParameter(f"--format {format} has no chunks; netcdf4 and zarr have.")
    if shard_bytes is not None and format != "zarr":
        raise typer.BadParameter("--shard-bytes goes with --format zarr.")
    settings: dict[str, object] = {} if format is None else {"format": format}
    for key, size in (("chunk_bytes", chunk_bytes), ("shard_bytes", shard_bytes)):
        if size is not None:
            settings[key] = parse_bytes(size)
    if global_shape is None:
        on_all_ranks(lambda comm: _chunks_of_file(comm, file, variables, chunk_shape, settings, json_))
        return
    kind, times = type_ or "float", 100 if records is None else records
    shared.size_of(kind)
    if times < 0:
        raise typer.BadParameter("--records is 0 or more.")
    shape = (times, *shared.numbers("--global", global_shape)[::-1])
    on_all_ranks(
        lambda comm: _chunks_of_field(shape, kind, chunk_shape, settings, json_) if comm.rank == 0 else 0
    )


def _chunks_of_file(comm, path, variables, wish, settings, as_json: bool) -> int:
    """What readers of the variables of a file touch, as it is or in other chunks."""
    from shoal import chunking, opening
    from shoal._steps import item_bytes
    from shoal._stores import object_shape, zarr_formats
    from shoal.errors import InvalidArgumentError
    from shoal.inventory import need_readable

    from .chunk_view import Row, advice_for_file, print_json, show

    if comm.rank != 0:
        return 0
    rows, asked = [], bool(settings)
    with opening.open(path, None) as file:
        is_store = file.format in zarr_formats
        if is_store:
            settings = {"format": "zarr", **settings}
        if variables is None:
            names = [variable.name for variable in file.variables.values() if variable.dtype is not None]
        else:
            names = [name.strip() for name in variables.split(",")]
            need_readable(path, [file.variables[name] for name in names], "leave it out")
        for name in names:
            variable = file.variables[name]
            chunk, own_wish = variable.chunks, wish or "auto"
            shard = object_shape(path, variable) if is_store else None
            if is_shape(wish) and len(shared.numbers("--chunk-shape", wish)) != variable.ndim:
                if variables is not None:
                    raise InvalidArgumentError(
                        f"--chunk-shape {wish} has another number of dimensions than variable '{name}', "
                        f"which has {variable.ndim}."
                    )
                own_wish = "auto"  # as the setting counts for variables that it fits
            if (wish is not None or asked) and variable.dtype is not str and variable.ndim > 0:
                chunk, shard = chunking.shapes_of_library(
                    variable.shape,
                    "i1" if variable.dtype == bool else variable.dtype,
                    own_wish,
                    grows=variable.has_record,
                    settings=settings,
                )
            found = chunking.touched_of(replace(variable, chunks=chunk))
            row = Row(variable.name, variable.shape, chunk, item_bytes(variable), found)
            rows.append(_with_files(row, shard))
    print_json(rows) if as_json else show(rows, "variable", advice_for_file(rows))
    return 0


def _with_files(row, shard):
    """With the number of files, where these have so many cells."""
    from shoal._stores import objects_of

    if shard is None:
        return row
    return replace(row, files=objects_of(row.shape, shard), bytes_a_file=math.prod(shard) * row.item)


def _chunks_of_field(shape, type_, wish, settings, as_json: bool) -> int:
    """The shapes that Shoal has to offer for a field, with records first."""
    from shoal import chunking

    from .chunk_view import Row, advice_for_shapes, print_json, show

    rows, size = [], shared.size_of(type_)
    dtype = f"f{size}" if type_ in ("float", "double") else f"i{size}"
    for name in ("auto", "map", "series") if wish is None else (wish,):
        chunk, shard = chunking.shapes_of_library(shape, dtype, name, settings=settings)
        rows.append(_with_files(Row(name, shape, chunk, size, chunking.touched(shape, chunk, size)), shard))
    print_json(rows) if as_json else show(rows, "chunks", advice_for_shapes(rows))
    return 0
