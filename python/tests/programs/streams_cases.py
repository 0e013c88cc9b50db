# SPDX-License-Identifier: BSD-3-Clause
"""Random runs of a model, and configurations for its streams. A seed gives one case, the same on every rank;
nothing here knows Shoal."""

from __future__ import annotations

import dataclasses
import datetime
import math
import random

import cftime
import numpy as np

SECOND, MINUTE, HOUR, DAY = 10**6, 60 * 10**6, 3600 * 10**6, 86400 * 10**6

calendars = {
    "standard": cftime.DatetimeGregorian,
    "proleptic_gregorian": cftime.DatetimeProlepticGregorian,
    "julian": cftime.DatetimeJulian,
    "noleap": cftime.DatetimeNoLeap,
    "all_leap": cftime.DatetimeAllLeap,
    "360_day": cftime.Datetime360Day,
}


@dataclasses.dataclass
class Length:
    """A length of time: of "steps", "months" or "time" in microseconds."""

    kind: str
    count: int
    text: str

    @property
    def shortest(self) -> int:
        """Microseconds of the shortest window, in every calendar."""
        return self.count * {"steps": 1, "months": 21 * DAY, "time": 1}[self.kind]


def _length(text: str) -> Length:
    number, unit = text.split()
    unit = unit.rstrip("s") or "s"
    if unit == "step":
        return Length("steps", int(number), text)
    if unit in ("month", "year"):
        return Length("months", int(number) * (12 if unit == "year" else 1), text)
    size = {"s": SECOND, "min": MINUTE, "h": HOUR, "day": DAY}[unit]
    return Length("time", int(float(number) * size), text)


_everies = [
    _length(text)
    for text in (
        "90.5 s, 15 min, 20 min, 1 h, 3 h, 6 h, 7 h, 12 h, 1 day, 36 h, 2 days, 5 days, 10 days, 1 month, "
        "2 months, 3 months, 5 months, 6 months, 1 year, 2 years, 1 step, 2 steps, 5 steps, 7 steps"
    ).split(", ")
]
_time_offsets = [_length(text) for text in ("6 h", "-90 min", "1 day", "-36 h", "0.25 s")]
_month_offsets = [_length(text) for text in ("1 month", "-1 month", "2 months", "-14 months")]
_new_files = [
    _length(text) for text in ("1 h", "1 day", "3 days", "1 month", "3 months", "1 year", "2 years")
]

operations = ["instant", "first", "last", "mean", "sum", "minimum", "maximum", "range", "variance"]
operations += ["standard_deviation", "rms", "count", "diurnal"]


@dataclasses.dataclass
class Grid:
    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    uncut: int = 0  # of the last dimensions
    active: np.ndarray | None = None  # None: no mask; of the shape of what is cut
    unowned: np.ndarray | None = None  # cells that no rank has; then it is always a map
    area: np.ndarray | None = None
    coordinates: dict = dataclasses.field(default_factory=dict)

    @property
    def cut_shape(self) -> tuple[int, ...]:
        return self.shape[: len(self.shape) - self.uncut]

    def counts(self) -> np.ndarray:
        """Cells that have values."""
        counts = np.ones(self.cut_shape, bool)
        if self.active is not None:
            counts &= self.active
        if self.unowned is not None:
            counts &= ~self.unowned
        return np.broadcast_to(counts.reshape(self.cut_shape + (1,) * self.uncut), self.shape)


@dataclasses.dataclass
class Field:
    name: str
    dims: tuple[str, ...]
    grid: str | None
    type: str
    missing: float | None
    values: np.ndarray  # [steps + 1, ...], of the type; the last is the state at the start
    holds: str
    sent_as: str = ""  # type of the arrays that are sent
    masked_arrays: bool = False


@dataclasses.dataclass
class Entry:
    """Of `fields`."""

    name: str
    operation: str
    bins: int = 0
    field: str = ""
    expression: str = ""
    type: str = ""

    def text(self) -> str:
        what = f'expression = "{self.expression}"' if self.expression else f'field = "{self.field}"'
        operation = f"diurnal({self.bins})" if self.bins else self.operation
        kind = f', type = "{self.type}"' if self.type else ""
        return f'{{ {what}, name = "{self.name}", operation = "{operation}"{kind} }}'


@dataclasses.dataclass
class File:
    """A table [[file]]."""

    prefix: str
    every: Length
    entries: list[Entry]
    offset: Length | None = None
    new_file: Length | None = None
    climatology: bool = False
    region: dict = dataclasses.field(default_factory=dict)
    indices: dict = dataclasses.field(default_factory=dict)
    levels: list | dict | None = None
    reduce: tuple | None = None  # dims, operation, weights
    since: str = ""  # `from`
    until: str = ""
    missing: str = "error"
    unfinished: str = "drop"
    time: str = "automatic"
    time_units: str = "seconds"
    fms: bool = False
    settings: dict = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.prefix + ("_%Y-%m-%dT%H%M%S.nc" if self.new_file else ".nc")

    def text(self, folder) -> str:
        lines = ["[[file]]", f'name = "{folder}/{self.name}"', f'every = "{self.every.text}"']
        for key in ("offset", "new_file"):
            if getattr(self, key):
                lines.append(f'{key} = "{getattr(self, key).text}"')
        if self.climatology:
            lines.append("climatology = true")
        for key in ("region", "indices"):
            if table := getattr(self, key):
                inner = ", ".join(f"{name} = {list(value)}" for name, value in table.items())
                lines.append(f"{key} = {{ {inner} }}")
        if isinstance(self.levels, dict):
            lines.append(f"levels = {{ {', '.join(f'{k} = {v}' for k, v in self.levels.items())} }}")
        elif self.levels:
            lines.append(f"levels = {self.levels}")
        if self.reduce:
            dims, operation, weights = self.reduce
            names = ", ".join(f'"{dim}"' for dim in dims)
            lines.append(f'reduce = {{ dims = [{names}], operation = "{operation}", weights = "{weights}" }}')
        for key, value in (("from", self.since), ("until", self.until)):
            if value:
                lines.append(f'{key} = "{value}"')
        for key in ("missing", "unfinished", "time", "time_units"):
            lines.append(f'{key} = "{getattr(self, key)}"')
        if self.fms:
            lines.append("fms_attributes = true")
        lines += [f'{key} = "{value}"' for key, value in self.settings.items()]
        lines.append("fields = [" + ", ".join(entry.text() for entry in self.entries) + "]")
        return "\n".join(lines) + "\n"


@dataclasses.dataclass
class Job:
    ranks: int
    first: int  # steps
    end: int
    cut: int  # seed of how the grids are cut
    closes: bool = True  # or is dropped, behind its checkpoint


@dataclasses.dataclass
class Case:
    seed: int
    calendar: str
    start: str
    steps: list[int]  # microseconds
    axes: dict  # name: (values or None, bounds or None, attributes)
    lengths: dict  # of dimensions
    grids: dict[str, Grid]
    fields: dict[str, Field]
    files: list[File]
    whole: Job
    parts: list[Job]
    unsent: set  # (field, step)
    sends_start: bool  # the state at the start, as step -1

    @property
    def ends(self) -> np.ndarray:
        """Of the steps, microseconds since the start."""
        return np.cumsum(np.array(self.steps, np.int64))

    @property
    def started(self):
        return date_of(self.start, self.calendar)

    def date(self, microseconds: int):
        return self.started + datetime.timedelta(microseconds=int(microseconds))

    def text(self, folder="FOLDER") -> str:
        return "".join(file.text(folder) for file in self.files)

    def about(self) -> str:
        """For the message of a failure."""
        out = [f"seed {self.seed}: {self.calendar} from {self.start}, jobs {[self.whole, *self.parts]}"]
        out.append(f"{'with' if self.sends_start else 'without'} the state at the start")
        out.append(f"steps in seconds: {[step / 1e6 for step in self.steps]}")
        for grid in self.grids.values():
            out.append(
                f"grid {grid.name} {dict(zip(grid.dims, grid.shape))} uncut={grid.uncut} "
                f"mask={grid.active is not None} "
                f"unowned={0 if grid.unowned is None else int(grid.unowned.sum())}"
            )
        for field in self.fields.values():
            out.append(
                f"field {field.name} {field.type} {field.dims} missing={field.missing} {field.holds} "
                f"sent as {field.sent_as}{' masked' if field.masked_arrays else ''}"
            )
        if self.unsent:
            out.append(f"not sent: {sorted(self.unsent)}")
        return "\n".join([*out, self.text()])


def date_of(text: str, calendar: str):
    day, _, time = text.partition(" ")
    year, month, day = (int(part) for part in day.split("-"))
    hours, minutes, seconds = (time or "00:00:00").split(":")
    whole, _, fraction = seconds.partition(".")
    micro = int(fraction.ljust(6, "0")) if fraction else 0
    return calendars[calendar](year, month, day, int(hours), int(minutes), int(whole), micro)


def text_of(date) -> str:
    text = (
        f"{date.year:04d}-{date.month:02d}-{date.day:02d} {date.hour:02d}:{date.minute:02d}:{date.second:02d}"
    )
    return text + (f".{date.microsecond:06d}" if date.microsecond else "")


class Maker:
    def __init__(self, seed: int, most_ranks: int):
        self.seed, self.most_ranks = seed, most_ranks
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def some(self, items, least=1):
        """Some of them, in any order."""
        items = list(items)
        return self.random.sample(items, self.random.randint(min(least, len(items)), len(items)))

    def case(self) -> Case:
        pick = self.random
        self.calendar = pick.choice(list(calendars))
        self.start = self.make_start()
        self.steps, self.longest = self.make_steps()
        self.ends = np.cumsum(np.array(self.steps, np.int64))
        self.make_axes()
        self.make_grids()
        self.make_fields()
        all_warn = self.chance(0.2)
        self.files = [self.make_file(i, all_warn) for i in range(pick.choice([1, 1, 2, 3]))]
        n = len(self.steps)
        unsent = set()
        if all_warn:
            unsent = {(name, step) for name in self.fields for step in range(n) if self.chance(0.04)}
        whole = Job(pick.randint(1, self.most_ranks), 0, n, pick.getrandbits(30))
        ends = sorted(pick.sample(range(1, n), min(pick.choice([0, 1, 1, 2, 3]), n - 1))) + [n]
        parts = [
            Job(pick.randint(1, self.most_ranks), first, end, pick.getrandbits(30), self.chance(0.5))
            for first, end in zip([0, *ends], ends)
        ]
        parts[-1].closes = True
        return Case(
            self.seed,
            self.calendar,
            self.start,
            self.steps,
            self.axes,
            self.lengths,
            self.grids,
            self.fields,
            self.files,
            whole,
            parts,
            unsent,
            self.chance(0.4),
        )

    # ---- Time

    def make_start(self) -> str:
        pick = self.random
        days = [
            "2000-02-27",
            "1582-09-28",
            "1582-10-03",
            "0001-12-30",
            "1999-12-29",
            "2023-06-30",
            "1850-01-01",
        ]
        days += ["1900-02-28", "2001-01-31" if self.calendar != "360_day" else "2001-01-30"]
        day = pick.choice(days)
        if self.chance(0.4):
            day = f"{pick.randint(2, 2400):04d}-{pick.randint(1, 12):02d}-{pick.randint(1, 28):02d}"
            if self.calendar == "standard" and "1582-10-05" <= day <= "1582-10-14":  # there are no such days
                day = "1582-10-04"
        time = pick.choice(["", "", " 06:00:00", " 13:30:00", " 23:59:59.5", " 12:34:56.000007", " 23:45:00"])
        return day + time

    def make_steps(self) -> tuple[list[int], int]:
        pick = self.random
        longest = pick.choice([5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY, 5 * DAY, 20 * DAY, 80 * DAY])
        n = pick.randint(5, 40)
        how = pick.choice(["even", "even", "uneven", "two lengths", "to the day"])
        if how == "even":
            return [longest] * n, longest
        if how == "two lengths":
            short = longest // pick.choice([2, 3, 4])
            return [pick.choice([short, longest]) for _ in range(n)], longest
        if how == "uneven":
            return [pick.randint(1, longest) for _ in range(n)], longest
        steps: list[int] = []  # uneven, but the ends of days are ends of steps
        start = date_of(self.start, self.calendar)
        at = ((start.hour * 60 + start.minute) * 60 + start.second) * SECOND + start.microsecond
        while len(steps) < n:
            left = DAY - at % DAY
            step = min(left, longest, max(1, pick.randint(1, min(longest, DAY)) // MINUTE * MINUTE))
            steps.append(step)
            at += step
        return steps, longest

    # ---- The model

    def make_axes(self):
        pick = self.random
        self.lengths = {
            "lev": pick.randint(1, 4),
            "y": pick.randint(1, 6),
            "x": pick.randint(1, 9),
            "cell": pick.randint(1, 23),
            "z": pick.randint(1, 3),
        }
        self.axes = {}
        n = self.lengths["lev"]
        bounds = np.cumsum([0, *(pick.randint(1, 9) for _ in range(n))]).astype(float)
        pairs = np.stack([bounds[:-1], bounds[1:]], 1)
        attributes = {"units": "m", "positive": "down", "standard_name": "depth"}
        self.axes["lev"] = (pairs.mean(1), pairs if self.chance(0.7) else None, attributes)
        self.axes["z"] = (
            (None, None, {}) if self.chance(0.5) else (np.arange(self.lengths["z"]) + 0.5, None, {})
        )
        if self.chance(0.7):
            values = -10.0 + 2.5 * np.arange(self.lengths["y"])
            attributes = {"units": "degrees_north", "standard_name": "latitude"}
            self.axes["y"] = (values[:: pick.choice([1, -1])], None, attributes)
        if self.chance(0.7):
            values = pick.choice([0.5, 170.0, 340.0, -20.0]) + 5.0 * np.arange(self.lengths["x"])
            self.axes["x"] = (values, None, {"units": "degrees_east", "standard_name": "longitude"})

    def make_grids(self):
        sea = Grid("sea", ("y", "x"), (self.lengths["y"], self.lengths["x"]))
        self.grids = {"sea": sea}
        if self.chance(0.5):
            uncut = int(self.chance(0.4))
            dims = ("cell", "z")[: 1 + uncut]
            self.grids["mesh"] = Grid("mesh", dims, tuple(self.lengths[dim] for dim in dims), uncut)
        for grid in self.grids.values():
            if self.chance(0.5):
                grid.active = self.numbers.random(grid.cut_shape) < self.random.choice([0.8, 0.8, 0.5, 0.0])
            if self.chance(0.15):
                grid.unowned = self.numbers.random(grid.cut_shape) < 0.2
            if self.chance(0.7):
                grid.area = np.round(self.numbers.random(grid.shape) * 4, 2) * (
                    self.numbers.random(grid.shape) < 0.9
                )
        if self.chance(0.5):  # curvilinear
            y, x = np.ix_(range(sea.shape[0]), range(sea.shape[1]))
            lon = self.random.choice([350.0, 10.0]) + 3.0 * x + 0.5 * y
            sea.coordinates["lon"] = (lon % 360, {"units": "degrees_east", "standard_name": "longitude"})
            sea.coordinates["lat"] = (
                40.0 + 2.0 * y - 0.25 * x,
                {"units": "degrees_north", "standard_name": "latitude"},
            )
        if "mesh" in self.grids and self.grids["mesh"].uncut == 0 and self.chance(0.5):
            values = np.round(self.numbers.random(self.grids["mesh"].shape) * 90, 1)
            self.grids["mesh"].coordinates["mesh_lat"] = (values, {"units": "degrees_north"})

    def make_fields(self):
        kinds = {
            "temp": (("lev", "y", "x"), "sea"),
            "zeta": (("y", "x"), "sea"),
            "eta": (("y", "x"), "sea"),
            "number": (("y", "x"), "sea"),
            "total": ((), None),
            "profile": (("lev",), None),
        }
        if mesh := self.grids.get("mesh"):
            kinds["tracer"] = (mesh.dims, "mesh")
            kinds["deep"] = (("lev", *mesh.dims), "mesh")
        self.fields = {}
        for name in self.some(kinds, 2):
            self.fields[name] = self.make_field(name, *kinds[name])

    def make_field(self, name, dims, grid) -> Field:
        pick, numbers = self.random, self.numbers
        kind = pick.choice(["f4", "f4", "f8"])
        if name == "number":
            kind = pick.choice(["i1", "u1", "i2", "u2", "i4", "i8"])
        shape = (len(self.steps) + 1, *(self.lengths[dim] for dim in dims))
        values = numbers.normal(pick.choice([0.0, 0.0, 300.0]), 10 ** pick.uniform(-2, 2), shape)
        if kind[0] != "f":
            values = numbers.integers(0 if kind[0] == "u" else -100, 100, shape)
        elif self.chance(0.2):
            values = np.round(values)
        values = values.astype(kind)
        missing = None
        if self.chance(0.5):
            missing = pick.choice([-999.0, 1e20, math.nan, 0.1, 1e300 if kind == "f8" else -1e30])
            if kind[0] != "f":
                missing = 100.0
            gaps = numbers.random(shape) < pick.choice([0.1, 0.4, 0.9])
            gaps |= numbers.random(shape[1:]) < 0.1
            values[gaps] = np.array(missing).astype(kind)
        elif kind[0] == "f" and self.chance(0.1):
            values[numbers.random(shape) < 0.05] = math.nan
        field = Field(name, dims, grid, kind, missing, values, pick.choice(["instant", "step"]), kind)
        if self.chance(0.2) and kind != "i8":
            field.sent_as = "f8" if kind != "f8" else "f4"
            if field.sent_as == "f4" and missing == 1e300:
                field.sent_as = "f8"
            elif field.sent_as == "f4":
                gaps = values == missing
                field.values = np.where(gaps, values, values.astype("f4"))
        if missing is not None and missing == missing and self.chance(0.3):
            field.masked_arrays = True
        return field

    # ---- Configurations

    def make_file(self, number: int, all_warn: bool) -> File:
        pick = self.random
        fits = [e for e in _everies if e.kind == "steps" or self.longest <= e.shortest <= 60 * self.longest]
        every = pick.choice(fits)
        file = File(f"file{number}", every, [])
        if every.kind == "time" and self.chance(0.3):
            file.offset = pick.choice(_time_offsets)
        if every.kind == "months":
            if self.chance(0.3):
                file.offset = pick.choice(_month_offsets + _time_offsets)
            file.climatology = 12 % every.count == 0 and self.chance(0.4)
        if not file.climatology and self.chance(0.4):
            span = int(self.ends[-1])
            fits = [length for length in _new_files if span <= 12 * length.shortest]
            if fits:
                file.new_file = pick.choice(fits)
        fields = self.some(self.fields)
        if self.chance(0.3):
            fields = self.choose_reduction(file, fields)
        self.choose_cells(file, fields)
        file.entries = self.make_entries(file, fields)
        for key in ("since", "until"):
            if self.chance(0.12):
                at = pick.choice([0, *map(int, self.ends)]) + pick.choice([0, 0, -1, 1])
                date = date_of(self.start, self.calendar) + datetime.timedelta(microseconds=max(0, at))
                setattr(file, key, text_of(date))
        if all_warn:
            file.missing = "warn"
        file.unfinished = pick.choice(["drop", "write"])
        if every.kind == "steps" and file.until:
            file.unfinished = "drop"  # a job may end with a part of a window that then ends behind `until`
        file.time = pick.choice(["automatic", "automatic", "start", "middle", "end"])
        if file.climatology:
            file.time = "automatic"
        file.time_units = pick.choice(["seconds", "minutes", "hours", "days"])
        file.fms = self.chance(0.1)
        file.settings["commit"] = pick.choice(["record", "close", "close"])
        file.settings["format"] = pick.choice(["cdf5", "cdf5", "netcdf4"])
        if file.settings["format"] == "netcdf4" and self.chance(0.3):
            file.settings["compression"] = "shuffle+deflate:1"
        if self.chance(0.15):
            file.settings["background"] = "thread"
        return file

    def dims_of(self, fields) -> list[str]:
        return sorted({dim for name in fields for dim in self.fields[name].dims})

    def choose_reduction(self, file: File, fields: list[str]) -> list[str]:
        pick = self.random
        dims = self.dims_of(fields)
        if not dims:
            return fields
        choices = [d for d in (["y", "x"], ["lev", "y", "x"], ["cell"], ["cell", "z"]) if set(d) <= set(dims)]
        gone = pick.choice([*choices, *choices, [pick.choice(dims)]])
        fields = [name for name in fields if set(gone) & set(self.fields[name].dims)]
        operation = pick.choice(["mean", "mean", "sum", "minimum", "maximum"])
        weights = pick.choice(["automatic", "automatic", "none"])
        for name in fields:
            field = self.fields[name]
            grid = self.grids.get(field.grid)
            of_grid = grid.dims if grid else ()
            if set(gone) & set(of_grid) and grid.area is None:
                weights = "none"
            for dim in set(gone) & set(field.dims) - set(of_grid):
                if self.axes.get(dim, (None, None))[1] is None:
                    weights = "none"
        file.reduce = (gone, operation, weights)
        return fields

    def choose_cells(self, file: File, fields: list[str]):
        """Regions, indices, levels: at most one of them for each dimension, mostly."""
        pick = self.random
        of_grids = {dim for grid in self.grids.values() for dim in grid.dims}
        grids = sorted({self.fields[name].grid for name in fields} - {None})
        for dim in self.dims_of(fields):
            length = self.lengths[dim]
            values = self.axes.get(dim, (None,))[0]
            if not self.chance(0.25):
                continue
            kind = pick.choice(["indices", "region" if values is not None else "indices", "levels"])
            if kind == "levels" and dim not in of_grids:
                file.levels = {**(file.levels or {}), dim: sorted(self.some(range(length)))}
            elif kind == "region" and values is not None:
                one, two = float(pick.choice(values)), float(pick.choice(values))
                if dim != "x":
                    one, two = min(one, two), max(one, two)
                elif self.chance(0.3):
                    one -= 360
                file.region[dim] = (one, two)
            else:
                first = pick.randrange(length)
                ends = pick.choice([-1, pick.randint(first + 1, length)])
                stride = pick.choice([(), (2,), (3,)])
                file.indices[dim] = (first, ends, *stride)
        if isinstance(file.levels, dict) and len(file.levels) == 1 and self.chance(0.5):
            if all(len(set(self.fields[name].dims) - of_grids) < 2 for name in fields):
                file.levels = next(iter(file.levels.values()))
        of_sea = {"y", "x"} & {*file.region, *file.indices}
        for name in grids:
            grid = self.grids[name]
            if not grid.coordinates or of_sea or "cell" in file.indices or not self.chance(0.3):
                continue
            counts = np.argwhere(grid.counts())
            if len(counts) == 0:
                continue
            one, two = (tuple(pick.choice(counts)) for _ in range(2))
            for key in self.some(grid.coordinates):
                values = grid.coordinates[key][0]
                low, high = sorted((float(values[one]), float(values[two])))
                file.region[key] = (low, high)

    def make_entries(self, file: File, fields: list[str]) -> list[Entry]:
        pick = self.random
        entries = []
        known = [op for op in operations if not (file.climatology and op in ("instant", "diurnal"))]
        if self.chance(0.2):
            known = [op for op in known if op == "instant"] or known
        elif self.chance(0.5):
            known = [op for op in known if op != "instant"]
        for name in fields:
            for i in range(pick.choice([1, 1, 2, 3])):
                entry = Entry(f"{name}_{i}", pick.choice(known), field=name)
                entry.bins = pick.choice([2, 3, 4, 8, 24]) if entry.operation == "diurnal" else 0
                field = self.fields[name]
                if self.chance(0.3):
                    entry.type = pick.choice(["double", "double", "float"])
                if field.type[0] != "f" and entry.operation in ("sum", "range"):
                    entry.type = "double"  # of small integers it may not fit
                if field.type[0] != "f" and file.reduce and file.reduce[1] == "sum":
                    entry.type = "double"
                entries.append(entry)
        both = {"zeta", "eta"} <= set(fields) or ({"zeta", "number"} <= set(fields))
        if both and self.chance(0.6):
            other = "eta" if "eta" in fields else "number"
            text = pick.choice([f"zeta * 2 + {other}", f"sqrt(zeta ** 2 + {other} ** 2)", "zeta - 1.5"])
            operation = pick.choice([op for op in known if op != "diurnal"])
            entries.append(Entry("made", operation, expression=text))
        return entries


def make(seed: int, most_ranks: int) -> Case:
    return Maker(seed, most_ranks).case()
