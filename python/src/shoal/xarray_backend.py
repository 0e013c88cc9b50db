# SPDX-License-Identifier: BSD-3-Clause
"""engine="shoal" for xarray.open_dataset: lazy, and with comm= and split= each rank gets its block.

Every rank opens the file for itself, so values may be loaded at any time, in any order, on some ranks
only: nothing here is collective, but for the agreement on comm's size.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from xarray.backends import AbstractDataStore, BackendArray, BackendEntrypoint, CachingFileManager
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing
from xarray.core.variable import Variable

from . import opening
from ._blocks import KEY
from ._library import communicator
from ._names import group_of, name_in_group, outwards
from ._paths import absolute_path, open_file
from ._stores import is_store, nearest_in_netcdf4
from .decomposition import balanced_tile, process_grid
from .errors import InvalidArgumentError, NotSupportedError
from .inventory import Dimension


class _ProcessLock:
    """One lock for the process, since MPI may allow one thread at a time only, and dask brings many.
    Pickled, it is the lock of the process that it comes to."""

    def __init__(self):
        self._lock = threading.RLock()

    def acquire(self, blocking: bool = True) -> bool:
        return self._lock.acquire(blocking)

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_) -> None:
        self._lock.release()

    def __reduce__(self):
        return "_lock"


_lock = _ProcessLock()

_magic_numbers = (b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF\r\n\x1a\n")


def _open_alone(path: str, mode: str = "r", **settings):
    # xarray unpacks itself.
    return opening.open(path, None, mode, **{"pack": "none", **settings})


class ShoalArray(BackendArray):
    """A variable, or this rank's block of it, that is read when it is needed."""

    def __init__(self, store: ShoalStore, name: str, dtype, shape, offsets, has_record: bool):
        self.store = store
        self.name = name
        # xarray knows strings by this mark.
        self.dtype = np.dtype("O", metadata={"element_type": str}) if dtype is str else np.dtype(dtype)
        self.shape = tuple(shape)
        self.offsets = tuple(offsets)
        self.has_record = has_record

    def __getitem__(self, key):
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.BASIC, self._basic
        )

    def _basic(self, key) -> np.ndarray:
        """Read the box around the slices, then take the steps out of it."""
        start, count, picks = [], [], []
        for item, length, offset in zip(key, self.shape, self.offsets):
            if isinstance(item, slice):
                places = range(*item.indices(length))
                low, high = (min(places), max(places) + 1) if len(places) else (0, 0)
                pick = slice(places[0] - low, None, None) if len(places) else slice(0, 0)
                if len(places) > 1:
                    end = places[-1] - low + (1 if places.step > 0 else -1)
                    pick = slice(places[0] - low, end if end >= 0 else None, places.step)
            else:
                place = int(item) + (length if item < 0 else 0)
                low, high, pick = place, place + 1, 0
            start.append(low + offset)
            count.append(high - low)
            picks.append(pick)
        if 0 in count:
            return np.empty(count, self.dtype)[tuple(picks)]
        with _lock:
            box = self._read(start, count)
        return np.asarray(box)[tuple(picks)]

    def _read(self, start: list[int], count: list[int]) -> np.ndarray:
        file = self.store.manager.acquire()
        if not self.has_record:
            return file.get(self.name, start=start, count=count) if start else file.get(self.name)
        box = np.empty(count, self.dtype)
        section = {"start": start[1:], "count": count[1:]} if len(start) > 1 else {}
        for i in range(count[0]):
            record = file.get(self.name, start[0] + i, **section)
            box[i] = record
        return box


def _filters_of(text: str) -> dict[str, object]:
    """Filters in the words of xarray's netcdf4 engine: "shuffle+deflate:1" is zlib, complevel and shuffle;
    codecs of Zarr as what comes nearest to them."""
    words = dict(word.partition(":")[::2] for word in nearest_in_netcdf4(text).split("+"))
    names = {"zlib": "deflate", "zstd": "zstd"}
    found: dict[str, object] = {key: True for key, word in names.items() if word in words}
    if found or "fletcher32" in words:
        levels = [int(words[word]) for word in names.values() if words.get(word)]
        found.update({"complevel": levels[0]} if levels else {})
        found.update(shuffle="shuffle" in words, fletcher32="fletcher32" in words)
    return found


class _Contents:
    """Names of a file by group, of one pass over it."""

    def __init__(self, file):
        self.dimensions: dict[str, list[Dimension]] = {}
        self.variables: dict[str, list[str]] = {}
        for dim in file.dimensions.values():
            self.dimensions.setdefault(group_of(dim.name), []).append(dim)
        for path in file.variables:
            self.variables.setdefault(group_of(path), []).append(path)

    def seen(self, group: str) -> dict[str, tuple[str, int]]:
        """Dimensions that a variable of the group may have: name -> path, length."""
        seen: dict[str, tuple[str, int]] = {}
        for outer in outwards(group):
            for dim in self.dimensions.get(outer, ()):
                seen.setdefault(name_in_group(dim.name), (dim.name, dim.length))
        return seen


class ShoalStore(AbstractDataStore):
    """What xarray asks of a group of an open file: "" is the root. blocks: dimension -> first, count of this
    rank; left_out: variables that nobody wants."""

    def __init__(
        self,
        manager,
        contents: _Contents,
        blocks: dict[str, tuple[int, int]],
        group: str = "",
        left_out: Iterable[str] = (),
    ):
        self.manager = manager
        self.blocks = blocks
        self.group = group
        seen = contents.seen(group)
        self.paths = {name: path for name, (path, _) in seen.items()}
        self.lengths = {name: length for name, (_, length) in seen.items()}
        own = contents.variables.get(group, ())
        self.variables = [path for path in own if name_in_group(path) not in left_out]
        self.unlimited = {
            name_in_group(dim.name) for dim in contents.dimensions.get(group, ()) if dim.unlimited
        }

    def get_attrs(self):
        with _lock:
            file = self.manager.acquire()
            return dict(file.groups[self.group].attributes if self.group else file.attributes)

    def get_dimensions(self):
        return {name: self.blocks.get(name, (0, length))[1] for name, length in self.lengths.items()}

    def get_encoding(self):
        found: dict = {"unlimited_dims": set(self.unlimited)}
        if self.blocks:
            found[KEY] = self._blocks_of(self.blocks)
        return found

    def _blocks_of(self, dims) -> dict[str, tuple[int, int, int]]:
        """What shoal.to_netcdf must know: first, count and length of dimensions that are cut."""
        return {dim: (*self.blocks[dim], self.lengths[dim]) for dim in dims if dim in self.blocks}

    def get_variables(self):
        with _lock:
            file = self.manager.acquire()
            # Those of other types cannot be read, and should not keep the rest from being.
            # What is in other groups is no variable of this Dataset.
            there = file.variables
            readable = [v for path in self.variables if (v := there[path]).dtype is not None]
            return {name_in_group(variable.name): self._variable(file, variable) for variable in readable}

    def _variable(self, file, variable) -> Variable:
        dims = tuple(map(name_in_group, variable.dims))
        for path, dim, length in zip(variable.dims, dims, variable.shape):
            if dim in self.blocks and self.paths[dim] != path and self.lengths[dim] != length:
                raise NotSupportedError(
                    f"{file.path}: variable '{variable.name}' has the dimension '{path}' of length {length}, "
                    f"which '{self.paths[dim]}' of length {self.lengths[dim]} hides, and split= cuts; leave "
                    f"the variable out with drop_variables=['{name_in_group(variable.name)}']."
                )
        boxes = [self.blocks.get(dim, (0, length)) for dim, length in zip(dims, variable.shape)]
        shape = [count for _, count in boxes]
        array = ShoalArray(
            self, variable.name, variable.dtype, shape, [first for first, _ in boxes], variable.has_record
        )
        attributes = dict(variable.attributes)
        if variable.fill_fault and _is_no_number(attributes["_FillValue"]):
            fill = attributes.pop("_FillValue")
            warnings.warn(
                f"{file.path}: variable '{variable.name}': {variable.fill_fault}: {fill!r} marks no missing "
                "values",
                stacklevel=2,
            )
        if variable.dtype == np.dtype(bool):
            # bool says it all; with these xarray would make numbers of it.
            for name in ("flag_values", "flag_meanings", "_FillValue"):
                attributes.pop(name, None)
        encoding = {
            "source": absolute_path(file.path),
            "original_shape": tuple(variable.shape),
            "dtype": str if variable.dtype is str else np.dtype(variable.dtype),
            "chunksizes": variable.chunks,
            "contiguous": variable.chunks is None,
        }
        encoding.update(_filters_of(variable.filters))
        if blocks := self._blocks_of(dims):
            encoding[KEY] = blocks
        if variable.chunks is not None:
            encoding["preferred_chunks"] = dict(zip(dims, variable.chunks))
        return Variable(dims, indexing.LazilyIndexedArray(array), attributes, encoding)

    def close(self, **kwargs):
        with _lock:
            self.manager.close(**kwargs)


def _is_no_number(value) -> bool:
    """Of another type xarray compares a number with cells; text and several values it cannot."""
    array = np.asarray(value)
    return array.dtype.kind not in "iuf" or array.size != 1


def _groups(split) -> list[tuple[str, ...]]:
    """split= as groups of dimensions that are cut alike: ("eta_rho", ("xi_rho", "xi_u"))."""
    if isinstance(split, str):
        split = (split,)
    return [(item,) if isinstance(item, str) else tuple(item) for item in split]


class _Cutting:
    """comm= and split=: which part of each dimension this rank has. Dimensions of several groups are cut over
    the same grid of ranks, so that what a group has of the one that it is in is cut as there."""

    def __init__(self, comm, split):
        self.comm = None if comm is None else communicator(comm)
        self.groups = [] if split is None else _groups(split)
        self.grid: Sequence[int] | None = None
        self.known: dict[str, tuple[int, int]] = {}  # dimension's path -> first, count
        if comm is None and split is not None:
            raise InvalidArgumentError("split= cuts dimensions over ranks: give comm= too.")
        if self.comm is not None and split is None and self.comm.size > 1:
            raise InvalidArgumentError(
                'comm= has several ranks: name the dimensions to cut, split=("eta_rho", "xi_rho").'
            )

    def of(self, seen: dict[str, tuple[str, int]], whole: bool = True) -> dict[str, tuple[int, int]]:
        """Blocks by name, of the dimensions that a group sees: name -> path, length. whole: each that split=
        names must be there."""
        missing = [name for group in self.groups for name in group if name not in seen]
        if missing and whole:
            raise InvalidArgumentError(
                f"split= names dimension '{missing[0]}'; the file has {', '.join(seen) or 'none'}."
            )
        if self.groups and not missing:
            assert self.comm is not None
            lengths = {name: length for name, (_, length) in seen.items()}
            if self.grid is None:
                self.grid = process_grid(self.comm.size, [lengths[group[0]] for group in self.groups])
            for level in range(max(len(group) for group in self.groups)):
                members = [group[min(level, len(group) - 1)] for group in self.groups]
                first, count = balanced_tile(self.comm.rank, self.grid, [lengths[name] for name in members])
                for name, f, n in zip(members, first, count):
                    self.known.setdefault(seen[name][0], (f, n))
        return {name: self.known[path] for name, (path, _) in seen.items() if path in self.known}


def _names(given: str | Iterable[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def _path_of(group: str | None) -> str:
    """As xarray takes it, "/ocean/ice/"."""
    return (group or "").strip("/")


class ShoalBackendEntrypoint(BackendEntrypoint):
    """xarray.open_dataset(path, engine="shoal", comm=None, split=None)

    comm   communicator of mpi4py: each rank gets its block; None: the whole file
    split  the dimensions to cut over the ranks; a tuple inside holds dimensions that are cut alike,
           such as those of staggered grids: (("eta_rho", "eta_v"), ("xi_rho", "xi_u"))
    missing_tiles, missing_fill  of a set of files that is not whole: the settings (docs/settings.md)
    group  of which group the variables are, "ocean/ice"; None: of the root

    open_datatree, open_groups: all groups, or with group= those below it. A group that has all that split=
    names is cut in these; another one in what it has of the groups above.

    shoal.to_netcdf writes the Datasets, or trees, of all ranks to one file.
    """

    description = "Open netCDF files and Zarr stores with Shoal, each rank its own block"
    url = ""
    supports_groups = True
    open_dataset_parameters = (
        "filename_or_obj",
        "mask_and_scale",
        "decode_times",
        "concat_characters",
        "decode_coords",
        "drop_variables",
        "use_cftime",
        "decode_timedelta",
        "comm",
        "split",
        "missing_tiles",
        "missing_fill",
        "group",
    )

    def guess_can_open(self, filename_or_obj) -> bool:
        """Files with a name and a beginning of netCDF, and Zarr stores. xarray asks its own engines first."""
        try:
            path = os.fspath(filename_or_obj)
            if is_store(path):
                return True
            if os.path.splitext(path)[1] not in (".nc", ".nc4", ".cdf"):
                return False
            with open_file(path, "rb") as file:
                return file.read(8).startswith(_magic_numbers)
        except (TypeError, OSError, ValueError):
            return False

    def open_dataset(
        self,
        filename_or_obj,
        *,
        mask_and_scale=True,
        decode_times=True,
        concat_characters=True,
        decode_coords=True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime=None,
        decode_timedelta=None,
        comm=None,
        split: str | Sequence[str | Sequence[str]] | None = None,
        missing_tiles: str | None = None,
        missing_fill: float | None = None,
        group: str | None = None,
    ):
        manager = self._manager(filename_or_obj, missing_tiles, missing_fill)
        with _lock:
            file = manager.acquire()
            path = _path_of(group)
            if path:
                path = file.groups[path].name  # raises, with the nearest name
            contents, dropped = _Contents(file), _names(drop_variables)
            blocks = _Cutting(comm, split).of(contents.seen(path))
            store = ShoalStore(manager, contents, blocks, path, dropped)
        options = {
            "mask_and_scale": mask_and_scale,
            "decode_times": decode_times,
            "concat_characters": concat_characters,
            "decode_coords": decode_coords,
            "drop_variables": dropped,
            "use_cftime": use_cftime,
            "decode_timedelta": decode_timedelta,
        }
        return StoreBackendEntrypoint().open_dataset(store, **options)

    def open_groups_as_dict(
        self,
        filename_or_obj,
        *,
        comm=None,
        split: str | Sequence[str | Sequence[str]] | None = None,
        missing_tiles: str | None = None,
        missing_fill: float | None = None,
        group: str | None = None,
        drop_variables: str | Iterable[str] | None = None,
        **decoding,
    ):
        manager = self._manager(filename_or_obj, missing_tiles, missing_fill)
        top, dropped = _path_of(group), _names(drop_variables)
        decoding["drop_variables"] = dropped
        stores = {}
        with _lock:
            file = manager.acquire()
            if top:
                top = file.groups[top].name  # raises, with the nearest name
            cutting = _Cutting(comm, split)
            paths = [path for path in ("", *file.groups) if path == top or _is_below(path, top)]
            contents = _Contents(file)
            of_groups = {path: contents.seen(path) for path in paths}
            cut = {name for part in cutting.groups for name in part}
            if cut and not any(cut <= set(seen) for seen in of_groups.values()):
                cutting.of(of_groups[top])  # raises
            for path, seen in of_groups.items():
                blocks = cutting.of(seen, whole=False)
                stores[path] = ShoalStore(manager, contents, blocks, path, dropped)
        return {
            "/" + path[len(top) :].strip("/"): StoreBackendEntrypoint().open_dataset(store, **decoding)
            for path, store in stores.items()
        }

    def open_datatree(self, filename_or_obj, **kwargs):
        groups = self.open_groups_as_dict(filename_or_obj, **kwargs)
        try:
            from xarray import DataTree
        except ImportError:  # older xarray
            from xarray.core.datatree import DataTree
        tree = DataTree.from_dict(groups)
        for path, ds in groups.items():
            tree[path].set_close(ds._close)
        return tree

    @staticmethod
    def _manager(filename_or_obj, missing_tiles, missing_fill) -> CachingFileManager:
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            raise InvalidArgumentError(
                f"engine='shoal' opens files by path; got a {type(filename_or_obj).__name__}."
            )
        path = absolute_path(os.fspath(filename_or_obj))
        given = {"missing_tiles": missing_tiles, "missing_fill": missing_fill}
        settings = {key: value for key, value in given.items() if value is not None}
        return CachingFileManager(_open_alone, path, mode="r", kwargs=settings, lock=_lock)


def _is_below(path: str, top: str) -> bool:
    return not top or path.startswith(top + "/")
