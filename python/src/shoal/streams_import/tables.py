# SPDX-License-Identifier: BSD-3-Clause
"""What is found in a table of another model: tables [[file]] to be, and remarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Optional


class ImportFailedError(ValueError):
    """The table cannot be read as one; the message has the file and the line."""


@dataclass(frozen=True)
class Remark:
    """What has no counterpart, or (note) has one that differs."""

    line: int
    what: str
    why: str
    note: bool = False
    source: str = ""  # the file of the line, where it is another one

    def text(self, source: str) -> str:
        return f"{self.source or source}:{self.line}: {self.what}: {self.why}"


@dataclass(frozen=True)
class Names:
    """Dimensions and coordinates as the model names them, which tables of FMS do not."""

    lon: str = "lon"
    lat: str = "lat"
    vertical: str = "lev"
    x: str = "x"
    y: str = "y"


@dataclass
class FileTable:
    """A table [[file]]: keys in their order, the fields last."""

    line: int
    keys: dict[str, Any] = field(default_factory=dict)
    fields: list[Any] = field(default_factory=list)  # names, or tables
    remarks: list[Remark] = field(default_factory=list)
    source: str = ""

    def simplify(self) -> None:
        """What most fields have in common is said once, and a field that needs nothing else is its name."""
        for key in ("operation", "type"):
            values = [entry.get(key) for entry in self.fields]
            if values and None not in values:
                common = max(values, key=values.count)
                self.keys[key] = common
                for entry in self.fields:
                    if entry[key] == common:
                        del entry[key]
        self.fields = [entry["field"] if set(entry) == {"field"} else entry for entry in self.fields]


@dataclass
class Imported:
    """A table of another model, read."""

    path: str
    kind: str  # "FMS diag_table", "FMS diag_table.yaml", "XIOS"
    defaults: dict[str, Any] = field(default_factory=dict)
    files: list[FileTable] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)  # of no file

    def all_remarks(self) -> Iterator[Remark]:
        yield from self.remarks
        for file in self.files:
            yield from file.remarks

    def losses(self) -> list[Remark]:
        """What the configuration does not say."""
        return [remark for remark in self.all_remarks() if not remark.note]


class Remarks:
    """Takes remarks; what many lines have alike is kept once."""

    def __init__(self) -> None:
        self.found: list[Remark] = []
        self._noted: set[str] = set()

    def lost(self, line: int, what: str, why: str, once: Optional[str] = None, source: str = "") -> None:
        self._add(Remark(line, what, why, source=source), once)

    def note(self, line: int, what: str, why: str, once: Optional[str] = None, source: str = "") -> None:
        self._add(Remark(line, what, why, note=True, source=source), once)

    def _add(self, remark: Remark, once: Optional[str]) -> None:
        if once is not None and once in self._noted:
            return
        if once is not None:
            self._noted.add(once)
        self.found.append(remark)

    def taken(self) -> list[Remark]:
        """Those so far, which are then forgotten."""
        found, self.found = self.found, []
        return found
