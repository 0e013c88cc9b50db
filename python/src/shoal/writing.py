# SPDX-License-Identifier: BSD-3-Clause
"""to_netcdf, without xarray until it is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._blocks import on_all
from ._library import communicator
from ._names import composed
from ._paths import Path, path_text
from .decomposition import Decomposition
from .errors import InvalidArgumentError, NotSupportedError

if TYPE_CHECKING:
    import xarray
    from mpi4py import MPI


def to_netcdf(
    ds: xarray.Dataset | xarray.DataTree,
    path: Path,
    comm: MPI.Comm | None = None,
    *,
    mode: str = "w",
    format: str | None = None,
    group: str | None = None,
    split: str | None = None,
    decomposition: Decomposition | Sequence[Decomposition] | None = None,
    encoding: Mapping[str, Mapping[str, Any]] | None = None,
    unlimited_dims: Iterable[str] | str | None = None,
    append_dim: str | None = None,
    **settings: object,
) -> None:
    """Write an xarray Dataset or DataTree whose ranks hold blocks to one file, which reads back as if that of
    all ranks had been written with its to_netcdf. Collective.

    ds        of numpy or dask arrays; blocks may be empty. Of a tree each group becomes one of the file;
              encoding and unlimited_dims are by group then ({"/ocean": {"temp": {...}}}), and a group without
              a dimension that is cut is alike on all ranks
    comm      communicator of mpi4py; None: this process alone, whose Dataset is whole
    mode      "w": a new file; "a", with group or append_dim: add to a file, or make it. Of variables that the
              group has already the values are replaced, and attributes that ds has; dimensions, shape, dtype
              and _FillValue must be those of the file
    group     "ocean/ice": the variables go to that group, and so do dimensions that the groups above have
              not, or of another length (netcdf4, zarr); None: to the file itself
    format    "netcdf4" (the default), "netcdf4-classic", "cdf1", "cdf2", "cdf5", or as xarray calls them;
              "zarr" (the default of "his.zarr"): a store, which xarray.open_zarr reads
    split     the dimension that is cut, with blocks in the order of ranks
    decomposition  which cells this rank has: a Decomposition with named dimensions, or several of other
              dimensions (staggered grids); a map of one dimension. Without both: as
              xarray.open_dataset(..., engine="shoal", comm=, split=) cut it
    encoding  variable -> as in xarray for netcdf4: dtype, scale_factor, add_offset, _FillValue, units,
              calendar, chunksizes, zlib, complevel, shuffle, fletcher32, compression="zstd",
              significant_digits and others; in place of what the variables have in .encoding
    unlimited_dims  dimensions that grow; by default those of ds.encoding
    append_dim  the dimension along which the records of ds are added to those of the file, encoded as these
              are. The file, or the group with a dimension of its own, is made where there is none.
              Variables without the dimension are written again; attributes of the file stay
    settings  of Shoal (docs/settings.md)

    Values that are not cut are those of rank 0; where several ranks have the same block of a variable, those
    of the lowest. Times, text and objects that are cut are gathered on each rank to be encoded, and written
    by rank 0. What cannot be written raises an Error on all ranks (NotSupportedError, InvalidArgumentError,
    which are NotImplementedError and ValueError, too), and the path keeps what it had.
    """
    comm = communicator(comm)

    def look() -> str:
        if mode not in ("w", "a"):
            raise InvalidArgumentError(f"mode is {mode!r}; allowed are 'w' and, with append_dim=, 'a'.")
        if mode == "a" and append_dim is None and not (group or "").strip("/"):
            raise NotSupportedError(
                "mode='a' adds a group (group=), or records along append_dim=; to add other variables to a "
                "file, use shoal.open(path, mode='r+')."
            )
        if "exists" in settings and append_dim is not None:
            raise InvalidArgumentError("exists= and append_dim= contradict each other.")
        return path_text(path)

    where = on_all(comm, look)
    from . import _tree_writing, _xarray_groups

    kind: Any = _tree_writing if _tree_writing.is_tree(ds) else _xarray_groups
    kind.to_netcdf(
        ds,
        where,
        comm,
        mode,
        format,
        composed((group or "").strip("/")),
        split,
        decomposition,
        encoding,
        unlimited_dims,
        append_dim,
        dict(settings),
    )
