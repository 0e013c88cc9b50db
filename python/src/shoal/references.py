# SPDX-License-Identifier: BSD-3-Clause
"""Many files as one without joining them: references for Zarr's readers, and virtual masters."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Union

from . import _shoal
from ._paths import Path, path_bytes

Paths = Union[Path, Iterable[Path]]


def _list_of(paths: Paths) -> list[bytes]:
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    return [path_bytes(path) for path in paths]


def write_reference(paths: Paths, out: Path) -> None:
    """Write a reference: a JSON file in Kerchunk's format that says where the chunks of all variables
    lie, so that xarray reads the files as one, copying nothing. Local.

    paths: one file of any format, or a set of files of Shoal, FMS, ROMS or NEMO: all of them, or what names
    it ("his.nc" for his.nc.0000 and so on, "his.*.nc"). out is written whole or not at all.

        xarray.open_dataset("his.json", engine="kerchunk")

    NotSupportedError: Zarr cannot describe it, because tiles are cut unevenly (the message names dimension
    and files), or a filter has no codec there."""
    _shoal.write_reference(_list_of(paths), path_bytes(out))


def write_master(paths: Paths, out: Path) -> None:
    """Write a virtual master: a small netCDF-4 file of HDF5 virtual datasets over a set of netCDF-4 files,
    which every program that reads netCDF-4 reads as one. Local.

    paths: as for write_reference. The master names them relative to its own folder.
    NotSupportedError: a file is of a classic format."""
    _shoal.write_master(_list_of(paths), path_bytes(out))
