# SPDX-License-Identifier: BSD-3-Clause
"""Names of files as the system has them: bytes, which need not be text."""

from __future__ import annotations

import os
from typing import Union

from .errors import InvalidArgumentError, TypeMismatchError

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def path_bytes(path) -> bytes:
    """The bytes of a path: str (with what Python makes of bytes that are no UTF-8), bytes, or a path object.

    Raises TypeMismatchError for anything else, InvalidArgumentError for what cannot be a name: text that the
    file system cannot hold, and a zero byte inside, where the system would see the name end.
    """
    try:
        text = os.fspath(path)
    except TypeError:
        raise TypeMismatchError(
            f"path is a {type(path).__name__}; give a str, bytes or a pathlib.Path."
        ) from None
    try:
        name = os.fsencode(text)
    except UnicodeEncodeError:
        raise InvalidArgumentError(
            f"path {text!r} has characters that the file system's encoding cannot hold."
        ) from None
    if b"\0" in name:
        raise InvalidArgumentError(
            f"path {text!r} has a zero byte inside, where names end for the system; take it out."
        )
    return name


def path_text(path) -> str:
    """The same as text, which os.fsencode makes bytes of again."""
    return os.fsdecode(path_bytes(path))
