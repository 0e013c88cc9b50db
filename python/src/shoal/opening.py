# SPDX-License-Identifier: BSD-3-Clause
"""Making and opening files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import _shoal
from ._library import communicator
from ._paths import Path, path_bytes, path_text
from ._refusals import refuse_group, refuse_on_comm, refused_by_all, taking_part
from .dataset import Dataset
from .errors import InvalidArgumentError, NotFoundError, no_such_file

if TYPE_CHECKING:
    from mpi4py import MPI


def _settings_text(settings: Mapping[str, object]) -> bytes:
    parts = []
    for key, value in settings.items():
        if key == "group":  # xarray's and netCDF4's users look for it here
            refuse_group(value)
            continue
        if isinstance(value, bool):
            value = "true" if value else "false"
        value = path_text(value) if isinstance(value, (os.PathLike, bytes)) else str(value)
        if '"' in value:
            raise InvalidArgumentError(f"Setting {key}={value}: a value cannot have double quotes inside.")
        if "\0" in value:
            raise InvalidArgumentError(f"Setting {key}={value!r}: a value cannot have a zero byte inside.")
        parts.append(f'{key}="{value}"' if any(c in value for c in ",\n #") else f"{key}={value}")
    text = ", ".join(parts)
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"Settings {text!r} have characters that are no text.") from None


@taking_part(refuse_on_comm)
def create(path: Path, comm: MPI.Comm | None = None, **settings: object) -> Dataset:
    """Make a new file, or with format="zarr" a folder; one that exists is replaced (exists="error" refuses; a
    folder that holds no dataset is never replaced). Collective.

    comm      communicator of mpi4py, None for this process alone
    settings  format="netcdf4" ("cdf1", "cdf2", "cdf5", "netcdf4-classic", "zarr", "raw", "ascii"),
              stage_bytes=... (docs/settings.md)

    Raises SettingError for unknown settings, PermissionDeniedError, NoSuchFileError (no such folder), ...
    """
    comm = communicator(comm)
    with refused_by_all(comm):
        path, text = path_text(path), _settings_text(settings)
    try:
        raw = _shoal.Dataset.create(comm.py2f(), path_bytes(path), text)
    except NotFoundError as error:
        raise no_such_file(error) from None
    return Dataset(raw, path, comm)


_modes = {
    "r": "read",
    "r+": "read, change and append; the file must exist",
    "a": "as 'r+', and makes the file if there is none",
    "w": "make the file, or replace it",
    "x": "make the file, which must not exist",
}


@taking_part(refuse_on_comm)
def open(path: Path, comm: MPI.Comm | None = None, mode: str = "r", **settings: object) -> Dataset:
    """Open a file, or the folder of a Zarr store, of any format that Shoal reads, or make one. Collective.

    mode  "r": read; "r+": read, change and append (the file must exist); "a": the same, and makes the file
          if there is none (settings of new files are passed over if there is one); "w": make the file, or
          replace it, as shoal.create(); "x": make the file, which must not exist

    Raises NoSuchFileError, ExistsError ("x"), FormatError, PermissionDeniedError, ...
    """
    comm = communicator(comm)
    with refused_by_all(comm):
        path_text(path)
        if mode not in _modes:
            allowed = ", ".join(f"{name!r} ({does})" for name, does in _modes.items())
            raise InvalidArgumentError(f"mode is {mode!r}; allowed are {allowed}.")
        if mode in ("a", "x") and settings.get("exists", "error") != "error":
            given = settings["exists"]
            raise InvalidArgumentError(f"mode {mode!r} and exists={given!r} contradict each other.")
    if mode == "w":
        return create(path, comm, **settings)
    if mode == "x":
        return create(path, comm, **{**settings, "exists": "error"})
    with refused_by_all(comm):
        path, text = path_text(path), _settings_text(settings)
    number = {"r": _shoal.READ, "r+": _shoal.WRITE, "a": _shoal.APPEND}[mode]
    try:
        raw = _shoal.Dataset.open(comm.py2f(), path_bytes(path), number, text)
    except NotFoundError as error:
        raise no_such_file(error) from None
    return Dataset(raw, path, comm)
