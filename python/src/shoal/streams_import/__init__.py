# SPDX-License-Identifier: BSD-3-Clause
"""Configurations of streams from tables of other models: FMS's diag_table (text and YAML) and XIOS's XML.

    imported = read_table("diag_table")
    text = to_toml(imported)          # a configuration, docs/reference/streams.md
    imported.losses()                 # what it cannot say, with lines

All calls are Local."""

from __future__ import annotations

from .formats import read_table, recognise
from .tables import FileTable, Imported, ImportFailedError, Names, Remark
from .toml_text import to_toml

__all__ = [
    "FileTable",
    "ImportFailedError",
    "Imported",
    "Names",
    "Remark",
    "read_table",
    "recognise",
    "to_toml",
]
