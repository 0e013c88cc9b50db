# SPDX-License-Identifier: BSD-3-Clause
"""What a way of writing does with a decomposition: contiguous runs on disk, sizes of writes, memory.

No rank, file or MPI is needed: what cells do in the file is arithmetic, and what the library chooses says the
program shoal-plan, by the library's own code. Dimensions here are in the *model's order*, as in the
declaration of a Fortran array and as shapes are spoken ("656 x 640 x 16"): the first varies fastest, in
memory and on disk. Everything is said of one field (one record of one variable); indices start at 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

from . import _background, simulation
from .decomposition import balanced_tile
from .errors import InvalidArgumentError


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
    ranks or auto; servers: ranks of each node that serve, beside those of tiles; cores: of a node (auto).
    machine: a machine file, of driver native; folder: where the file will be; file_system: lustre, gpfs or
    beegfs, in place of both, for a machine that is not here; stripes: of a file on Lustre."""

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
    machine: Optional[str] = None
    folder: Optional[str] = None
    file_system: Optional[str] = None
    stripes: int = 0

    def settings_of_plan(self) -> dict[str, object]:
        """What shoal-plan takes by the same name, of explain and of simulation.Case; what is chosen is left
        out."""
        names = ("io_ranks", "io_stride", "io_base", "io_ranks_per_node", "rearrange", "rearranger")
        names += ("stage_bytes", "slot_bytes", "writers", "machine", "folder", "file_system", "stripes")
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value and value != "auto"}

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
class Prediction:
    """What figures of the machine say. figures: measured ones, or default ones of the file system;
    choices: what is chosen by them, and why; local, rearranged: seconds of a write if nodes store their own
    cells, or send them to I/O ranks; None: not known, as it was not measured."""

    figures: str
    choices: list[str]
    local: Optional[float]
    rearranged: Optional[float]


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
    prediction: Optional[Prediction] = None

    def rank_runs(self, rank: int) -> tuple[int, float]:
        """Contiguous runs of a rank, and bytes of each."""
        runs = self.tiles.runs([rank])
        return runs, self.tiles.tile_bytes(rank) / runs if runs else 0.0

    @property
    def all_runs(self) -> int:
        """Runs of all ranks, each by itself."""
        return sum(self.tiles.runs([rank]) for rank in range(self.tiles.ranks))


def explain(tiles: Tiles, options: Options) -> Explanation:
    """What happens when one field is written (and, backwards, read). Local.

    Errors: InvalidArgumentError for options that cannot be; ProgramError if shoal-plan is not there or fails.
    """
    options = _background.checked(options)
    said = simulation.run(_arguments(tiles, options))
    result = Explanation(tiles, options, [_part(tiles, node) for node in said["nodes"]])
    _background.choose(result, said)
    if said["rearranged"]:
        _rearrange(result, said)
    else:
        {"native": _native, "gather": _gather}.get(options.driver, _library)(result, said)
    result.why = _why(result, said)
    if said["machine"] is not None:
        machine = said["machine"]
        result.prediction = Prediction(
            machine["figures"],
            machine["choices"],
            machine["local_seconds"] or None,
            machine["rearranged_seconds"] or None,
        )
    return result


def _arguments(tiles: Tiles, options: Options) -> dict[str, object]:
    """Of shoal-plan."""
    native = options.driver == "native"
    given = {
        "explain": True,
        "ranks": tiles.ranks,
        "ranks_per_node": options.ranks_per_node,
        "global": tiles.shape,
        "tiles": tiles.grid,
        "cell_bytes": tiles.size,
        "chunk": options.chunk,
        "library": not native,
        **options.settings_of_plan(),
    }
    if not native:  # which alone has a stage
        given.update(slot_bytes=None, writers=None)
    else:
        given.update(
            background=options.background,
            servers=options.servers or None,
            cores=options.cores or None,
        )
    if options.driver == "gather" and options.asks_for_boxes and not options.sets_io_ranks:
        given["io_ranks"] = 1  # it writes alone anyway
    return given


def _part(tiles: Tiles, node: dict) -> NodePart:
    ranks = range(node["first"], node["first"] + node["count"])
    io_rank = node["io_rank"] if node["io_rank"] >= 0 else None
    return NodePart(ranks, sum(tiles.tile_bytes(rank) for rank in ranks), tiles.runs(ranks), io_rank)


def _why(result: Explanation, said: dict) -> str:
    """Why cells go to I/O ranks, or do not; empty where nothing has to be said."""
    options, counts = result.options, said["counts"]
    if options.rearranger == "subset":
        return "rearranger=subset: each I/O rank stores what its group has"
    if counts is None:
        return said["setting"]
    nodes, boxes = ("would ", "") if said["rearranged"] else ("", "would ")
    first = f"{said['setting']}; " if said["setting"] else ""
    return (
        f"{first}nodes {nodes}store {counts['runs']} runs of "
        f"{counts['bytes'] // max(counts['runs'], 1)} bytes; "
        f"{counts['io_ranks']} I/O ranks {boxes}store {counts['box_runs']} of "
        f"{counts['bytes'] // max(counts['box_runs'], 1)} bytes"
    )


def _rearrange(result: Explanation, said: dict) -> None:
    """Ranks send their cells to I/O ranks, each of which stores an even box of the field."""
    tiles, options = result.tiles, result.options
    for box in said["boxes"]:
        cells = [range(first, first + count) for first, count in zip(box["first"], box["count"])]
        result.boxes.append(IoBox(box["rank"], cells, box["bytes"], box["runs"], _sources(tiles, cells)))
    by_nodes, piece = said["by_nodes"], said["most_piece_bytes"]
    biggest = max(tiles.tile_bytes(rank) for rank in range(tiles.ranks))
    ranks = len(result.boxes)
    result.writes = sum(box.runs for box in result.boxes) if options.driver == "native" else ranks
    result.bytes_a_write = tiles.field_bytes / max(result.writes, 1)
    # Cells of the tile, messages both ways, and on an I/O rank a piece of its box.
    result.memory_rank = result.memory_rank_0 = biggest + (2 if by_nodes else 3) * piece
    result.memory_node = said["window_bytes"]
    result.who = [
        (
            "the ranks of a node put their cells together in shared memory, and one message goes from each "
            f"node to each of {ranks} I/O ranks, in rounds of at most {piece} bytes of a box"
            if by_nodes
            else f"every rank sends its cells in messages to {ranks} I/O ranks, in rounds of at most "
            f"{piece} bytes of a box"
        ),
        "each I/O rank stores one even box of the field (rearranger=box): the table says which",
    ]
    if options.driver != "native":
        result.who[1] = "each I/O rank hands one even box of the field to the library: the table says which"
    if options.background == "ranks":
        result.who[1] += "; these are the ranks that serve"
    result.waits = _background.waits_of_rearranging(result)


def _sources(tiles: Tiles, box: Sequence[range]) -> int:
    """How many ranks have cells of the box."""

    def intersects(a: range, b: range) -> bool:
        return max(a.start, b.start) < min(a.stop, b.stop)

    places = 1
    for cells, parts, inside in zip(tiles.shape, tiles.grid, box):
        own = (range(i * cells // parts, (i + 1) * cells // parts) for i in range(parts))
        places *= sum(intersects(part, inside) for part in own)
    return places


def _native(result: Explanation, said: dict) -> None:
    tiles, options, nodes = result.tiles, result.options, said["nodes"]
    slot, slots, groups_of_node = said["slot_bytes"], said["slots"], said["groups_of_node"]
    result.slot, result.slots, result.share = slot, slots, said["share_bytes"]
    result.groups_of_node = groups_of_node
    result.generations = [node["slot_generations"] for node in nodes]
    result.writes = sum(node["writes"] for node in nodes)
    result.bytes_a_write = tiles.field_bytes / max(result.writes, 1)
    most = max(map(len, result.generations))
    result.memory_node = slot * slots * groups_of_node
    result.memory_piled = slot * min(max(most, said["first_slots"]), slots) * groups_of_node
    direct = sum(node["past_stage"] for node in nodes)
    if direct:
        result.waits = ["write waits until the rank has stored its own cells"]
        result.who.append(
            ("every rank" if direct == len(nodes) else f"on {direct} nodes every rank")
            + f" stores its own cells, past the stage: each run is {said['long_run_bytes']} bytes or more"
        )
    if direct == len(nodes):
        return
    groups = result.nodes[0].io_rank is not None
    node = "group" if groups else "node"
    result.who += [
        f"every rank copies its cells to their place in its {node}'s stage, in file order, and does not wait",
        f"the stage of a {node}: {slots} slots of {slot} bytes; the field makes "
        f"{sum(map(len, result.generations))} slot generations"
        + (
            "; memory is taken as slot generations pile up, not before" if options.background != "off" else ""
        ),
        f"a full slot is stored by {_background.storer(result, groups, said['writers'])}, in writes of at "
        f"most {result.share} bytes",
    ]
    result.waits += _background.waits_of_stage(result, most)


def _gather(result: Explanation, said: dict) -> None:
    tiles = result.tiles
    slab = min(said["gather_slab_bytes"], tiles.field_bytes)
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


def _library(result: Explanation, said: dict) -> None:
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
        limit = said["stage_bytes"]
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

    from . import opening
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
            file = opening.create(path, None, **settings)
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
