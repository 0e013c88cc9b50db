# SPDX-License-Identifier: BSD-3-Clause
"""What a way of writing does with a decomposition: contiguous runs on disk, sizes of writes, memory.

Arithmetic alone: no rank, file or MPI is needed. Dimensions here are in the *model's order*, as in the
declaration of a Fortran array and as shapes are spoken ("656 x 640 x 16"): the first varies fastest, in
memory and on disk. Everything is said of one field (one record of one variable); indices start at 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Optional

from . import _background
from ._io_boxes import even_boxes, io_ranks, io_ranks_of_nodes, rearranging_is_cheaper, runs_of
from ._slot_generations import generations, runs_in_file
from .decomposition import balanced_tile
from .errors import InvalidArgumentError

# As the native driver chooses, unless a setting says otherwise (docs/settings.md).
_slot = 1024 * 1024
_least_slot = 64 * 1024
_page = 4096
# Of the way past the stage.
_direct_run = 128 * 1024
_direct_piece = 512 * 1024
_least_share = 128 * 1024
_slots = (4, 8)
_first_slots = 4  # have memory from the beginning
_gather_slab = 16 * 1024 * 1024
# Of messages that a rank has under way.
_rearrange_bytes = 64 * 1024 * 1024


class Runs(NamedTuple):
    """How cells lie in a row-major piece of file: `count` contiguous runs, of which one may begin with the
    first cell of the piece, and one may end with the last."""

    count: int
    begins: bool
    ends: bool

    def then(self, other: Runs) -> Runs:
        joined = self.ends and other.begins
        return Runs(self.count + other.count - joined, self.begins, other.ends)

    def times(self, n: int) -> Runs:
        joined = self.ends and self.begins
        return Runs(n * self.count - (n - 1) * joined, self.begins, self.ends)


@dataclass
class Tiles:
    """A grid of balanced tiles over a global shape, all in the model's order; ranks go along the first
    dimension first.

    shape  global cells; grid  tiles along each dimension (1: not cut); size  bytes of a cell"""

    shape: tuple[int, ...]
    grid: tuple[int, ...]
    size: int

    def __post_init__(self):
        if len(self.grid) > len(self.shape):
            raise InvalidArgumentError(
                f"There are tiles in {len(self.grid)} dimensions, but the global shape has {len(self.shape)}."
            )
        if min(self.shape) < 1 or min(self.grid) < 1:
            raise InvalidArgumentError("Lengths and numbers of tiles are 1 or more.")
        self.grid = self.grid + (1,) * (len(self.shape) - len(self.grid))

    @property
    def ranks(self) -> int:
        return math.prod(self.grid)

    @property
    def field_bytes(self) -> int:
        return math.prod(self.shape) * self.size

    def tile(self, rank: int) -> list[range]:
        """The cells of a rank, one range a dimension."""
        first, count = balanced_tile(rank, self.grid[::-1], self.shape[::-1])
        return [range(f, f + n) for f, n in zip(first[::-1], count[::-1])]

    def tile_bytes(self, rank: int) -> int:
        return math.prod(len(cells) for cells in self.tile(rank)) * self.size

    def runs(self, ranks: Iterable[int]) -> int:
        """Contiguous runs on disk of the cells that these ranks own together."""
        chosen = frozenset(ranks)
        if len(chosen) == 1:
            return self._runs_of(*chosen)
        return self._runs(len(self.shape) - 1, chosen, 0).count

    def _runs_of(self, rank: int) -> int:
        tile = self.tile(rank)
        whole = 0
        while whole < len(tile) - 1 and len(tile[whole]) == self.shape[whole]:
            whole += 1
        return math.prod(len(cells) for cells in tile[whole + 1 :]) if all(map(len, tile)) else 0

    def _runs(self, dim: int, ranks: frozenset, first_rank: int) -> Runs:
        # first_rank: of the tiles that lie at the place reached in the slower dimensions.
        stride = math.prod(self.grid[:dim])
        total = Runs(0, False, False)
        begun = False
        for place in range(self.grid[dim]):
            length = (place + 1) * self.shape[dim] // self.grid[dim] - place * self.shape[dim] // self.grid[
                dim
            ]
            if length == 0:
                continue
            rank = first_rank + place * stride
            if dim == 0:
                part = Runs(1, True, True) if rank in ranks else Runs(0, False, False)
            else:
                part = self._runs(dim - 1, ranks, rank)
            part = part.times(length)
            total = total.then(part) if begun else part
            begun = True
        return total

    def boxes(self, ranks: Iterable[int]) -> list[list[range]]:
        """The cells of these ranks together in few boxes, in C order."""
        boxes = [self.tile(rank)[::-1] for rank in sorted(ranks) if self.tile_bytes(rank)]
        for axis in range(len(self.shape) - 1, -1, -1):
            joined: dict[tuple, list[list[range]]] = {}
            for box in boxes:
                rows = joined.setdefault(tuple(box[:axis] + box[axis + 1 :]), [])
                if rows and rows[-1][axis].stop == box[axis].start:
                    rows[-1][axis] = range(rows[-1][axis].start, box[axis].stop)
                else:
                    rows.append(list(box))
            boxes = sorted(
                (box for rows in joined.values() for box in rows), key=lambda b: [r.start for r in b]
            )
        return boxes

    def extents(self, rank: int) -> Iterator[tuple[int, int]]:
        """(offset, bytes) of each contiguous run of a rank in the field, in file order."""
        tile = self.tile(rank)
        if any(len(cells) == 0 for cells in tile):
            return
        # Dimensions that are whole join the run of the one after them.
        dim, run = 0, len(tile[0]) * self.size
        while dim < len(self.shape) - 1 and len(tile[dim]) == self.shape[dim]:
            dim += 1
            run *= len(tile[dim])
        for offset in self._places(tile, dim):
            yield offset, run

    def spans(self, rank: int, resolution: float) -> Iterator[tuple[int, int, float]]:
        """(offset, bytes, share of them that is the rank's): its runs in file order, those of dimensions that
        go on in steps of fewer bytes than resolution taken together."""
        return self.spans_of(self.tile(rank), resolution)

    def spans_of(self, tile: Sequence[range], resolution: float) -> Iterator[tuple[int, int, float]]:
        """The same of any box."""
        if any(len(cells) == 0 for cells in tile):
            return
        strides = self._strides()
        dim = max((d for d in range(len(self.shape)) if strides[d] < resolution), default=0)
        own = math.prod(len(tile[d]) for d in range(dim + 1)) * self.size
        span = sum((len(tile[d]) - 1) * strides[d] for d in range(dim + 1)) + self.size
        for offset in self._places(tile, dim):
            yield offset, span, own / span

    def _strides(self) -> list[int]:
        return [math.prod(self.shape[:d]) * self.size for d in range(len(self.shape))]

    def _places(self, tile: Sequence[range], dim: int) -> Iterator[int]:
        """Offsets of the tile's first cell in dimensions up to dim, for all indices of the slower ones."""
        strides = self._strides()
        base = sum(tile[d].start * strides[d] for d in range(dim + 1))
        slower = range(len(self.shape) - 1, dim, -1)
        for indices in itertools.product(*(tile[d] for d in slower)):
            yield base + sum(index * strides[d] for index, d in zip(indices, slower))


@dataclass
class Options:
    """The settings that matter here, None or 0: as the driver chooses. ranks_per_node None: one node.
    chunk: of one record, in the model's order; None: the variable has none. background: off, thread,
    ranks or auto; servers: ranks of each node that serve, beside those of tiles; cores: of a node (auto)."""

    driver: str = "native"
    access: str = "collective"
    format: str = "cdf5"
    stage_bytes: Optional[int] = None
    slot_bytes: int = 0
    writers: int = 0
    ranks_per_node: Optional[int] = None
    chunk: Optional[Sequence[int]] = None
    io_ranks: int = 0
    io_stride: int = 0
    io_base: int = 0
    io_ranks_per_node: int = 0
    rearrange: str = "auto"
    rearranger: str = "auto"
    background: str = "off"
    servers: int = 0
    cores: int = 0

    @property
    def sets_io_ranks(self) -> bool:
        return bool(self.io_ranks or self.io_stride or self.io_base or self.io_ranks_per_node)

    @property
    def asks_for_boxes(self) -> bool:
        """Do cells of tiles go to I/O ranks with every driver?"""
        return self.sets_io_ranks or self.rearranger == "box"


@dataclass
class IoBox:
    """What an I/O rank stores of a field. cells: a range a dimension; sources: ranks that have some of
    them."""

    rank: int
    cells: list[range]
    bytes: int
    runs: int
    sources: int


@dataclass
class NodePart:
    """What one node has of a field, or with rearranger=subset the group of an I/O rank, which stores it."""

    ranks: range
    bytes: int
    runs: int
    io_rank: Optional[int] = None


@dataclass
class Explanation:
    """slot, slots, share: of the native driver, else 0; generations: bytes of each, by node; boxes: of I/O
    ranks, if any are used, and why, or why not. groups_of_node: with rearranger=subset, those that share
    the stage of a node. waits: what the model waits for. background: what auto chose, and why. memory_*:
    bytes beside the model's own arrays; memory_piled: of memory_node, while one field waits to be stored."""

    tiles: Tiles
    options: Options
    nodes: list[NodePart]
    who: list[str] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)
    writes: int = 0
    bytes_a_write: float = 0.0
    memory_rank: int = 0
    memory_rank_0: int = 0
    memory_node: int = 0
    memory_piled: int = 0
    slot: int = 0
    slots: int = 0
    share: int = 0
    generations: list[list[int]] = field(default_factory=list)
    boxes: list[IoBox] = field(default_factory=list)
    groups_of_node: int = 1
    why: str = ""
    background: str = ""

    def rank_runs(self, rank: int) -> tuple[int, float]:
        """Contiguous runs of a rank, and bytes of each."""
        runs = self.tiles.runs([rank])
        return runs, self.tiles.tile_bytes(rank) / runs if runs else 0.0

    @property
    def all_runs(self) -> int:
        """Runs of all ranks, each by itself."""
        return sum(self.tiles.runs([rank]) for rank in range(self.tiles.ranks))


def _part(tiles: Tiles, ranks: range, io_rank: Optional[int] = None) -> NodePart:
    return NodePart(ranks, sum(tiles.tile_bytes(rank) for rank in ranks), tiles.runs(ranks), io_rank)


def _nodes(tiles: Tiles, ranks_per_node: Optional[int]) -> list[NodePart]:
    size = tiles.ranks if ranks_per_node is None else ranks_per_node
    firsts = range(0, tiles.ranks, size)
    return [_part(tiles, range(first, min(first + size, tiles.ranks))) for first in firsts]


def _make_groups(result: Explanation) -> None:
    """rearranger=subset: ranks of a node in groups, each with an I/O rank, in place of nodes."""
    tiles, options = result.tiles, result.options
    for name, clashes in (
        (f"driver={options.driver}", options.driver != "native"),
        ("rearrange=on", options.rearrange == "on"),
        (f"writers={options.writers}", options.writers > 1),
    ):
        if clashes:
            raise InvalidArgumentError(f"rearranger=subset and {name} contradict each other.")
    groups, most = [], 1
    if options.io_ranks:
        chosen = _io_ranks_of(result)
    else:
        each = options.io_ranks_per_node if options.sets_io_ranks else 1
        chosen = [
            node.ranks.start + rank
            for node in result.nodes
            for rank in io_ranks(len(node.ranks), each, options.io_stride, options.io_base)
        ]
    for number, node in enumerate(result.nodes):
        mine = [rank for rank in chosen if rank in node.ranks]
        if not mine:
            raise InvalidArgumentError(
                f"rearranger=subset, but node {number} has no I/O rank, and cells do not go from node to "
                "node; give io_ranks_per_node."
            )
        borders = [node.ranks.start, *mine[1:], node.ranks.stop]
        groups += [_part(tiles, range(*ends), io) for *ends, io in zip(borders, borders[1:], mine)]
        most = max(most, len(mine))
    result.nodes = groups
    result.groups_of_node = most
    result.options = replace(options, writers=1)
    result.why = "rearranger=subset: each I/O rank stores what its group has"


def explain(tiles: Tiles, options: Options) -> Explanation:
    """What happens when one field is written (and, backwards, read). Local."""
    result = Explanation(tiles, options, _nodes(tiles, options.ranks_per_node))
    _background.choose(result)
    options = result.options
    _background.check_writers(result)
    if options.rearranger == "subset":
        _make_groups(result)
        _native(result)
        return result
    strategies = {"native": _native, "gather": _gather}
    strategy = strategies.get(options.driver, _library)
    (_rearrange if _rearranges(result) else strategy)(result)
    return result


def _io_ranks_of(result: Explanation) -> list[int]:
    options, nodes = result.options, [node.ranks for node in result.nodes]
    if options.background == "ranks":  # their numbers come behind those that compute
        return list(range(result.tiles.ranks, result.tiles.ranks + options.servers * len(nodes)))
    if not options.sets_io_ranks:
        return [0] if options.driver == "gather" else io_ranks_of_nodes(nodes)
    if not options.io_ranks_per_node:
        return io_ranks(result.tiles.ranks, options.io_ranks, options.io_stride, options.io_base)
    chosen = io_ranks_of_nodes(nodes, options.io_ranks_per_node, options.io_stride, options.io_base)
    if options.io_ranks not in (0, len(chosen)):
        raise InvalidArgumentError(
            f"io_ranks={options.io_ranks} and io_ranks_per_node={options.io_ranks_per_node} contradict each "
            f"other: these are {len(chosen)}; leave one of the two out."
        )
    return chosen


def _rearranges(result: Explanation) -> bool:
    """Whether cells go to I/O ranks, and why."""
    tiles, options = result.tiles, result.options
    if options.rearranger == "box" and options.rearrange == "off":
        raise InvalidArgumentError(
            "rearranger=box and rearrange=off contradict each other; leave one of them out."
        )
    if options.driver != "native" and options.rearrange != "auto":
        raise InvalidArgumentError(f"rearrange is for driver native, not {options.driver}.")
    if options.sets_io_ranks:
        if options.rearrange == "off":
            raise InvalidArgumentError(
                "rearrange=off and I/O ranks contradict each other, as cells go to these by rearranging; "
                "leave one of them out."
            )
        result.why = "I/O ranks are set"
        return True
    if options.rearrange == "on":
        result.why = "rearrange=on"
        return True
    if options.rearranger == "box":
        result.why = "rearranger=box"
        return True
    if options.driver != "native" or len(result.nodes) == 1:
        return False
    chunk = options.chunk[::-1] if options.chunk is not None else tiles.shape[::-1]
    runs = sum(runs_in_file(tiles.boxes(node.ranks), chunk) for node in result.nodes)
    ranks = len(_io_ranks_of(result))
    align = None if options.chunk is None else chunk
    boxes = even_boxes(tiles.shape[::-1], ranks, align)
    in_boxes = sum(runs_in_file([box], chunk) for box in boxes)
    is_cheaper = options.rearrange == "auto" and rearranging_is_cheaper(runs, tiles.field_bytes, in_boxes)
    result.why = (
        f"nodes {'would ' if is_cheaper else ''}store {runs} runs "
        f"of {tiles.field_bytes // max(runs, 1)} bytes; "
        f"{ranks} I/O ranks {'' if is_cheaper else 'would '}store {in_boxes} of "
        f"{tiles.field_bytes // max(in_boxes, 1)} bytes"
    )
    if options.rearrange == "off":
        result.why = f"rearrange=off; {result.why}"
    return is_cheaper


def _rearrange(result: Explanation) -> None:
    """Ranks send their cells to I/O ranks, each of which stores an even box of the field."""
    tiles, options = result.tiles, result.options
    ranks = _io_ranks_of(result)
    shape = tiles.shape[::-1]
    boxes = even_boxes(shape, len(ranks), options.chunk[::-1] if options.chunk is not None else None)
    sources = _sources(tiles, boxes)
    for rank, box, of in zip(ranks, boxes, sources):
        cells = math.prod(map(len, box))
        result.boxes.append(IoBox(rank, box[::-1], cells * tiles.size, runs_of(box, shape), of))
    most = max(box.bytes for box in result.boxes)
    room = min(_rearrange_bytes, options.stage_bytes) if options.stage_bytes is not None else _rearrange_bytes
    of_node = max(len(node.ranks) for node in result.nodes) + options.servers
    by_nodes = len(result.nodes) > 1 and of_node > 1
    window = min(tiles.field_bytes, room // 4) if by_nodes else 0
    piece = min(most, window if by_nodes else room // 2)
    biggest = max(tiles.tile_bytes(rank) for rank in range(tiles.ranks))
    result.writes = sum(box.runs for box in result.boxes) if options.driver == "native" else len(ranks)
    result.bytes_a_write = tiles.field_bytes / max(result.writes, 1)
    # Cells of the tile, messages both ways, and on an I/O rank a piece of its box.
    result.memory_rank = result.memory_rank_0 = biggest + (2 if by_nodes else 3) * piece
    result.memory_node = window
    result.who = [
        (
            "the ranks of a node put their cells together in shared memory, and one message goes from each "
            f"node to each of {len(ranks)} I/O ranks, in rounds of at most {piece} bytes of a box"
            if by_nodes
            else f"every rank sends its cells in messages to {len(ranks)} I/O ranks, in rounds of at most "
            f"{piece} bytes of a box"
        ),
        "each I/O rank stores one even box of the field (rearranger=box): the table says which",
    ]
    if options.driver != "native":
        result.who[1] = "each I/O rank hands one even box of the field to the library: the table says which"
    if options.background == "ranks":
        result.who[1] += "; these are the ranks that serve"
    result.waits = _background.waits_of_rearranging(result)


def _sources(tiles: Tiles, boxes: Sequence[Sequence[range]]) -> list[int]:
    """How many ranks have cells of each box."""

    def intersects(a: range, b: range) -> bool:
        return max(a.start, b.start) < min(a.stop, b.stop)

    counts = []
    for box in boxes:
        model = box[::-1]
        places = 1
        for axis, parts in enumerate(tiles.grid):
            cells = tiles.shape[axis]
            own = (range(i * cells // parts, (i + 1) * cells // parts) for i in range(parts))
            places *= sum(intersects(part, model[axis]) for part in own)
        counts.append(places)
    return counts


def _native(result: Explanation) -> None:
    tiles, options = result.tiles, result.options
    ranks = max(len(node.ranks) for node in result.nodes)
    stage = options.stage_bytes if options.stage_bytes is not None else 256 * 2**20
    stage //= result.groups_of_node
    later = options.background != "off"
    slot = -(-(options.slot_bytes or _slot) // _page) * _page
    slot = max(_least_slot, min(slot, max(_least_slot, stage // 2)) // _page * _page)
    enough = 2**16 if later or options.stage_bytes is not None else min(max(ranks, _slots[0]), _slots[1])
    slots = max(2, min(stage // slot, enough))
    writers = options.writers or max(1, options.servers)
    share = max(_least_share, slot // min(writers, 32) // _page * _page + _page)
    result.slot, result.slots, result.share = slot, slots, min(share, slot)
    shape = tiles.shape[::-1]
    chunk = tuple(options.chunk[::-1]) if options.chunk is not None else shape
    count = direct = 0
    for node in result.nodes:
        if _goes_direct(result, node):
            direct += 1
            for rank in node.ranks:
                runs, run = result.rank_runs(rank)
                result.writes += runs * -int(-run // _direct_piece)
            result.generations.append([])
            continue
        made = generations(tiles.boxes(node.ranks), shape, chunk, tiles.size, slot)
        result.writes += sum(generation.writes(share) for generation in made)
        result.generations.append([generation.used for generation in made])
        count += len(made)
    result.bytes_a_write = tiles.field_bytes / max(result.writes, 1)
    most = max(len(made) for made in result.generations)
    result.memory_node = slot * slots * result.groups_of_node
    result.memory_piled = slot * min(max(most, _first_slots), slots) * result.groups_of_node
    if direct:
        result.waits = ["write waits until the rank has stored its own cells"]
    if direct:
        result.who.append(
            ("every rank" if direct == len(result.nodes) else f"on {direct} nodes every rank")
            + f" stores its own cells, past the stage: each run is {_direct_run} bytes or more"
        )
    if direct == len(result.nodes):
        return
    groups = result.nodes[0].io_rank is not None
    node = "group" if groups else "node"
    result.who += [
        f"every rank copies its cells to their place in its {node}'s stage, in file order, and does not wait",
        f"the stage of a {node}: {slots} slots of {slot} bytes; the field makes {count} slot generations"
        + ("; memory is taken as slot generations pile up, not before" if later else ""),
        f"a full slot is stored by {_background.storer(result, groups, writers)}, in writes of at most "
        f"{result.share} bytes",
    ]
    result.waits += _background.waits_of_stage(result, most)


def _goes_direct(result: Explanation, node: NodePart) -> bool:
    """Whether all tiles of the node are long runs in the file, whose place a rule gives."""
    options = result.options
    if options.writers or options.chunk is not None or options.background != "off":
        return False  # what is to be stored later has to be in the stage
    runs = [run for _, run in map(result.rank_runs, node.ranks) if run]
    return bool(runs) and min(runs) >= _direct_run


def _gather(result: Explanation) -> None:
    tiles, options = result.tiles, result.options
    slab = options.stage_bytes // 2 if options.stage_bytes is not None else _gather_slab
    slab = min(slab, tiles.field_bytes)
    result.writes = -(-tiles.field_bytes // slab)
    result.bytes_a_write = tiles.field_bytes / result.writes
    result.memory_rank_0 = slab + max(tiles.tile_bytes(rank) for rank in range(tiles.ranks))
    result.memory_rank = max(tiles.tile_bytes(rank) for rank in range(tiles.ranks))
    result.who = [
        "every rank packs its tile and sends it to rank 0, slab by slab, with blocking sends",
        f"rank 0 puts the parts together and writes {result.writes} slabs of at most {slab} bytes, one after "
        "another, in file order",
    ]
    result.waits = ["write waits until rank 0 has the rank's part, rank 0 until all is written"]


def _library(result: Explanation) -> None:
    tiles, options = result.tiles, result.options
    biggest = max(tiles.tile_bytes(rank) for rank in range(tiles.ranks))
    result.memory_rank = result.memory_rank_0 = biggest
    if options.access == "independent":
        result.writes = result.all_runs
        result.bytes_a_write = tiles.field_bytes / max(result.writes, 1)
        result.who = [
            "every rank hands its tile to the library, which writes its runs by itself",
            "MPI-IO may join runs by reading, changing and writing the bytes between them too (data sieving)",
        ]
        result.waits = ["write waits for the library's call, which stores the rank's own runs"]
        return
    result.writes = 1
    result.bytes_a_write = float(tiles.field_bytes)
    result.who = [
        "all ranks hand their tiles to the library together; MPI-IO sends the bytes to a few of them "
        "(aggregators), which write long pieces; how many, and how long, its hints say (cb_nodes, "
        "cb_buffer_size)"
    ]
    result.waits = ["write waits for the library's call, in which all ranks match calls"]
    if options.access == "nonblocking":
        limit = options.stage_bytes if options.stage_bytes is not None else 256 * 2**20
        fields = max(1, limit // tiles.field_bytes)
        result.memory_rank = result.memory_rank_0 = biggest * fields
        result.waits = ["write waits for the copy, and when the queue is full for the library's call"]
        result.who.insert(
            0,
            f"fields are queued and written together, {fields} of this size at a time (stage_bytes {limit})",
        )


def chunks_of_library(tiles: Tiles, options: Options) -> Optional[Sequence[int]]:
    """The chunk shape, in the model's order, that Shoal gives such a variable; None: not chunked. Asks the
    library, in a folder of its own, so that a combination of settings that cannot be is refused in its words.
    """
    import os
    import tempfile

    from . import dataset
    from .decomposition import Decomposition
    from .errors import Error, NotSupportedError

    settings = {"format": options.format, "driver": options.driver, "quiet": True}
    if options.driver not in ("native", "gather"):  # which have but one
        settings["access"] = options.access
    for name in ("stage_bytes", "slot_bytes", "writers"):
        value = getattr(options, name)
        if value:
            settings[name] = min(value, 1) if name == "writers" else value  # of this one rank
    names = [f"d{axis}" for axis in range(len(tiles.shape))]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.nc")
        try:
            file = dataset.create(path, None, **settings)
        except NotSupportedError:
            return None  # a library that this build lacks; the arithmetic holds all the same
        except Error as error:
            raise type(error)(error.message.replace(f"{path}: ", "")) from None
        try:
            shape = dict(zip(names, tiles.shape[::-1]))
            first = [0] * len(names)
            cut = Decomposition.block(None, shape, first, first)
            file.def_var(
                "field", f"f{tiles.size}" if tiles.size in (4, 8) else f"i{tiles.size}", cut, record="t"
            )
            file.end_define()
            chunks = file.variables["field"].chunks
        finally:
            file.abandon()
    return None if chunks is None else chunks[:0:-1]
