# SPDX-License-Identifier: BSD-3-Clause
"""XIOS's file definitions: XML with groups, references and what elements inherit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Optional

from .tables import FileTable, Imported, ImportFailedError, Names, Remarks
from .xios_grids import Cells, Grids, NoCounterpartError, grid_keys, grouped, kinds
from .xios_tree import Element, divides, duration, parse

_operations = {
    "instant": "instant",
    "average": "mean",
    "minimum": "minimum",
    "maximum": "maximum",
    "accumulate": "sum",
}
_types = {"4": "float", "8": "double"}
_date_letters = {"y": "%Y", "mo": "%m", "d": "%d", "h": "%H", "mi": "%M", "s": "%S"}
# What tells dates of files apart, by the unit of split_freq.
_usual_dates = [
    ("y", "%Y"),
    ("mo", "%Y%m"),
    ("d", "%Y%m%d"),
    ("h", "%Y%m%d%H"),
    ("mi", "%Y%m%d%H%M"),
    ("s", "%Y%m%d%H%M%S"),
]
_functions = {
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "log10",
    "sqrt",
}
_key_names = {"long_name": "long_name", "standard_name": "standard_name", "unit": "units"}

# Attributes with nothing to say in a configuration, and why.
_noted_of_file = {
    "par_access": "Shoal's drivers choose how ranks write (settings driver and access)",
    "min_digits": "it is of files of servers",
    "time_counter": "the time of a record is the middle of its window, of instants the end (key time)",
    "time_counter_name": "the coordinate of time is called time",
    "convention": "files follow CF",
    "output_level": "fields above it are left out here",
}
_lost_of_file = {
    "append": "files are made new; after a restart streams go on with files of their own",
    "sync_freq": "records are committed as the setting of the dataset says",
    "split_start_offset": "files begin with their window",
    "split_end_offset": "files end with their window",
    "split_last_date": "the date of the end of a file is that of its period",
    "timeseries": "a file for each field is written by a [[file]] for each",
    "ts_prefix": "a file for each field is written by a [[file]] for each",
    "record_offset": "records begin with 0",
    "uuid_name": "an attribute of this kind is not made",
    "uuid_format": "an attribute of this kind is not made",
    "convention_str": "files say CF",
    "cyclic": "files are written, not read",
}
_noted_of_field = {
    "detect_missing_value": "cells with the missing value do not count in any operation",
    "cell_methods": "it is written by itself",
    "cell_methods_mode": "it is written by itself",
    "read_access": "the model reads by itself",
    "check_if_active": "wants() answers from a table",
}
_lost_of_field = {
    "compression_level": 'compression is a setting of a file (compression = "temp=shuffle+deflate:2")',
    "indexed_output": "a mask is written as fill values; gathered fields are maps of the model",
    "ts_enabled": "a file for each field is written by a [[file]] for each",
    "ts_split_freq": "a file for each field is written by a [[file]] for each",
}


def _expression_text(chain: list[Element]) -> str:
    for element in chain:
        text = (element.attributes.get("expr") or element.text).strip()
        if text:
            return " ".join(text.split())
    return ""


def _is_on(text: Optional[str]) -> bool:
    return text is None or text.strip().strip(".").lower() in ("true", "t", "yes")


class _Context:
    """The definitions of one context, and what they inherit."""

    def __init__(self, root: Element, path: str, names: Names) -> None:
        self.root, self.path = root, path
        self.time_origin: Optional[str] = None  # of its files, where contexts may have different ones
        self.ids: dict[tuple[str, str], Element] = {}
        self.grids = Grids(self.ids, names, self.sent_field)
        tags = ("field", "field_group", "field_definition", "file", "file_group", "grid", *kinds)
        for element in root.below(*tags):
            name = element.attributes.get("id")
            if name is not None:
                # The first one with content: later ones with this id add to it.
                kind = element.tag
                if (kind, name) in self.ids:
                    first = self.ids[kind, name]
                    first.attributes = {**element.attributes, **first.attributes}
                    if first is not element:
                        first.children += element.children
                else:
                    self.ids[kind, name] = element

    def target(self, element: Element, kind: str, name: str, seen: tuple[str, ...]) -> Element:
        found = self.ids.get((kind, name))
        if found is None:
            raise ImportFailedError(f"{element.source}:{element.line}: there is no {kind} '{name}'")
        if name in seen:
            raise ImportFailedError(f"{element.source}:{element.line}: {kind} '{name}' refers to itself")
        return found

    def resolved(self, element: Element, seen: tuple[str, ...] = ()) -> dict[str, str]:
        """Its attributes: own, then those of the groups that it is in, then of what it refers to."""
        found = dict(element.attributes)
        above = element.parent
        while above is not None and above.tag in (
            "field_group",
            "file_group",
            "field_definition",
            "file_definition",
            "file",
        ):
            if element.tag.startswith("field") == above.tag.startswith("field"):
                for key, value in above.attributes.items():
                    # Files take a name that is said of all of them, to which each has its suffix.
                    if key not in ("id", "group_ref") and (key != "name" or element.tag == "file"):
                        found.setdefault(key, value)
            above = above.parent
        reference = element.attributes.get("field_ref") if element.tag == "field" else None
        if reference is not None:
            of = self.target(element, "field", reference, seen)
            for key, value in self.resolved(of, (*seen, reference)).items():
                if key != "id":
                    found.setdefault(key, value)
        return found

    def chain(self, field: Element) -> list[Element]:
        """The field and what it refers to, the one that the model sends last."""
        found, seen = [field], ()
        while (reference := found[-1].attributes.get("field_ref")) is not None:
            found.append(self.target(found[-1], "field", reference, seen))
            seen = (*seen, reference)
        return found

    def links(self, chain: list[Element]) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Attributes of each two neighbours of a chain, up to an expression, that of the model first."""
        count = next((i for i, one in enumerate(chain) if _expression_text([one])), len(chain) - 1)
        attributes = [self.resolved(element) for element in chain[: count + 1]]
        return list(zip(attributes[::-1], attributes[-2::-1]))

    def is_transformed(self, chain: list[Element]) -> bool:
        """Does XIOS choose or join cells of the field on the way, or may it?"""
        cells = Cells()
        try:
            for before, after in self.links(chain):
                if any(before.get(key) != after.get(key) for key in grid_keys):
                    self.grids.add(cells, before, after, "instant")
        except NoCounterpartError:
            return True
        return bool(cells.keys)

    def sent_field(self, name: str) -> Optional[str]:
        """The field that the model sends, which this one refers to; None if there is an expression."""
        if ("field", name) not in self.ids:
            return name
        chain = self.chain(self.ids["field", name])
        return None if _expression_text(chain) else chain[-1].attributes.get("id", name)

    def fields_of(self, parent: Element, seen: tuple[str, ...] = ()) -> Iterator[Element]:
        """Fields of a file or group, those of groups that it refers to, too."""
        reference = parent.attributes.get("group_ref")
        if reference is not None:
            group = self.target(parent, "field_group", reference, seen)
            for field in self.fields_of(group, (*seen, reference)):
                name = field.attributes.get("id")
                if name is None:  # it has a name and other attributes, too
                    name = f"the field of {field.source}:{field.line}, {len(self.ids)}"
                    self.ids["field", name] = field
                yield Element("field", {"field_ref": name}, parent.line, parent.source, parent)
        for child in parent.children:
            if child.tag == "field":
                yield child
            elif child.tag == "field_group":
                yield from self.fields_of(child, seen)


class _Reader:
    def __init__(self, text: str, path: str, names: Names) -> None:
        self.path, self.names = path, names
        self.root = parse(text, path)
        self.remarks = Remarks()
        self.imported = Imported(path, "XIOS")

    def read(self) -> Imported:
        contexts = list(self.root.below("context", "simulation"))
        contexts = [e for e in contexts if e.tag == "context"] or contexts or [self.root]
        for root in contexts:
            context = _Context(root, self.path, self.names)
            files = [e for e in root.below("file") if e.inside("file_definition") or root.tag != "context"]
            self.context_remarks(root, context, len(contexts) > 1)
            self.imported.remarks += self.remarks.taken()
            for file in files:
                self.file(file, context)
        self.imported.remarks += self.remarks.taken()
        return self.imported

    # ---- Remarks, with the file that the element is from

    def lost(self, at: Element, what: str, why: str, once: Optional[str] = None) -> None:
        self.remarks.lost(at.line, what, why, once, "" if at.source == self.path else at.source)

    def note(self, at: Element, what: str, why: str, once: Optional[str] = None) -> None:
        self.remarks.note(at.line, what, why, once, "" if at.source == self.path else at.source)

    def context_remarks(self, root: Element, context: _Context, several: bool) -> None:
        name = root.attributes.get("id", "")
        if several:
            self.note(
                root,
                f"context {name}",
                "each model reads a configuration of its own; move the files of others",
            )
        for child in root.children:
            if child.tag == "calendar":
                self.note(child, "calendar", "the model says calendar and start of the run")
                self.time_origin(child, context, several)
            elif child.tag in (
                "axis_definition",
                "domain_definition",
                "grid_definition",
                "scalar_definition",
            ):
                if child.children:
                    self.note(child, child.tag, "axes and grids are described by the model")
            elif child.tag in ("variable_definition",):
                if child.children:
                    self.note(child, child.tag, "settings of XIOS itself have no use here")
            elif child.tag not in ("field_definition", "file_definition", "context", "file", "file_group"):
                self.lost(child, f"<{child.tag}>", "the importer knows no such element")

    def time_origin(self, calendar: Element, context: _Context, several: bool) -> None:
        origin = " ".join(calendar.attributes.get("time_origin", "").split())
        if not origin:
            return
        if not re.fullmatch(r"\d+-\d+-\d+( \d+:\d+:\d+)?", origin):
            why = "it is no date; say time_origin of the files"
            return self.lost(calendar, f"time_origin {origin}", why)
        if several:
            context.time_origin = origin
        else:
            self.imported.defaults["time_origin"] = origin

    def is_enabled(self, at: Element, label: str, value: str) -> bool:
        if value.strip().strip(".").lower() not in ("true", "t", "yes", "false", "f", "no"):
            self.lost(at, f"{label}: enabled {value}", "it is neither true nor false; true here")
            return True
        return _is_on(value)

    # ---- Files

    def file(self, file: Element, context: _Context) -> None:
        given = context.resolved(file)
        name = given.get("name") or given.get("id")
        if given.get("mode", "write") == "read":
            return self.lost(file, f"file {name}", "the model reads by itself; it is left out")
        if not name:
            return self.lost(file, "a file", "it has no name or id, so it is left out")
        table = FileTable(file.line, source="" if file.source == self.path else file.source)
        frequency = duration(given.get("output_freq", ""))
        if frequency is None:
            why = "it is missing" if "output_freq" not in given else "it is no length of time of one kind"
            return self.lost(
                file,
                f"file {name}: output_freq {given.get('output_freq', '')}".rstrip(),
                f"{why}; the file is left out",
            )
        table.keys = {"name": self.file_name(file, name, given), "every": frequency}
        split = given.get("split_freq")
        if split is not None:
            new_file = duration(split)
            if new_file is None or new_file.endswith(("step", "steps")):
                self.lost(file, f"split_freq {split}", "it is no length of time")
            else:
                table.keys["new_file"] = new_file
        self.other_keys(file, given, table)
        self.file_attributes(file, given, table, context)
        if context.time_origin is not None:
            table.keys["time_origin"] = context.time_origin
        found = []
        for element in context.fields_of(file):
            entry = self.field(element, given, context)
            if entry is not None:
                found.append(entry)
        if not found:
            return self.lost(file, f"file {name}", "it has no fields that are written, so it is left out")
        self.tables(file, table, found)

    def tables(self, file: Element, table: FileTable, found: list[tuple[dict[str, Any], Cells]]) -> None:
        """A table for each choice of cells: those of Shoal are of a file, not of a field."""
        names = {str(table.keys["name"])}
        made = []
        for number, (cells, entries) in enumerate(grouped(found)):
            name = str(table.keys["name"])
            if number > 0:
                end = re.sub(r"[^\w.-]", "_", cells.label)
                name = re.sub(r"\.nc$", f"_{end}.nc", name)
                name = name if name not in names else re.sub(r"\.nc$", f"_{number}.nc", name)
                fields = ", ".join(str(entry.get("name", entry.get("field"))) for entry in entries)
                self.note(file, f"other cells of {fields}", f"cells are chosen for a file, so it is {name}")
            names.add(name)
            made.append(
                FileTable(
                    table.line, {**table.keys, "name": name, **cells.keys}, entries, source=table.source
                )
            )
            made[-1].simplify()
        made[0].remarks = self.remarks.taken()
        self.imported.files += made

    def file_name(self, file: Element, name: str, given: dict[str, str]) -> str:
        whole = (name + given.get("name_suffix", "")).replace("%", "%%")
        if placeholders := re.findall(r"@\w+@", whole):
            self.lost(
                file,
                f"{', '.join(placeholders)} in the name of a file",
                "the model puts its own text there (NEMO: its experiment, dates); write the name here",
                once=f"@ {name}",
            )
        split = given.get("split_freq")
        if split is None:
            return whole + ".nc"
        form = given.get("split_freq_format")
        if form is None:
            units = re.findall(r"ts|mo|mi|y|d|h|s", split)
            dates = next((dates for unit, dates in reversed(_usual_dates) if unit in units), "%Y%m%d%H%M%S")
        else:
            dates = ""
            for letters, other in re.findall(r"%(mo|mi|[a-zA-Z])|(.)", form):
                if letters and letters not in _date_letters:
                    self.lost(
                        file,
                        f"%{letters} in split_freq_format",
                        "a name has the date on which its file begins",
                    )
                dates += _date_letters.get(letters, other) if letters else other
        return f"{whole}_{dates}-{dates.replace('%', '%E')}.nc"

    def other_keys(self, file: Element, given: dict[str, str], table: FileTable) -> None:
        known = {
            "id",
            "name",
            "name_suffix",
            "output_freq",
            "split_freq",
            "split_freq_format",
            "mode",
            "group_ref",
        }
        for key, value in given.items():
            if key in known or key in ("description", "title", "comment"):
                continue
            # What is said of all files is reported with the first.
            once = None if key in file.attributes else f"{key}={value}"
            if key == "enabled":
                if not self.is_enabled(file, f"file {given.get('name') or given.get('id')}", value):
                    table.keys["enabled"] = False
            elif key == "compression_level":
                if value.strip() not in ("", "0"):
                    table.keys["compression"] = f"shuffle+deflate:{value.strip()}"
            elif key == "format" and value in ("netcdf4", "netcdf4_classic"):
                table.keys["format"] = value.replace("_", "-")
            elif key == "time_units" and value in ("seconds", "days"):
                table.keys["time_units"] = value
            elif key == "type":
                if value != "one_file":
                    self.lost(
                        file,
                        f"type {value}",
                        "all fields go to one file; the setting layout makes several",
                        once,
                    )
            elif key == "convention" and value != "CF":
                self.lost(file, f"convention {value}", "files follow CF", once)
            elif key in _noted_of_file:
                self.note(file, key, _noted_of_file[key], once=key)
            else:
                self.lost(
                    file,
                    f'{key}="{value}" of a file',
                    _lost_of_file.get(key, "the importer knows no such attribute"),
                    once,
                )

    def file_attributes(
        self, file: Element, given: dict[str, str], table: FileTable, context: _Context
    ) -> None:
        found: dict[str, Any] = {}
        for key in ("title", "description", "comment"):
            if key in given:
                found[key] = given[key]
        found.update(self.variables(file))
        if found:
            table.keys["attributes"] = found
        for child in file.children:
            if child.tag not in ("field", "field_group", "variable", "variable_group"):
                self.lost(child, f"<{child.tag}> in a file", "the importer knows no such element")

    def variables(self, element: Element) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for child in element.children:
            if child.tag == "variable_group":
                found.update(self.variables(child))
            if child.tag != "variable":
                continue
            name = child.attributes.get("name") or child.attributes.get("id")
            value, kind = child.text.strip(), child.attributes.get("type", "string")
            if not name:
                self.lost(child, "a variable without a name", "an attribute needs one")
                continue
            try:
                if kind in ("int", "int32", "int16", "int64"):
                    found[name] = int(value)
                elif kind in ("float", "double"):
                    found[name] = float(value)
                elif kind == "bool":
                    found[name] = str(_is_on(value)).lower()
                else:
                    found[name] = value
            except ValueError:
                self.lost(child, f"variable {name}", f"'{value}' is no {kind}")
        return found

    # ---- Fields

    def field(
        self, element: Element, file: dict[str, str], context: _Context
    ) -> Optional[tuple[dict[str, Any], Cells]]:
        given = context.resolved(element)
        chain = context.chain(element)
        sent = chain[-1].attributes.get("id")
        ids = [one.attributes["id"] for one in chain if "id" in one.attributes]
        name = given.get("name") or (ids[0] if ids else None)
        label = name or "a field"
        if not sent and not _expression_text(chain) and not name:
            return self.lost(element, "a field", "it has no id, name or field_ref")
        if self.is_above_level(given, file):
            return self.note(
                element,
                label,
                f"its level {given['level']} is above output_level, so XIOS does not write it either",
            )
        operation = self.operation(element, given, label)
        if operation is None:
            return None
        entry = self.source_of(element, chain, sent or name, context)
        if entry is None:
            return None
        if "expression" in entry or name != entry["field"]:
            entry["name"] = name
        entry["operation"] = operation
        self.sampling(element, given, file["output_freq"], operation, label, entry)
        cells = self.cells(element, chain, context, operation, label)
        self.field_keys(element, given, entry, label)
        return entry, cells

    @staticmethod
    def is_above_level(given: dict[str, str], file: dict[str, str]) -> bool:
        try:
            return int(given.get("level", "0")) > int(file.get("output_level", "5"))
        except ValueError:
            return False

    def operation(self, element: Element, given: dict[str, str], label: str) -> Optional[str]:
        word = given.get("operation", "").strip().lower()
        if word in _operations:
            return _operations[word]
        if word == "once":
            why = "a field that is written once is an axis, a coordinate or a static field of the model"
        else:
            why = (
                "it is missing"
                if not word
                else f"there is no such one; there are {', '.join(_operations)}, once"
            )
        return self.lost(element, f"{label}: operation {word}".rstrip(), f"{why}; the field is left out")

    def source_of(
        self, element: Element, chain: list[Element], sent: str, context: _Context
    ) -> Optional[dict[str, Any]]:
        text = _expression_text(chain)
        if not text:
            return {"field": sent}
        expression = self.translated(element, text, sent, context, ())
        return None if expression is None else {"expression": expression}

    def translated(
        self, element: Element, text: str, sent: str, context: _Context, seen: tuple[str, ...]
    ) -> Optional[str]:
        """An expression in terms of fields that the model sends; None with a remark."""
        refuse = f"expression '{text}'"
        if "@" in text:
            return self.lost(
                element,
                refuse,
                "it is of values that went through an operation over time (@), and "
                "expressions are of those that were sent; the field is left out",
            )
        if re.search(r"[^\w\s.+\-*/^(),]", text):
            return self.lost(
                element,
                refuse,
                "it has more than + - * / ^, numbers, fields and functions; the field is left out",
            )
        parts = []
        for part in re.findall(r"\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|\S", text):
            if not re.match(r"[A-Za-z_]", part) or part in _functions:
                parts.append("**" if part == "^" else part)
                continue
            if part == "this":
                parts.append(sent)
                continue
            if part in seen:
                raise ImportFailedError(
                    f"{element.source}:{element.line}: the expression of '{part}' has itself in it"
                )
            inner = context.chain(context.target(element, "field", part, ()))
            other = _expression_text(inner)
            name = inner[-1].attributes.get("id", part)
            if context.is_transformed(inner):
                return self.lost(
                    element,
                    refuse,
                    f"{part} is on another grid than the field that the model sends, and expressions are "
                    "worked out before cells are chosen or joined; the field is left out",
                )
            if not other:
                parts.append(name)
                continue
            deeper = self.translated(element, other, name, context, (*seen, part))
            if deeper is None:
                return None
            parts.append(f"({deeper})")
        text = re.sub(r"\( | (?=[),])", lambda m: m.group().strip(), " ".join(parts))
        return re.sub(rf"\b({'|'.join(sorted(_functions))}) \(", r"\1(", text)

    def sampling(
        self,
        element: Element,
        given: dict[str, str],
        output: str,
        operation: str,
        label: str,
        entry: dict[str, Any],
    ) -> None:
        op = given.get("freq_op")
        if op is not None:
            length = duration(op)
            if length is None:
                self.lost(element, f"{label}: freq_op {op}", "it is no length of time of one kind")
            elif operation != "instant" and length != "1 step":
                entry["sample_every"] = length
            elif operation == "instant" and not divides(op, output):
                self.lost(
                    element,
                    f"{label}: freq_op {op}",
                    f"instants are of the end of the window, {output}, of which it may be no part",
                )
        offset = given.get("freq_offset")
        if offset is not None and re.sub(r"[a-z\s]", "", offset.lower()) not in ("", "0", "0."):
            self.lost(
                element, f"{label}: freq_offset {offset}", "values are taken at the end of each sample_every"
            )

    def cells(
        self, element: Element, chain: list[Element], context: _Context, operation: str, label: str
    ) -> Cells:
        """A reference on another grid than that of the field which it refers to makes XIOS transform it;
        expressions are worked out before."""
        cells = Cells()
        for before, after in context.links(chain):
            key = next((key for key in grid_keys if before.get(key) != after.get(key)), None)
            if key is None:
                continue
            try:
                context.grids.add(cells, before, after, operation)
            except NoCounterpartError as error:
                self.lost(element, f"{label}: {key} {after.get(key)}", f"{error}; all cells here")
                return Cells()
        for what, why in cells.notes:
            self.note(element, f"{label}: {what}", why, once=f"{what} {why}")
        return cells

    def field_keys(self, element: Element, given: dict[str, str], entry: dict[str, Any], label: str) -> None:
        known = {
            "id",
            "name",
            "field_ref",
            "operation",
            "freq_op",
            "freq_offset",
            "level",
            "expr",
            "group_ref",
            *grid_keys,
        }
        attributes: dict[str, Any] = {}
        for key, value in given.items():
            if key in known:
                continue
            if key in _key_names:
                entry[_key_names[key]] = value
            elif key == "comment":
                attributes[key] = value
            elif key in ("valid_min", "valid_max", "default_value"):
                try:
                    (entry if key == "default_value" else attributes)[key] = float(value)
                except ValueError:
                    self.lost(element, f"{label}: {key}", f"'{value}' is no number")
            elif key == "enabled":
                if not self.is_enabled(element, label, value):
                    entry["enabled"] = False
            elif key in ("prec", "scale_factor", "add_offset"):
                continue  # together: packing()
            elif key in _noted_of_field:
                self.note(element, key, _noted_of_field[key], once=key)
            else:
                self.lost(
                    element,
                    f'{label}: {key}="{value}"',
                    _lost_of_field.get(key, "the importer knows no such attribute"),
                )
        self.packing(element, label, given, entry)
        if (missing := entry.pop("default_value", None)) is not None:
            if "scale_factor" in entry or "add_offset" in entry:
                self.note(
                    element, f"{label}: default_value", "packed values have the _FillValue of their type"
                )
            else:
                entry["missing_value"] = missing
        for key, value in self.variables(element).items():
            (entry if key in _key_names.values() else attributes)[key] = value
        if attributes:
            entry["attributes"] = attributes

    def packing(self, element: Element, label: str, given: dict[str, str], entry: dict[str, Any]) -> None:
        """The type of the variable, and by what its values are packed: prec, scale_factor, add_offset."""
        prec = given.get("prec", "").strip()
        packing = {key: given[key] for key in ("scale_factor", "add_offset") if key in given}
        if prec in _types:
            entry["type"] = _types[prec]
        elif prec and not (prec == "2" and packing):
            self.lost(
                element,
                f"{label}: prec {prec}",
                'whole numbers need scale_factor, add_offset, or pack = "short(least, greatest)"',
            )
        for key, value in packing.items():
            try:
                number = float(value)
            except ValueError:
                self.lost(element, f"{label}: {key}", f"'{value}' is no number")
                continue
            if prec == "2" and number != 0:
                entry["type"] = "short"
                entry[key] = number
            elif prec == "2" and key == "add_offset":
                entry["type"] = "short"
                entry[key] = 0.0
            else:
                self.lost(element, f'{label}: {key}="{value}"', 'values are packed with prec="2" alone')


def read_xios(text: str, path: str, names: Names) -> Imported:
    """XIOS's XML; of names only those of dimensions that domains do not have. Errors: ImportFailedError.
    Local."""
    return _Reader(text, path, names).read()
