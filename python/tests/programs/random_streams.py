# SPDX-License-Identifier: BSD-3-Clause
"""Random runs of a model with streams, compared with what numpy, xarray and cftime make of the same series:
whole on some number of ranks, and in parts on others, which must give the same bits.

random_streams.py FOLDER SEED CASES [keep=1] [verbose=1]: of the seeds from SEED on, or of several, "3,14,15".
What fails is printed with its seed and its configuration; SEED 1 runs it alone. keep=1 leaves the files in
FOLDER, verbose=1 says all cases."""

import faulthandler
import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path

folder, cases = Path(sys.argv[1]), int(sys.argv[3])
seeds = [seed for given in sys.argv[2].split(",") for seed in range(int(given), int(given) + cases)]
options = dict(pair.split("=", 1) for pair in sys.argv[4:])
os.environ.setdefault("SHOAL_WAIT_SECONDS", "60")
os.environ["SHOAL_QUIET"] = "true"
os.environ.pop("SHOAL_STREAMS", None)

import numpy as np  # noqa: E402
import streams_cases  # noqa: E402
from mpi4py import MPI  # noqa: E402
from streams_cases import Case, Grid, Job  # noqa: E402

import shoal  # noqa: E402

world = MPI.COMM_WORLD
if world.rank == 0:
    import streams_expected

faulthandler.register(signal.SIGUSR1)
comms = {n: world.Split(0 if world.rank < n else 1) for n in range(1, world.size + 1)}


class Cut:
    """How a rank has a grid."""

    def __init__(self, grid: Grid, comm, numbers: np.random.Generator, of_rank: np.random.Generator):
        self.grid = grid
        shape = grid.cut_shape
        cells = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        as_map = grid.unowned is not None or numbers.random() < 0.4
        mask = None
        if as_map:
            owners = numbers.integers(0, comm.size, shape)
            if numbers.random() < 0.3:  # one rank has nothing
                owners[:] = np.where(owners == 0, comm.size - 1, owners)
            if grid.unowned is not None:
                owners[grid.unowned] = -1
            order = numbers.permutation(cells.size) if numbers.random() < 0.7 else np.arange(cells.size)
            list_of = order[owners.ravel()[order] == comm.rank]
            holes = of_rank.integers(0, list_of.size + 1, of_rank.integers(0, 3))
            list_of = np.insert(list_of, holes, -1)
            self.list, self.halo, self.inner = list_of, list_of.shape, slice(None)
            self.tiles = shoal.Decomposition.map(
                comm, dict(zip(grid.dims, grid.shape)), list_of, uncut=grid.uncut
            )
            if grid.active is not None:
                mask = np.where(list_of < 0, False, grid.active.ravel()[np.maximum(list_of, 0)])
        else:
            first, count = self.tile(shape, comm, numbers)
            low, high = (tuple(map(int, of_rank.integers(0, 3, len(shape)))) for _ in range(2))
            more = (0,) * grid.uncut
            self.tiles = shoal.Decomposition.block(
                comm,
                dict(zip(grid.dims, grid.shape)),
                (*first, *more),
                (*count, *(grid.shape[len(shape) :] if np.prod(count) else more)),
                halo_low=low + more,
                halo_high=high + more,
            )
            self.list = None
            self.where = tuple(slice(f, f + n) for f, n in zip(first, count))
            if grid.active is not None:
                mask = grid.active[self.where]
                mask = np.broadcast_to(
                    mask.reshape(mask.shape + (1,) * grid.uncut), mask.shape + grid.shape[len(shape) :]
                )
        if mask is not None:
            self.tiles = self.tiles.masked(mask)

    @staticmethod
    def tile(shape, comm, numbers):
        """Uneven tiles, some without cells."""
        parts = [comm.size, 1] if len(shape) == 2 else [comm.size]
        if comm.size == 4 and len(shape) == 2 and numbers.random() < 0.5:
            parts = [2, 2]
        elif numbers.random() < 0.5:
            parts.reverse()
        place = np.unravel_index(comm.rank, parts)
        first, count = [], []
        for n, among, mine in zip(shape, parts, place):
            ends = np.sort(numbers.integers(0, n + 1, among - 1))
            if numbers.random() < 0.5:
                ends = np.arange(1, among) * n // among
            ends = [0, *map(int, ends), n]
            first.append(ends[mine])
            count.append(ends[mine + 1] - ends[mine])
        return first, count

    def own(self, values: np.ndarray, kind: str, numbers: np.random.Generator):
        """The array that this rank sends, of the values of all cells, [outer..., grid]: with garbage where
        nobody looks, with the halo or without."""
        grid = self.grid
        outer = values.shape[: values.ndim - len(grid.shape)]
        garbage = 77 if np.dtype(kind).kind in "iu" else 1e30
        if self.list is not None:
            flat = values.reshape(*outer, -1, *grid.shape[len(grid.cut_shape) :])
            out = np.full((*outer, self.list.size, *flat.shape[len(outer) + 1 :]), garbage, kind)
            real = self.list >= 0
            out[(slice(None),) * len(outer) + (real,)] = flat[
                (slice(None),) * len(outer) + (self.list[real],)
            ]
            return out
        tile = values[(..., *self.where, *(slice(None),) * grid.uncut)].astype(kind)
        if self.tiles.is_empty or numbers.random() < 0.5:
            return tile
        out = np.full(outer + self.tiles.halo_shape, garbage, kind)
        out[(..., *self.tiles.inner)] = tile
        return out


def send(streams, case: Case, name: str, step: int, cuts, numbers):
    field = case.fields[name]
    values = field.values[step]
    if field.grid is None:
        array = values.astype(field.sent_as)
    else:
        grid, cut = case.grids[field.grid], cuts[field.grid]
        if grid.active is not None and field.type[0] == "f":  # nobody looks at masked cells
            active = grid.active.reshape(grid.cut_shape + (1,) * grid.uncut)
            values = np.where(active, values, np.array(1e30).astype(field.type))
        array = cut.own(values, field.sent_as, numbers)
    if field.masked_arrays:
        gaps = array == np.array(field.missing).astype(field.type)
        array = np.ma.masked_array(np.where(gaps, 0, array).astype(array.dtype), gaps)
    elif array.ndim and numbers.random() < 0.3:  # other strides
        array = np.asfortranarray(array) if numbers.random() < 0.5 else array[::-1].copy()[::-1]
    streams.send(name, array)


def run(case: Case, comm, to: Path, job: Job, resume, checkpoint):
    numbers = np.random.default_rng(job.cut)
    of_rank = np.random.default_rng([job.cut, comm.rank])
    cuts = {name: Cut(grid, comm, numbers, of_rank) for name, grid in case.grids.items()}
    times = {"start": case.start, "calendar": case.calendar}
    if job.first:
        times["now"] = streams_cases.text_of(case.date(case.ends[job.first - 1]))
    streams = shoal.Streams.open(case.text(to) + "\n", comm, **times)
    try:
        describe(streams, case, cuts, of_rank)
        if resume:
            streams.resume(resume)
        for step in range(job.first - (case.sends_start and job.first == 0), job.end):
            end = int(case.ends[step]) if step >= 0 else 0
            if numbers.random() < 0.5:
                streams.advance(end / 1e6)
            else:
                streams.advance_to(streams_cases.text_of(case.date(end)))
            for name in of_rank.permutation(list(case.fields)):
                if (name, step) not in case.unsent and (of_rank.random() < 0.5 or streams.wants(str(name))):
                    send(streams, case, str(name), step, cuts, of_rank)
        if checkpoint:
            streams.checkpoint(checkpoint)
        if job.closes:
            streams.close()
    finally:
        streams.abandon()


def describe(streams, case: Case, cuts, of_rank):
    for name, (values, bounds, attributes) in case.axes.items():
        if values is None:
            streams.axis(name, length=case.lengths[name])
        else:
            streams.axis(name, values, bounds, attrs=attributes)
    for grid in case.grids.values():
        cut = cuts[grid.name]
        streams.grid(grid.name, cut.tiles)
        for name, (values, attributes) in grid.coordinates.items():
            streams.coordinate(grid.name, name, cut.own(values, "f8", of_rank), attrs=attributes)
        if grid.area is not None:
            streams.area(grid.name, f"area_of_{grid.name}", cut.own(grid.area, "f8", of_rank))
    for field in case.fields.values():
        attributes = {"units": "K"}
        if field.missing is not None:
            attributes["missing_value"] = field.missing
        streams.field(field.name, field.type, field.dims, field.grid, holds=field.holds, attrs=attributes)


def run_case(case: Case, to: Path) -> list[str]:
    """What is wrong; the same on all ranks."""
    ways = {"whole": [case.whole], "parts": case.parts}
    for way in ways:
        if world.rank == 0:
            (to / way).mkdir(parents=True)
    world.Barrier()
    wrong = ""
    for way, jobs in ways.items():
        saved = None
        for number, job in enumerate(jobs):
            checkpoint = to / f"{way}_{number}.saved" if number + 1 < len(jobs) else None
            if world.rank < job.ranks and not wrong:
                try:
                    run(case, comms[job.ranks], to / way, job, saved, checkpoint)
                except shoal.Error as error:
                    wrong = f"{way}, job {number}: {type(error).__name__}: {error}"
            saved = checkpoint
            wrong = next(filter(None, world.allgather(wrong)), "")
    if not wrong and world.rank == 0:
        try:
            streams_expected.compare(to / "whole", to / "parts")
            streams_expected.check(case, to / "whole")
        except streams_expected.Wrong as problem:
            wrong = str(problem)
        except Exception:
            wrong = traceback.format_exc()
    return world.bcast(wrong)


failed, began = [], time.monotonic()
for seed in seeds:
    case = streams_cases.make(seed, world.size)
    to = folder / str(seed)
    if world.rank == 0 and "verbose" in options:
        print(case.about(), flush=True)
    wrong = run_case(case, to)
    if wrong:
        failed.append(seed)
    if world.rank == 0:
        if wrong:
            print(f"WRONG: {wrong}\n{case.about()}", flush=True)
        if "keep" not in options:
            shutil.rmtree(to)
if world.rank == 0:
    print(f"{len(seeds)} cases, {len(failed)} wrong {failed}, {time.monotonic() - began:.0f} s", flush=True)
sys.exit(1 if failed else 0)
