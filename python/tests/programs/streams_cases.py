# SPDX-License-Identifier: BSD-3-Clause
"""Random runs of streams, each compared with numpy and cftime, and with xarray where it has the same windows.
One seed gives one run, on any number of ranks.

streams_cases.py FOLDER FIRST COUNT    seeds FIRST, FIRST + 1, ...; each file's values go to FOLDER/SEED.npy
"""

import datetime
import functools
import itertools
import os
import sys
import warnings
from pathlib import Path

import cftime
import numpy as np
import xarray as xr
from mpi4py import MPI

import shoal

CALENDARS = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
STARTS = [(1999, 12, 28, 5), (2000, 2, 26, 0), (2001, 11, 29, 18), (1582, 10, 2, 6), (1900, 2, 27, 23)]
FIXED = {"6 h": 6, "1 day": 24, "3 days": 72}  # hours
MONTHS = {"1 month": 1, "3 months": 3, "1 year": 12}
OPERATIONS = [
    *("instant", "first", "last", "mean", "sum", "minimum", "maximum"),
    *("range", "variance", "standard_deviation", "rms", "count"),
]
EXACT = {"instant", "first", "last", "minimum", "maximum", "count", "range"}
MISSING = -999.0


class Case:
    """What a seed stands for: the model, its configuration and the values that it sends."""

    def __init__(self, seed: int):
        random = self.random = np.random.default_rng(seed)
        choose = random.choice
        self.calendar = str(choose(CALENDARS))
        self.start = cftime.datetime(*STARTS[random.integers(len(STARTS))], calendar=self.calendar)
        self.every = str(choose([*FIXED, *MONTHS, "7 steps"]))
        longest = {"6 h": 6, "1 day": 12, "3 days": 24}.get(self.every, 24 * 6)
        lengths = [hours for hours in (0.5, 1, 2, 3, 6, 8, 12, 24, 96, 144) if hours <= longest]
        self.steps = int(random.integers(8, 60))
        self.even = random.random() < 0.4
        hours = choose(lengths, 1 if self.even else self.steps)
        self.lengths = np.broadcast_to(hours, self.steps) * 3600.0
        self.times = np.cumsum(self.lengths)
        self.shape = tuple(int(n) for n in random.integers(1, (4, 7, 9)))
        self.levels = random.random() < 0.5
        self.dtype = str(choose(["f8", "f4"]))
        self.operation = str(choose(OPERATIONS))
        self.masked = random.random() < 0.5
        self.holes = random.random() < 0.5
        self.area = random.random() < 0.5
        self.water = random.random(self.shape[1:]) < 0.7 if self.masked else np.ones(self.shape[1:], bool)
        self.areas = random.uniform(1, 3, self.shape[1:])
        self.bounds = np.cumsum(random.integers(1, 4, self.shape[0] + 1)).astype("f8")
        self.bounds = np.column_stack([self.bounds[:-1], self.bounds[1:]])
        self.x = np.linspace(10, 10 * self.shape[2], self.shape[2])
        self.cells = [np.arange(n) for n in (self.shape if self.levels else self.shape[1:])]
        self.keys = []
        self._choose_part(random)
        self.joined = self._choose_reduction(random)
        self.stop = int(random.integers(1, self.steps)) if random.random() < 0.5 else self.steps
        self.unfinished = random.random() < 0.5
        self.values = self._make_values(random)

    @property
    def dims(self):
        return ("lev", "y", "x") if self.levels else ("y", "x")

    def _choose_part(self, random):
        if random.random() < 0.3:
            low, high = sorted(random.choice(self.x, 2))
            self.cells[-1] = np.nonzero((self.x >= low) & (self.x <= high))[0]
            self.keys.append(f"region = {{ x = [{low}, {high}] }}")
        elif random.random() < 0.3:
            first = int(random.integers(0, self.shape[1]))
            stride = int(random.integers(1, 3))
            self.cells[-2] = np.arange(first, self.shape[1], stride)
            self.keys.append(f"indices = {{ y = [{first}, -1, {stride}] }}")
        if self.levels and random.random() < 0.3:
            some = np.sort(random.permutation(self.shape[0])[: random.integers(1, self.shape[0] + 1)])
            self.cells[0] = some
            self.keys.append(f"levels = {some.tolist()}")

    def _choose_reduction(self, random):
        if random.random() < 0.5:
            return ()
        joined = [dim for dim in self.dims if random.random() < 0.6] or ["x"]
        self.how = str(random.choice(["mean", "sum", "minimum", "maximum"]))
        may_weigh = self.area or not {"y", "x"} & set(joined)
        self.weights = "automatic" if may_weigh and random.random() < 0.5 else "none"
        names = ", ".join(f'"{dim}"' for dim in joined)
        how = f'operation = "{self.how}", weights = "{self.weights}"'
        self.keys.append(f"reduce = {{ dims = [{names}], {how} }}")
        return tuple(joined)

    def _make_values(self, random):
        shape = (self.steps, *(self.shape if self.levels else self.shape[1:]))
        values = random.uniform(-100, 100, shape).astype(self.dtype)
        if self.holes:
            values[random.random(shape) < 0.3] = MISSING
            values[:, random.random(shape[1:]) < 0.1] = MISSING
        return values

    def configuration(self, path):
        more = [*self.keys, f'unfinished = "{"write" if self.unfinished else "drop"}"']
        return (
            f'[[file]]\nname = "{path}"\nevery = "{self.every}"\noperation = "{self.operation}"\n'
            'fields = ["v"]\ntype = "double"\n' + "\n".join(more) + "\n"
        )

    # ---- What must be in the file

    def ends(self):
        """Of windows, in seconds since the start, in order."""
        if self.every in FIXED:
            length = FIXED[self.every] * 3600
            midnight = -self.start.hour * 3600
            return (midnight + k * length for k in itertools.count(1))
        if self.every in MONTHS:
            return self._months(MONTHS[self.every])
        return (self.times[k] if k < self.steps else np.inf for k in itertools.count(6, 7))

    def _months(self, step):
        month = (self.start.month - 1) // step * step
        for more in itertools.count(step, step):
            year, index = divmod(month + more, 12)
            first = cftime.datetime(self.start.year + year, index + 1, 1, calendar=self.calendar)
            yield (first - self.start).total_seconds()

    def records(self):
        """Steps of each window, and the step that gives its instant: lists of numbers."""
        found, mine = [], []
        ends = (end for end in self.ends() if end > 0)
        end = next(ends)
        for step, time in enumerate(self.times):
            while time > end:
                # The first window may have no step that ends in it: it has an instant alone.
                if mine or self.operation == "instant":
                    found.append((mine, step))
                    mine = []
                end = next(ends)
            mine.append(step)
            if time == end:
                found.append((mine, step))
                mine = []
                end = next(ends)
        if mine and self.unfinished and self.operation != "instant":
            found.append((mine, mine[-1]))
        return found

    def expected(self):
        records = [self._over_space(self._over_time(*record)) for record in self.records()]
        return np.array([np.ma.filled(np.ma.asarray(record, dtype="f8"), np.nan) for record in records])

    @functools.cached_property
    def valid(self):
        land = np.broadcast_to(~self.water, self.values.shape[1:])
        return np.ma.masked_where((self.values == MISSING) | land, self.values.astype("f8"))

    def check_by_xarray(self):
        """The same windows and values as xarray's resample finds, where it knows such windows and weights."""
        every = {"6 h": "6h", "1 day": "1D", "1 month": "MS"}.get(self.every)
        names = {"mean": "mean", "minimum": "min", "maximum": "max", "standard_deviation": "std"}
        if not (self.even and every and self.operation in names) or self.start.year < 1600:
            return
        times = [self.start + datetime.timedelta(seconds=float(time)) for time in self.times]
        data = xr.DataArray(self.valid.filled(np.nan), {"time": times}, ("time", *self.dims))
        windows = data.resample(time=every, closed="right", label="right")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of cells that have no values
            theirs = getattr(windows, names[self.operation])().values
        filled = xr.ones_like(data.time, int).resample(time=every, closed="right", label="right").sum() > 0
        mine = [np.ma.filled(self._over_time(*record), np.nan) for record in self.records()]
        if mine:
            theirs = theirs[filled.values][: len(mine)]
            np.testing.assert_allclose(np.array(mine), theirs, rtol=1e-12, atol=1e-10)

    def _over_time(self, steps, at):
        values = self.valid
        land = np.broadcast_to(~self.water, values.shape[1:])
        if self.operation == "instant":
            return values[at]
        part = values[steps]
        if self.operation in ("first", "last"):
            order = part if self.operation == "first" else part[::-1]
            out = np.ma.masked_all(part.shape[1:])
            for here in order[::-1]:
                out = np.ma.where(np.ma.getmaskarray(here), out, here)
            return out
        if self.operation == "count":
            return np.ma.masked_where(land, part.count(axis=0).astype("f8"))
        plain = {"sum": np.ma.sum, "minimum": np.ma.min, "maximum": np.ma.max, "range": np.ma.ptp}
        if self.operation in plain:
            return plain[self.operation](part, axis=0)
        weights = self.lengths[steps]
        mean = np.ma.average(part, axis=0, weights=weights)
        if self.operation == "mean":
            return mean
        if self.operation == "rms":
            return np.ma.sqrt(np.ma.average(part**2, axis=0, weights=weights))
        variance = np.ma.average((part - mean) ** 2, axis=0, weights=weights)
        return variance if self.operation == "variance" else np.ma.sqrt(variance)

    def _over_space(self, field):
        field = field[np.ix_(*self.cells)]
        if not self.joined:
            return field
        axes = tuple(self.dims.index(dim) for dim in self.joined)
        if self.how in ("mean", "sum"):
            weights = np.ones(field.shape)
            if self.weights == "automatic":
                if {"y", "x"} & set(self.joined):
                    weights = weights * self.areas[np.ix_(*self.cells[-2:])]
                if "lev" in self.joined:
                    weights = weights * np.diff(self.bounds)[self.cells[0]][:, np.newaxis]
            total = np.ma.sum(np.ma.masked_where(np.ma.getmaskarray(field), weights), axis=axes)
            whole = np.ma.sum(field * weights, axis=axes)
            return whole / total if self.how == "mean" else whole
        return {"minimum": np.ma.min, "maximum": np.ma.max}[self.how](field, axis=axes)


def run(case, comm, path, steps, begin=None, resume=None, checkpoint=None):
    """Some steps of the case on the ranks of comm."""
    rows = case.shape[1]
    cuts = np.random.default_rng(comm.size + rows)  # the same on all ranks
    ends = np.concatenate([[0], np.sort(cuts.integers(0, rows + 1, comm.size - 1)), [rows]])
    mine = slice(int(ends[comm.rank]), int(ends[comm.rank + 1]))
    cells = shoal.Decomposition.block(
        comm, {"y": rows, "x": case.shape[2]}, (mine.start, 0), (mine.stop - mine.start, case.shape[2])
    )
    if case.masked:
        cells = cells.masked(case.water[mine])
    text = case.configuration(path)
    now = None if begin is None else str(begin)
    with shoal.Streams.open(text, comm, start=str(case.start), calendar=case.calendar, now=now) as streams:
        if case.levels:
            streams.axis("lev", case.bounds.mean(axis=1), case.bounds)
        streams.axis("x", case.x)
        streams.grid("cells", cells)
        if case.area:
            streams.area("cells", "area", case.areas[mine])
        attrs = {"missing_value": MISSING} if case.holes else None
        field = streams.field("v", case.dtype, case.dims, "cells", attrs=attrs)
        if resume:
            streams.resume(resume)
        for step in steps:
            streams.advance(case.times[step])
            streams.send(field, case.values[step][..., mine, :])
        if checkpoint:
            streams.checkpoint(checkpoint)


def stored(path):
    if not path.exists():
        return None
    with shoal.open(path) as file:
        values = np.array([file.get("v", record) for record in range(file.num_records)])
        fill = file.get_att("v", "_FillValue")
    return np.where(values == fill, np.nan, values)


def check(case, found):
    case.check_by_xarray()
    wanted = case.expected()
    if found is None:
        assert wanted.shape[0] == 0, f"no file, and {wanted.shape[0]} records are wanted"
        return
    assert found.shape == wanted.shape, f"shape {found.shape}, wanted {wanted.shape}"
    assert np.array_equal(np.isnan(found), np.isnan(wanted)), "other cells are missing"
    exact = case.operation in EXACT and (not case.joined or case.how in ("minimum", "maximum"))
    # Deviations are sums that cancel; values are up to 100.
    tolerance = 0 if exact else 1e-12
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * 1e5)


def main():
    folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    world = MPI.COMM_WORLD
    for seed in range(first, first + count):
        case = Case(seed)
        path, checkpoint = folder / f"{seed}.nc", folder / f"{seed}.checkpoint.nc"
        try:
            if case.stop == case.steps:
                run(case, world, path, range(case.steps))
            else:
                # In the middle, and on with fewer ranks.
                run(case, world, path, range(case.stop), checkpoint=checkpoint)
                fewer = 1 + seed % world.size
                some = world.Split(0 if world.rank < fewer else MPI.UNDEFINED)
                if some != MPI.COMM_NULL:
                    now = case.start + datetime.timedelta(seconds=float(case.times[case.stop - 1]))
                    run(case, some, path, range(case.stop, case.steps), now, checkpoint)
                    some.Free()
            world.Barrier()
            if world.rank == 0:
                found = stored(path)
                check(case, found)
                np.save(folder / f"{seed}.npy", np.zeros(0) if found is None else found)
                for file in (path, checkpoint):
                    if file.exists():
                        os.unlink(file)
        except BaseException:
            print(f"seed {seed} on {world.size} ranks, {case.steps} steps, stop after {case.stop}:")
            print(f"{case.calendar}, from {case.start}\n{case.configuration(path)}", flush=True)
            raise
    if world.rank == 0:
        print(f"{count} runs")


main()
