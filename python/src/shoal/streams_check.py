# SPDX-License-Identifier: BSD-3-Clause
"""Configurations of streams before a run: what a file would write, by the program shoal-streams, which reads
it with the library's own code; and files of fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional, Union

from ._paths import read_text
from .errors import FormatError
from .hdf5_plugins import no_zstd, zstd_plugin
from .programs import run_program
from .streams_import.toml_text import value_text

name = "shoal-streams"
# Not SHOAL_...: such names are settings of the library, which refuses those that it does not know.
variable = "STREAMS_ENGINE"


def check(
    configuration: Union[str, Path],
    *,
    fields: Union[str, Path, None] = None,
    calendar: str = "standard",
    run: Optional[tuple[str, str, str]] = None,
    start: Optional[str] = None,
    ranks: int = 1,
) -> dict[str, Any]:
    """What a configuration would write; docs/tools.md lists what is in the answer. Local.

    fields    file of the model's fields; None: names of fields and sizes are not checked
    run       the dates on which the run begins and ends, and the length of a step ("30 min"); None: no dates
    start     of the whole run, where it goes on after a restart; None: where the run begins
    ranks     of the job, for the memory that one needs

    Errors: InvalidArgumentError; ProgramError if shoal-streams is not there or fails. What is wrong with the
    configuration is in the answer, as problems."""
    words = ["check", str(configuration), "--calendar", calendar, "--ranks", str(ranks)]
    if fields is not None:
        words += ["--fields", str(fields)]
    if run is not None:
        words += ["--from", run[0], "--to", run[1], "--step", run[2]]
    if start is not None:
        words += ["--start", start]
    found = run_program(name, variable, words, good=(0, 1))
    if zstd_plugin() is None:
        found["warnings"] += [
            {"file": str(configuration), "line": file["line"], "key": "compression", "message": no_zstd()}
            for file in found["files"]
            if "zstd" in file.get("compression", "")
        ]
    return found


_attributes = ("units", "long_name", "standard_name")


def streams_of_report(path: Union[str, Path]) -> Optional[dict[str, Any]]:
    """What a report of streams has (docs/reference/streams.md); None if it is another file. Local."""
    try:
        found = json.loads(read_text(path))
    except (OSError, ValueError):
        return None
    streams = found.get("streams") if isinstance(found, dict) else None
    return streams if isinstance(streams, dict) and "files" in streams else None


def load_report(path: Union[str, Path]) -> dict[str, Any]:
    """The model's part of a report of streams: lists of axes, grids and fields, with the keys of a file of
    fields; fields also have lengths, one for each of their dims. Local.

    Errors: FormatError if it is no such report; OSError."""
    text = read_text(path)
    try:
        found = json.loads(text)["streams"]
        fields = [
            {
                **{key: field[key] for key in ("name", "type", "grid", "group", "holds")},
                "dims": [dim["name"] for dim in field["dims"]],
                "lengths": [dim["length"] for dim in field["dims"]],
                "attributes": {key: field[key] for key in _attributes if field[key]},
            }
            for field in found["fields"]
        ]
        return {"axes": found["axes"], "grids": found["grids"], "fields": fields}
    except (ValueError, KeyError, TypeError) as error:
        why = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise FormatError(f"{path}: it is no report of streams: {why}") from None


def _lines(kind: str, table: Mapping[str, Any], keys: tuple[str, ...]) -> list[str]:
    lines = ["", f"[[{kind}]]"]
    for key in keys:
        value = table.get(key)
        if value not in (None, "", [], {}):
            lines.append(f"{key} = {value_text(value)}")
    return lines


def _axis(axis: Mapping[str, Any]) -> dict[str, Any]:
    """An axis as a file of fields has it: the first value and the step of those that are evenly spaced."""
    values = axis["values"]
    if len(values) < 4:
        return {**axis, "length": None if values else axis["length"]}  # values say the length, too
    first, step = values[0], values[1] - values[0]
    if any(value != first + i * step for i, value in enumerate(values)):
        return {**axis, "length": None}
    return {**axis, "values": None, "first": first, "step": step}


def fields_toml(report: Mapping[str, Any], source: str) -> str:
    """A file of fields, for check, of what load_report gave. Local."""
    lines = [f"# The fields of a model, from {source}, by shoal streams fields."]
    for axis in report["axes"]:
        lines += _lines("axis", _axis(axis), ("name", "values", "length", "first", "step", "bounds"))
    for grid in report["grids"]:
        lines += _lines("grid", grid, ("name", "dims", "lengths", "coordinates", "area"))
    for field in report["fields"]:
        lines += _lines("field", field, ("name", "type", "dims", "grid", "group", "holds", "attributes"))
    return "\n".join(lines) + "\n"
