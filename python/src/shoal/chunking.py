# SPDX-License-Identifier: BSD-3-Clause
"""What a chunk shape means for readers: `shoal explain chunks`.

    from shoal.chunking import touched
    touched((365, 600, 800), (1, 600, 800), 4)["series"].chunks

Shapes are in the order of the file here, slowest first. All calls are Local.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

import numpy as np

from . import opening
from ._steps import item_bytes
from ._stores import object_shape, zarr_formats
from .decomposition import Decomposition
from .errors import Error, InvalidArgumentError
from .inventory import Variable


@dataclass
class Touched:
    """What one way of reading touches.

    chunks        how many chunks; None: the variable is not chunked
    bytes         of these, before compression; of the cells alone, if it is not chunked
    bytes_wanted  of the cells that are asked for
    """

    chunks: Optional[int]
    bytes: int
    bytes_wanted: int


def touched(
    shape: Sequence[int], chunk: Optional[Sequence[int]], item: int, time: bool = True
) -> dict[str, Touched]:
    """What is touched by reading a "map" (the last two dimensions at one index of the others), a "series"
    (all of the first dimension at a point) and "all".

    item  bytes of a cell
    time  whether the first dimension is one of times; without, there is no series
    """
    if chunk is not None and len(chunk) != len(shape):
        raise InvalidArgumentError(
            f"The chunk shape has {len(chunk)} numbers, the variable {len(shape)} dimensions."
        )
    first_of_map = max(len(shape) - 2, 1 if time else 0)
    wanted = {"map": range(first_of_map, len(shape)), "all": range(len(shape))}
    if time and len(shape) > 0:
        wanted["series"] = range(0, 1)
    out = {}
    for what in ("map", "series", "all"):
        if what not in wanted:
            continue
        cells = math.prod(shape[d] for d in wanted[what]) if 0 not in shape else 0
        chunks, read = None, cells * item
        if chunk is not None:
            chunks = math.prod(-(-shape[d] // chunk[d]) for d in wanted[what]) if cells else 0
            read = chunks * math.prod(chunk) * item
        out[what] = Touched(chunks, read, cells * item)
    return out


def has_times(variable: Variable) -> bool:
    """Whether the first dimension is one of times: it grows, or there is a map behind it. Local."""
    return variable.has_record or variable.ndim > 2


def touched_of(variable: Variable, chunk: Optional[Sequence[int]] = None) -> dict[str, Touched]:
    """The same of a variable in a file, with its own chunk shape unless one is given."""
    chosen = variable.chunks if chunk is None else chunk
    return touched(variable.shape, chosen, item_bytes(variable), has_times(variable))


def shapes_of_library(
    shape: Sequence[int],
    dtype,
    wish: str = "auto",
    *,
    grows: bool = True,
    settings: Optional[Mapping[str, object]] = None,
) -> tuple[Optional[tuple[int, ...]], Optional[tuple[int, ...]]]:
    """The chunk shape that Shoal gives such a variable, and with format zarr the shape of a file of it, a
    shard; None: it would not be chunked. It is taken to be cut over ranks, unless it has nothing but records.

    wish      "auto", "map", "series" or "1x30x100": the setting chunks
    grows     whether the first dimension is unlimited
    settings  others, such as chunk_bytes, or format
    """
    names = [f"d{axis}" for axis in range(len(shape))]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        try:
            file = opening.create(
                path,
                None,
                **{"format": "netcdf4", "quiet": True, **(settings or {}), "chunks": f"field={wish}"},
            )
        except Error as error:
            raise type(error)(error.message.replace(f"{path}: ", "")) from None
        try:
            cut = dict(zip(names, shape))
            if grows:
                del cut[names[0]]
            record = names[0] if grows else None
            if cut:
                tile = Decomposition.block(None, cut, [0] * len(cut), [0] * len(cut))
                file.def_var("field", np.dtype(dtype), tile, record=record)
            else:
                file.def_var("field", np.dtype(dtype), record=record)
            file.end_define()
            chunks = file.variables["field"].chunks
            if file.format not in zarr_formats:
                return chunks, None
            file.sync()
            return chunks, object_shape(path, file.variables["field"])
        except Error as error:
            raise type(error)(error.message.replace(f"{path}: ", "")) from None
        finally:
            file.abandon()


def shape_of_library(
    shape: Sequence[int],
    dtype,
    wish: str = "auto",
    *,
    grows: bool = True,
    settings: Optional[Mapping[str, object]] = None,
) -> Optional[tuple[int, ...]]:
    """The chunk shape alone."""
    return shapes_of_library(shape, dtype, wish, grows=grows, settings=settings)[0]
