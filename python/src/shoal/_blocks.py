# SPDX-License-Identifier: BSD-3-Clause
"""Which part of an xarray Dataset's dimensions a rank has, and decompositions of its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .decomposition import Decomposition
from .errors import Error, InvalidArgumentError, NotSupportedError, from_code

Result = TypeVar("Result")

#: In the encoding of a Dataset and of its variables: dimension -> (first, count, global length) of this rank.
KEY = "shoal_blocks"


class Block(NamedTuple):
    """Of one dimension: this rank has count cells from first; length cells are there on all ranks."""

    first: int
    count: int
    length: int


def on_all(comm: Any, work: Callable[[], Result]) -> Result:
    """The work's result; an exception on one rank is raised on all, on the others as an Error that names the
    rank. Collective."""
    result, problem = None, None
    try:
        result = work()
    except Exception as error:
        problem = error
    # Most of the time nothing fails, and one number is enough.
    if comm.size > 1 and comm.allreduce(0 if problem is None else 1) > 0:
        code = problem.code if isinstance(problem, Error) else InvalidArgumentError.code
        said = None if problem is None else (code, f"{type(problem).__name__}: {problem}")
        for rank, of_rank in enumerate(comm.allgather(said)):
            if problem is None and of_rank is not None:
                raise from_code(of_rank[0], f"rank {rank} says: {of_rank[1]}", rank)
    if problem is not None:
        raise problem
    return result  # type: ignore[return-value]


def need_alike(comm: Any, split: object, decomposition: object) -> None:
    """Ranks that give other arguments would make other collective calls. Collective."""
    arguments = {"split=": split, "decomposition=": decomposition}
    given = " and ".join(word for word, value in arguments.items() if value is not None) or "neither"
    of_all = comm.allgather(given) if comm.size > 1 else []
    if len(set(of_all)) > 1:
        other = next(rank for rank, of_rank in enumerate(of_all) if of_rank != of_all[0])
        raise InvalidArgumentError(
            f"Of split= and decomposition= rank 0 gives {of_all[0]}, rank {other} {of_all[other]}: all must "
            "give the same ones; a rank that has no cells gives an empty block."
        )


def _known_blocks(ds: Any) -> dict[str, Block]:
    """What open_dataset(split=) left, of dimensions that are still there."""
    known: dict[str, Block] = {}
    for holder in (ds, *ds.variables.values()):
        for dim, numbers in (holder.encoding.get(KEY) or {}).items():
            if dim not in ds.sizes:
                continue
            block = Block(*map(int, numbers))
            if known.setdefault(dim, block) != block:
                raise InvalidArgumentError(
                    f"Dimension '{dim}' comes from datasets that were cut differently ({known[dim]} and "
                    f"{block}); say with decomposition= how it is cut."
                )
    return known


def _list_of(given: object) -> list:
    return list(given) if isinstance(given, (list, tuple)) else [given]


class Blocks:
    """How a Dataset's dimensions are cut over the ranks: blocks of some dimensions, or a map of one.

    blocks  dimension -> Block of this rank
    cells   of a map: which global cell each local one is
    """

    def __init__(self, comm: Any, ds: Any, split: object, decomposition: object):
        self.comm = comm
        self.blocks: dict[str, Block] = {}
        self.map_dim: str | None = None
        self.cells: np.ndarray | None = None
        self.halo: dict[str, slice] = {}  # of dimensions whose blocks have one
        self._loose: set[str] = set()  # of an empty tile alone, which does not say what this rank has of each
        self._given: dict[tuple[str, ...], Decomposition] = {}
        self._made: dict[tuple, Decomposition | None] = {}
        need_alike(comm, split, decomposition)
        own = on_all(comm, lambda: self._look(ds, split, decomposition))
        if split is not None:
            self._in_order_of_ranks(own)
        on_all(comm, lambda: self._check(ds))
        given = comm.allgather(sorted(self._given))
        on_all(comm, lambda: self._check_given(given))
        self.of_all: list[dict[str, Block]] = comm.allgather(self.blocks)
        on_all(comm, lambda: self._check_dims(ds))
        if decomposition is None:  # of all ranks
            on_all(comm, lambda: self._check_cover(ds))

    # ---- What was given

    def _check_given(self, of_all: list[list[tuple[str, ...]]]) -> None:
        """Ranks that look for decompositions among what they gave must find the same."""
        for rank, names in enumerate(of_all):
            if names != of_all[0]:
                raise InvalidArgumentError(
                    f"decomposition= is of other dimensions on rank {rank}, {names}, than on rank 0, "
                    f"{of_all[0]}; give the same ones on all ranks."
                )

    def _look(self, ds: Any, split: object, decomposition: object) -> dict[str, int]:
        """Take what is given; of split=, the lengths on this rank."""
        if split is not None and decomposition is not None:
            raise InvalidArgumentError("Give either split= or decomposition=, not both.")
        if split is not None:
            names = [split] if isinstance(split, str) else list(split)  # type: ignore[call-overload]
            if len(names) != 1 or not isinstance(names[0], str):
                raise InvalidArgumentError(
                    "split= of to_netcdf names one dimension, whose blocks are in the order of the ranks; "
                    "for several give decomposition=, or read with open_dataset(..., split=), which "
                    "to_netcdf knows."
                )
            if names[0] not in ds.sizes:
                raise InvalidArgumentError(
                    f"split= names '{names[0]}'; dimensions are {', '.join(ds.sizes)}."
                )
            return {names[0]: int(ds.sizes[names[0]])}
        if decomposition is None:
            if self.comm.size == 1:
                return {}  # all that there is to write is here
            self.blocks = _known_blocks(ds)
            if not self.blocks:
                raise InvalidArgumentError(
                    "comm has several ranks, and nothing says which blocks they have: read with "
                    'xarray.open_dataset(path, engine="shoal", comm=comm, split=...), name the dimension '
                    "that is cut in the order of ranks (split=), or give decomposition=."
                )
            return {}
        for each in _list_of(decomposition):
            self._take(ds, each)
        return {}

    def _take(self, ds: Any, given: object) -> None:
        if not isinstance(given, Decomposition):
            raise InvalidArgumentError(
                f"decomposition= has a {type(given).__name__}; give a shoal.Decomposition, or a list of them."
            )
        if given.dims is None:
            raise InvalidArgumentError(
                "The decomposition has no names of dimensions: make it with a dict of names and lengths."
            )
        if given.comm.size != self.comm.size or given.comm.rank != self.comm.rank:
            raise InvalidArgumentError("The decomposition was made with another communicator than comm=.")
        if given.is_map:
            self._take_map(given)
        else:
            for dim, first, count, length, low, high in zip(
                given.dims, given.first, given.count, given.global_shape, given.halo_low, given.halo_high
            ):
                block = Block(first, count, length)
                if given.is_empty:
                    if dim not in self.blocks:
                        self._loose.add(dim)
                        self.blocks[dim] = Block(0, 0, length)
                    continue
                if dim in self._loose:
                    self._loose.discard(dim)
                    self.blocks[dim] = block
                if self.blocks.setdefault(dim, block) != block:
                    raise InvalidArgumentError(
                        f"decomposition= has dimension '{dim}' twice, cut differently: {self.blocks[dim]} "
                        f"and {block}."
                    )
                if low + high > 0 and ds.sizes.get(dim) == low + count + high:
                    self.halo[dim] = slice(low, low + count)
        self._given[given.dims] = given

    def _take_map(self, given: Decomposition) -> None:
        assert given.dims is not None
        if given.ndim - given.uncut != 1:
            raise NotSupportedError(
                "A map over several dimensions makes one of them in memory, which the Dataset has no name "
                "for in the file: write with shoal.create and Dataset.write, or use a map over one "
                "dimension."
            )
        if self.map_dim is not None:
            raise NotSupportedError("decomposition= has two maps; to_netcdf takes one.")
        self.map_dim, self.cells = given.dims[0], np.asarray(given.cells)
        self.blocks[self.map_dim] = Block(0, len(self.cells), given.global_shape[0])

    def _in_order_of_ranks(self, own: Mapping[str, int]) -> None:
        ((dim, count),) = own.items()
        counts = self.comm.allgather(count)
        self.blocks[dim] = Block(sum(counts[: self.comm.rank]), count, sum(counts))

    def _check(self, ds: Any) -> None:
        for dim, block in self.blocks.items():
            loose = dim in self.halo or dim in self._loose
            if dim in ds.sizes and ds.sizes[dim] != block.count and not loose:
                raise InvalidArgumentError(
                    f"Dimension '{dim}' has {ds.sizes[dim]} cells on rank {self.comm.rank}, but its block "
                    f"has {block.count}, from {block.first} of {block.length}: where a Dataset was cut, or "
                    "selected from, after it was read, say with split= or decomposition= what each rank "
                    "has now."
                )
        if self.map_dim is not None and len(self._cut_dims()) > 1:
            raise NotSupportedError("A map and blocks cannot cut the same Dataset.")

    def _check_dims(self, ds: Any) -> None:
        names = self.blocks.keys() & ds.sizes.keys()
        if any(blocks.keys() & ds.sizes.keys() != names for blocks in self.of_all):
            raise InvalidArgumentError("Ranks have Datasets that were cut in other dimensions.")

    def _check_cover(self, ds: Any) -> None:
        """All cells must be there, as nobody said that some are not."""
        # Of staggered grids each variable has some of the dimensions.
        for cut in {tuple(dim for dim in v.dims if dim in self.blocks) for v in ds.variables.values()}:
            tiles = {tuple(blocks[dim] for dim in cut) for blocks in self.of_all}
            cells = sum(int(np.prod([block.count for block in tile])) for tile in tiles)
            length = int(np.prod([self.blocks[dim].length for dim in cut]))
            if cells != length:
                raise InvalidArgumentError(
                    f"The ranks' blocks of {', '.join(map(str, cut))} have {cells} of {length} cells "
                    "together: comm= must be the communicator that the Dataset was read with."
                )

    # ---- What follows

    def _cut_dims(self) -> list[str]:
        return [dim for dim, block in self.blocks.items() if self.is_cut(dim)]

    def is_cut(self, dim: object) -> bool:
        """Whether a dimension may be cut: the same on all ranks, as the ranks' blocks are known of all."""
        return dim in self.blocks

    def length(self, dim: str, local: int) -> int:
        return self.blocks[dim].length if dim in self.blocks else local

    def cuts(self, dims: Iterable[str]) -> bool:
        return any(dim in self.blocks for dim in dims)

    def decomposition(self, dims: Sequence[str], lengths: Sequence[int]) -> Decomposition:
        """Of a variable's dimensions but the record dimension, from the first one that is cut on. Of ranks
        that have the same block, the lowest has its cells. Collective."""
        at = next(i for i, dim in enumerate(dims) if dim in self.blocks)
        names, shape = tuple(dims[at:]), tuple(lengths[at:])
        key = (names, shape)
        if key not in self._made:
            self._made[key] = self._given.get(names) or self._make(names, shape)
        made = self._made[key]
        assert made is not None
        return made

    def _make(self, names: tuple[str, ...], shape: tuple[int, ...]) -> Decomposition:
        lengths = dict(zip(names, shape))
        if self.map_dim is not None:
            if names[0] != self.map_dim:
                raise NotSupportedError(
                    f"Dimension '{self.map_dim}' of the map stands behind others of {names}."
                )
            assert self.cells is not None
            return Decomposition.map(self.comm, lengths, self.cells, uncut=len(names) - 1)
        first, count = [], []
        for name, length in lengths.items():
            block = self.blocks.get(name, Block(0, length, length))
            first.append(block.first)
            count.append(block.count)
        if not self.owns(names):
            first, count = [0] * len(names), [0] * len(names)
        return Decomposition.block(self.comm, lengths, first, count)

    def owns(self, dims: Iterable[str]) -> bool:
        """Whether no lower rank has the same block of these dimensions."""
        cut = [dim for dim in dims if dim in self.blocks]
        mine = [self.blocks[dim] for dim in cut]
        return all([blocks[dim] for dim in cut] != mine for blocks in self.of_all[: self.comm.rank])

    def gather(self, dims: Sequence[str], name: str, values: np.ndarray) -> np.ndarray:
        """A variable of all ranks, on every rank. Collective."""
        cut = [dim for dim in dims if dim in self.blocks]
        axes = [list(dims).index(dim) for dim in cut]
        index: list[Any] = [slice(None)] * values.ndim
        for axis, dim in zip(axes, cut):
            block = self.blocks[dim]
            index[axis] = slice(block.first, block.first + block.count)
        if self.map_dim in cut:
            assert self.cells is not None
            axis = axes[cut.index(self.map_dim)]
            index[axis] = self.cells[self.cells >= 0]
            values = np.compress(self.cells >= 0, values, axis=axis)
        empty = values.size == 0 or any(self.blocks[dim].count == 0 for dim in cut)
        parts = self.comm.allgather((tuple(index), None if empty else values))
        shape = list(values.shape)
        for axis, dim in zip(axes, cut):
            shape[axis] = self.blocks[dim].length
        filled = [(where, part) for where, part in parts if part is not None]
        dtype = np.result_type(*{part.dtype for _, part in filled}) if filled else values.dtype
        whole, there = np.empty(shape, dtype), np.zeros(shape, bool)
        for where, part in reversed(filled):  # the lowest rank's counts
            whole[where] = part
            there[where] = True
        if not there.all():
            raise InvalidArgumentError(
                f"Variable '{name}' is of dtype {dtype}, and some of its cells no rank has; only numbers "
                "may have such cells."
            )
        return whole
