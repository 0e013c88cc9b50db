# SPDX-License-Identifier: BSD-3-Clause
"""Which of the forms a table has."""

from __future__ import annotations

import re
from typing import Optional

from .._paths import read_text
from . import fms_text
from .fms_yaml import read_yaml
from .tables import Imported, ImportFailedError, Names
from .xios import read_xios

_readers = {"fms": fms_text.read_text, "fms-yaml": read_yaml, "xios": read_xios}
forms = tuple(_readers)


def recognise(text: str) -> str:
    """fms, fms-yaml or xios, by how the text begins. Local."""
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return "xios"
    if re.search(r"^\s*(title|base_date|diag_files)\s*:", text, re.MULTILINE):
        return "fms-yaml"
    return "fms"


def read_table(path: str, form: Optional[str] = None, names: Optional[Names] = None) -> Imported:
    """A table of another model. form: fms, fms-yaml or xios; None: by its content. names: those of
    dimensions and coordinates, which FMS's tables do not have.

    Errors: ImportFailedError with file and line; OSError. Local."""
    try:
        text = read_text(path)
    except UnicodeDecodeError as error:
        raise ImportFailedError(f"{path}: it is no text in UTF-8: {error.reason}") from None
    chosen = form or recognise(text)
    if chosen not in _readers:
        raise ImportFailedError(f"'{chosen}' is no form of a table; there are {', '.join(forms)}")
    imported = _readers[chosen](text, path, names or Names())
    if not imported.files and not any(True for _ in imported.losses()):
        raise ImportFailedError(f"{path}: there is no file in it (read as {chosen})")
    return imported
