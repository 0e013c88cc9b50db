# SPDX-License-Identifier: BSD-3-Clause
"""What the two forms of FMS's diag_table share."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from .tables import FileTable, Names, Remarks
from .toml_text import value_text

_units = {"seconds": "s", "minutes": "min", "hours": "h", "days": "day", "months": "month", "years": "year"}
_seconds = {"s": 1, "min": 60, "h": 3600, "day": 86400}
_operations = {
    ".true.": "mean",
    "true": "mean",
    "average": "mean",
    "avg": "mean",
    "mean": "mean",
    "none": "instant",
    ".false.": "instant",
    "false": "instant",
    "": "instant",
    "min": "minimum",
    "max": "maximum",
    "sum": "sum",
    "rms": "rms",
}
# Parts of dates in names of files, longest first.
_dates = {"yr": "%Y", "mo": "%m", "dy": "%d", "hr": "%H", "mi": "%M", "sc": "%S"}


@dataclass
class Field:
    """A line of a field."""

    line: int
    name: str
    module: str
    out_name: str
    reduction: str
    keys: dict[str, Any] = field(default_factory=dict)  # type, attributes
    cells: dict[str, Any] = field(default_factory=dict)  # keys of a file that choose cells


@dataclass
class Part:
    """One of several frequencies of a file, and how long it is used."""

    freq: tuple[int, str]
    new_file: Optional[tuple[int, str]] = None
    duration: Optional[tuple[int, str]] = None


def duration(number: int, unit: str, line: int, remarks: Remarks) -> Optional[str]:
    """ "6 h" of 6 and hours; None with a remark if there is no such unit."""
    word = unit.strip().lower()
    short = _units.get(word) or _units.get(word + "s")
    if short is None:
        remarks.lost(line, f"{number} {unit}", f"'{unit}' is no unit of time; there are {', '.join(_units)}")
        return None
    plural = "s" if number != 1 and short in ("day", "month", "year") else ""
    return f"{number} {short}{plural}"


def every(freq: tuple[int, str], line: int, remarks: Remarks) -> Optional[str]:
    number, unit = freq
    if number == 0:
        return "1 step"
    if number < 0:
        remarks.lost(
            line,
            f"frequency {number}",
            "nothing is written at the end of the run alone, so the file is left out; what does not change "
            "is a coordinate of its grid (shoal_streams_coordinate), and the last values are operation = "
            '"last" with a long `every` and unfinished = "write"',
        )
        return None
    return duration(number, unit, line, remarks)


def time_units(unit: str, line: int, remarks: Remarks) -> dict[str, str]:
    word = unit.strip().lower()
    if word in ("seconds", "minutes", "hours", "days"):
        return {"time_units": word}
    remarks.lost(
        line, f"time in {unit}", "coordinates of time are in seconds, minutes, hours or days; days here"
    )
    return {"time_units": "days"}


def file_name(name: str, line: int, remarks: Remarks, of_end: bool = False) -> str:
    """FMS puts a low line before each part of a date, longest first, and leaves out what stands between.
    of_end: dates are those of the end of files."""
    percent = "%E" if of_end else "%"
    found = re.findall(r"%(\d)([a-z]{2})", name)
    if not found:  # a % that begins no part of a date is a letter
        return name.replace("%", "%%") + ".nc"
    parts = {part for _, part in found}
    for width, part in found:
        if part not in _dates:
            known = ", ".join(f"%{'4' if unit == 'yr' else '2'}{unit}" for unit in _dates)
            remarks.lost(line, f"%{width}{part} in '{name}'", f"dates in names are {known}")
    new = name[: name.index("%")]
    units = list(_dates)
    for part in (unit for unit in units if unit in parts):
        longer = [unit for unit in units[: units.index(part)] if unit not in parts]
        if part == "dy" and longer == ["mo"]:
            new += f"_{percent}j"  # day of the year
            continue
        new += "_" + _dates[part].replace("%", percent)
        if longer and not (longer == ["mo"] and "dy" in parts):
            remarks.lost(
                line,
                f"%{part} without {', '.join('%' + unit for unit in longer)} in '{name}'",
                "FMS counts it over the longer ones; here it is that of the date",
            )
    return new + ".nc"


def is_of_end(value: str, line: int, remarks: Remarks) -> bool:
    """Do names of files have the date of their end (filename_time)?"""
    if value not in ("begin", "end"):
        why = "names of files have the date on which the file begins, not that of its middle"
    elif value == "end":
        why = "it is the date of the last second of the file"
    else:
        return False
    remarks.note(line, f"filename_time {value}", why, once=f"filename_time {value}")
    return value == "end"


def time_origin(base: Sequence[int], line: int, remarks: Remarks) -> dict[str, str]:
    """Of a base date, where it is one of all calendars."""
    if base[0] > 0:
        return {"time_origin": date_text(base)}
    if any(base):
        remarks.note(line, f"base date {date_text(base)}", "time counts from the start of the run")
    return {}


def field_entry(found: Field, remarks: Remarks) -> Optional[dict[str, Any]]:
    """Of `fields`; None with a remark where there is none."""
    word = found.reduction.strip().lower()
    entry: dict[str, Any] = {"field": found.name}
    if match := re.fullmatch(r"(diurnal|pow)(\d+)", word):
        kind, number = match.group(1), int(match.group(2))
        if kind == "pow" and number < 1 or kind == "diurnal" and not 2 <= number <= 1440:
            remarks.lost(
                found.line, f"{found.name}: {word}", f"{kind} has no such number; the field is left out"
            )
            return None
        if kind == "diurnal":
            operation = f"diurnal({number})"
        else:
            operation = "mean"
            if number > 1:
                entry = {"expression": f"{found.name} ** {number}"}
    elif word in _operations:
        operation = _operations[word]
    else:
        remarks.lost(
            found.line,
            f"{found.name}: reduction '{found.reduction}'",
            "there is no such one; the field is left out",
        )
        return None
    if found.out_name != found.name or "expression" in entry:
        entry["name"] = found.out_name
    entry["operation"] = operation
    entry.update(found.keys)
    return entry


def note_modules(fields: Sequence[Field], remarks: Remarks) -> None:
    modules: dict[str, str] = {}
    for f in fields:
        first = modules.setdefault(f.name, f.module)
        if first != f.module:
            remarks.lost(
                f.line,
                f"{f.module}, {f.name}",
                f"module {first} has a field of this name, too, and fields of Shoal have no module; let the "
                "model give them different names",
            )
        elif f.module:
            remarks.note(
                f.line,
                f"module {f.module}",
                "fields of Shoal have names alone, or groups",
                once=f"module {f.module}",
            )


# Both ends of a region, of axes that are whole: by the namelist of diag_manager one or the other.
_whole = ([-1, -1], [-999, -999])


def read_region(text: str) -> Optional[list[list[float]]]:
    """ "lon lon lat lat z z" as three pairs; [] if there is none; None if it is no region."""
    word = text.strip().strip("'\"").lower()
    if word in ("", "none", ".false.", "null", "global"):
        return []
    try:
        numbers = [float(part) for part in word.replace(",", " ").split()]
    except ValueError:
        return None
    return [numbers[0:2], numbers[2:4], numbers[4:6]] if len(numbers) == 6 else None


def cells_of_region(
    lon: Sequence[float], lat: Sequence[float], line: int, what: str, names: Names, remarks: Remarks
) -> dict[str, Any]:
    """Keys that choose cells by the corners of a region: of one without width, places or a line."""
    ends = {names.lon: list(lon), names.lat: list(lat)}
    chosen = {name: pair for name, pair in ends.items() if pair not in _whole}
    narrow = [name for name, pair in chosen.items() if pair[0] == pair[1]]
    if not narrow:
        if chosen:
            remarks.note(
                line,
                what,
                "FMS takes the cells from that nearest to one corner to that nearest to the other; here "
                "it is those whose coordinates lie between them",
                once="region",
            )
        return {"region": chosen} if chosen else {}
    if len(chosen) < len(ends):
        name = narrow[0]
        (other,) = set(ends) - {name}
        remarks.lost(
            line,
            what,
            f"of a line along all of the grid the ends are not known: section = {{ {other} = [first, last], "
            f"{name} = {value_text([chosen[name][0]] * 2)} }}; all cells here",
        )
        return {}
    if len(narrow) == len(ends):
        remarks.note(
            line, what, "of a point: the nearest active cell; FMS takes the nearest one, land too", once="at"
        )
        return {"at": {name: pair[0] for name, pair in chosen.items()}}
    remarks.note(
        line, what, "cells nearest to a line, along a dimension that is called section", once="section"
    )
    return {"section": chosen}


def choose_levels(
    cells: dict[str, Any], pair: Sequence[float], line: int, what: str, names: Names, remarks: Remarks
) -> None:
    """Levels of a region, beside its other cells."""
    low, high = sorted(pair)
    if low == high or "at" in cells or "section" in cells:
        remarks.lost(
            line,
            f"{what}: levels {value_text(low)} to {value_text(high)}",
            (
                "FMS takes the one nearest to it"
                if low == high
                else "places and lines have all levels, or those with some numbers"
            )
            + "; say levels = [number, ...], from 0; all of them here",
        )
        return
    cells["region"] = {**cells.get("region", {}), names.vertical: [low, high]}


def date_text(numbers: Sequence[int]) -> str:
    return "{:04d}-{:02d}-{:02d} {:02d}:{:02d}:{:02d}".format(*numbers)


def read_date(value: Any) -> Optional[list[int]]:
    """Six whole numbers in a text or a list; None if it is something else."""
    parts = value.replace(",", " ").split() if isinstance(value, str) else value
    try:
        numbers = [int(part) for part in parts]
    except (TypeError, ValueError):
        return None
    return numbers if len(numbers) == 6 else None


def later(numbers: Sequence[int], length: tuple[int, str]) -> Optional[list[int]]:
    """A date later by months or years; or by less, if it is on a day before the 29th of the same month, which
    is the same in all calendars. None otherwise."""
    year, month, day, hour, minute, second = numbers
    unit = _units.get(length[1].strip().lower()) or _units.get(length[1].strip().lower() + "s", "")
    if unit in ("month", "year"):
        months = 12 * year + month - 1 + length[0] * (12 if unit == "year" else 1)
        return [months // 12, months % 12 + 1, day, hour, minute, second] if day <= 28 else None
    if unit not in _seconds:
        return None
    rest, second = divmod(second + 60 * (minute + 60 * (hour + 24 * day)) + length[0] * _seconds[unit], 60)
    rest, minute = divmod(rest, 60)
    day, hour = divmod(rest, 24)
    return [year, month, day, hour, minute, second] if day <= 28 else None


def part_keys(
    part: Part, start: Optional[list[int]], line: int, remarks: Remarks
) -> tuple[Optional[dict[str, Any]], Optional[list[int]]]:
    """Keys of a file for one of its frequencies, and the date on which it ends; no keys with a remark where
    there is no counterpart."""
    frequency = every(part.freq, line, remarks)
    if frequency is None:
        return None, None
    keys: dict[str, Any] = {"every": frequency}
    if part.new_file is not None:
        new_file = duration(*part.new_file, line, remarks)
        if new_file is not None:
            keys["new_file"] = new_file
    if start is not None:
        keys["from"] = date_text(start)
    if part.duration is None:
        return keys, None
    end = None if start is None else later(start, part.duration)
    if end is None:
        remarks.lost(
            line,
            f"file_duration {part.duration[0]} {part.duration[1]}",
            "the date on which it ends hangs on the calendar; set `until` by hand"
            if start is not None
            else "there is no start_time that it counts from",
        )
    else:
        keys["until"] = date_text(end)
    return keys, end


@dataclass
class Cells:
    """Fields of the same cells, which keys of a file choose."""

    line: int
    keys: dict[str, Any]
    entries: list[dict[str, Any]] = field(default_factory=list)


def out_name(entry: dict[str, Any]) -> str:
    return str(entry.get("name", entry.get("field")))


def with_regions(groups: list[Cells], remarks: Remarks) -> list[Cells]:
    """Regions that have the same fields, by names that differ in their ends (temp_north, temp_south), are one
    choice of cells: `regions` of a file adds such ends."""
    parts = [group for group in groups if list(group.keys) == ["region"]]
    names = [[out_name(entry) for entry in group.entries] for group in parts]
    fields = [[{**entry, "name": ""} for entry in group.entries] for group in parts]
    if len(parts) < 2 or any(one != fields[0] for one in fields):
        return groups
    stems = [os.path.commonprefix(list(alike)) for alike in zip(*names)]
    stems = [stem[: stem.rfind("_") + 1] for stem in stems]
    ends = [one[0][len(stems[0]) :] for one in names]
    if min(map(len, stems)) < 2 or not all(ends) or [[s + end for s in stems] for end in ends] != names:
        return groups
    joined = Cells(parts[0].line, {"regions": {end: g.keys["region"] for end, g in zip(ends, parts)}})
    for stem, entry in zip(stems, parts[0].entries):
        entry = {key: value for key, value in entry.items() if key != "name"}
        joined.entries.append(entry if stem[:-1] == entry.get("field") else {**entry, "name": stem[:-1]})
    remarks.note(
        joined.line,
        f"regions {', '.join(ends)}",
        "names of variables end with them, and those of dimensions and coordinates, too",
    )
    return [joined if group is parts[0] else group for group in groups if group not in parts[1:]]


def file_tables(
    line: int,
    name: str,
    head: dict[str, Any],
    parts: Sequence[dict[str, Any]],
    fields: list[Field],
    remarks: Remarks,
) -> list[FileTable]:
    """A table for each frequency and each choice of cells: those of Shoal are of a file, not of a field."""
    groups: dict[str, Cells] = {}
    for f in fields:
        entry = field_entry(f, remarks)
        if entry is not None:
            groups.setdefault(repr(f.cells), Cells(f.line, f.cells)).entries.append(entry)
    tables = []
    for number, group in enumerate(with_regions(list(groups.values()), remarks)):
        for count, keys in enumerate(parts):
            file = name
            if number > 0:
                file = re.sub(r"(\.nc)$", rf"_region{number}\1", name)
                remarks.note(
                    group.line,
                    f"another region, of {', '.join(out_name(entry) for entry in group.entries)}",
                    f"regions, places and lines are of a file, so they are in {file}",
                    once=f"{line} {number}",
                )
            if count > 0:
                file = re.sub(r"(\.nc)$", rf"_part{count + 1}\1", file)
            table = FileTable(line, {"name": file, **keys, **head, **group.keys})
            table.fields = [dict(entry) for entry in group.entries]
            table.simplify()
            tables.append(table)
    if len(parts) > 1:
        remarks.note(
            line,
            f"{len(parts)} frequencies of {name}",
            "each is a file of its own, whose name tells it apart",
            once=f"{line} parts",
        )
    if not tables:
        remarks.lost(line, f"file {name}", "none of its fields can be had, so it is left out")
    if tables:
        tables[0].remarks = remarks.taken()
    return tables
