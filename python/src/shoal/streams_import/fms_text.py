# SPDX-License-Identifier: BSD-3-Clause
"""FMS's diag_table in its old form: a line of a title, one of a date, then lines of files and fields."""

from __future__ import annotations

import csv
from typing import Any, Optional

from . import fms
from .tables import Imported, ImportFailedError, Names, Remarks

_types = {"1": "double", "2": "float"}
_packed = {"4": "short", "8": "byte"}


def _lines(text: str) -> list[tuple[int, str]]:
    """Those with content, without comments, by number."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        cut, quote = len(line), ""
        for at, letter in enumerate(line):
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "\"'":
                quote = letter
            elif letter == "#":
                cut = at
                break
        if line[:cut].strip():
            found.append((number, line[:cut].strip()))
    return found


def _values(line: str) -> list[str]:
    single = line.count("'") > line.count('"')
    row = next(csv.reader([line], skipinitialspace=True, quotechar="'" if single else '"'))
    values = [value.strip().strip("\"'").strip() for value in row]
    while values and values[-1] == "":
        values.pop()
    return values


def _whole(text: str) -> Optional[int]:
    try:
        return int(text)
    except ValueError:
        return None


class _Reader:
    def __init__(self, text: str, path: str, names: Names) -> None:
        self.path, self.names = path, names
        self.imported = Imported(path, "FMS diag_table", {"fms_attributes": True})
        self.remarks = Remarks()
        self.files: dict[str, tuple[int, list[str]]] = {}
        self.fields: dict[str, list[fms.Field]] = {}
        self.lines = _lines(text)

    def fail(self, line: int, why: str) -> None:
        raise ImportFailedError(f"{self.path}:{line}: {why}")

    def read(self) -> Imported:
        if len(self.lines) < 2:
            self.fail(1, "a diag_table begins with a line of a title and one of a date")
        self.header()
        for number, line in self.lines[2:]:
            self.line(number, _values(line))
        self.imported.remarks = self.remarks.taken()
        for name, (number, values) in self.files.items():
            self.file(name, number, values)
        fms.note_modules([f for group in self.fields.values() for f in group], self.remarks)
        for name, fields in self.fields.items():
            if name not in self.files:
                for f in fields:
                    self.remarks.lost(f.line, f"{f.name} in '{name}'", "the table has no such file")
        self.imported.remarks += self.remarks.taken()
        return self.imported

    def header(self) -> None:
        (first, title), (second, date) = self.lines[:2]
        base = fms.read_date(date)
        if base is None:
            self.fail(second, f"'{date}' is no date: year month day hour minute second")
        self.imported.defaults["attributes"] = {"title": title.strip().strip(",").strip("\"'")}
        del first
        self.imported.defaults.update(fms.time_origin(base, second, self.remarks))

    def line(self, number: int, values: list[str]) -> None:
        """A file has a number in the second column, a field has text in it."""
        if len(values) >= 6 and _whole(values[1]) is not None:
            if values[0] in self.files:
                self.remarks.lost(
                    number, f"file '{values[0]}'", f"line {self.files[values[0]][0]} has it already"
                )
                return
            self.files[values[0]] = (number, values)
        elif len(values) >= 7 and _whole(values[1]) is None:
            self.field(number, values)
        else:
            self.remarks.lost(number, ", ".join(values), "it is neither the line of a file nor of a field")

    def field(self, number: int, values: list[str]) -> None:
        module, name, out_name, file, sampling, reduction, region, *rest = values
        found = fms.Field(number, name, module, out_name or name, reduction)
        if sampling.lower() != "all":
            self.remarks.note(number, f"{name}: time sampling '{sampling}'", "FMS does not look at it either")
        what = f"{name}: region '{region}'"
        chosen = fms.read_region(region)
        if chosen is None:
            self.remarks.lost(
                number,
                what,
                "a region is six numbers: lon lon lat lat z z; all cells here",
            )
        elif chosen:
            lon, lat, z = chosen
            found.cells = fms.cells_of_region(lon, lat, number, what, self.names, self.remarks)
            if z[0] >= 0 and z[1] > 0:  # otherwise it is all of the column, in FMS, too
                fms.choose_levels(found.cells, z, number, what, self.names, self.remarks)
        packing = rest[0] if rest else "2"
        if packing in _packed:
            self.remarks.lost(
                number,
                f"{name}: packing {packing}",
                "its range is that of register_diag_field, as the key pack of the field: "
                f'pack = "{_packed[packing]}(least, greatest)"; float here',
            )
        elif packing not in _types:
            self.remarks.lost(number, f"{name}: packing {packing}", "it is 1, 2, 4 or 8; float here")
        found.keys["type"] = _types.get(packing, "float")
        for extra in rest[1:]:
            self.remarks.lost(number, f"{name}: '{extra}'", "a field has eight columns")
        self.fields.setdefault(file, []).append(found)

    def file(self, name: str, number: int, values: list[str]) -> None:
        freq, unit, form, axis_unit, axis = values[1:6]
        rest = values[6:]
        head: dict[str, Any] = fms.time_units(axis_unit, number, self.remarks)
        if form not in ("1", ""):
            self.remarks.lost(number, f"format {form} of '{name}'", "files are NetCDF (1)")
        if axis.lower() != "time":
            self.remarks.lost(
                number, f"time axis '{axis}' of '{name}'", "the dimension of records is called time"
            )
        new_file = start = length = None
        if len(rest) >= 2 and (count := _whole(rest[0])) is not None and count > 0:
            new_file = (count, rest[1])
        elif rest and rest[0] not in ("", "-1", "0"):
            self.remarks.lost(number, f"new file every '{' '.join(rest[:2])}'", "it is a number and a unit")
        if len(rest) >= 3 and rest[2]:
            start = fms.read_date(rest[2])
            if start is None:
                self.remarks.lost(
                    number, f"start '{rest[2]}'", "it is six numbers: year month day hour minute second"
                )
        if len(rest) >= 5 and (count := _whole(rest[3])) is not None and count > 0:
            length = (count, rest[4])
            if new_file is not None and length == new_file:
                length = None
            elif new_file is not None:
                self.remarks.lost(
                    number,
                    f"file_duration {rest[3]} {rest[4]} in a file of {rest[0]} {rest[1]}",
                    "files have all records up to the next one, not only those of its beginning",
                )
                length = None
        of_end = new_file is not None and fms.is_of_end(
            rest[5].lower() if len(rest) >= 6 and rest[5] else "middle", number, self.remarks
        )
        for extra in rest[6:]:
            self.remarks.lost(number, f"'{extra}'", "a file has twelve columns")
        fields = self.fields.get(name, [])
        if not fields:
            self.remarks.lost(number, f"file '{name}'", "it has no fields, so it is left out")
            return
        part = fms.Part((int(freq), unit), new_file, length)
        keys, _ = fms.part_keys(part, start, number, self.remarks)
        if keys is None:
            return
        new_name = fms.file_name(name, number, self.remarks, of_end)
        self.imported.files += fms.file_tables(number, new_name, head, [keys], fields, self.remarks)


def read_text(text: str, path: str, names: Names) -> Imported:
    """A diag_table of the old form. Errors: ImportFailedError. Local."""
    return _Reader(text, path, names).read()
