# SPDX-License-Identifier: BSD-3-Clause
"""How many files a run makes of a Zarr store, how large they are, who makes them, and what a commit asks of
the file system."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Optional

from . import chunking
from ._stores import objects_of


def _overlaps(length: int, tiles: int, shard: int) -> tuple[int, int]:
    """Tiles of a dimension that a shard touches: of the shard with the fewest, and with the most. Local."""
    ends = [length * (i + 1) // tiles for i in range(tiles)]
    found, tile = [], 0
    for first in range(0, length, shard):
        last = min(first + shard, length) - 1
        while ends[tile] <= first:
            tile += 1
        until = tile
        while ends[until] <= last:
            until += 1
        found.append(until - tile + 1)
    return min(found), max(found)


def count(
    shape: Sequence[int],
    tiles: Sequence[int],
    cell_bytes: int,
    *,
    records: int = 1,
    variables: int = 1,
    settings: Optional[Mapping[str, object]] = None,
) -> dict[str, object]:
    """Of a run that writes `variables` fields of a shape, the fastest dimension first as in --global, and a
    time, `records` times, with a commit after each. tiles: along the first dimensions. Local.

    A shard is a file of one record. Ranks that store into it first make it; its index, zarr.json of each
    variable and that of the root are written by one rank, the metadata under another name that is renamed.
    """
    dtype = f"f{cell_bytes}" if cell_bytes in (4, 8) else f"i{cell_bytes}"
    record = (1, *reversed(shape))
    chunk, shard = chunking.shapes_of_library(record, dtype, settings={"format": "zarr", **(settings or {})})
    if chunk is None or shard is None:
        raise ValueError("such a variable has no chunks in Zarr")
    if shard[0] != 1:
        raise ValueError("shards of several records are not counted: chunks=series keeps records together")
    per_record = objects_of(record, shard)
    cut = [*tiles, *[1] * (len(shape) - len(tiles))]
    overlaps = [_overlaps(n, t, s) for n, t, s in zip(shape, cut, reversed(shard))]
    fields = per_record * variables
    times = -(-records // 1024)  # chunks of a variable that has nothing but records
    return {
        "records": records,
        "variables": variables,
        "chunk": list(reversed(chunk[1:])),
        "shard": list(reversed(shard[1:])),
        "shard_bytes": math.prod(shard) * cell_bytes,
        "ranks_a_shard": {
            "least": math.prod(least for least, _ in overlaps),
            "most": math.prod(most for _, most in overlaps),
        },
        "files_a_record": fields,
        "files": fields * records + times + variables + 2,
        "bytes": math.prod(shape) * cell_bytes * variables * records,
        "commit": {
            "made_by_ranks": fields,
            "indexes_by_rank_0": fields,
            "written_and_renamed_by_rank_0": variables + 3,
        },
    }
