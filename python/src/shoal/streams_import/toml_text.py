# SPDX-License-Identifier: BSD-3-Clause
"""TOML, as far as configurations of streams need it."""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError, TypeMismatchError
from .tables import FileTable, Imported, Remark

_bare = re.compile(r"[A-Za-z0-9_-]+")
_width = 110


def _key(name: str) -> str:
    return name if _bare.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    # JSON's escapes are TOML's; DEL alone must be escaped, too.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def value_text(value: Any) -> str:
    """A value of TOML on one line: text, number, flag, list, or table; a path, a length of time or a date as
    configurations of streams have it. Errors: TypeMismatchError."""
    if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind not in "mM":
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, os.PathLike):
        return _text(os.fsdecode(value))
    if isinstance(value, datetime.timedelta):
        microseconds = value // datetime.timedelta(microseconds=1)
        return _text(f"{microseconds // 10**6}.{microseconds % 10**6:06} s")
    if isinstance(value, datetime.date):  # datetimes are such, too
        return _text(str(value))
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(k))} = {value_text(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(value_text, value)) + "]"
    raise TypeMismatchError(f"A value of a configuration is a {type(value).__name__}: {value!r}.")


def configuration_text(configuration: Mapping[str, Any]) -> str:
    """A configuration that came as a dict. Errors: TypeMismatchError, InvalidArgumentError."""
    lines = ["# From a dict."]
    tables = []
    for key, value in configuration.items():
        if key == "file":
            if not isinstance(value, (list, tuple)) or not all(isinstance(f, Mapping) for f in value):
                raise InvalidArgumentError('"file" of a configuration is a list of dicts, one a file.')
            for file in value:
                tables += ["[[file]]", *_key_lines(file)]
        elif isinstance(value, Mapping):
            tables += [f"[{_key(str(key))}]", *_key_lines(value)]
        else:
            lines += _key_lines({key: value})
    return "\n".join(lines + tables) + "\n"


def _key_lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(str(key))} = {value_text(value)}" for key, value in table.items() if value is not None]


def _list_lines(name: str, items: list[Any]) -> list[str]:
    line = f"{name} = {value_text(items)}"
    if len(line) <= _width and not any(isinstance(item, Mapping) for item in items):
        return [line]
    return [f"{name} = [", *(f"  {value_text(item)}," for item in items), "]"]


def _comments(remarks: list[Remark], source: str) -> list[str]:
    lines = []
    for remark in remarks:
        head = "# note: " if remark.note else "# NO COUNTERPART: "
        lines += [head + line for line in remark.text(source).splitlines()]
    return lines


def _file_lines(file: FileTable, source: str) -> list[str]:
    lines = ["", *_comments(file.remarks, source)]
    lines.append(f"[[file]]  # {file.source or source}:{file.line}")
    lines += [f"{_key(name)} = {value_text(value)}" for name, value in file.keys.items()]
    return lines + _list_lines("fields", file.fields)


def to_toml(imported: Imported) -> str:
    """The configuration, with every remark as a comment in front of what it is about."""
    lines = [f"# From {imported.path} ({imported.kind}), by shoal streams import."]
    lines += _comments(imported.remarks, imported.path)
    if imported.defaults:
        lines += ["", "[defaults]"]
        lines += [f"{_key(name)} = {value_text(value)}" for name, value in imported.defaults.items()]
    for file in imported.files:
        lines += _file_lines(file, imported.path)
    return "\n".join(lines) + "\n"
