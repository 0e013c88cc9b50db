# SPDX-License-Identifier: BSD-3-Clause
"""Where a dataset lies: a file, or the folder of a Zarr store ("his.zarr")."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Optional

from ._paths import open_file

if TYPE_CHECKING:
    from .inventory import Variable

# Metadata of a store's root group: of version 3, and of version 2.
_roots = ("zarr.json", ".zgroup")
#: Formats whose chunks may go through filters, and which have groups.
zarr_formats = ("zarr", "zarr2")
_header_suffix = ".json"  # of formats whose header is a file of its own


def is_store(path: str) -> bool:
    """Is there a folder with the metadata of a Zarr group? Local."""
    for root in _roots:
        try:
            with open_file(os.path.join(path, root), "rb") as file:
                return file.read(64).lstrip().startswith(b"{")
        except OSError:
            continue
    return False


def has_groups(format: str) -> bool:
    """Local."""
    return format == "netcdf4" or format in zarr_formats


def has_chunks(format: str) -> bool:
    """Local."""
    return format.startswith("netcdf4") or format in zarr_formats


def format_for(path: str, format: Optional[str], of_input: str) -> str:
    """The format of an output: what was asked for, or what the end of its name says of Zarr, or that of the
    input. Version 2 of Zarr is not written. Local."""
    if format:
        return format
    if path.rstrip("/").endswith(".zarr") or (of_input in zarr_formats and not path.endswith(".nc")):
        return "zarr"
    return "netcdf4" if of_input in zarr_formats else of_input


def nearest_in_netcdf4(filters: str) -> str:
    """What netCDF-4 has in place of codecs of Zarr: shuffle+zstd:9 of blosc:zstd:5, ... Local."""
    out: list[str] = []
    for word in filters.split("+"):
        name, *more = word.split(":")
        if name == "gzip":
            out.append(f"deflate:{max(int(more[0]), 1)}")
        elif name == "lz4":
            out.append("zstd:1")
        elif name == "crc32c":
            out.append("fletcher32")
        elif name == "blosc":
            out += [] if "noshuffle" in more else ["shuffle"]
            level = int(more[1])
            if more[0] == "zlib":
                out.append(f"deflate:{max(level, 1)}")
            elif more[0] == "zstd":
                out.append(f"zstd:{22 if level == 9 else max(2 * level - 1, 1)}")
            else:
                out.append("zstd:1")
        else:
            out.append(word)
    return "+".join(out)


def _is_temporary(path: str) -> bool:
    """Such a name as shoal_beside gives: a store that was not committed may have no metadata yet."""
    return re.fullmatch(r"\..*\.[0-9a-f]{16}\.tmp", os.path.basename(path), re.DOTALL) is not None


def remove_made(path: str) -> None:
    """Remove what this process has made at the path: a file with its header file, or a store. Does nothing
    where there is none; OSError where there is another folder. Local."""
    for name in (path, path + _header_suffix):
        try:
            os.unlink(name)
        except FileNotFoundError:
            pass
        except (IsADirectoryError, PermissionError):  # the second one on systems other than Linux
            if os.path.islink(name) or not (is_store(name) or (os.path.isdir(name) and _is_temporary(name))):
                raise
            shutil.rmtree(name, ignore_errors=True)


def bytes_on_disk(path: str) -> int:
    """Of a file, or of all files of a store. Local."""
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(
        os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names
    )


def object_shape(path: str, variable: Variable) -> Optional[tuple[int, ...]]:
    """The cells of a file of a variable in a store: of a shard, or of a chunk that has a file of its own.
    None: the dataset is no store, or its metadata do not say it. Local."""
    for name, keys in (
        ("zarr.json", ("chunk_grid", "configuration", "chunk_shape")),
        (".zarray", ("chunks",)),
    ):
        try:
            with open_file(os.path.join(path, variable.name, name), "rb") as file:
                found = json.load(file)
            for key in keys:
                found = found[key]
            if len(found) == variable.ndim and all(isinstance(n, int) and n > 0 for n in found):
                return tuple(found)
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def objects_of(shape: Sequence[int], cells: Sequence[int]) -> int:
    """How many files of so many cells hold all of a variable. Local."""
    return math.prod(-(-n // size) for n, size in zip(shape, cells))
