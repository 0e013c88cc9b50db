# SPDX-License-Identifier: BSD-3-Clause
"""FMS's diag_table in YAML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from . import fms
from .tables import Imported, ImportFailedError, Names, Remarks

_kinds = {"r4": "float", "r8": "double", "i4": "int", "i8": "int64", "float": "float", "double": "double"}


@dataclass(frozen=True)
class Lined:
    """A value of YAML and its line: a dict or list of such, or text."""

    value: Any
    line: int

    def text(self) -> str:
        if isinstance(self.value, list):
            return " ".join(item.text() for item in self.value)
        return str(self.value).strip()

    def flag(self) -> bool:
        return self.text().lower().strip(".") in ("true", "yes", "on", "t")

    def numbers(self) -> Optional[list[float]]:
        try:
            return [float(part) for part in self.text().replace(",", " ").split()]
        except ValueError:
            return None


def _compose(text: str, path: str) -> Lined:
    try:
        import yaml
    except ImportError:
        raise ImportFailedError(
            f"{path}: it is YAML, which needs PyYAML: pip install pyyaml (or shoal[streams])"
        ) from None

    def lined(node: Any) -> Lined:
        line = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            found: dict[str, Lined] = {}
            for key, value in node.value:
                found[str(key.value)] = Lined(lined(value).value, key.start_mark.line + 1)
            return Lined(found, line)
        if isinstance(node, yaml.SequenceNode):
            return Lined([lined(item) for item in node.value], line)
        return Lined(node.value, line)

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}" if mark is not None else ""
        why = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ImportFailedError(f"{path}{where}: {why}") from None
    if root is None or not isinstance(root, yaml.MappingNode):
        raise ImportFailedError(f"{path}:1: it is no diag_table: title, base_date and diag_files are missing")
    return lined(root)


def _frequencies(value: Optional[Lined], line: int, what: str, remarks: Remarks) -> list[tuple[int, str]]:
    """ "6 hours, 1 days" as numbers and units; without a unit, as 0 and -1 may be, the unit is ""."""
    if value is None:
        return []
    found = []
    for part in value.text().split(","):
        words = part.split()
        try:
            found.append((int(words[0]), words[1] if len(words) > 1 else ""))
        except (IndexError, ValueError):
            remarks.lost(line, f"{what} '{part.strip()}'", "it is a number and a unit")
    return found


class _Reader:
    def __init__(self, text: str, path: str, names: Names) -> None:
        self.path, self.names = path, names
        self.remarks = Remarks()
        self.root = _compose(text, path).value
        self.imported = Imported(path, "FMS diag_table.yaml", {"fms_attributes": True})
        self.title = ""
        self.all_fields: list[fms.Field] = []

    def read(self) -> Imported:
        self.unknown(self.root, {"title", "base_date", "diag_files"}, "the table")
        if "title" in self.root:
            self.title = self.root["title"].text()
            self.imported.defaults["attributes"] = {"title": self.title}
        if "base_date" in self.root:
            self.base_date(self.root["base_date"])
        files = self.root.get("diag_files")
        if files is None or not isinstance(files.value, list):
            raise ImportFailedError(f"{self.path}: diag_files is missing, or no list")
        self.imported.remarks = self.remarks.taken()
        for file in files.value:
            if isinstance(file.value, dict):
                self.file(file)
            else:
                self.remarks.lost(file.line, file.text(), "it is no file: it has no keys")
        fms.note_modules(self.all_fields, self.remarks)
        self.imported.remarks += self.remarks.taken()
        return self.imported

    def base_date(self, value: Lined) -> None:
        date = fms.read_date(value.text())
        if date is None:
            self.remarks.lost(
                value.line,
                f"base_date '{value.text()}'",
                "it is six numbers: year month day hour minute second",
            )
        else:
            self.imported.defaults.update(fms.time_origin(date, value.line, self.remarks))

    def unknown(self, keys: dict[str, Lined], known: set[str], where: str) -> None:
        for name, value in keys.items():
            if name not in known:
                self.remarks.lost(value.line, f"{name} of {where}", "the importer knows no such key")

    def file(self, file: Lined) -> None:
        keys: dict[str, Lined] = file.value
        line = file.line
        name = keys["file_name"].text() if "file_name" in keys else ""
        if not name:
            self.remarks.lost(line, "a file without file_name", "it is left out")
            return
        known = {
            "file_name",
            "freq",
            "freq_units",
            "time_units",
            "unlimdim",
            "varlist",
            "write_file",
            "new_file_freq",
            "new_file_freq_units",
            "start_time",
            "filename_time",
            "reduction",
            "kind",
            "module",
            "file_duration",
            "file_duration_units",
            "global_meta",
            "sub_region",
            "is_ocean",
        }
        self.unknown(keys, known, f"file '{name}'")
        head = self.head(keys, name, line)
        fields = self.fields(keys, name)
        if not fields:
            self.remarks.lost(line, f"file '{name}'", "it has no fields that are written, so it is left out")
            return
        self.all_fields += fields
        parts = self.parts(keys, name, line)
        new_name = fms.file_name(name, line, self.remarks, self.of_end(keys, line))
        if parts:
            self.imported.files += fms.file_tables(line, new_name, head, parts, fields, self.remarks)

    def head(self, keys: dict[str, Lined], name: str, line: int) -> dict[str, Any]:
        """Keys of the file but for those of its times."""
        head: dict[str, Any] = {}
        if "time_units" in keys:
            head.update(fms.time_units(keys["time_units"].text(), keys["time_units"].line, self.remarks))
        axis = keys.get("unlimdim")
        if axis is not None and axis.text().lower() != "time":
            self.remarks.lost(
                axis.line, f"unlimdim {axis.text()} of '{name}'", "the dimension of records is called time"
            )
        if "write_file" in keys and not keys["write_file"].flag():
            head["enabled"] = False
        if "is_ocean" in keys:
            self.remarks.note(
                keys["is_ocean"].line,
                f"is_ocean of '{name}'",
                "each model reads a configuration of its own; move the file to that of its model",
                once="is_ocean",
            )
        attributes = self.attributes(keys.get("global_meta"))
        if attributes:
            head["attributes"] = {**({"title": self.title} if self.title else {}), **attributes}
        return head

    def attributes(self, value: Optional[Lined]) -> dict[str, Any]:
        """A list of tables, or a table, of names and values."""
        found: dict[str, Any] = {}
        for table in value.value if value is not None and isinstance(value.value, list) else [value]:
            if table is not None and isinstance(table.value, dict):
                for name, item in table.value.items():
                    found[name] = item.text()
            elif table is not None:
                self.remarks.lost(table.line, table.text(), "attributes are names and values")
        return found

    def fields(self, keys: dict[str, Lined], file: str) -> list[fms.Field]:
        cells = self.sub_region(keys.get("sub_region"), file)
        found = []
        varlist = keys.get("varlist")
        for item in varlist.value if varlist is not None and isinstance(varlist.value, list) else []:
            if not isinstance(item.value, dict) or "var_name" not in item.value:
                self.remarks.lost(item.line, f"a field of '{file}'", "it has no var_name, so it is left out")
                continue
            own: dict[str, Lined] = item.value
            name = own["var_name"].text()
            known = {
                "var_name",
                "module",
                "reduction",
                "kind",
                "write_var",
                "output_name",
                "out_name",
                "long_name",
                "attributes",
                "zbounds",
            }
            self.unknown(own, known, f"{name} of '{file}'")

            def inherited(key: str, usual: str, own: dict[str, Lined] = own) -> Lined:
                return own.get(key) or keys.get(key) or Lined(usual, item.line)  # noqa: B023

            field = fms.Field(
                item.line,
                name,
                inherited("module", "").text(),
                # FMS reads the first; its page on the format has the second.
                next((own[key].text() for key in ("output_name", "out_name") if key in own), name),
                inherited("reduction", "none").text(),
                cells=dict(cells),
            )
            kind = inherited("kind", "r4")
            if kind.text() not in _kinds:
                self.remarks.lost(
                    kind.line, f"{name}: kind {kind.text()}", f"there are {', '.join(_kinds)}; float here"
                )
            field.keys["type"] = _kinds.get(kind.text(), "float")
            attributes = self.attributes(own.get("attributes"))
            for key in ("long_name", "standard_name", "units"):
                if key in attributes:
                    field.keys[key] = attributes.pop(key)
            if "long_name" in own:
                field.keys.setdefault("long_name", own["long_name"].text())
            if attributes:
                field.keys["attributes"] = attributes
            if "write_var" in own and not own["write_var"].flag():
                field.keys["enabled"] = False
            if "zbounds" in own:
                bounds = own["zbounds"].numbers()
                if bounds is None or len(bounds) != 2:
                    self.remarks.lost(
                        own["zbounds"].line,
                        f"{name}: zbounds {own['zbounds'].text()}",
                        "they are two numbers",
                    )
                else:
                    fms.choose_levels(
                        field.cells, bounds, own["zbounds"].line, f"{name}: zbounds", self.names, self.remarks
                    )
            found.append(field)
        return found

    def sub_region(self, value: Optional[Lined], file: str) -> dict[str, Any]:
        tables = value.value if value is not None and isinstance(value.value, list) else [value]
        if value is None or not isinstance(tables[0].value, dict):
            return {}
        for extra in tables[1:]:
            self.remarks.lost(extra.line, f"another sub_region of '{file}'", "a file has one")
        keys: dict[str, Lined] = tables[0].value
        self.unknown(
            keys, {"grid_type", "tile", *(f"corner{i}" for i in range(1, 5))}, f"sub_region of '{file}'"
        )
        corners = [keys[f"corner{i}"].numbers() for i in range(1, 5) if f"corner{i}" in keys]
        if len(corners) != 4 or any(c is None or len(c) != 2 for c in corners):
            self.remarks.lost(
                tables[0].line,
                f"sub_region of '{file}'",
                "it has four corners of two numbers; all cells here",
            )
            return {}
        if "tile" in keys and keys["tile"].text() not in ("1", ""):
            self.remarks.lost(
                keys["tile"].line, f"tile {keys['tile'].text()} of '{file}'", "a grid has one tile"
            )
        xs, ys = ([corner[axis] for corner in corners] for axis in (0, 1))
        if set(map(tuple, corners)) != {(x, y) for x in (min(xs), max(xs)) for y in (min(ys), max(ys))}:
            self.remarks.lost(
                tables[0].line,
                f"sub_region of '{file}'",
                "its corners are no box; here it is the smallest box that has them",
            )
        low_x, high_x, low_y, high_y = min(xs), max(xs), min(ys), max(ys)
        grid = keys["grid_type"].text().lower() if "grid_type" in keys else "latlon"
        if grid == "latlon":
            where = f"sub_region of '{file}'"
            return fms.cells_of_region(
                [low_x, high_x], [low_y, high_y], tables[0].line, where, self.names, self.remarks
            )
        # FMS counts cells from 1, and to the last one.
        x, y = [int(low_x) - 1, int(high_x)], [int(low_y) - 1, int(high_y)]
        return {"indices": {self.names.x: x, self.names.y: y}}

    def of_end(self, keys: dict[str, Lined], line: int) -> bool:
        if "new_file_freq" not in keys:
            return False
        given = keys.get("filename_time")
        return fms.is_of_end(
            given.text().lower() if given else "middle", given.line if given else line, self.remarks
        )

    def parts(self, keys: dict[str, Lined], name: str, line: int) -> list[dict[str, Any]]:
        def read(key: str) -> list[tuple[int, str]]:
            value = keys.get(key)
            unit = keys[f"{key}_units"].text() if f"{key}_units" in keys else ""
            found = _frequencies(
                value, value.line if value is not None else line, f"{key} of '{name}'", self.remarks
            )
            return [(number, own or unit) for number, own in found]

        freqs, new_files, lengths = read("freq"), read("new_file_freq"), read("file_duration")
        start = None
        if "start_time" in keys:
            start = fms.read_date(keys["start_time"].text())
            if start is None:
                self.remarks.lost(
                    keys["start_time"].line,
                    f"start_time '{keys['start_time'].text()}'",
                    "it is six numbers: year month day hour minute second",
                )
        if not freqs:
            self.remarks.lost(line, f"file '{name}'", "it has no freq, so it is left out")
            return []
        if len(freqs) > 1 and (len(lengths) < len(freqs) - 1 or start is None):
            self.remarks.lost(
                line,
                f"{len(freqs)} frequencies of '{name}'",
                "they need a start_time and a file_duration each; the first one here",
            )
            freqs = freqs[:1]
        found = []
        for number, freq in enumerate(freqs):
            part = fms.Part(
                freq,
                new_files[min(number, len(new_files) - 1)] if new_files else None,
                lengths[number] if number < len(lengths) else None,
            )
            table, end = fms.part_keys(part, start, line, self.remarks)
            if table is not None:
                found.append(table)
            if end is None and number + 1 < len(freqs):
                self.remarks.lost(
                    line, f"frequencies of '{name}' after {freq[0]} {freq[1]}", "their start is not known"
                )
                break
            start = end
        return found


def read_yaml(text: str, path: str, names: Names) -> Imported:
    """A diag_table in YAML. Errors: ImportFailedError. Local."""
    return _Reader(text, path, names).read()
