# SPDX-License-Identifier: BSD-3-Clause
"""What the files of a random case must hold, by numpy, xarray and cftime; nothing here knows Shoal.

Lowest, highest, first, last, instants and counts must be equal bit for bit, as they are values of the model.
Sums are rounded in each step, in an order that is Shoal's own: a sum of n terms is exact to n roundings of
the sum of their sizes (Higham, Accuracy and Stability of Numerical Algorithms, 4.2), and so is what is made
of it. Each value comes with the tolerance that this gives, and is rounded once more to the type of its
variable."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

import cftime
import netCDF4
import numpy as np
import xarray as xr
from streams_cases import DAY, Case, Entry, Field, File, Length, calendars, date_of

eps = float(np.finfo("f8").eps)
_months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]


class Wrong(AssertionError):
    pass


def need(condition, *what):
    if not condition:
        raise Wrong(" ".join(map(str, what)))


# ---- Windows


@dataclasses.dataclass
class Record:
    """Times are microseconds since the start of the run."""

    start: int  # of the window
    end: int
    bounds: tuple[int, int]
    steps: list[int]  # that are joined
    instant: int | None = None  # the step whose values are those of the instant
    first_end: int | None = None  # of a climatology: where the first of its windows ends


def microseconds(difference) -> int:
    return (difference.days * 86400 + difference.seconds) * 10**6 + difference.microseconds


def calendar_windows(case: Case, every: Length, offset: Length | None, times: list[int]):
    """[(start, end, which of the times)], in order: of half-open windows that times lie in, by xarray."""
    start = case.started
    shift = offset.count if offset and offset.kind == "time" else 0
    dates = [case.date(time - shift) for time in times]
    index = xr.DataArray(np.arange(len(times)), {"time": dates}, "time")
    groups = []
    if every.kind == "time":
        midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
        sampled = index.resample(time=f"{every.count}us", closed="right", label="left", origin=midnight)
        for label, which in sampled:
            if which.size:
                first = (
                    microseconds(label.item() - start if hasattr(label, "item") else label - start) + shift
                )
                groups.append((first, first + every.count, which.values.tolist()))
        return groups
    months = offset.count if offset and offset.kind == "months" else 0
    a_moment = case.date(1) - case.date(0)
    before = [date - a_moment for date in dates]  # its window holds a time, too, that ends with it
    number = [(12 * _counted(d.year, case.calendar) + d.month - 1 - months) // every.count for d in before]
    for n, which in index.groupby(xr.DataArray(number, dims="time", name="number")):
        ends = [_month_start(case.calendar, (int(n) + i) * every.count + months) for i in (0, 1)]
        groups.append((*(microseconds(end - start) + shift for end in ends), which.values.tolist()))
    # xarray has names for some of these windows.
    frequency = {1: "MS", 3: f"QS-{_months[months % 3]}", 12: f"YS-{_months[months % 12]}"}.get(every.count)
    if frequency:
        sampled = index.resample(time=frequency, closed="right", label="left")
        named = [(label, which.values.tolist()) for label, which in sampled if which.size]
        need(
            [(microseconds(label - start) + shift, which) for label, which in named]
            == [(first, which) for first, _, which in groups],
            "the test's own windows are not those of xarray",
            frequency,
        )
    return groups


def _has_year_zero(calendar: str) -> bool:
    return calendar not in ("standard", "julian")


def _counted(year: int, calendar: str) -> int:
    """Without a gap."""
    return year + 1 if year < 0 and not _has_year_zero(calendar) else year


def _month_start(calendar: str, number: int):
    year, month = divmod(number, 12)
    if year < 1 and not _has_year_zero(calendar):
        year -= 1
    return calendars[calendar](year, month + 1, 1)


def records_of(case: Case, file: File) -> list[Record]:
    ends = [int(end) for end in case.ends]
    run_end = ends[-1]
    started = [0, *ends[:-1]]
    joined = any(entry.operation != "instant" for entry in file.entries)
    instants = any(entry.operation == "instant" for entry in file.entries)
    since = microseconds(date_of(file.since, case.calendar) - case.started) if file.since else -(10**18)
    until = microseconds(date_of(file.until, case.calendar) - case.started) if file.until else 10**18
    out = []
    if case.sends_start and takes_start(case, file):
        start, end = 0, 0
        if file.every.kind != "steps":
            start, end, _ = calendar_windows(case, file.every, file.offset, [0])[0]
        if end == 0 and since <= start and end <= until:
            out.append(Record(0, 0, (0, 0), [], -1))
    if file.every.kind == "steps":
        for first in range(0, len(ends), file.every.count):
            steps = list(range(first, min(first + file.every.count, len(ends))))
            record = Record(started[first], ends[steps[-1]], (started[first], ends[steps[-1]]), steps)
            finished = len(steps) == file.every.count
            record.instant = steps[-1] if finished else None
            if since <= record.start and record.end <= until and (finished or file.unfinished == "write"):
                if joined or record.instant is not None:
                    out.append(record)
        return out
    windows = []
    for start, end, which in calendar_windows(case, file.every, file.offset, [0, *ends]):
        if since <= start and end <= until:
            windows.append((start, end, [i - 1 for i in which if i > 0]))
    if file.climatology:
        return climatology(case, file, [window for window in windows if window[2]])
    for start, end, steps in windows:
        if end <= 0:
            continue
        finished = run_end >= end
        # Of its steps, the first of which may begin before it, and the last end before its end.
        bounds = (started[steps[0]], ends[steps[-1]]) if steps else (max(start, 0), min(end, run_end))
        record = Record(start, min(end, run_end), bounds, steps)
        if finished and instants:
            record.instant = next(i for i, at in enumerate(ends) if at >= end)
        if record.instant is not None or (joined and steps and (finished or file.unfinished == "write")):
            out.append(record)
    return out


def takes_start(case: Case, file: File) -> bool:
    """Is the state at the start a record: has the file instants alone, of what does not hold for a step?"""
    names = {name for entry in file.entries for name in fields_of(case, entry)}
    only_instants = all(entry.operation == "instant" for entry in file.entries)
    return only_instants and all(case.fields[name].holds == "instant" for name in names)


def climatology(case: Case, file: File, windows) -> list[Record]:
    ends = case.ends
    month = file.offset.count if file.offset and file.offset.kind == "months" else 0
    shift = file.offset.count if file.offset and file.offset.kind == "time" else 0
    a_moment = case.date(1) - case.date(0)
    numbers = [(case.date(start - shift) + a_moment).month - 1 - month for start, _, _ in windows]
    slots = xr.DataArray([number % 12 // file.every.count for number in numbers], dims="window", name="slot")
    out = []
    if not windows:
        return out
    for _, which in xr.DataArray(np.arange(len(windows)), dims="window").groupby(slots):
        of_slot = [windows[i] for i in which.values.tolist()]
        steps = [step for _, _, all_steps in of_slot for step in all_steps]
        first = steps[0]
        bounds = (int(ends[first]) - case.steps[first], int(ends[steps[-1]]))
        out.append(
            Record(of_slot[0][0], min(of_slot[-1][1], int(ends[-1])), bounds, steps, None, of_slot[0][1])
        )
    return out


def time_of(case: Case, file: File, record: Record) -> int:
    if record.first_end is not None:  # in the first of the years
        return record.start + (record.first_end - record.start) // 2
    if all(entry.operation == "instant" for entry in file.entries):
        return record.start if file.time == "start" or record.instant < 0 else int(case.ends[record.instant])
    begin, end = record.bounds
    return {"start": begin, "end": end}.get(file.time, begin + (end - begin) // 2)


def path_of(case: Case, file: File, window_start: int) -> str:
    date = case.date(window_start)
    stamp = (
        f"{date.year:04d}-{date.month:02d}-{date.day:02d}T{date.hour:02d}{date.minute:02d}{date.second:02d}"
    )
    return f"{file.prefix}_{stamp}.nc" if file.new_file else file.name


def files_of(case: Case, file: File) -> dict[str, list[Record]]:
    """Name: records."""
    records = records_of(case, file)
    if not records:
        return {}
    if file.new_file is None:
        return {file.name: records}
    out = {}
    periods = calendar_windows(case, file.new_file, None, [record.start + 1 for record in records])
    for _, _, which in periods:
        out[path_of(case, file, records[which[0]].start)] = [records[i] for i in which]
    return out


# ---- Values


@dataclasses.dataclass
class Series:
    """Of a field or an expression: [steps, ...]."""

    x: np.ndarray  # doubles
    counts: np.ndarray  # is there a value?
    size: np.ndarray  # of the terms that a value was made of
    exact: bool
    like: Field
    sources: list[str]


def fields_of(case: Case, entry: Entry) -> list[str]:
    found = re.findall("[a-z]+", entry.expression or entry.field)
    return [name for name in found if name in case.fields]


def series_of(case: Case, entry: Entry) -> Series:
    def of_field(name):
        field = case.fields[name]
        x = field.values.astype("f8")
        counts = np.ones(x.shape, bool)
        if field.missing is not None:
            missing = np.array(field.missing).astype(field.type)
            counts = ~np.isnan(x) if math.isnan(field.missing) else field.values != missing
        return field, x, counts

    if not entry.expression:
        field, x, counts = of_field(entry.field)
        return Series(x, counts, np.abs(x), True, field, [entry.field])
    names = fields_of(case, entry)
    values, counts, size = {}, True, 0.0
    for name in names:
        field, x, is_there = of_field(name)
        values[name] = np.where(is_there, x, np.nan)
        size = size + 2 * np.abs(values[name]) + 2
    with np.errstate(all="ignore"):
        made = eval(entry.expression, {"sqrt": np.sqrt}, values)
    like = dataclasses.replace(case.fields["zeta"], type="f8", missing=math.nan)
    return Series(made, ~np.isnan(made), size, False, like, names)


def over_time(operation: str, of: Series, steps: list[int], weights: np.ndarray):
    """The value, its tolerance, and whether there is one, cell by cell."""
    x, v, size = of.x[steps], of.counts[steps], of.size[steps]
    has = v.any(0)
    n = len(steps)
    if operation == "count":
        return v.sum(0).astype("f8"), np.zeros(has.shape), np.ones(has.shape, bool)
    if n == 0:
        return np.zeros(has.shape), np.zeros(has.shape), np.zeros(has.shape, bool)
    largest = np.fmax.reduce(np.where(v, size, 0))
    one = np.zeros(has.shape) if of.exact else 4 * eps * largest
    cell = np.indices(has.shape, sparse=True)
    if operation == "first":
        return x[(v.argmax(0), *cell)], one, has
    if operation == "last":
        return x[(n - 1 - v[::-1].argmax(0), *cell)], one, has
    lowest, highest = np.where(v, x, np.inf).min(0), np.where(v, x, -np.inf).max(0)
    if operation == "minimum":
        return lowest, one, has
    if operation == "maximum":
        return highest, one, has
    if operation == "range":
        return np.where(has, highest - lowest, 0), 2 * one, has
    exact = np.where(v, x, 0).astype(np.longdouble)
    if operation == "sum":
        return exact.sum(0).astype("f8"), (n + 4 * (not of.exact)) * eps * np.where(v, size, 0).sum(0), has
    w = np.where(v, weights[steps].reshape((n,) + (1,) * (x.ndim - 1)), 0).astype(np.longdouble)
    total = np.where(has, w.sum(0), 1)
    bound = (n + 8) * eps
    mean = (w * exact).sum(0) / total
    if operation in ("mean", "diurnal"):
        return mean.astype("f8"), bound * largest, has
    if operation == "rms":
        return np.sqrt((w * exact**2).sum(0) / total).astype("f8"), bound * largest, has
    variance = ((w * (exact - mean) ** 2).sum(0) / total).astype("f8")
    deviation = np.sqrt(variance)
    if operation == "variance":
        return variance, 4 * bound * (variance + deviation * largest) + (4 * bound * largest) ** 2, has
    return deviation, 4 * bound * (deviation + largest), has


def chosen_cells(case: Case, file: File, field: Field) -> list[np.ndarray]:
    """Of each dimension of the field."""
    grid = case.grids.get(field.grid)
    out = []
    for dim in field.dims:
        keep = np.ones(case.lengths[dim], bool)
        if dim in file.indices:
            first, end, *stride = file.indices[dim]
            keep[:] = False
            keep[first : None if end < 0 else end : stride[0] if stride else 1] = True
        of_levels = file.levels.get(dim) if isinstance(file.levels, dict) else file.levels
        if of_levels and (grid is None or dim not in grid.dims):
            keep &= np.isin(np.arange(len(keep)), of_levels)
        if dim in file.region and case.axes.get(dim, (None,))[0] is not None:
            keep &= lies_in(file.region[dim], case.axes[dim][0], case.axes[dim][2])
        out.append(keep)
    if grid and set(grid.coordinates) & set(file.region):  # all indices of cells that lie in it
        inside = np.ones(grid.shape, bool)
        if grid.unowned is not None:
            inside &= ~grid.unowned
        for name, (values, attributes) in grid.coordinates.items():
            if name in file.region:
                inside &= lies_in(file.region[name], values, attributes)
        for d, where in enumerate(np.nonzero(inside)):
            out[len(field.dims) - len(grid.dims) + d] &= np.isin(np.arange(grid.shape[d]), where)
    return [np.flatnonzero(keep) for keep in out]


def lies_in(ends, values, attributes):
    low, high = ends
    if "east" not in attributes.get("units", ""):
        return (values >= low) & (values <= high)
    width = high - low
    if width >= 360:
        return np.ones(values.shape, bool)
    return (values - low) % 360 <= width % 360


def over_space(case: Case, file: File, like: Field, cells, value, tolerance, has, lead: int):
    """The same with the dimensions that go joined; `lead` dimensions come before those of the field."""
    gone, operation, weighted = file.reduce
    grid = case.grids.get(like.grid)
    axes = tuple(lead + d for d, dim in enumerate(like.dims) if dim in gone)
    weights = np.ones(value.shape)
    if weighted == "automatic" and operation in ("mean", "sum"):
        for d, dim in enumerate(like.dims):
            if dim in gone and (grid is None or dim not in grid.dims):
                thickness = np.abs(np.diff(case.axes[dim][1], axis=1)[:, 0])[cells[d]]
                weights = weights * thickness.reshape([-1 if i == lead + d else 1 for i in range(value.ndim)])
        if grid and set(gone) & set(grid.dims):
            weights = weights * grid.area[np.ix_(*cells[len(like.dims) - len(grid.dims) :])]
    any_there = has.any(axes)
    if operation == "minimum":
        return np.where(has, value, np.inf).min(axes), np.where(has, tolerance, 0).max(axes), any_there
    if operation == "maximum":
        return np.where(has, value, -np.inf).max(axes), np.where(has, tolerance, 0).max(axes), any_there
    terms = np.where(has, weights * np.where(has, value, 0), 0)
    joined = math.prod(value.shape[axis] for axis in axes)
    total = terms.astype(np.longdouble).sum(axes)
    tolerance = np.where(has, weights * tolerance, 0).sum(axes) + (joined + 4) * eps * np.abs(terms).sum(axes)
    if operation == "mean":
        weight = np.where(has, weights, 0).sum(axes)
        any_there = any_there & (weight > 0)
        weight = np.where(weight > 0, weight, 1)
        total, tolerance = total / weight, tolerance / weight
    return total.astype("f8"), tolerance, any_there


def values_of(case: Case, file: File, entry: Entry, record: Record, of: Series):
    """The value, its tolerance, and whether there is one, in the dimensions of the variable."""
    like = of.like
    grid = case.grids.get(like.grid)
    cells = chosen_cells(case, file, like)
    at = np.ix_(*cells) if cells else ()
    steps = [record.instant] if entry.operation == "instant" else record.steps
    unsent = any((name, step) in case.unsent for name in of.sources for step in steps)
    counts = grid.counts() if grid else np.ones((), bool)
    there = np.broadcast_to(counts, of.x.shape[1:])[at]
    weights = np.array(case.steps, np.int64)
    if steps in ([], [None]) or unsent:
        shape = ((entry.bins,) if entry.bins else ()) + there.shape
        value, tolerance, has = np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
    elif entry.operation == "instant":
        step = record.instant
        one = np.zeros(there.shape) if of.exact else 4 * eps * of.size[step][at]
        value, tolerance, has = of.x[step][at], one, of.counts[step][at]
    elif entry.operation == "diurnal":
        bins = [bin_of(case, step, entry.bins) for step in steps]
        parts = [
            over_time("diurnal", of, [s for s, b in zip(steps, bins) if b == bin], weights)
            for bin in range(entry.bins)
        ]
        value, tolerance, has = (np.stack([part[i][at] for part in parts]) for i in range(3))
    else:
        value, tolerance, has = (part[at] for part in over_time(entry.operation, of, steps, weights))
    has = has & there
    if file.reduce:
        lead = value.ndim - len(like.dims)
        value, tolerance, has = over_space(case, file, like, cells, value, tolerance, has, lead)
    return value, tolerance, has


def bin_of(case: Case, step: int, bins: int) -> int:
    """The part of the day in which the middle of the step lies."""
    start = case.started
    of_day = ((start.hour * 60 + start.minute) * 60 + start.second) * 10**6 + start.microsecond
    middle = of_day + int(case.ends[step]) - case.steps[step] + case.steps[step] // 2
    return middle % DAY * bins // DAY


def type_of(file: File, entry: Entry, like: Field) -> str:
    if entry.type:
        return {"double": "f8", "float": "f4"}[entry.type]
    fractions = entry.operation in ("mean", "variance", "standard_deviation", "rms", "diurnal")
    if file.reduce:
        fractions = fractions or file.reduce[1] == "mean" or file.reduce[2] == "automatic"
    if entry.operation == "count" and not fractions:
        return "i4"
    return "f8" if fractions and like.type[0] != "f" else like.type


def fill_of(kind: str, like: Field, own: bool):
    """The field's missing value, where the type has it; otherwise netCDF's, as a double holds it. own: what
    was made is no value of the field."""
    if like.missing is not None and not own:
        missing = np.array(like.missing).astype(like.type)
        with np.errstate(over="ignore", invalid="ignore"):
            there = missing.astype(kind)
        if kind[0] == "f" and (np.isnan(missing) or np.isfinite(there)):
            return there
        if kind[0] != "f" and there == missing:
            return there
    return np.array(float(netCDF4.default_fillvals[kind])).astype(kind)


# ---- Files


def check_variable(case, file, entry, path, dataset, records):
    variable = dataset.variables[entry.name]
    of = series_of(case, entry)
    kind = type_of(file, entry, of.like)
    need(variable.dtype == np.dtype(kind), path, entry.name, "is", variable.dtype, "and not", kind)
    fill = np.array(variable.getncattr("_FillValue"))
    expected_fill = fill_of(kind, of.like, bool(entry.expression) or entry.operation == "count")
    need(
        np.array_equal(fill, expected_fill, equal_nan=kind[0] == "f"),
        path,
        entry.name,
        "fill",
        fill,
        expected_fill,
    )
    found_all = variable[:]
    for r, record in enumerate(records):
        value, tolerance, has = values_of(case, file, entry, record, of)
        found = np.asarray(found_all[r])
        need(found.shape == value.shape, path, entry.name, "has cells", found.shape, "not", value.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            expected = np.where(has, np.where(has, value, 0).astype(kind), fill)
            exact = (tolerance == 0) & np.ones(value.shape, bool)
            wide = tolerance + (np.finfo(kind).eps * np.abs(value) if kind[0] == "f" else 0)
            off = np.abs(found.astype("f8") - expected.astype("f8"))
            same = (found == expected) | (np.isnan(found) & np.isnan(expected) if kind[0] == "f" else False)
        good = np.where(has & ~exact, same | (off <= wide), same)
        if not good.all():
            cell = tuple(int(i[0]) for i in np.nonzero(~np.atleast_1d(good)))
            cells = [np.atleast_1d(a)[cell] for a in (found, expected, wide, has)]
            raise Wrong(
                f"{path}: {entry.name} ({entry.text()}), record {r} of window {record.start / 1e6} to "
                f"{record.end / 1e6} s, steps {record.steps}, instant {record.instant}: {int((~good).sum())} "
                f"of {good.size} cells are wrong, the first {cell}: found {cells[0]!r}, expected "
                f"{cells[1]!r}, tolerance {cells[2]}, counts {cells[3]}"
            )


def check_times(case, file, path, dataset, records):
    unit = {"seconds": 10**6, "minutes": 60 * 10**6, "hours": 3600 * 10**6, "days": DAY}[file.time_units]
    time = dataset.variables["time"]
    need(time.calendar == case.calendar, path, "calendar", time.calendar)
    found = time[:]
    need(len(found) == len(records), path, "has", len(found), "records, not", len(records))

    def same(values, expected, what):
        expected = np.array([at / unit for at in expected])
        need(
            np.allclose(values, expected, rtol=4e-16, atol=0), path, what, values.tolist(), expected.tolist()
        )

    times = [time_of(case, file, record) for record in records]
    same(found, times, "time")
    # As others read it.
    for value, at in [(found[0], times[0]), (found[-1], times[-1])]:
        date = cftime.num2date(value, time.units, time.calendar)
        off = abs(microseconds(date - case.date(at)))
        need(off <= 1 + 4e-16 * abs(value) * unit, path, "time is read as", date, "and not", case.date(at))
    if all(entry.operation == "instant" for entry in file.entries):
        need("bounds" not in time.ncattrs(), path, "bounds of instants")
        return
    name = time.climatology if file.climatology else time.bounds
    bounds = dataset.variables[name][:]
    for i in (0, 1):
        same(bounds[:, i], [record.bounds[i] for record in records], f"{name} {i}")
    if file.fms:
        same(dataset.variables["average_T1"][:], [record.bounds[0] for record in records], "average_T1")
        same(dataset.variables["average_T2"][:], [record.bounds[1] for record in records], "average_T2")
        found = dataset.variables["average_DT"][:]
        lengths = [(record.bounds[1] - record.bounds[0]) / unit for record in records]
        need(np.allclose(found, lengths, rtol=1e-12, atol=1e-9), path, "average_DT", found, lengths)


def check_coordinates(case, file, path, dataset):
    """Axes, and coordinates of grids, of the chosen cells."""
    for entry in file.entries:
        like = series_of(case, entry).like
        gone = file.reduce[0] if file.reduce else ()
        cells = dict(zip(like.dims, chosen_cells(case, file, like)))
        for dim in like.dims:
            values, bounds, _ = case.axes.get(dim, (None, None, None))
            if dim in gone or values is None:
                continue
            need(np.array_equal(dataset.variables[dim][:], values[cells[dim]]), path, "axis", dim)
            if bounds is not None:
                found = dataset.variables[dataset.variables[dim].bounds][:]
                need(np.array_equal(found, bounds[cells[dim]]), path, "bounds of axis", dim)
        grid = case.grids.get(like.grid)
        if grid is None or set(gone) & set(grid.dims):
            continue
        at = np.ix_(*(cells[dim] for dim in grid.dims))
        there = np.ones(grid.shape, bool)
        if grid.unowned is not None:
            there &= ~grid.unowned.reshape(grid.cut_shape + (1,) * grid.uncut)
        for name, (values, _) in grid.coordinates.items():
            found = dataset.variables[name][:]
            need(np.array_equal(found[there[at]], values[at][there[at]]), path, "coordinate", name)


def check(case: Case, folder: Path):
    """Raises Wrong."""
    all_expected = {}
    for file in case.files:
        for name, records in files_of(case, file).items():
            all_expected[name] = (file, records)
    there = sorted(path.name for path in folder.glob("*.nc"))
    need(there == sorted(all_expected), "there are the files", there, "and not", sorted(all_expected))
    for name, (file, records) in all_expected.items():
        with netCDF4.Dataset(folder / name) as dataset:
            dataset.set_auto_maskandscale(False)
            check_times(case, file, name, dataset, records)
            check_coordinates(case, file, name, dataset)
            for entry in file.entries:
                check_variable(case, file, entry, name, dataset, records)


def compare(one: Path, other: Path):
    """All files of two folders: the same names, dimensions, attributes, and bits. Raises Wrong."""
    names = [sorted(path.name for path in folder.glob("*.nc")) for folder in (one, other)]
    need(names[0] == names[1], "files", names[0], "on one number of ranks,", names[1], "in parts")
    for name in names[0]:
        with netCDF4.Dataset(one / name) as a, netCDF4.Dataset(other / name) as b:
            a.set_auto_maskandscale(False)
            b.set_auto_maskandscale(False)
            need(repr(a.dimensions) == repr(b.dimensions), name, "dimensions")
            need(list(a.variables) == list(b.variables), name, list(a.variables), list(b.variables))
            for x, y in [(a, b), *((a.variables[key], b.variables[key]) for key in a.variables)]:
                mine, others = ({key: repr(of.getncattr(key)) for key in of.ncattrs()} for of in (x, y))
                need(mine == others, name, "attributes", mine, others)
            for key, variable in a.variables.items():
                x, y = variable[:], b.variables[key][:]
                if x.shape != y.shape or x.tobytes() != y.tobytes():
                    raise Wrong(f"{name}: {key} is not the same in parts: {x.tolist()} and {y.tolist()}")
