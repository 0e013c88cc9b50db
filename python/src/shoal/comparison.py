# SPDX-License-Identifier: BSD-3-Clause
"""Two datasets, compared value by value: what `shoal compare` does.

    found = shoal.comparison.compare("a.nc", "b.nc", MPI.COMM_WORLD, atol=1e-6)
    found.same, found.headers, found.variables

Values are equal if they are equal as numbers; NaN equals NaN, and a cell that is missing (has the fill
value) in both is equal whatever the two fill values are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

from . import _shoal, opening
from ._library import communicator
from ._names import composed, fitting
from ._steps import Cuts, Reader, Step, item_bytes, steps
from .errors import InvalidArgumentError, NotFoundError
from .inventory import Variable, split_readable, unread_attributes

block_bytes_default = 32 * 2**20
# So many cells are looked at together: temporaries stay small beside the blocks.
_cells_at_once = 2**18


@dataclass
class Tolerance:
    """When two different numbers count as equal: if any of the three allows it.

    atol  |a - b| <= atol
    rtol  |a - b| <= rtol * max(|a|, |b|)
    ulp   so many representable numbers apart at most, in the less precise of the two types; no integers
    nan_differs  NaN is equal to nothing
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulp: int = 0
    nan_differs: bool = False

    def check(self) -> None:
        """InvalidArgumentError unless all are >= 0. Local."""
        for name in ("atol", "rtol", "ulp"):
            if not getattr(self, name) >= 0:
                raise InvalidArgumentError(f"{name} is {getattr(self, name)}; it must be 0 or more.")


@dataclass
class HeaderDifference:
    """where: "dimensions", "file", a group ("ocean/"), or the name of a variable."""

    where: str
    what: str
    a: str
    b: str


@dataclass
class VariableDifference:
    """How the values of a variable differ. Indices start at 0, record dimension first.

    cells, differing  compared, and not equal
    missing           of those: fill value in one of the files alone
    nans              of those: NaN in one alone (in both, if NaN differs from NaN)
    largest           |a - b|, over differing cells that have numbers in both; None: there are none
    largest_at, a, b  where that is, and the two values; of the first differing cell if there is none
    relative          largest |a - b| / max(|a|, |b|)
    ulp               largest distance in representable numbers; None for integers and text
    """

    name: str
    cells: int = 0
    differing: int = 0
    missing: int = 0
    nans: int = 0
    largest: Optional[float] = None
    largest_at: Optional[tuple[int, ...]] = None
    a: object = None
    b: object = None
    relative: Optional[float] = None
    ulp: Optional[int] = None

    def merge(self, other: VariableDifference) -> None:
        self.cells += other.cells
        self.differing += other.differing
        self.missing += other.missing
        self.nans += other.nans
        if other.differing and self._gives_way_to(other):
            self.largest, self.largest_at, self.a, self.b = other.largest, other.largest_at, other.a, other.b
        self.relative = _most(self.relative, other.relative)
        self.ulp = _most(self.ulp, other.ulp)

    def _gives_way_to(self, other: VariableDifference) -> bool:
        if self.largest_at is None or self.largest != other.largest:
            if self.largest is None or other.largest is None:
                return self.largest_at is None or other.largest is not None
            return other.largest > self.largest
        return other.largest_at is not None and other.largest_at < self.largest_at


def _most(a, b):
    return b if a is None else a if b is None else max(a, b)


@dataclass
class Comparison:
    """What differs; the same on all ranks."""

    headers: list[HeaderDifference] = field(default_factory=list)
    variables: list[VariableDifference] = field(default_factory=list)  # those compared, equal ones too
    skipped: dict[str, str] = field(default_factory=dict)  # variables whose values were not compared: why
    left_out: dict[str, str] = field(default_factory=dict)  # variables that Shoal cannot read in one: why
    left_out_attributes: dict[str, str] = field(default_factory=dict)  # "temp:kind", ":kind": the same

    @property
    def differing(self) -> list[VariableDifference]:
        return [item for item in self.variables if item.differing]

    @property
    def same(self) -> bool:
        return not self.headers and not self.differing


# ---- Headers


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fitting([name], pattern) for pattern in patterns)


def _show(value) -> str:
    if isinstance(value, np.ndarray):
        text = "[" + ", ".join(str(item) for item in value[:8]) + (", ..." if value.size > 8 else "") + "]"
        return f"{text} {value.dtype}"
    if isinstance(value, np.generic):
        return f"{value} {value.dtype}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _same_attribute(a, b) -> bool:
    """Type and values; one string is the same as text."""
    x, y = np.atleast_1d(np.asarray(a)), np.atleast_1d(np.asarray(b))
    if x.dtype.kind in "UO" or y.dtype.kind in "UO":
        return x.dtype.kind == y.dtype.kind and x.shape == y.shape and bool((x == y).all())
    return x.dtype == y.dtype and x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")


def _compare_attributes(result: Comparison, where: str, a, b, ignored: Sequence[str]) -> None:
    """where: "", a group ("ocean/"), or a variable."""
    found = result.headers
    mine, theirs = dict(a), dict(b)
    left_out = {**unread_attributes(where, a), **unread_attributes(where, b)}
    passed = [name for name in (*a.unread, *b.unread) if not _matches(name, ignored)]
    result.left_out_attributes.update((label, left_out[label]) for label in (f"{where}:{n}" for n in passed))
    where = where or "file"
    for name in list(mine) + [name for name in theirs if name not in mine]:
        if name in passed or _matches(name, ignored):
            continue
        what = f"attribute {name}"
        if name not in theirs:
            found.append(HeaderDifference(where, what, _show(mine[name]), "none"))
        elif name not in mine:
            found.append(HeaderDifference(where, what, "none", _show(theirs[name])))
        elif not _same_attribute(mine[name], theirs[name]):
            found.append(HeaderDifference(where, what, _show(mine[name]), _show(theirs[name])))


def _length(dimension, ignore_records: bool) -> str:
    if not dimension.unlimited:
        return str(dimension.length)
    return "unlimited" if ignore_records else f"unlimited, now {dimension.length}"


def _known(names) -> set[str]:
    """Names of a file, in the form in which they are looked for: each look into the mapping goes over all."""
    return set(map(composed, names))


def _compare_dimensions(found, a, b, chosen: Optional[Sequence[str]], records) -> None:
    def used(file):
        if chosen is None:
            return dict(file.dimensions)
        known, there = _known(file.variables), file.variables
        names = [dim for v in chosen if composed(v) in known for dim in there[v].dims]
        return {name: file.dimensions[name] for name in dict.fromkeys(names)}

    mine, theirs = used(a), used(b)
    for name in list(mine) + [name for name in theirs if name not in mine]:
        x = _length(mine[name], records is not None) if name in mine else "none"
        y = _length(theirs[name], records is not None) if name in theirs else "none"
        if x != y:
            found.append(HeaderDifference("dimensions", name, x, y))


def _compare_groups(result: Comparison, a, b, ignored: Sequence[str]) -> None:
    known = [_known(file.groups) for file in (a, b)]
    for name in dict.fromkeys((*a.groups, *b.groups)):
        here = ["there" if composed(name) in of_file else "none" for of_file in known]
        if "none" in here:
            result.headers.append(HeaderDifference(name + "/", "group", *here))
        else:
            x, y = (file.groups[name].attributes for file in (a, b))
            _compare_attributes(result, name + "/", x, y, ignored)


def _type_name(variable: Variable) -> str:
    return (
        "string"
        if variable.dtype is str
        else "char"
        if variable.number == _shoal.CHAR
        else str(variable.dtype)
    )


def _why_not(a: Variable, b: Variable, records) -> Optional[str]:
    """Why values cannot be compared; None: they can."""
    if (a.dims, a.has_record) != (b.dims, b.has_record):
        return "dimensions differ"
    skip = 1 if a.has_record and records is not None else 0
    if a.shape[skip:] != b.shape[skip:]:
        return "shapes differ"
    kinds = {str(kind) if kind in ("string", "char") else "number" for kind in (_type_name(a), _type_name(b))}
    return "types differ" if len(kinds) > 1 else None


def _shape_text(variable: Variable) -> str:
    return "(" + ", ".join(f"{n} {length}" for n, length in zip(variable.dims, variable.shape)) + ")"


def _compare_definitions(result: Comparison, a, b, names, ignored, records) -> list[str]:
    """The variables whose values can be compared."""
    both = []
    known = [_known(file.variables) for file in (a, b)]
    for name in names:
        here = ["there" if composed(name) in of_file else "none" for of_file in known]
        if "none" in here:
            result.headers.append(HeaderDifference(name, "variable", *here))
            continue
        x, y = a.variables[name], b.variables[name]
        if _type_name(x) != _type_name(y):
            result.headers.append(HeaderDifference(name, "type", _type_name(x), _type_name(y)))
        skip = 1 if x.has_record and y.has_record and records is not None else 0
        if x.dims != y.dims or x.shape[skip:] != y.shape[skip:]:
            result.headers.append(HeaderDifference(name, "shape", _shape_text(x), _shape_text(y)))
        _compare_attributes(result, name, x.attributes, y.attributes, ignored)
        why = _why_not(x, y, records)
        if why is None:
            both.append(name)
        else:
            result.skipped[name] = why
    return both


# ---- Values


def _ordered(values: np.ndarray) -> np.ndarray:
    """Floating-point numbers as uint64 of the same order, one apart for neighbours."""
    if values.dtype == np.float32:
        bits = values.view("u4").astype("u8") << np.uint64(32)
        step = np.uint64(32)
    else:
        bits, step = values.view("u8"), np.uint64(0)
    sign = np.uint64(1) << np.uint64(63)
    magnitude = (bits & ~sign) >> step
    # Both zeros have the same place.
    return np.where(bits & sign != 0, sign - magnitude, sign + magnitude)


def _distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """|x - y| of unsigned or signed integers of one type, exactly, as uint64."""
    return np.maximum(x, y).astype("u8") - np.minimum(x, y).astype("u8")


class _Cells:
    """Compares arrays of one variable, and remembers what differs."""

    def __init__(self, a: Variable, b: Variable, tolerance: Tolerance):
        self.result = VariableDifference(a.name)
        self._tolerance = tolerance
        self._fills = [self._fill(variable) for variable in (a, b)]
        self._text = a.dtype is str or a.number == _shoal.CHAR
        self._coarse = None
        if not self._text:
            kinds = [np.dtype(v.dtype) for v in (a, b)]
            floats = [kind for kind in kinds if kind.kind == "f"]
            self._coarse = min(floats, key=lambda kind: kind.itemsize) if floats else None

    @staticmethod
    def _fill(variable: Variable):
        if variable.dtype is str or variable.number == _shoal.CHAR or variable.dtype == np.dtype(bool):
            return None
        return variable.fill_value

    def compare(self, a: np.ndarray, b: np.ndarray, step: Step) -> None:
        self.result.cells += a.size
        flat_a, flat_b = a.reshape(-1), b.reshape(-1)
        for begin in range(0, a.size, _cells_at_once):
            part = slice(begin, begin + _cells_at_once)
            places = np.flatnonzero(flat_a[part] != flat_b[part])
            if places.size:
                x, y = flat_a[part][places], flat_b[part][places]
                self._look_at(x, y, places + begin, step)

    def _look_at(self, x: np.ndarray, y: np.ndarray, places: np.ndarray, step: Step) -> None:
        """x and y: the cells that are not equal as they are."""
        found = VariableDifference(self.result.name)
        if self._text:
            found.differing = places.size
            self._place(found, step, places[0], x[0], y[0])
            self.result.merge(found)
            return
        if self._fills[0] is not None and self._fills[1] is not None:
            gone = [self._is_fill(values, fill) for values, fill in zip((x, y), self._fills)]
            keep = ~(gone[0] & gone[1])
            x, y, places, lonely = x[keep], y[keep], places[keep], (gone[0] | gone[1])[keep]
        else:
            lonely = np.zeros(x.size, bool)
        nan_x, nan_y = (values != values for values in (x, y))
        if not self._tolerance.nan_differs:
            keep = ~(nan_x & nan_y)
            x, y, places, lonely, nan_x, nan_y = (v[keep] for v in (x, y, places, lonely, nan_x, nan_y))
        nan = (nan_x | nan_y) & ~lonely
        numbers = ~(nan | lonely)
        absolute, relative, ulp = self._measures(x[numbers], y[numbers])
        too_far = self._too_far(absolute, relative, ulp)
        found.missing, found.nans = int(lonely.sum()), int(nan.sum())
        found.differing = found.missing + found.nans + int(too_far.sum())
        if too_far.any():
            absolute = absolute[too_far]
            where = int(np.argmax(absolute))
            index = np.flatnonzero(numbers)[too_far][where]
            found.largest = float(absolute[where])
            found.relative = float(relative[too_far].max())
            found.ulp = None if ulp is None else int(ulp[too_far].max())
            self._place(found, step, places[index], x[index], y[index])
        elif found.differing:
            index = np.flatnonzero(nan | lonely)[0]
            self._place(found, step, places[index], x[index], y[index])
        self.result.merge(found)

    @staticmethod
    def _is_fill(values: np.ndarray, fill) -> np.ndarray:
        return (values == fill) | ((values != values) & (fill != fill))

    @staticmethod
    def _place(found: VariableDifference, step: Step, place, a, b) -> None:
        inside = np.unravel_index(int(place), step.shape) if step.shape else ()
        found.largest_at = tuple(int(o) + int(i) for o, i in zip(step.origin, inside))
        found.a, found.b = (item.decode("latin-1") if isinstance(item, bytes) else item for item in (a, b))

    def _measures(self, x: np.ndarray, y: np.ndarray):
        """Absolute and relative difference, and ULP (None for integers), of numbers that are not NaN."""
        if self._coarse is None:
            x, y = (values.view("u1") if values.dtype == bool else values for values in (x, y))
            if x.dtype == y.dtype:
                absolute = _distance(x, y)
            else:
                # Python's numbers have no limits, and different types are rare.
                absolute = np.array([abs(int(p) - int(q)) for p, q in zip(x, y)], dtype="f8")
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                absolute = np.abs(x.astype("f8") - y.astype("f8"))
        with np.errstate(over="ignore", invalid="ignore"):
            scale = np.maximum(np.abs(x.astype("f8")), np.abs(y.astype("f8")))
            relative = absolute / np.where(scale == 0, 1, scale)
        relative = np.where(np.isfinite(relative), relative, np.inf)
        if self._coarse is None:
            return absolute, relative, None
        with np.errstate(over="ignore"):
            near = [_ordered(np.ascontiguousarray(values.astype(self._coarse))) for values in (x, y)]
        return absolute, relative, _distance(*near)

    def _too_far(self, absolute, relative, ulp) -> np.ndarray:
        t = self._tolerance
        too_far = np.ones(absolute.size, bool)
        if t.atol > 0:
            too_far &= ~(absolute <= t.atol)
        if t.rtol > 0:
            too_far &= ~(relative <= t.rtol)
        if t.ulp > 0 and ulp is not None:
            too_far &= ulp > np.uint64(t.ulp)
        return too_far


def _chosen_records(records, a: Variable, b: Variable) -> Optional[range]:
    if not a.has_record:
        return None
    common = range(min(a.shape[0], b.shape[0]))
    if records is None or records == "common":
        return common
    mine, theirs = (range(variable.shape[0])[records] for variable in (a, b))
    ends = [end for end in (records.start, records.stop) if end is not None]
    if mine != theirs or not mine or any(abs(end) > len(common) for end in ends):
        asked = ":".join("" if end is None else str(end) for end in (records.start, records.stop))
        raise NotFoundError(
            f"Variable '{a.name}' has not got the records {asked} (from 0, the last not included) in both: "
            f"it has {a.shape[0]} and {b.shape[0]} records. Choose those that are in both, or 'common'."
        )
    return mine


def _select(a, b, patterns: Optional[Sequence[str]]) -> list[str]:
    names = list(dict.fromkeys((*a.variables, *b.variables)))
    if not patterns:
        return names
    for pattern in patterns:
        if not fitting(names, pattern):
            raise NotFoundError(
                f"No variable of {a.path} or {b.path} matches '{pattern}'; there are {', '.join(names)}."
            )
    return [name for name in names if _matches(name, patterns)]


def _bytes_of(variable: Variable) -> int:
    return math.prod(variable.shape) * item_bytes(variable)


def compare(
    a,
    b,
    comm=None,
    *,
    variables: Optional[Sequence[str]] = None,
    records=None,
    ignore_attributes: Sequence[str] = (),
    tolerance: Optional[Tolerance] = None,
    block_bytes: int = block_bytes_default,
    settings: Optional[Mapping[str, object]] = None,
    progress=None,
) -> Comparison:
    """Compare two datasets of any formats: dimensions, attributes, types, shapes and values. Collective.

    a, b       paths
    variables  names or patterns ("temp", "u*"); None: all, and attributes of the file and groups too. Those
               that Shoal cannot read (compound, enum, ...) are left out, unless they are named
    records    a slice of record numbers that both have, or "common": all of these; other records, and how
               many there are, are then not looked at. None: all
    ignore_attributes  names or patterns of attributes that may differ ("history", "*")
    tolerance  None: exact
    block_bytes  memory a rank for a part of each dataset, about
    settings   with which `a` is opened (missing_tiles="fill")
    progress   called on rank 0 as progress(bytes done, bytes in all)

    Raises NoSuchFileError, FormatError, NotFoundError (no such variable), ... on all ranks.
    """
    comm = communicator(comm)
    tolerance = tolerance or Tolerance()
    tolerance.check()
    with opening.open(a, comm, **(settings or {})) as file_a, opening.open(b, comm) as file_b:
        result = Comparison()
        names = _select(file_a, file_b, variables)
        for file in (file_a, file_b):
            known = _known(file.variables)
            there = [file.variables[name] for name in names if composed(name) in known]
            _, unreadable = split_readable(file.path, there, variables, "compare the others with --variables")
            result.left_out.update(unreadable)
        names = [name for name in names if name not in result.left_out]
        _compare_dimensions(result.headers, file_a, file_b, names if variables else None, records)
        if not variables:
            _compare_attributes(result, "", file_a.attributes, file_b.attributes, ignore_attributes)
            _compare_groups(result, file_a, file_b, ignore_attributes)
        both = _compare_definitions(result, file_a, file_b, names, ignore_attributes, records)
        total = sum(_bytes_of(file_a.variables[name]) for name in both)
        done = 0
        cuts = Cuts(comm)
        readers = Reader(file_a), Reader(file_b)
        for name in both:
            x, y = file_a.variables[name], file_b.variables[name]
            cells = _Cells(x, y, tolerance)
            # Of the longer one, so that "all records" is said only if both have as many.
            longer = max(x, y, key=lambda v: v.shape[:1])
            for step in steps(cuts, longer, block_bytes, _chosen_records(records, x, y)):
                pair = [reader.read(variable, step) for reader, variable in zip(readers, (x, y))]
                # Every rank gets a step that is not cut; one of them counts it.
                if step.cut is not None or comm.rank == 0:
                    cells.compare(*pair, step)
                if progress is not None and comm.rank == 0:
                    progress(min(done + step.region_cells * item_bytes(x), total), total)
            done += _bytes_of(x)
            result.variables.append(_merged(name, comm.allgather(cells.result)))
        return result


def _merged(name: str, parts: Sequence[VariableDifference]) -> VariableDifference:
    whole = VariableDifference(name)
    for part in parts:
        whole.merge(part)
    return whole
