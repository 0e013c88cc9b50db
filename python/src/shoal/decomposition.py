# SPDX-License-Identifier: BSD-3-Clause
"""Which rank owns which cells."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Union

import numpy as np

from . import _shoal
from ._library import communicator
from ._paths import Path, path_bytes
from ._refusals import plain_text, refuse_on_comm, refused_by_all, taking_part
from .errors import InvalidArgumentError, NotFoundError, TypeMismatchError, no_such_file
from .types import memory_type

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import ArrayLike

Axis = Union[str, int]
Shape = Union[Mapping[str, int], Sequence[int]]
PerDimension = Union[Mapping[str, int], Sequence[int]]


def process_grid(size: int, lengths: Sequence[int]) -> tuple[int, ...]:
    """Into how many parts to cut each dimension so that `size` ranks get tiles with short borders. Local.

    Never more parts than cells where another way exists."""
    best, best_cost = None, math.inf

    def visit(left: int, parts: list[int]):
        nonlocal best, best_cost
        k = len(parts)
        if k == len(lengths) - 1:
            candidate = (*parts, left)
            empty = sum(p > n for p, n in zip(candidate, lengths))
            cost = empty * 1e9 + sum(p / max(n, 1) for p, n in zip(candidate, lengths))
            if cost < best_cost - 1e-12:
                best, best_cost = candidate, cost
            return
        for p in range(1, left + 1):
            if left % p == 0:
                visit(left // p, [*parts, p])

    if not lengths:
        raise InvalidArgumentError("split= names no dimension; name at least one that is cut.")
    visit(size, [])
    return best


def balanced_tile(rank: int, grid: Sequence[int], lengths: Sequence[int]) -> tuple[list[int], list[int]]:
    """First cell and count of a rank's tile; ranks go through the grid in C order. Local."""
    first, count = [], []
    for parts, length, place in zip(grid, lengths, np.unravel_index(rank, tuple(grid))):
        begin, end = (int(place) * length) // parts, ((int(place) + 1) * length) // parts
        first.append(begin)
        count.append(end - begin)
    return first, count


def _per_dimension(value, dims, ndims: int, what: str) -> list[int]:
    if value is None:
        return [0] * ndims
    if isinstance(value, Mapping):
        if dims is None:
            raise InvalidArgumentError(f"{what}= names dimensions, but global_shape does not.")
        unknown = [name for name in value if name not in dims]
        if unknown:
            raise InvalidArgumentError(f"{what}= names '{unknown[0]}'; the dimensions are {', '.join(dims)}.")
        return [int(value.get(name, 0)) for name in dims]
    values = [int(item) for item in value]
    if len(values) != ndims:
        raise InvalidArgumentError(f"{what}= has {len(values)} numbers for {ndims} dimensions.")
    return values


def _shape_of(global_shape) -> tuple[tuple[str, ...] | None, list[int]]:
    """Names of the dimensions, if there are any, and their lengths."""
    if isinstance(global_shape, Mapping):
        return tuple(str(name) for name in global_shape), [int(length) for length in global_shape.values()]
    return None, [int(length) for length in global_shape]


def _list_of_cells(cells) -> np.ndarray:
    """The list of a map as contiguous integers of 64 bits."""
    given = np.asarray(cells)
    if given.size == 0 and given.ndim == 1:
        return np.empty(0, np.int64)
    if given.dtype.kind not in "iu":
        raise TypeMismatchError(
            f"cells= is of type {given.dtype}; give indices as integers (int32 or int64, counted from 0, "
            "-1 for a hole). A mask becomes such a list with numpy.flatnonzero(mask)."
        )
    if given.ndim != 1:
        raise InvalidArgumentError(f"cells= has {given.ndim} dimensions; a list of indices has 1.")
    if given.dtype == np.uint64 and given.max() > np.iinfo(np.int64).max:
        raise InvalidArgumentError(f"cells= has the index {given.max()}, which no shape is large enough for.")
    return np.ascontiguousarray(given, np.int64)


def _warn_of_whole(name: str) -> None:
    warnings.warn(f"{name} is now called uncut", DeprecationWarning, stacklevel=3)


class Decomposition:
    """Which global cells this rank owns: one tile (box) a rank, with halo cells around it in memory; or a
    map, a list of cells a rank.

    dims          names of the dimensions, None if they were not given
    global_shape  shape over all ranks
    first, count  this rank's tile; of a map 0 and the global shape, if the rank has any cell
    halo_low, halo_high   halo cells before and after the tile in this rank's arrays
    shape         shape of an array of the tile: count; of a map, (length of the list, the `uncut` last)
    halo_shape    shape of an array with halo
    slices        the tile as slices of a global array
    inner         the tile as slices of an array with halo
    is_map        whether it is a map
    uncut         of a map: how many of the last dimensions are not cut
    cells         the list of this rank: global index of each local cell, -1 for a hole
    mapped, runs  of the list: cells that are no holes, runs of cells that follow each other
    nbytes        of memory that a map takes on this rank: the list, and cells that no rank has
    repeated      of a map: the lowest index that comes twice, on any ranks, None if there is none; such a map
                  can be read with, and unique() makes one that can be written with
    leaves_cells  True if some cells of the global shape are no rank's, or masked
    comm          the communicator
    """

    def __init__(
        self,
        raw: _shoal.Decomposition,
        comm: MPI.Comm,
        dims: tuple[str, ...] | None,
        *,
        may_have_mask: bool = False,
    ):
        # Made by block().
        self._raw = raw
        self._may_have_mask = may_have_mask
        self.comm = comm
        self.dims: tuple[str, ...] | None = dims
        self.global_shape = tuple(raw.global_shape())
        self.first = tuple(raw.first())
        self.count = tuple(raw.count())
        self.halo_low = tuple(raw.halo_low())
        self.halo_high = tuple(raw.halo_high())
        info = raw.map_info()
        self.is_map, self.uncut, self._ncells, self.mapped, self.runs, self.nbytes, repeated = info[:7]
        self.leaves_cells = info[7]
        self.repeated: int | None = repeated if repeated >= 0 else None

    @classmethod
    @taking_part(refuse_on_comm)
    def block(
        cls,
        comm: MPI.Comm | None,
        global_shape: Shape,
        first: PerDimension | None = None,
        count: PerDimension | None = None,
        *,
        split: Axis | Sequence[Axis] | None = None,
        halo: int | PerDimension | None = None,
        halo_low: PerDimension | None = None,
        halo_high: PerDimension | None = None,
    ) -> Decomposition:
        """Each rank owns one tile of a global shape. Collective.

        comm          communicator of mpi4py, None for this process alone
        global_shape  {"s_rho": 30, "eta_rho": 600, "xi_rho": 800}, or (30, 600, 800); slowest first
        first, count  this rank's tile, all dimensions; any count may be 0
        split         instead: names (or numbers) of the dimensions to cut into balanced tiles
        halo          halo cells on both sides: a number for the cut dimensions, or one a dimension, or a dict
        halo_low, halo_high   instead, when the two sides differ

        Raises OverlapError for tiles that overlap, InvalidArgumentError for tiles outside of the shape.
        """
        comm = communicator(comm)
        with refused_by_all(comm):
            dims, shape, lists = cls._arguments(
                comm, global_shape, first, count, split, halo, halo_low, halo_high
            )
            np.array((shape, *lists), np.int64)  # raises where a number does not fit
        return cls(_shoal.Decomposition.block(comm.py2f(), shape, *lists), comm, dims)

    @classmethod
    @taking_part(refuse_on_comm)
    def map(
        cls,
        comm: MPI.Comm | None,
        global_shape: Shape,
        cells: ArrayLike,
        *,
        uncut: int = 0,
        whole: int | None = None,
    ) -> Decomposition:
        """Each rank owns a list of cells of a global shape. Collective.

        comm          communicator of mpi4py, None for this process alone
        global_shape  {"ncol": 48602, "lev": 72}, or (48602, 72); slowest first
        cells         which global cell each local cell is: integers from 0, row-major in the dimensions
                      before the last `uncut`, in any order; -1 is a hole, a local cell that belongs to none
        uncut         so many of the last dimensions are not cut: every rank has all of them for each of its
                      cells

        Arrays have the shape (dimensions before those of the decomposition, len(cells), the `uncut` last).
        Cells that no rank has get the fill value. A cell that comes twice can be read, but not written.
        Raises InvalidArgumentError for indices outside of the shape, TypeMismatchError for what is no
        integer.
        """
        comm = communicator(comm)
        with refused_by_all(comm):
            dims, shape = _shape_of(global_shape)
            indices = _list_of_cells(cells)
            if whole is not None:
                _warn_of_whole("Decomposition.map(whole=)")
                uncut = whole
            uncut = int(np.int32(uncut))
            np.array(shape, np.int64)  # raises where a number does not fit
        return cls(_shoal.Decomposition.map(comm.py2f(), shape, uncut, indices), comm, dims)

    @classmethod
    @taking_part(refuse_on_comm)
    def load(
        cls,
        comm: MPI.Comm | None,
        path: Path,
        name: str | None = None,
        *,
        dims: Sequence[str] | None = None,
    ) -> Decomposition:
        """The decomposition in a file. Collective.

        path  a file that save wrote, a map file of E3SM's I/O benchmark, or PIO's text form
        name  which of several: "D1", "D2", ... of E3SM; PIO: "c" if the dimensions in the file are slowest
              first, as C programs write them
        dims  names for its dimensions

        On as many ranks as the file is for, each rank gets what it had. On other numbers of ranks it is a
        map: the cells are cut evenly in the order of the file, without holes and halos; see cells.
        """
        comm = communicator(comm)
        with refused_by_all(comm):
            where, which = path_bytes(path), plain_text(str(name or ""), "name")
        try:
            raw = _shoal.Decomposition.load(comm.py2f(), where, which)
        except NotFoundError as error:
            if os.path.exists(path):
                raise
            raise no_such_file(error) from None
        if dims is not None:
            dims = tuple(str(dim) for dim in dims)
            if len(dims) != len(raw.global_shape()):
                raise InvalidArgumentError(
                    f"dims= has {len(dims)} names; the decomposition in {os.fspath(path)} has "
                    f"{len(raw.global_shape())} dimensions."
                )
        return cls(raw, comm, dims, may_have_mask=True)

    @taking_part(refuse_on_comm)
    def masked(self, mask: ArrayLike) -> Decomposition:
        """The same decomposition with a mask: when a field is written, land cells are not looked at and get
        the fill value; when it is read, they stay as they are in the array (setting read_masked). Collective.

        mask  True or another number than 0 is water, False or 0 land; of a block, an array of the shape of
              the tile, with or without halo, in the last dimensions (levels before them need no mask of their
              own); of a map, one value for each cell in the list. Not looked at on a rank without cells

        This decomposition stays as it is; a mask that it has is replaced. Raises InvalidArgumentError for
        another shape, and for NaN; TypeMismatchError for what is no number.
        """
        with refused_by_all(self.comm):
            given = np.zeros(1, bool) if self.is_empty else np.asarray(mask)
            if given.dtype.kind not in "biuf":
                raise TypeMismatchError(
                    f"The mask is of type {given.dtype}; give bool, integers or floating point, 0 for land."
                )
            if given.ndim > _shoal.MAX_DIMS:
                raise InvalidArgumentError(
                    f"the mask has {given.ndim} dimensions; the decomposition has {len(self.global_shape)}"
                )
            if not given.dtype.isnative:
                given = given.astype(given.dtype.newbyteorder("="))
            number = memory_type(given)
        made = self._raw.masked(self.comm.py2f(), given, number)
        return type(self)(made, self.comm, self.dims, may_have_mask=True)

    @taking_part(lambda given, error: given["self"].unique())
    def unique(self) -> Decomposition:
        """The same map with each cell once, so that it can be written: of a cell that comes twice, the lowest
        rank that has it keeps its last place in the list, and all other places are holes. What has each cell
        once already comes back as it is. Collective.

        Raises NotSupportedError for a map with a mask in which a cell comes twice: give the mask to the
        unique one.
        """
        made = self._raw.unique(self.comm.py2f())
        return type(self)(made, self.comm, self.dims, may_have_mask=self._may_have_mask)

    @taking_part(refuse_on_comm)
    def save(self, path: Path) -> None:
        """Save to a NetCDF file, which is replaced if it exists, with the mask. Collective."""
        with refused_by_all(self.comm):
            where = path_bytes(path)
        try:
            self._raw.save(self.comm.py2f(), where)
        except NotFoundError as error:
            raise no_such_file(error) from None

    @staticmethod
    def _arguments(comm, global_shape, first, count, split, halo, halo_low, halo_high):
        dims, shape = _shape_of(global_shape)
        ndims = len(shape)

        if split is not None:
            if first is not None or count is not None:
                raise InvalidArgumentError("Give either split=, or first and count, not both.")
            cut = Decomposition._cut_axes(split, dims, ndims)
            grid = [1] * ndims
            for axis, parts in zip(cut, process_grid(comm.size, [shape[axis] for axis in cut])):
                grid[axis] = parts
            first, count = balanced_tile(comm.rank, grid, shape)
        elif first is None and count is None:
            if comm.size > 1:
                raise InvalidArgumentError(
                    f"{comm.size} ranks need tiles: give split= (dimensions to cut), or first and count."
                )
            cut, first, count = [], [0] * ndims, list(shape)
        elif first is None or count is None:
            raise InvalidArgumentError("Give both first and count.")
        else:
            cut = range(ndims)
            first = _per_dimension(first, dims, ndims, "first")
            count = _per_dimension(count, dims, ndims, "count")

        if halo is not None and (halo_low is not None or halo_high is not None):
            raise InvalidArgumentError("Give either halo=, or halo_low and halo_high, not both.")
        if isinstance(halo, (int, np.integer)):
            halo = [int(halo) if axis in cut else 0 for axis in range(ndims)]
        low = _per_dimension(halo if halo is not None else halo_low, dims, ndims, "halo")
        high = _per_dimension(halo if halo is not None else halo_high, dims, ndims, "halo")
        return dims, shape, (first, count, low, high)

    @staticmethod
    def _cut_axes(split, dims, ndims: int) -> list[int]:
        if isinstance(split, (str, int)):
            split = (split,)
        axes = []
        for item in split:
            if isinstance(item, str):
                if dims is None:
                    raise InvalidArgumentError(
                        f"split= names '{item}', but global_shape has no names; use numbers."
                    )
                if item not in dims:
                    raise InvalidArgumentError(
                        f"split= names '{item}'; the dimensions are {', '.join(dims)}."
                    )
                axes.append(dims.index(item))
            else:
                if not 0 <= item < ndims:
                    raise InvalidArgumentError(f"split= has {item}; dimensions are 0 to {ndims - 1}.")
                axes.append(int(item))
        if len(set(axes)) != len(axes):
            raise InvalidArgumentError("split= has a dimension twice.")
        return axes

    @property
    def ndim(self) -> int:
        """How many dimensions the global shape has, 1 to 15. Local."""
        return len(self.global_shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of this rank's array without halo, in cells: of a block, count; of a map, the length of
        the list, then the `uncut` last dimensions of the global shape. Local."""
        return (self._ncells, *self.global_shape[self.ndim - self.uncut :]) if self.is_map else self.count

    @property
    def whole(self) -> int:
        """The old name of uncut, with a DeprecationWarning. Local."""
        _warn_of_whole("Decomposition.whole")
        return self.uncut

    @property
    def halo_shape(self) -> tuple[int, ...]:
        """The shape of this rank's array with halo, in cells: halo_low + count + halo_high in each dimension;
        of a map, which has no halo, shape. Local."""
        if self.is_map:
            return self.shape
        return tuple(low + n + high for low, n, high in zip(self.halo_low, self.count, self.halo_high))

    @property
    def cells(self) -> np.ndarray:
        """The global index of each local cell, int64, shape (length of the list,): from 0, row-major in the
        dimensions that are cut, -1 for a hole; of a block, the cells of its tile. A new array. Local."""
        indices = np.empty(self._ncells, np.int64)
        self._raw.cells_into(indices)
        return indices

    def _need_tile(self, what: str) -> None:
        if self.is_map:
            raise InvalidArgumentError(
                f"A map has no tile, so no {what}; use cells, the indices of its cells."
            )

    @property
    def slices(self) -> tuple[slice, ...]:
        """This rank's tile in an array of the global shape, one slice a dimension. Raises
        InvalidArgumentError for a map, which has no tile. Local."""
        self._need_tile("slices")
        return tuple(slice(f, f + n) for f, n in zip(self.first, self.count))

    @property
    def inner(self) -> tuple[slice, ...]:
        """This rank's tile in an array of halo_shape, one slice a dimension. Raises InvalidArgumentError for
        a map, which has no tile. Local."""
        self._need_tile("inner")
        return tuple(slice(low, low + n) for low, n in zip(self.halo_low, self.count))

    @property
    def is_empty(self) -> bool:
        """Whether this rank owns no cell. Local."""
        return self.mapped == 0

    def __repr__(self) -> str:
        names = self.dims or [str(axis) for axis in range(self.ndim)]
        if self.is_map:
            shape = ", ".join(f"{n}: {g}" for n, g in zip(names, self.global_shape))
            return f"<shoal.Decomposition {self.mapped} cells of {shape}>"
        parts = (f"{n}: {s.start}:{s.stop} of {g}" for n, s, g in zip(names, self.slices, self.global_shape))
        return f"<shoal.Decomposition {', '.join(parts)}>"
