# SPDX-License-Identifier: BSD-3-Clause
"""A process beside a rank of shoal-bench, which calls zarr-python or xarray for it (methods of these names).

It is asked by a line of JSON on a socket, works on memory that both share, and answers by a line."""

from __future__ import annotations

import json
import mmap
import socket
import sys
import warnings
from pathlib import Path
from typing import Any

_socket, _memory = 3, 4  # as methods/python_worker.cpp has them
_chunk_bytes = 4 << 20  # what Shoal does, too
_types = {4: "<i4", 5: "<f4", 6: "<f8"}


def _fitting(length: int, most: int) -> int:
    """The largest number up to `most` that divides a length: chunks divide their shard."""
    return next(n for n in range(max(1, min(length, most)), 0, -1) if length % n == 0)


def inner_chunk(shard: tuple[int, ...], size: int) -> tuple[int, ...]:
    """A chunk of about 4 MiB that a shard is a multiple of, whole where cells vary fastest. Local."""
    chunk = [1] * len(shard)
    left = max(1, _chunk_bytes // size)
    for d in reversed(range(len(shard))):
        chunk[d] = _fitting(shard[d], left)
        left //= chunk[d]
        if chunk[d] < shard[d]:
            break
    return tuple(chunk)


def codecs_of(words: str) -> Any:
    """Codecs of zarr-python for `compression` as Shoal has it. ValueError. Local."""
    from zarr.codecs import BloscCodec, BloscShuffle, GzipCodec, ZstdCodec

    parts = words.split(":")
    if words in ("", "none"):
        return None
    if parts[0] == "blosc" and len(parts) == 3:
        return BloscCodec(cname=parts[1], clevel=int(parts[2]), shuffle=BloscShuffle.shuffle)
    if parts[0] == "shuffle+zstd" and len(parts) == 2:
        return BloscCodec(cname="zstd", clevel=int(parts[1]), shuffle=BloscShuffle.shuffle)
    if parts[0] == "zstd" and len(parts) == 2:
        return ZstdCodec(level=int(parts[1]))
    if parts[0] == "gzip" and len(parts) == 2:
        return GzipCodec(level=int(parts[1]))
    raise ValueError(
        f"compression '{words}': there are none, blosc:NAME:LEVEL, zstd:LEVEL, gzip:LEVEL, shuffle+zstd:LEVEL"
    )


class Worker:
    def __init__(self, memory: mmap.mmap):
        import numpy
        import zarr

        if int(zarr.__version__.split(".")[0]) < 3:
            raise ImportError(
                f"zarr {zarr.__version__} is too old, version 3 is needed: pip install 'zarr>=3'"
            )
        self.numpy, self.zarr, self.memory = numpy, zarr, memory
        warnings.filterwarnings("ignore")  # zarr-python's, of consolidated metadata
        self.fields: list[dict[str, Any]] = []
        self.arrays: dict[int, Any] = {}
        self.gathered: dict[int, Any] = {}

    def prepare(
        self, path: str, fields: list[dict[str, Any]], records: int, compression: str, with_xarray: bool
    ):
        """What the other requests are about. tile: first and number of each of the last dimensions."""
        if with_xarray:
            import xarray  # noqa: F401
        self.path, self.fields, self.records = path, fields, records
        self.codecs = codecs_of(compression)

    def _shape(self, field: dict[str, Any]) -> tuple[int, ...]:
        return (*([self.records] if field["record"] else []), *field["shape"])

    def _selection(self, field: dict[str, Any], record: int, whole: bool) -> tuple[Any, ...]:
        tile = [] if whole else field["tile"]
        rest = len(field["shape"]) - len(tile)
        boxes = [slice(first, first + count) for first, count in tile]
        return (*([slice(record, record + 1)] if field["record"] else []), *[slice(None)] * rest, *boxes)

    def _values(self, field: dict[str, Any], whole: bool) -> Any:
        """The field in shared memory, as an array."""
        shape = list(field["shape"])
        if not whole:
            shape[len(shape) - len(field["tile"]) :] = [count for _, count in field["tile"]]
        if field["record"]:
            shape.insert(0, 1)
        count = int(self.numpy.prod(shape, dtype=int))
        return self.numpy.frombuffer(self.memory, _types[field["type"]], count).reshape(shape)

    # ---- zarr-python: every rank its own shards

    def create(self) -> None:
        root = self.zarr.open_group(self.path, mode="w-")
        for number, field in enumerate(self.fields):
            shape, kind = self._shape(field), self.numpy.dtype(_types[field["type"]])
            record = [1] if field["record"] else []
            stored: dict[str, Any] = {"compressors": None, "chunks": (*record, *field["shape"]) or ()}
            if field["distributed"]:
                stored["shards"] = tuple(record + field["shard"])
                stored["chunks"] = inner_chunk(stored["shards"], kind.itemsize)
                stored["compressors"] = self.codecs
            self.arrays[number] = root.create_array(
                field["name"],
                shape=shape,
                dtype=kind,
                attributes=field["attributes"],
                dimension_names=field["dims"],
                config={"write_empty_chunks": True},  # chunks are not compared with the fill value
                **stored,
            )

    def open(self, distributed: bool) -> None:
        root = self.zarr.open_group(self.path, mode="r+", use_consolidated=False)
        for number, field in enumerate(self.fields):
            if field["distributed"] or not distributed:
                self.arrays[number] = root[field["name"]]

    def put(self, field: int, record: int, whole: bool) -> None:
        known = self.fields[field]
        self.arrays[field][self._selection(known, record, whole)] = self._values(known, whole)

    def get(self, field: int, record: int, whole: bool) -> None:
        known = self.fields[field]
        self._values(known, whole)[...] = self.arrays[field][self._selection(known, record, whole)]

    def consolidate(self) -> None:
        self.zarr.consolidate_metadata(self.path)

    # ---- xarray: fields that were gathered, a record at a time

    def keep(self, field: int) -> None:
        self.gathered[field] = self._values(self.fields[field], True).copy()

    def to_zarr(self) -> None:
        """Write what was kept: the fields without records first, then one record after the other."""
        import xarray

        if not self.gathered:
            return
        known = {number: self.fields[number] for number in self.gathered}
        data = {
            field["name"]: (field["dims"], self.gathered[number], field["attributes"])
            for number, field in known.items()
        }
        there = Path(self.path).exists()
        fresh = not any(number in self.arrays for number in known)
        encoding = {}
        if fresh:
            for number, field in known.items():
                chunk = inner_chunk(tuple(field["shape"]), self.gathered[number].itemsize)
                encoding[field["name"]] = {
                    "chunks": (*([1] if field["record"] else []), *chunk),
                    "compressors": self.codecs if field["distributed"] else None,
                }
        # Not decoded times, not coordinates: the same arrays as all methods write.
        store = xarray.Dataset(data)
        if fresh:
            store.to_zarr(self.path, mode="a" if there else "w", encoding=encoding, zarr_format=3)
        else:
            store.to_zarr(
                self.path, mode="a", append_dim=next(iter(known.values()))["dims"][0], zarr_format=3
            )
        self.arrays.update(self.gathered)
        self.gathered = {}


def main() -> None:
    with socket.socket(fileno=_socket) as asked, mmap.mmap(_memory, 0) as memory:
        lines = asked.makefile("rwb")
        worker, missing = None, ""
        try:
            worker = Worker(memory)
        except ImportError as error:
            missing = f"{error}; install what the method needs: pip install 'zarr>=3' xarray"
        for line in lines:
            request = json.loads(line)
            answer = {"error": missing}
            if worker is not None:
                try:
                    getattr(worker, request.pop("do"))(**request)
                    answer = {}
                except ImportError as error:
                    answer["error"] = f"{error}; install it: pip install 'zarr>=3' xarray"
                except Exception as error:  # whatever a library throws ends the benchmark with its words
                    answer["error"] = f"{type(error).__name__}: {error}"
            lines.write(json.dumps(answer).encode() + b"\n")
            lines.flush()


if __name__ == "__main__":
    sys.exit(main())
